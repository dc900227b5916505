//! Text of `nvme smart-log`, `nvme endurance-log`, `nvme ocp smart-add-log` and `smartctl -a`: a
//! line `name : value` for each counter, below a line that names the device.
//!
//! nvme-cli prints `data_units_written : 64,663,716` in versions 1.x, and behind it the size,
//! `(33.11 TB)`, in 2.x; smartctl prints `Data Units Written: 64,663,716 [33.1 TB]`. The size must
//! be that of the counter: a log in which it is not was edited, or has another unit.

use super::counter::whole;
use super::log::{EXPECTED, Layout, SmartLog};
use super::nvme::{DATA_UNIT, Fields};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// Counters that are read from the text output of nvme-cli or smartctl. Each occurs once in a log.
const COUNTERS: [&str; 14] = [
    "data_units_written",
    "media_units_written",
    "mediate_write_commands",
    "host_write_commands",
    "host_write_cmds",
    "power_on_hours",
    "percentage_used",
    "percent_used",
    "endurance_estimate",
    "physical_media_units_written",
    "nand_avg_erase_count",
    "total_nvm_capacity",
    "namespace_1_size_capacity",
    "critical_warning",
];
/// Keys that name the drive, as smartctl prints them.
const NAMES: [&str; 2] = ["serial_number", "model_number"];

/// Heading lines of SMART logs in text: the beginning of the line in lower case, then the text that
/// follows the device name in the line, if the line has a device name.
const HEADINGS: [(&str, Option<&str>); 6] = [
    ("smart log for nvme device:", Some(" namespace-id")),
    ("endurance group log for nvme device:", Some(" group id")),
    ("smart cloud attributes for nvme device", Some("\n")),
    ("smart cloud attributes", None),
    ("additional smart log for nvme device:", Some(" namespace-id")),
    ("=== start of information section", None),
];

/// A SMART or health log in a text: its device, and its lines by key.
#[derive(Default)]
struct Block<'a> {
    line: u64,
    device: Option<String>,
    /// True if values follow dashes or blanks instead of colons, as in `nvme ocp smart-add-log`.
    is_cloud: bool,
    values: BTreeMap<String, (u64, &'a str, &'a str)>,
}

/// Returns the SMART and health logs in a text.
pub(super) fn logs(text: &str, file: &str) -> Result<Vec<SmartLog>, Diagnostics> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number as u64 + 1;
        if let Some(block) = heading(line, number) {
            blocks.push(block);
            continue;
        }
        let is_cloud = blocks.last().is_some_and(|block| block.is_cloud);
        let Some((key, value)) = pair(line, is_cloud) else { continue };
        let is_again = |block: &Block<'_>| block.values.contains_key(&key);
        if blocks.last().is_none_or(is_again) {
            blocks.push(Block { line: number, is_cloud, ..Block::default() });
        }
        let block = blocks.last_mut().expect("there is one");
        block.values.insert(key, (number, value, line));
    }
    let mut wrong = Diagnostics::default();
    let mut logs = Vec::new();
    for block in &blocks {
        if let Some(layout) = block.layout() {
            logs.extend(wrong.take(block.log(layout, file)));
        }
    }
    if logs.is_empty() && wrong.0.is_empty() {
        wrong.push(none(text, file));
    }
    wrong.or(logs)
}

/// Returns an empty log if the line, of the text output of nvme-cli, is the heading of a SMART or
/// health log.
fn heading(line: &str, number: u64) -> Option<Block<'static>> {
    let line = line.trim();
    let small = line.to_ascii_lowercase();
    let (start, end) = HEADINGS.iter().find(|(start, _)| small.starts_with(start))?;
    let device = end.and_then(|end| {
        let rest = line[start.len()..].trim_start_matches([' ', ':', '-']);
        let cut = rest.to_ascii_lowercase().find(end).unwrap_or(rest.len());
        Some(rest[..cut].trim().to_string()).filter(|device| !device.is_empty())
    });
    let is_cloud = small.contains("cloud") || small.starts_with("additional");
    Some(Block { line: number, device, is_cloud, values: BTreeMap::new() })
}

/// Returns the key and the value of a line in the text output of `nvme` or `smartctl`; `None` for a
/// line without a name that is known. `is_cloud` is true for an OCP (cloud) log.
fn pair(line: &str, is_cloud: bool) -> Option<(String, &str)> {
    let (name, value) = match line.split_once(':') {
        Some((name, value)) => (name, value),
        // `  Physical media units written -            0 2068700589752320`
        None if is_cloud => {
            let end = line.find(|c: char| c.is_ascii_digit())?;
            line.split_at(end)
        }
        None => return None,
    };
    let key = key(name);
    let is_known = COUNTERS.contains(&key.as_str()) || NAMES.contains(&key.as_str());
    is_known.then(|| (key, value.trim()))
}

/// Returns the name of a counter in lower case with underscores, like the keys of JSON logs.
pub(super) fn key(name: &str) -> String {
    let mut key = String::new();
    for c in name.chars() {
        match c {
            _ if c.is_ascii_alphanumeric() => key.push(c.to_ascii_lowercase()),
            _ if key.is_empty() || key.ends_with('_') => {}
            _ => key.push('_'),
        }
    }
    key.truncate(key.trim_end_matches('_').len());
    key
}

impl Block<'_> {
    fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Returns the kind of log that has the counters read so far; `None` if no kind has them.
    fn layout(&self) -> Option<Layout> {
        let is_group = ["media_units_written", "mediate_write_commands"];
        if self.has("physical_media_units_written") {
            Some(Layout::OcpExtended)
        } else if is_group.iter().any(|key| self.has(key)) {
            Some(Layout::NvmeEnduranceGroup)
        } else {
            let health = ["data_units_written", "percentage_used"];
            health.iter().any(|key| self.has(key)).then_some(Layout::NvmeHealth)
        }
    }

    fn log(&self, layout: Layout, file: &str) -> Result<SmartLog, Diagnostics> {
        let name = |key: &str| self.values.get(key).map(|(_, value, _)| (*value).to_string());
        let log = SmartLog {
            serial: name("serial_number").filter(|it| !it.is_empty()),
            model: name("model_number").filter(|it| !it.is_empty()),
            name: self.device.clone(),
            ..SmartLog::new(layout, file, self.line)
        };
        let get = |key: &str| match self.values.get(key) {
            None => Ok(None),
            Some((number, value, line)) => counter(key, value, layout).map(Some).map_err(|what| {
                let expected = "a whole number, which may have thousands separators";
                let wrong = Diagnostic::new(file, what).line(*number).text(line.trim());
                Diagnostics::from(wrong.expected(expected))
            }),
        };
        Fields { log, get: &get, wrong: Diagnostics::default() }.read()
    }
}

fn counter(key: &str, value: &str, layout: Layout) -> Result<f64, String> {
    if key == "physical_media_units_written" && !value.contains(',') {
        // The halves of 128 bits, the upper one first.
        let mut halves = value.split_whitespace();
        if let (Some(hi), Some(lo), None) = (halves.next(), halves.next(), halves.next()) {
            let parts = serde_json::json!({ "hi": hi, "lo": lo });
            return super::counter::of_json(&parts);
        }
    }
    let (count, rest) = whole(value)?;
    if key == "data_units_written" && layout == Layout::NvmeHealth {
        same_size(count * DATA_UNIT, rest)?;
    }
    Ok(count)
}

/// Checks a counter in the text output of nvme-cli or smartctl against the size in brackets behind
/// it, which is rounded to two or three digits.
fn same_size(bytes: f64, rest: &str) -> Result<(), String> {
    let inside = rest.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']).trim();
    let Some((digits, unit)) = inside.rsplit_once([' ', '\u{a0}']) else { return Ok(()) };
    let units = [("B", 1.0), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
    let larger = [("PB", 1e15), ("EB", 1e18)];
    let unit = units.iter().chain(&larger).find(|(name, _)| *name == unit.trim());
    let size: Option<f64> = digits.trim().replace(',', ".").parse().ok();
    let (Some((_, unit)), Some(size)) = (unit, size) else { return Ok(()) };
    let printed = size * unit;
    let is_near = (printed - bytes).abs() <= 0.06 * bytes.max(printed);
    if is_near || bytes < 1e6 {
        return Ok(());
    }
    Err(format!(
        "the counter stands for {bytes:.3e} B, but the size behind it, in brackets, is {printed:.3e} B"
    ))
}

/// Returns the error for a text without a SMART log.
fn none(text: &str, file: &str) -> Diagnostic {
    let has = |part: &str| text.to_ascii_lowercase().contains(part);
    let first = text.lines().position(|line| !line.trim().is_empty()).unwrap_or(0);
    let line = text.lines().nth(first).unwrap_or_default();
    let (what, hint) = if has("attribute_name") && has("raw_value") {
        (
            "the attributes of a SATA drive as text, whose units are not in the text",
            Some("save `smartctl -j -x` instead"),
        )
    } else if has("additional smart log") || has("nand_bytes_written") {
        (
            "an additional log of the vendor, whose units this reader does not know",
            Some(
                "save `nvme smart-log -o json` and, if the drive has it, `nvme ocp smart-add-log -o json`",
            ),
        )
    } else if text.lines().any(|line| line.trim_start().starts_with('{')) {
        ("text before JSON", Some("remove the lines before the first `{`"))
    } else {
        (
            "this is not a SMART log: no `data_units_written`, `percentage_used` or `physical_media_units_written` is in it",
            None,
        )
    };
    Diagnostic::new(file, what)
        .line(first as u64 + 1)
        .text(line.trim())
        .expected(EXPECTED)
        .hint(hint.map(String::from))
}
