//! A sweep on a machine that crashes at any moment. The test records the operations of a sweep on
//! its files, replays every prefix of them on a disk that loses, tears and reorders writes that
//! were not synced, and resumes: the folder must come out with the same bytes.
//!
//! The model is that of POSIX: only `fsync` of a file makes its bytes durable, and only `fsync` of
//! its folder makes its name durable. A rename is atomic.

use fowler_columns::store::{self, Folder};
use fowler_experiment::disk::{self, Operation};
use fowler_experiment::sweep::Plan;
use fowler_experiment::workload::Control;
use fowler_units::Rng;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

static OPERATIONS: Mutex<Vec<Operation>> = Mutex::new(Vec::new());

/// The number of crashes tried after each operation, each with another choice of lost writes.
const CRASHES: u64 = 3;

fn plan() -> Plan {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/small.toml");
    let text = format!(
        "device = '{}'\nworkload = 'demo'\nlimit = 200\nrequests = true\n[axis]\n\
         scheme = ['fifo', 'pes_ipc']\n'geometry.over_provisioning' = [0.0, 0.25]\n",
        device.display()
    );
    Plan::read(&text, "sweep.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn run(path: &Path, plan: &Plan) {
    let folder = Folder::open(path, plan).unwrap_or_else(|why| panic!("{why}"));
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| () };
    let todo = folder.missing(false).unwrap_or_else(|why| panic!("{why}"));
    store::run(&folder, plan, &todo, Some(1), control, &|_| ()).unwrap();
    assert_eq!(folder.missing(false).unwrap(), [0_usize; 0]);
}

/// Returns every file below a folder with its bytes, by its name there.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(folder).unwrap().to_path_buf();
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

/// A file: its bytes, and the number of its bytes that are on the disk.
#[derive(Clone, Default)]
struct Inode {
    bytes: Vec<u8>,
    synced: usize,
}

/// A change of names that is not on the disk yet.
#[derive(Clone)]
struct Change {
    removes: Option<PathBuf>,
    adds: Option<(PathBuf, usize)>,
}

/// A disk, with the data that the system holds in memory for it.
#[derive(Clone, Default)]
struct Disk {
    inodes: Vec<Inode>,
    /// Names as programs see them.
    seen: BTreeMap<PathBuf, usize>,
    /// Names on the disk.
    durable: BTreeMap<PathBuf, usize>,
    pending: Vec<Change>,
}

impl Disk {
    /// Returns true if an operation changes anything. Folders are always there.
    fn knows(operation: &Operation) -> bool {
        use Operation::{CreateFolder, Examine, List, Open, Read};
        !matches!(operation, CreateFolder(_) | List(_) | Examine(_) | Open(_) | Read(_))
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(path) => {
                self.inodes.push(Inode::default());
                let inode = self.inodes.len() - 1;
                self.change(Change { removes: None, adds: Some((path.clone(), inode)) });
            }
            Operation::Write(path, bytes) => {
                // Data written to a removed file is gone.
                if let Some(&inode) = self.seen.get(path) {
                    self.inodes[inode].bytes.extend_from_slice(bytes);
                }
            }
            Operation::Sync(path) => {
                let inode = &mut self.inodes[self.seen[path]];
                inode.synced = inode.bytes.len();
            }
            Operation::Rename(from, to) => {
                let adds = Some((to.clone(), self.seen[from]));
                self.change(Change { removes: Some(from.clone()), adds });
            }
            Operation::Remove(path) => {
                self.change(Change { removes: Some(path.clone()), adds: None });
            }
            Operation::SyncFolder(folder) => {
                let (done, left): (Vec<Change>, Vec<Change>) =
                    std::mem::take(&mut self.pending).into_iter().partition(|it| it.is_in(folder));
                done.iter().for_each(|change| change.apply(&mut self.durable));
                self.pending = left;
            }
            reading => unreachable!("{reading:?} changes nothing"),
        }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.pending.push(change);
    }

    /// Returns the files after a crash: any of the pending names may be there or not, and of each
    /// file any part that was not synced may be missing or zeros.
    fn crash(&self, rng: &mut Rng) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut names = self.durable.clone();
        for change in &self.pending {
            if rng.chance(0.5) {
                change.apply(&mut names);
            }
        }
        let mut after = |inode: &Inode| {
            let mut bytes = inode.bytes.clone();
            let unsynced = bytes.len() - inode.synced;
            let kept = inode.synced + rng.below(unsynced as u64 + 1) as usize;
            if rng.chance(0.5) {
                bytes.truncate(kept)
            } else {
                bytes[kept..].fill(0)
            }
            bytes
        };
        names.into_iter().map(|(name, inode)| (name, after(&self.inodes[inode]))).collect()
    }
}

impl Change {
    fn is_in(&self, folder: &Path) -> bool {
        let adds = self.adds.as_ref().map(|(path, _)| path);
        adds.or(self.removes.as_ref()).is_some_and(|path| path.parent() == Some(folder))
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        if let Some(path) = &self.removes {
            names.remove(path);
        }
        if let Some((path, inode)) = &self.adds {
            names.insert(path.clone(), *inode);
        }
    }
}

// Slow: a sweep is resumed after a crash at each of its operations on files.
#[test]
fn a_sweep_resumes_to_the_same_bytes_after_a_crash_at_any_moment() {
    disk::observe(|operation| {
        OPERATIONS.lock().unwrap().push(operation.clone());
        Ok(usize::MAX)
    });
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("columns").join("crashes");
    let _absent = fs::remove_dir_all(&root);
    let (whole, crashed) = (root.join("whole"), root.join("crashed"));
    let plan = plan();
    run(&whole, &plan);
    let mut operations = std::mem::take(&mut *OPERATIONS.lock().unwrap());
    operations.retain(Disk::knows);
    let syncs = operations.iter().filter(|it| matches!(it, Operation::Sync(_))).count();
    assert!(syncs > 8, "{syncs} files: too little is tested");
    let expected = contents(&whole);
    let mut disk = Disk::default();
    for (number, operation) in operations.iter().enumerate() {
        disk.apply(operation);
        for crash in 0..CRASHES {
            let mut rng = Rng::stream(crash, &format!("crash after {number}"));
            let _absent = fs::remove_dir_all(&crashed);
            for folder in ["points", "requests"] {
                fs::create_dir_all(crashed.join(folder)).unwrap();
            }
            for (path, bytes) in disk.crash(&mut rng) {
                fs::write(crashed.join(path.strip_prefix(&whole).unwrap()), bytes).unwrap();
            }
            run(&crashed, &plan);
            assert!(
                contents(&crashed) == expected,
                "crash {crash} after operation {number}, {operation:?}: other bytes"
            );
        }
    }
    fs::remove_dir_all(&root).unwrap();
}
