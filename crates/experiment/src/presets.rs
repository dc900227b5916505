//! The presets: devices, workloads and schemes, each a TOML file in `presets/`.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::MAX_BYTES;
use crate::field::nearest;
use crate::text_file;
use std::path::{MAIN_SEPARATOR, Path};

/// The text of a drive, workload or scheme, from a file or a preset, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the preset or path of the file, in messages.
    pub name: String,
    /// TOML text of the preset or file.
    pub text: String,
}

/// A file of `presets/`, compiled into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name of the preset on the command line.
    pub name: &'static str,
    /// TOML text of the preset.
    pub text: &'static str,
}

impl Preset {
    /// Returns the description of the preset: the first line of its file, which is a comment.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or("").trim_start_matches('#').trim()
    }
}

/// The kinds of preset, each of which is a folder of `presets/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// Presets of drives.
    Devices,
    /// Presets of generated workloads.
    Workloads,
    /// Presets of schemes: sets of policy choices.
    Schemes,
}

macro_rules! presets {
    ($($NAME:ident in $folder:literal: $($preset:literal),+;)+) => { $(
        const $NAME: &[Preset] = &[$(Preset {
            name: $preset,
            text: include_str!(concat!("../../../presets/", $folder, "/", $preset, ".toml")),
        }),+];
    )+ };
}

presets! {
    DEVICES in "devices": "pes-slc", "pes-mlc", "tlc", "rhio", "hire", "ready-32", "ready-128",
        "da-raid5", "together", "nvme-pe8110", "nvme-pm9a3", "nvme-7450", "nvme-p5520",
        "nvme-980pro", "sata-860pro";
    WORKLOADS in "workloads": "demo", "random-read", "random-write", "mixed-70-30", "quarter",
        "f1", "f2", "dap", "msn", "c3", "c8", "financial1-excerpt", "fin1", "fin2",
        "ready-proxy", "ready-proj", "ready-exchange", "ready-map", "ready-msnfs",
        "msr-hm0", "msr-mds0", "msr-prn0", "msr-proj0", "msr-prxy0", "msr-rsrch0", "msr-src1-2", "msr-src2-0",
        "msr-src2-2", "msr-stg0", "msr-stg1", "msr-ts0", "msr-usr0", "msr-wdev0", "msr-web0", "da-win7", "da-rhel",
        "da-financial", "da-tpcc", "da-websearch";
    SCHEMES in "schemes": "fifo", "rps", "per", "pe0", "pes_ips", "pes_ipc", "noop",
        "pv_w", "rt_r", "rhio", "baseline", "hvc", "lvc", "hire", "nt", "st", "dt",
        "ready_pes", "ready_opt", "raid5", "ppc", "udl", "pe_aware", "hc", "da_raid5",
        "scrub", "all";
}

impl Folder {
    /// Every kind of preset.
    pub const ALL: [Folder; 3] = [Folder::Devices, Folder::Workloads, Folder::Schemes];

    /// Returns the noun for this kind of preset.
    pub fn word(self) -> &'static str {
        ["device", "workload", "scheme"][self as usize]
    }

    /// Returns the presets of this kind.
    pub fn presets(self) -> &'static [Preset] {
        [DEVICES, WORKLOADS, SCHEMES][self as usize]
    }
}

/// Finds the presets of that name, at most one of each kind: a drive and a scheme may share a name.
pub fn find(name: &str) -> impl Iterator<Item = (Folder, &'static Preset)> {
    Folder::ALL.into_iter().filter_map(move |folder| {
        folder.presets().iter().find(|preset| preset.name == name).map(|preset| (folder, preset))
    })
}

/// Returns the path of the file that `name` refers to, unless it is the name of a preset.
pub fn file(folder: Folder, name: &str) -> Option<&Path> {
    let preset = folder.presets().iter().any(|preset| preset.name == name);
    (!preset && (name.ends_with(".toml") || name.contains(MAIN_SEPARATOR))).then(|| name.as_ref())
}

/// Opens a preset by its name, or a file if the name is a path that ends in `.toml`.
pub fn open(folder: Folder, name: &str) -> Result<Source, Diagnostics> {
    if let Some(preset) = folder.presets().iter().find(|preset| preset.name == name) {
        return Ok(Source { name: name.into(), text: preset.text.into() });
    }
    let Some(path) = file(folder, name) else { return Err(unknown(folder, name).into()) };
    text_file::read(path, MAX_BYTES).map(|text| Source { name: name.into(), text })
}

fn unknown(folder: Folder, name: &str) -> Diagnostic {
    let word = folder.word();
    let names: Vec<&str> = folder.presets().iter().map(|preset| preset.name).collect();
    let hint = nearest(name, names.iter().copied())
        .map_or("to use a file, give a path that ends in .toml".into(), |near| {
            format!("did you mean \"{near}\"?")
        });
    Diagnostic::new("", format!("unknown {word} `{}`", crate::diagnostic::printable(name)))
        .expected(format!("one of {}", names.join(", ")))
        .hint(hint)
}
