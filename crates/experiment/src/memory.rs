//! The memory that runs take, and the memory that is available. Runs that do not fit are refused
//! before anything is allocated.

use crate::device_spec::Resolved;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::numbers;
use fowler_device::{Config, Layout, Memory};
use fowler_units::Bytes;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Host memory that several runs need: cached preconditioned drives, and the drives simulated
/// concurrently.
#[derive(Debug, Default)]
pub struct Need {
    /// Configurations of the different preconditioned drives, each with the size of the drive's
    /// image.
    states: Vec<(Config, Bytes)>,
    /// Largest number of preconditioned drives that are cached at once.
    cached: usize,
    /// The memory that the largest run takes while it serves requests; `most` is the peak,
    /// preconditioning included.
    serving: Bytes,
    most: Bytes,
}

impl Need {
    /// Returns an estimate of host memory that covers no run yet; `cached` is the largest number of
    /// preconditioned drives that are cached at once.
    pub fn caching(cached: usize) -> Need {
        Need { cached, ..Need::default() }
    }

    /// Adds to the estimate of host memory a run that holds `copies` copies of a drive in memory at
    /// once.
    pub fn add(&mut self, drive: &Resolved, copies: u64) {
        let memory = Memory::of(&drive.config, &drive.layout);
        let serving = memory.drive() * copies;
        self.serving = self.serving.max(serving);
        self.most = self.most.max(memory.most()).max(serving);
        self.add_state(&drive.config, memory.data);
    }

    /// Returns the host memory for the runs of two estimates together: the larger of their largest
    /// runs, and the preconditioned drives of both.
    pub fn merge(mut self, other: Need) -> Need {
        self.serving = self.serving.max(other.serving);
        self.most = self.most.max(other.most);
        for (config, bytes) in &other.states {
            self.add_state(config, *bytes);
        }
        self
    }

    fn add_state(&mut self, config: &Config, bytes: Bytes) {
        if let Some((_, largest)) =
            self.states.iter_mut().find(|(other, _)| config.ages_like(other))
        {
            *largest = (*largest).max(bytes);
            return;
        }
        self.states.push((config.clone(), bytes));
        if self.states.len() > self.cached {
            // Only the largest images count.
            self.states.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
            self.states.truncate(self.cached);
        }
    }

    /// Returns the peak memory in bytes that the runs need if `at_once` of them run concurrently.
    pub fn peak(&self, at_once: usize) -> Bytes {
        let at_once = at_once.max(1);
        // Each image is computed once.
        let made = at_once.min(self.states.len().max(1));
        let working = self.serving * (at_once - made) as u64 + self.most * made as u64;
        self.states.iter().map(|(_, bytes)| *bytes).sum::<Bytes>() + working
    }

    /// Returns a sentence on the memory that the runs need with `at_once` in parallel, and on the
    /// memory available.
    pub fn report(&self, at_once: usize) -> String {
        let runs = numbers::counted(at_once as u64, "run");
        let peak = shown(self.peak(at_once));
        let available = Available::now().map_or_else(String::new, |it| format!("; {it}"));
        format!("memory: at most {peak} for {runs} at a time{available}")
    }

    /// Refuses the runs if the machine has too little memory for `at_once` of them; `fewer` is the
    /// hint on running fewer.
    pub fn refuse(&self, at_once: usize, fewer: &str) -> Result<(), Diagnostics> {
        let Some(available) = Available::now() else { return Ok(()) };
        let peak = self.peak(at_once);
        if peak <= available.bytes {
            return Ok(());
        }
        let fits = (1..at_once).rev().find(|&fewer| self.peak(fewer) <= available.bytes);
        let hint = match fits {
            Some(fit) => {
                format!(
                    "{} at once would fit in memory: {fewer}",
                    numbers::counted(fit as u64, "run")
                )
            }
            None => format!(
                "one run takes {}: use a smaller drive, or a machine with more memory",
                shown(self.peak(1))
            ),
        };
        let runs = numbers::counted(at_once as u64, "run");
        let what = format!("{runs} at once would take {} of memory; {available}", shown(peak));
        Err(Diagnostic::of(what).hint(hint).into())
    }
}

/// Returns the number of runs that execute concurrently, of `runs` in all. A single run starts no
/// threads.
pub fn at_once(runs: usize) -> usize {
    if runs <= 1 { runs } else { runs.min(rayon::current_num_threads()) }
}

/// Refuses a run with `copies` copies of a drive if they do not fit in memory.
pub fn refuse_run(drive: &Resolved, copies: u64) -> Result<(), Diagnostics> {
    refuse(drive, |memory| memory.most().max(memory.drive() * copies))
}

/// Refuses a drive if the machine has too little free memory to simulate it. `of` selects the
/// number of bytes to check from the drive's memory requirements.
pub fn refuse(drive: &Resolved, of: impl Fn(&Memory) -> Bytes) -> Result<(), Diagnostics> {
    let Some(available) = Available::now() else { return Ok(()) };
    let of = |config: &Config, layout: &Layout| of(&Memory::of(config, layout));
    let peak = of(&drive.config, &drive.layout);
    if peak <= available.bytes {
        return Ok(());
    }
    let what = format!("the drive would take {} of memory; {available}", shown(peak));
    let blocks = drive.config.geometry.blocks_per_plane;
    let fits = |blocks: &u32| {
        let mut smaller = drive.config.clone();
        smaller.geometry.blocks_per_plane = *blocks;
        smaller.layout().is_ok_and(|layout| of(&smaller, &layout) <= available.bytes)
    };
    let hint = match (0..32).map(|halved| blocks >> halved).find(fits) {
        Some(fit) => {
            format!("geometry.blocks_per_plane = {fit} would fit into memory; it is {blocks}")
        }
        None => "use a smaller drive, or a machine with more memory".into(),
    };
    Err(Diagnostic::new(&drive.device, what).hint(hint).into())
}

fn shown(bytes: Bytes) -> String {
    numbers::bytes(bytes.0)
}

/// The host memory that is available to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// Number of bytes of host memory that are available.
    pub bytes: Bytes,
    /// Name of the limit that determines the available memory, such as that of the control group.
    limit: &'static str,
}

impl std::fmt::Display for Available {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} are available ({})", shown(self.bytes), self.limit)
    }
}

impl Available {
    /// Returns the host memory that is available now; `None` if the system does not say.
    ///
    /// Common libraries know the memory of the machine and the limit of the outermost control
    /// group. Batch systems set that of an inner one, so Fowler reads them all.
    pub fn now() -> Option<Available> {
        let all = [
            (machine(), "free memory of the machine"),
            (groups(Path::new("/sys/fs/cgroup")), "limit of the control group"),
            (addresses(), "limit of the address space, ulimit -v"),
        ];
        let known =
            all.into_iter().filter_map(|(bytes, limit)| Some(Available { bytes: bytes?, limit }));
        known.min_by_key(|it| it.bytes)
    }
}

/// Returns the memory in bytes that the machine can give without swapping.
fn machine() -> Option<Bytes> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(Bytes(kib.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.saturating_mul(1024)))
}

/// Returns the bytes left below the process's address-space limit (`ulimit -v`).
fn addresses() -> Option<Bytes> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, getrlimit};
        let limit = getrlimit(Resource::As).current?;
        let text = read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = text.split(' ').next()?.parse().ok()?;
        let taken = pages.saturating_mul(rustix::param::page_size() as u64);
        Some(Bytes(limit.saturating_sub(taken)))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns the smallest number of bytes left below the memory limits of this process's control
/// group and its ancestors. `root` is their mount point.
fn groups(root: &Path) -> Option<Bytes> {
    let text = read_to_string("/proc/self/cgroup").ok()?;
    let of = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let path = path.trim_start_matches('/');
        match controllers {
            "" => least(root, path, ["memory.max", "memory.current", ""]),
            _ if controllers.split(',').any(|it| it == "memory") => least(
                &root.join("memory"),
                path,
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_"],
            ),
            _ => None,
        }
    };
    text.lines().filter_map(of).min()
}

/// Returns the fewest bytes that the memory control group at `path` and its ancestors leave free:
/// the limit less the memory in use, without the page cache, which the system can drop. In a
/// container only the root of `path` may be visible. `prefix` begins the names of recursive totals
/// in `memory.stat`.
fn least(root: &Path, path: &str, [limit, usage, prefix]: [&str; 3]) -> Option<Bytes> {
    let mut folders: Vec<PathBuf> = vec![root.to_path_buf()];
    for part in Path::new(path).components() {
        let inner = folders.last()?.join(part);
        folders.push(inner);
    }
    let left = |folder: &PathBuf| {
        let number =
            |name: &str| read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let files = stat.lines().filter_map(|line| {
            let (name, value) = line.strip_prefix(prefix)?.split_once(' ')?;
            let counts = ["active_file", "inactive_file"].contains(&name);
            counts.then(|| value.trim().parse::<u64>().ok())?
        });
        let used = number(usage)?.saturating_sub(files.sum());
        Some(Bytes(number(limit)?.saturating_sub(used)))
    };
    folders.iter().filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    /// The binding limit may be that of any ancestor of the control group.
    #[test]
    fn the_group_that_leaves_least_decides() {
        let names = ["memory.max", "memory.current", ""];
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("batch/job");
        create_dir_all(&inner).unwrap();
        let group = |folder: &Path, max: &str, current: u64, files: u64| {
            write(folder.join(names[0]), format!("{max}\n")).unwrap();
            write(folder.join(names[1]), format!("{current}\n")).unwrap();
            write(
                folder.join("memory.stat"),
                format!("anon 7\nactive_file 1\ninactive_file {files}\n"),
            )
            .unwrap();
        };
        let least = || least(root.path(), "batch/job", names);
        assert_eq!(least(), None, "no limit is known");
        group(&inner, "max", 10, 0);
        assert_eq!(least(), None, "there is none");
        group(&inner, "1000", 300, 100);
        assert_eq!(least(), Some(Bytes(801)));
        group(&root.path().join("batch"), "900", 300, 0);
        assert_eq!(least(), Some(Bytes(601)));
        group(&root.path().join("batch"), "100", 300, 0);
        assert_eq!(least(), Some(Bytes(0)), "more is in use than allowed");
    }
}
