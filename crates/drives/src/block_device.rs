//! Block devices of this machine: the device that a path names, its size, and everything on it that
//! is in use.
//!
//! 1. Links in the path of a device file are followed, and the kernel's name is found by the number
//!    of the device ([`Machine::name`]).
//! 2. Its partitions, and the devices that are made of it or of them (LVM, RAID, encryption), are
//!    walked in sysfs.
//! 3. For each of these, file systems and swap are looked up ([`Machine::in_use`]).
//!
//! **Owns** nothing. **May touch** `/dev`, `/proc` and `/sys`, which it only reads.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Folders and lists in which the kernel describes block devices. Where they are missing, no device
/// is known, and none is in use.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Folder of the device files.
    dev: PathBuf,
    /// Folder of sysfs with an entry for each block device and partition.
    block: PathBuf,
    /// Lines of `/proc/self/mountinfo`. They have the number of the device, where
    /// `/proc/self/mounts` may have a name that no file has, such as `/dev/root`.
    mounts: String,
    /// Lines of `/proc/swaps`.
    swaps: String,
}

impl Machine {
    /// Returns what the kernel says at this moment.
    pub fn read() -> Machine {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Machine {
            dev: "/dev".into(),
            block: "/sys/class/block".into(),
            mounts: text("/proc/self/mountinfo"),
            swaps: text("/proc/swaps"),
        }
    }

    /// Returns the kernel's name of the block device that a path names, through all links, such as
    /// `sda` for `/dev/disk/by-id/...`; `None` for a path outside the folder of device files.
    pub fn name(&self, path: &Path) -> Option<String> {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let numbered = fs::metadata(&real).ok().filter(|file| file.file_type().is_block_device());
        // A node may have any name, as in containers.
        let named = numbered.and_then(|file| self.of_number(file.rdev()));
        named.or_else(|| {
            let below = real.strip_prefix(&self.dev).ok()?.to_str()?;
            // A device in a folder of its own: `cciss!c0d0` in sysfs.
            (!below.is_empty()).then(|| below.replace('/', "!"))
        })
    }

    /// Returns the kernel's name of the block device with this number, as `stat` reports it.
    fn of_number(&self, number: u64) -> Option<String> {
        let major = ((number >> 32) & !0xfff) | ((number >> 8) & 0xfff);
        let minor = ((number >> 12) & !0xff) | (number & 0xff);
        let number = format!("{major}:{minor}");
        self.entries(&self.block).into_iter().find(|name| self.says(name, "dev") == number)
    }

    /// Returns the capacity of a block device in bytes; `None` if the kernel does not report it.
    pub fn capacity(&self, name: &str) -> Option<u64> {
        let sectors: u64 = self.says(name, "size").parse().ok()?;
        sectors.checked_mul(512).filter(|bytes| *bytes > 0)
    }

    /// Returns a sentence for each use of a block device, of its partitions and of the devices made
    /// of them: mounted file systems, swap, and membership in another device. All of it is lost
    /// when the device is overwritten.
    pub fn in_use(&self, name: &str) -> Vec<String> {
        let mut devices = vec![name.to_string()];
        let mut uses: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(device) = devices.get(at).cloned() {
            at += 1;
            uses.extend(self.mounts_of(&device));
            uses.extend(self.swaps_of(&device));
            let folder = self.block.join(&device);
            let is_partition = |inner: &String| folder.join(inner).join("partition").exists();
            let parts = self.entries(&folder).into_iter().filter(is_partition);
            let holders = self.entries(&folder.join("holders"));
            for holder in &holders {
                let alias = self.says(holder, "dm/name");
                let alias = if alias.is_empty() { alias } else { format!(" ({alias})") };
                uses.push(format!("{device} is part of {holder}{alias}"));
            }
            for next in parts.chain(holders) {
                if !devices.contains(&next) {
                    devices.push(next);
                }
            }
        }
        uses.dedup();
        uses
    }

    fn mounts_of(&self, device: &str) -> Vec<String> {
        let number = self.says(device, "dev");
        let of_line = |line: &str| {
            let (place, source) = line.split_once(" - ")?;
            let place: Vec<&str> = place.split(' ').collect();
            let (mounted, point) = (*place.get(2)?, *place.get(4)?);
            let source = source.split(' ').nth(1)?;
            // The number of a file system on several devices, such as btrfs, is of none of them.
            let is_here =
                (!number.is_empty() && mounted == number) || self.is_file_of(source, device);
            is_here.then(|| format!("{device} is mounted on {point}"))
        };
        self.mounts.lines().filter_map(of_line).collect()
    }

    fn swaps_of(&self, device: &str) -> Vec<String> {
        let files = self.swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        let of_device = files.filter(|file| self.is_file_of(file, device));
        of_device.map(|_| format!("{device} is swap")).collect()
    }

    /// Returns true if a path in a list of the kernel is the device file of a block device.
    fn is_file_of(&self, path: &str, device: &str) -> bool {
        let path = Path::new(path);
        path.starts_with(&self.dev) && self.name(path).is_some_and(|name| name == device)
    }

    /// Returns the text that sysfs has about a block device in `file`; empty if there is none.
    fn says(&self, device: &str, file: &str) -> String {
        let text = fs::read_to_string(self.block.join(device).join(file));
        text.unwrap_or_default().trim().to_string()
    }

    /// Returns the names in a folder in order; none if there is no such folder.
    fn entries(&self, folder: &Path) -> Vec<String> {
        let all = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            all.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A machine with the drive `sda` of two partitions, of which the second is encrypted and holds
    /// a volume group of two volumes; a drive `sdaa` of its own; and a RAID over `nvme0n1`.
    fn machine(mounts: &str, swaps: &str) -> (Machine, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        let (dev, block) = (root.join("dev"), root.join("block"));
        for below in ["dev/disk/by-id", "dev/mapper"] {
            fs::create_dir_all(root.join(below)).expect("a folder");
        }
        let devices = ["sda", "sda1", "sda2", "sdaa", "dm-0", "dm-1", "dm-2", "nvme0n1", "md0"];
        for (number, name) in devices.iter().enumerate() {
            fs::write(dev.join(name), "").expect("a file");
            fs::create_dir_all(block.join(name).join("holders")).expect("a folder");
            fs::write(block.join(name).join("dev"), format!("8:{number}\n")).expect("a file");
            fs::write(block.join(name).join("size"), "2048\n").expect("a file");
        }
        for part in ["sda1", "sda2"] {
            let inner = block.join("sda").join(part);
            fs::create_dir_all(&inner).expect("a folder");
            fs::write(inner.join("partition"), "1\n").expect("a file");
        }
        for (of, holder, alias) in [
            ("sda2", "dm-0", "crypt"),
            ("dm-0", "dm-1", "vg-root"),
            ("dm-0", "dm-2", "vg-swap"),
            ("nvme0n1", "md0", ""),
        ] {
            fs::create_dir(block.join(of).join("holders").join(holder)).expect("a folder");
            if !alias.is_empty() {
                fs::create_dir_all(block.join(holder).join("dm")).expect("a folder");
                fs::write(block.join(holder).join("dm/name"), alias).expect("a file");
                symlink(dev.join(holder), dev.join("mapper").join(alias)).expect("a link");
            }
        }
        symlink("../../sda", dev.join("disk/by-id/ata-1")).expect("a link");
        let lists = [mounts, swaps].map(|text| text.replace("DEV", &dev.display().to_string()));
        let [mounts, swaps] = lists;
        (Machine { dev, block, mounts, swaps }, folder)
    }

    #[test]
    fn a_device_has_one_name_and_one_size_by_every_path() {
        let (machine, _kept) = machine("", "");
        for path in ["sda", "./sda", "disk/../sda", "disk/by-id/ata-1"] {
            let name = machine.name(&machine.dev.join(path));
            assert_eq!(name.as_deref(), Some("sda"), "{path}");
        }
        assert_eq!(machine.capacity("sda"), Some(2_048 * 512));
        assert_eq!(machine.name(&machine.dev.join("mapper/vg-root")).as_deref(), Some("dm-1"));
        // A file that is not there has the name in its path, and no size.
        assert_eq!(machine.name(&machine.dev.join("./sdz")).as_deref(), Some("sdz"));
        assert_eq!(machine.name(&machine.dev.join("cciss/c0d0")).as_deref(), Some("cciss!c0d0"));
        assert_eq!(machine.capacity("sdz"), None);
        assert_eq!(machine.name(Path::new("/absent/sda")), None);
        // 259:131074 as stat has it: major and minor numbers above 255.
        fs::write(machine.block.join("md0/dev"), "259:131074\n").expect("a file");
        let number = (131_074 & 0xff) | (259 << 8) | ((131_074 & !0xff) << 12);
        assert_eq!(machine.of_number(number).as_deref(), Some("md0"));
    }

    #[test]
    fn everything_on_a_drive_is_named() {
        let mounts = "22 1 8:1 / /boot rw,relatime shared:1 - ext4 DEV/sda1 rw\n\
                      23 1 8:5 / / rw - xfs /dev/root rw\n\
                      24 1 0:40 /sub /home\\040x rw master:1 - btrfs DEV/mapper/vg-root rw\n\
                      25 1 8:3 / /other rw - ext4 DEV/sdaa rw\n\
                      26 1 0:21 / /proc rw - proc proc rw\n";
        let swaps = "Filename Type Size Used Priority\nDEV/dm-2 partition 1 0 -2\n\
                     /other/file file 1 0 -3\n";
        let (machine, _kept) = machine(mounts, swaps);
        let of_lvm = [
            "dm-0 is part of dm-1 (vg-root)",
            "dm-0 is part of dm-2 (vg-swap)",
            "dm-1 is mounted on /",
            "dm-1 is mounted on /home\\040x",
            "dm-2 is swap",
        ];
        let of_the_drive =
            [&["sda1 is mounted on /boot", "sda2 is part of dm-0 (crypt)"][..], &of_lvm[..]];
        assert_eq!(machine.in_use("sda"), of_the_drive.concat());
        assert_eq!(machine.in_use("sda1"), ["sda1 is mounted on /boot"]);
        assert_eq!(machine.in_use("dm-0"), of_lvm);
        assert_eq!(machine.in_use("sdaa"), ["sdaa is mounted on /other"]);
        assert_eq!(machine.in_use("nvme0n1"), ["nvme0n1 is part of md0"]);
        assert_eq!(machine.in_use("absent"), [""; 0]);
    }
}
