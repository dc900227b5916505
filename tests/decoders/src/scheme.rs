//! Decoder of scheme files.

use crate::device::bare;
use crate::{refused_in_words, scratch_of};
use fowler_experiment::device_spec::{DeviceSpec, Source, parse_device, resolve};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::scheme::Scheme;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| scratch_of("scheme").join("scheme.toml"));
static DRIVE: LazyLock<Source> =
    LazyLock::new(|| presets::open(Folder::Devices, "pes-mlc").expect("a preset"));

/// A drive under an accepted scheme is refused, or prints as text that gives the same drive.
pub fn check(input: &[u8]) -> bool {
    fs::write(&*FILE, input).expect("a folder for temporary files");
    let scheme = Scheme::load(&FILE.display().to_string());
    let drive = scheme.and_then(|scheme| resolve(&DRIVE, &scheme, &DeviceSpec::default()));
    match drive {
        Err(diagnostics) => refused_in_words(&diagnostics),
        Ok(drive) => {
            let again = parse_device(&drive.text, "again.toml");
            let again = again.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
            assert_eq!(again.hash, drive.hash);
            true
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = bare(Folder::Schemes);
    seeds.push("join = \"rps+per\"\n[policy]\nvictim = \"fifo\"".into());
    seeds.into_iter().map(String::into_bytes).collect()
}
