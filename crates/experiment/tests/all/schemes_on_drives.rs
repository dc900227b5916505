//! Every scheme on every drive of the presets: it works, works with keys, or is refused with its
//! reason, as a table in `docs/schemes.md` says; and what works runs.

use fowler_experiment::compatibility::{Compatibility, Reasons, schemes_on};
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::presets::{Folder, Preset, open};
use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
use fowler_experiment::warnings::warnings;
use fowler_experiment::workload::{Control, WorkloadSpec};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The lines of the page around the table.
const BEGIN: &str = "<!-- FOWLER_DOCS=write cargo test -p fowler-experiment: from here -->\n";
const END: &str = "<!-- to here -->\n";

const REQUESTS: u64 = 20_000;

fn spec(preset: &Preset) -> DeviceSpec {
    DeviceSpec { device: preset.name.into(), ..DeviceSpec::default() }
}

/// Drives on which all schemes have the same answers, and these answers.
struct Column {
    drives: Vec<&'static str>,
    schemes: Vec<Compatibility>,
}

fn columns() -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for preset in Folder::Devices.presets() {
        let schemes = schemes_on(&spec(preset)).unwrap();
        let same = |it: &&mut Column| {
            it.schemes.iter().zip(&schemes).all(|(one, other)| one.needs == other.needs)
        };
        match columns.iter_mut().find(same) {
            Some(column) => column.drives.push(preset.name),
            None => columns.push(Column { drives: vec![preset.name], schemes }),
        }
    }
    columns
}

/// Returns the table with its footnotes: a letter for keys, a number for a reason.
fn table() -> String {
    let (columns, mut reasons, mut keys) = (columns(), Reasons::default(), Vec::new());
    let mut text = String::from("| scheme on |");
    for column in &columns {
        write!(text, " `{}` |", column.drives.join("`, `")).unwrap();
    }
    text += &format!("\n|---|{}\n", "---|".repeat(columns.len()));
    for (row, scheme) in Folder::Schemes.presets().iter().enumerate() {
        write!(text, "| `{}` |", scheme.name).unwrap();
        for column in &columns {
            write!(text, " {} |", cell(&column.schemes[row], &mut keys, &mut reasons)).unwrap();
        }
        text += "\n";
    }
    text += "\nKeys:\n\n";
    for (letter, flags) in ('a'..).zip(&keys) {
        writeln!(text, "- **{letter}**: `{flags}`").unwrap();
    }
    text += "\nReasons:\n\n";
    for (number, reason) in reasons.numbered() {
        writeln!(text, "{number}. {reason}").unwrap();
    }
    text
}

fn cell(scheme: &Compatibility, keys: &mut Vec<String>, reasons: &mut Reasons) -> String {
    if scheme.works() {
        return "yes".into();
    }
    if let Some(flags) = scheme.flags() {
        let known = keys.iter().position(|it| *it == flags).unwrap_or(keys.len());
        if known == keys.len() {
            keys.push(flags);
        }
        return format!("with **{}**", ('a'..).nth(known).unwrap());
    }
    let numbers: Vec<String> = reasons.of(scheme).iter().map(ToString::to_string).collect();
    format!("no: {}", numbers.join(", "))
}

/// `FOWLER_DOCS=write` writes the table anew.
#[test]
#[allow(clippy::disallowed_methods, reason = "whoever changes a scheme asks for it by name")]
fn the_documentation_says_which_scheme_works_on_which_drive() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (head, rest) = text.split_once(BEGIN).expect("the page has the table");
    let (found, tail) = rest.split_once(END).expect("the table ends");
    let expected = format!("\n{}\n", table());
    if std::env::var("FOWLER_DOCS").is_ok_and(|it| it == "write") {
        return std::fs::write(&page, format!("{head}{BEGIN}{expected}{END}{tail}")).unwrap();
    }
    assert_eq!(
        found, expected,
        "docs/schemes.md differs: FOWLER_DOCS=write cargo test -p fowler-experiment writes it"
    );
}

/// The drive with as many dies and planes, and with few and short blocks: it is filled in no time.
fn small(drive: &str) -> Vec<String> {
    let superblocks = drive.starts_with("nvme-") || drive.starts_with("sata-");
    let (blocks, pages) = if superblocks { (300, 12) } else { (128, 16) };
    let mut set = vec![
        format!("geometry.blocks_per_plane={blocks}"),
        format!("geometry.pages_per_block={pages}"),
    ];
    if drive.starts_with("pes-") {
        // As large a share of the blocks as in the preset.
        set.push("gc.background_below=8".into());
    }
    set
}

/// Part of the note on a run whose streams may find no erased superblock.
const SHORT: &str =
    "may be opened at once, one for each stream of data, and no more than that are kept erased";

/// A run with fewer erased superblocks than its streams may open at once says how many they are,
/// and with which key none has to wait; with as many and one more it says nothing.
#[test]
fn streams_that_may_find_no_erased_superblock_are_said() {
    let drive = "nvme-pm9a3";
    let schemes = schemes_on(&DeviceSpec { device: drive.into(), ..DeviceSpec::default() });
    let all = schemes.unwrap().into_iter().find(|it| it.scheme == "all").expect("a preset");
    let mut keys = all.needs.expect("it works");
    assert_eq!(keys.pop().as_deref(), Some("gc.foreground_below=10"));
    for (below, says) in [(None, true), (Some(9), true), (Some(10), false)] {
        let below = below.map(|count| format!("gc.foreground_below={count}"));
        let set = [small(drive), keys.clone(), below.into_iter().collect()].concat();
        let device = DeviceSpec { device: drive.into(), set, ..DeviceSpec::default() };
        let demo = WorkloadSpec::Generated(open(Folder::Workloads, "demo").unwrap());
        let run = RunSpec {
            scheme: Some("all".into()),
            limit: Some(100),
            ..RunSpec::new(device, demo, ReplaySpeed::AsRecorded)
        };
        let outcome = Run::new(&run, Control::UNWATCHED).outcome().unwrap();
        let said: String = warnings(&[outcome]).into_iter().map(|it| it.text).collect();
        assert_eq!(said.contains(SHORT), says, "{said}");
        assert_eq!(said.contains("up to 9 superblocks"), says, "{said}");
        assert_eq!(said.contains("--set gc.foreground_below=10"), says, "{said}");
    }
}

// Slow: some 200 different drives, each filled and used for 20,000 requests.
#[test]
fn every_scheme_that_works_on_a_drive_runs() {
    for preset in Folder::Devices.presets() {
        let mut seen = BTreeSet::new();
        for Compatibility { scheme, needs } in schemes_on(&spec(preset)).unwrap() {
            let Ok(keys) = needs else { continue };
            let place = format!("{scheme} on {}", preset.name);
            let device = DeviceSpec { set: [small(preset.name), keys].concat(), ..spec(preset) };
            let loaded = device.scheme(Some(scheme)).unwrap();
            let resolved = resolve(&device.source().unwrap(), &loaded, &device);
            let resolved = resolved.unwrap_or_else(|wrong| panic!("{place}: {wrong}"));
            // Schemes that make the same drive have the same run.
            if !seen.insert(resolved.hash) {
                continue;
            }
            let demo = WorkloadSpec::Generated(open(Folder::Workloads, "demo").unwrap());
            let run = RunSpec {
                scheme: Some(scheme.into()),
                limit: Some(REQUESTS),
                ..RunSpec::new(device, demo, ReplaySpeed::AsRecorded)
            };
            let control = Control { stop: &AtomicBool::new(false), progress: &|_| () };
            let outcome = Run::new(&run, control).outcome();
            let outcome = outcome.unwrap_or_else(|wrong| panic!("{place}: {wrong}"));
            assert_eq!(outcome.recorder.requests(), REQUESTS, "{place}");
            assert!(outcome.laws().hold(), "{place}: {:#?}", outcome.laws());
            // The keys include enough erased superblocks for all streams.
            let said = warnings(std::slice::from_ref(&outcome));
            assert!(said.iter().all(|it| !it.text.contains(SHORT)), "{place}: {said:?}");
            // A report says what scrubbing did, on either kind of drive.
            assert_eq!(outcome.scrub.is_some(), scheme == "scrub", "{place}");
        }
    }
}
