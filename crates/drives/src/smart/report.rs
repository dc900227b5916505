//! The answer about a real drive in words, as a table and as JSON.

use super::doubts::{counted, number};
use super::interval::Interval;
use super::life::{Life, SmartAnswer};
use fowler_experiment::diagnostic::escaped;
use fowler_experiment::json_schema;
use fowler_experiment::json_schema::output::{self, Fact, written};
use fowler_experiment::provenance::VERSION;
use fowler_experiment::tables::{Cell, Sheet};
use serde_json::{Value, json};

/// Longest life that is shown as a number, in years. A drive with a longer life fails for reasons
/// other than its cells.
const LONG_YEARS: f64 = 100.0;

fn years(value: f64) -> String {
    if value > LONG_YEARS { format!("more than {LONG_YEARS}") } else { number(value) }
}

/// Returns the range of a quantity in words, with numbers as `print` writes them.
fn range(interval: Interval, print: fn(f64) -> String) -> String {
    let low = print(interval.low);
    match interval.high.map(print) {
        Some(high) if interval.low == 0.0 && high != low => format!("at most {high}"),
        Some(high) if high == low => low,
        Some(high) => format!("{low} to {high}"),
        None => format!("at least {low}"),
    }
}

impl SmartAnswer {
    /// Returns the identity of the drive as text for people; empty if the logs do not name it.
    pub fn drive(&self) -> String {
        let now = &self.logs.now;
        let parts: Vec<String> = [now.model.clone(), now.drive()].into_iter().flatten().collect();
        escaped(&parts.join(", ")).into_owned()
    }

    /// Returns the answer about the drive's life in one or two sentences.
    pub fn verdict(&self) -> String {
        let now = &self.logs.now;
        let tb = |it: Interval| number(it.value.unwrap_or(it.low) / 1e12);
        let hours = now.hours.map(|it| format!("{} h of power-on time", counted(it.low.floor())));
        let drive = self.drive();
        let mut text = if drive.is_empty() { drive } else { drive + ": " };
        text += &match (now.host, &hours) {
            (Some(host), Some(hours)) => format!("{} TB written in {hours}", tb(host)),
            (Some(host), None) => format!("{} TB written", tb(host)),
            (None, Some(hours)) => hours.clone(),
            (None, None) => "neither bytes of the host nor hours are known".to_string(),
        };
        if let Some(rate) = self.per_day.filter(|it| it.value.is_some()) {
            text += &format!(", {} TB a day", tb(rate));
        }
        if let Some(rate) = self.lately_per_day.filter(|it| it.value.is_some()) {
            text += &format!(" ({} TB a day between the earlier and the later log)", tb(rate));
        }
        if let Some(value) = self.waf.and_then(|waf| waf.value) {
            text += &format!(", WAF {}", number(value));
        }
        let lives = self.lives.iter();
        let lives: Vec<String> =
            lives.map(|it| format!("{} by {}", range(it.years, years), it.by)).collect();
        text += &match lives.is_empty() {
            true => ". How many years are left is not known.".to_string(),
            false => format!(". Power-on years left: {}.", lives.join(", ")),
        };
        // A reader who stops after the verdict must know of the doubts.
        if self.doubts.is_empty() { text } else { text + " The counters are doubtful: see below." }
    }

    /// Returns the answer about the drive's life as a table.
    pub fn sheet(&self) -> Sheet {
        let drive = self.drive();
        let drive = if drive.is_empty() { "the drive" } else { &drive };
        let title = format!("Counters of {drive}, and the life that is left");
        let mut sheet = Sheet::new("smart", title, &["quantity", "value", "range", "how"]);
        let mut row = |name: &str, value: Option<Interval>, unit: f64, how: &str| {
            let Some(value) = value else { return };
            let value = value.times(1.0 / unit);
            let shown = value.value.map_or(Cell::Nothing, |it| Cell::Text(number(it)));
            sheet.row(vec![name.into(), shown, range(value, number).into(), how.into()]);
        };
        let now = &self.logs.now;
        row(
            "written by the host (TB)",
            now.host,
            1e12,
            "10^12 bytes; a counter that is rounded is a range",
        );
        row("power-on hours", now.hours, 1.0, "whole hours");
        row("written in a day (TB)", self.per_day, 1e12, "over 24 power-on hours");
        if let Some(lately) = &self.lately {
            row(
                "between the logs: written (TB)",
                lately.host,
                1e12,
                "the later log less the earlier one",
            );
            row("between the logs: hours", lately.hours, 1.0, "power-on hours");
            row(
                "between the logs: in a day (TB)",
                self.lately_per_day,
                1e12,
                "over 24 power-on hours",
            );
        }
        if let Some((bytes, how)) = &self.capacity {
            row("capacity (GB)", Some(Interval::exact(*bytes)), 1e9, how);
        }
        row("drive writes a day", self.drive_writes(), 1.0, "of the capacity");
        row("written to the flash (TB)", now.media, 1e12, "the drive's own counter");
        row("WAF", self.waf, 1.0, "written to the flash for each byte of the host");
        row("between the logs: WAF", self.lately_waf, 1.0, "as WAF");
        row(
            "percentage used",
            now.used,
            1.0,
            "the drive's own estimate; how it is rounded is not specified",
        );
        for life in &self.lives {
            let Life { by, years: left, how } = life;
            let shown = left.value.map_or(Cell::Nothing, |it| Cell::Text(years(it)));
            let name = format!("years left by {by}");
            sheet.row(vec![name.into(), shown, range(*left, years).into(), how.clone().into()]);
        }
        sheet
    }

    /// Returns the answer of `fowler endurance --smart` (bytes written, write amplification, years
    /// left) as one JSON object. Unknown numbers are null; there are no infinities.
    pub fn json(&self) -> Value {
        written(&facts(), self)
    }
}

/// Returns the JSON schema of `fowler endurance --smart`: of `summary.json` and `--json`.
pub fn schema() -> Value {
    let about = "The life of a real drive by its SMART counters. Unknown values are null.";
    json_schema::document("Fowler: the counters of a drive", about, output::schema(&facts()))
}

/// Returns the JSON schema of a quantity that may be null.
fn quantity() -> Value {
    let number = json!({ "type": "number", "minimum": 0 });
    let maybe = json!({ "type": ["number", "null"], "minimum": 0 });
    json!({
        "type": ["object", "null"],
        "properties": { "value": maybe, "low": number, "high": maybe },
        "required": ["value", "low", "high"],
        "additionalProperties": false,
    })
}

fn of(interval: Interval) -> Value {
    json!({ "value": interval.value, "low": interval.low, "high": interval.high })
}

fn ranged(
    name: &'static str,
    about: &str,
    read: impl Fn(&SmartAnswer) -> Option<Interval> + 'static,
) -> Fact<SmartAnswer> {
    let about = format!(
        "{about} `value` follows from the SMART counters as they are; `low` to `high` is the \
         range of possible values, and a `high` of null means no upper bound."
    );
    Fact::new(name, about, move |it: &SmartAnswer| read(it).map_or(Value::Null, of))
        .like(quantity())
}

fn facts() -> Vec<Fact<SmartAnswer>> {
    type It = SmartAnswer;
    let mut facts = vec![
        Fact::new("serial_number", "Serial number of the drive.", |it: &It| {
            it.logs.now.serial.clone()
        }),
        Fact::new("name", "Name of the device in the log, such as `/dev/nvme0`.", |it: &It| {
            it.logs.now.name.clone()
        }),
        Fact::new("model", "Model of the drive.", |it: &It| it.logs.now.model.clone()),
        Fact::new(
            "logs",
            "Logs that the counters are from: file, line and kind of each.",
            |it: &It| it.logs.sources.clone(),
        ),
        ranged("written_bytes", "Bytes that the host has written.", |it| it.logs.now.host),
        ranged("power_on_hours", "Power-on hours of the drive.", |it| it.logs.now.hours),
        ranged("written_bytes_per_day", "Bytes that the host writes in 24 power-on hours.", |it| {
            it.per_day
        }),
    ];
    facts.extend(since());
    facts.extend([
        Fact::new("capacity_bytes", "Capacity that the host sees, in bytes.", |it: &It| {
            it.capacity.as_ref().map(|it| it.0)
        }),
        ranged(
            "drive_writes_per_day",
            "Drive writes per day (DWPD), by power-on hours.",
            It::drive_writes,
        ),
        ranged("media_bytes", "Bytes that the drive has written to its flash.", |it| {
            it.logs.now.media
        }),
        ranged("waf", "Bytes written to the flash per byte of the host.", |it| it.waf),
        ranged(
            "percentage_used",
            "Share of its life that the drive reports as used, in percent.",
            |it| it.logs.now.used,
        ),
        ranged("erases", "Mean number of erases of a block.", |it| it.logs.now.erases),
        ranged(
            "endurance_estimate_bytes",
            "Bytes that its flash endures, as the drive reports.",
            |it| it.logs.now.estimate,
        ),
        Fact::new("tbw_bytes", "Bytes that the host may write by warranty (--tbw).", |it: &It| {
            it.question.tbw
        }),
        Fact::new("given_waf", "Write amplification given by --waf.", |it: &It| it.question.waf),
        Fact::new("device", "Drive given by --device, as simulated.", |it: &It| {
            it.question.model.as_ref().map(|it| it.device.clone())
        }),
        Fact::new("cycles", "Rated P/E cycles of the drive given by --device.", |it: &It| {
            it.question.model.as_ref().and_then(|it| it.cycles)
        }),
        Fact::list("years_left", "Power-on years left, by measure of life.", of_life, |it: &It| {
            &it.lives
        }),
        Fact::new("doubts", "Implausible counters, as sentences.", |it: &It| it.doubts.clone()),
        Fact::new("notes", "Counters without information; answers left out.", |it: &It| {
            it.notes.clone()
        }),
        Fact::new("version", "The version of Fowler.", |_: &It| VERSION),
    ]);
    facts
}

/// Returns the fields of the JSON on a real drive that describe the time between two SMART logs.
fn since() -> Vec<Fact<SmartAnswer>> {
    type It = SmartAnswer;
    vec![
        Fact::new("has_earlier_log", "True if there is an earlier log.", |it: &It| {
            it.lately.is_some()
        }),
        ranged("since_written_bytes", "Bytes that the host wrote between the two logs.", |it| {
            it.lately.as_ref()?.host
        }),
        ranged("since_power_on_hours", "Power-on hours between the two logs.", |it| {
            it.lately.as_ref()?.hours
        }),
        ranged(
            "since_written_bytes_per_day",
            "Bytes that the host wrote in 24 power-on hours, between the two logs.",
            |it| it.lately_per_day,
        ),
        ranged("since_waf", "Write amplification between the two logs.", |it| it.lately_waf),
    ]
}

fn of_life() -> Vec<Fact<Life>> {
    let years = |name: &'static str, about: &'static str, read: fn(&Life) -> Option<f64>| {
        Fact::new(name, about, read)
    };
    vec![
        Fact::new("by", "Measure of life, such as TBW.", |it: &Life| it.by),
        years("value", "Power-on years left, from the numbers that the counters state.", |it| {
            it.years.value
        }),
        Fact::new(
            "low",
            "Fewest power-on years left, given the steps of the counters.",
            |it: &Life| it.years.low,
        ),
        years("high", "Most power-on years left; null without a bound.", |it| it.years.high),
        Fact::new("how", "Formula and rate behind the years, in words.", |it: &Life| {
            it.how.clone()
        }),
    ]
}
