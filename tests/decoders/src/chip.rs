//! Commands for one die: `fowler chip`.

use crate::{refused_in_words, scratch_of};
use fowler_device::Config;
use fowler_experiment::chip::{self, Commands};
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::scheme::Scheme;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| scratch_of("chip").join("commands.csv"));
static DRIVE: LazyLock<Config> = LazyLock::new(|| {
    let source = presets::open(Folder::Devices, "pes-mlc").expect("a preset");
    let scheme = Scheme::load("pes_ips").expect("a preset");
    resolve(&source, &scheme, &DeviceSpec::default()).expect("a drive that works").config
});

fn read(text: &[u8]) -> Result<Commands, Diagnostics> {
    fs::write(&*FILE, text).expect("a folder for temporary files");
    chip::read(&FILE)
}

/// The results of accepted commands name the same commands: as commands they have the same results.
/// Each starts when it arrives or later, and ends after that.
pub fn check(input: &[u8]) -> bool {
    let commands = match read(input) {
        Ok(commands) => commands,
        Err(diagnostics) => return refused_in_words(&diagnostics),
    };
    let results = chip::chip(&DRIVE, &commands);
    let mut again = String::new();
    for (number, line) in results.lines().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let [at, op, start, done, _suspensions] = cells[..] else { panic!("{line}") };
        again += &format!("{at},{op}\n");
        if number > 0 {
            let [at, start, done] = [at, start, done].map(|it| it.parse::<u64>().expect("a time"));
            assert!(at <= start && start < done, "{line}");
        }
    }
    let again = read(again.as_bytes()).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert_eq!(chip::chip(&DRIVE, &again), results);
    true
}

pub fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 4] = [
        b"at_ns,op\n0,write\n200000,read\n450000,read\n",
        b"\xef\xbb\xbf# a remark\nat_ns,op\r\n\r\n 9 , erase \n1,program\n9223372036854775807,read\n",
        b"at_ns,op\n0,sense\n-1,read\n1,read,2\nx\n",
        b"0,read\n",
    ];
    texts.map(<[u8]>::to_vec).to_vec()
}
