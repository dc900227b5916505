//! JSON of `nvme` and `smartctl`: one document, several in sequence, a list, or an object of logs
//! by name.

use super::counter::field;
use super::log::{EXPECTED, Layout, SmartLog};
use super::nvme::Fields;
use super::{ata, text};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use serde_json::{Deserializer, Map, Value};

/// Largest depth of nested lists and objects of a JSON file at which SMART logs are searched for.
const DEPTH: usize = 3;
/// Largest number of SMART logs that are read from one file.
const MOST: usize = 10_000;

/// Place of a log, for messages: the file, the line on which its document begins, and the key of
/// the log in the document.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub file: &'a str,
    pub line: u64,
    pub key: Option<&'a str>,
}

impl Place<'_> {
    /// Returns an error about the SMART log at this place (line and key) of a JSON file.
    pub fn wrong(&self, what: impl Into<String>) -> Diagnostic {
        let key = self.key.map_or(String::new(), |key| format!("`{}`: ", printable(key)));
        Diagnostic::new(self.file, key + &what.into()).line(self.line)
    }
}

/// Returns the SMART logs in a text that begins as JSON.
pub(super) fn logs(text: &str, file: &str) -> Result<Vec<SmartLog>, Diagnostics> {
    let mut documents = Deserializer::from_str(text).into_iter::<Value>();
    let mut reader = Reader::default();
    let (mut at, mut line) = (0, 1);
    loop {
        // The next document begins behind the blanks that follow the last one.
        let begin = documents.byte_offset();
        let blanks = text[begin..].len() - text[begin..].trim_start().len();
        line += text[at..begin + blanks].bytes().filter(|&byte| byte == b'\n').count() as u64;
        at = begin + blanks;
        match documents.next() {
            None => break,
            Some(Ok(document)) => {
                reader.find(&document, Place { file, line, key: None }, DEPTH);
            }
            Some(Err(error)) => {
                reader.wrong.push(not_json(text, file, &error));
                break;
            }
        }
    }
    if reader.logs.len() > MOST {
        let what = format!("{} logs; at most {MOST} are read", reader.logs.len());
        reader.wrong.push(Diagnostic::new(file, what));
    }
    reader.wrong.or(reader.logs)
}

fn not_json(text: &str, file: &str, error: &serde_json::Error) -> Diagnostic {
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    let hint = error.is_eof().then(|| "the file ends early: was it cut off?".to_string());
    Diagnostic::new(file, format!("this is not JSON: {what}"))
        .line(error.line() as u64)
        .text(line.trim())
        .expected(EXPECTED)
        .hint(hint)
}

#[derive(Default)]
struct Reader {
    logs: Vec<SmartLog>,
    wrong: Diagnostics,
}

impl Reader {
    /// Searches a JSON value, at most `depth` levels deep, for SMART logs, and reads them.
    fn find(&mut self, value: &Value, place: Place<'_>, depth: usize) {
        if self.logs.len() + self.wrong.0.len() > MOST {
            return;
        }
        match value {
            Value::Array(items) if depth > 0 && !items.is_empty() => {
                items.iter().for_each(|item| self.find(item, place, depth - 1));
            }
            Value::Object(object) => self.object(object, place, depth),
            other => {
                let what = format!("`{}` is not a SMART log", printable(other.to_string()));
                self.wrong.push(place.wrong(what).expected(EXPECTED));
            }
        }
    }

    fn object(&mut self, object: &Map<String, Value>, place: Place<'_>, depth: usize) {
        let log = if let Some(health) = object.get("nvme_smart_health_information_log") {
            smartctl_nvme(object, health, place)
        } else if ata::ANY.iter().any(|key| object.contains_key(*key)) {
            ata::log(object, place)
        } else if object.contains_key("smartctl") || object.contains_key("json_format_version") {
            Err(without_data(object, place).into())
        } else if let Some((layout, plain)) = nvme_cli(object) {
            let log = SmartLog {
                name: place.key.map(String::from),
                ..SmartLog::new(layout, place.file, place.line)
            };
            fields(&plain, log, place)
        } else {
            // Logs by the name of the device, or by the time at which they were taken.
            let inner = |value: &Value| match value {
                Value::Object(inner) => is_log(inner),
                Value::Array(items) => items.iter().any(|it| it.as_object().is_some_and(is_log)),
                _ => false,
            };
            let some: Vec<_> = object.iter().filter(|(_, value)| inner(value)).collect();
            if depth > 0 && !some.is_empty() {
                for (key, value) in some {
                    self.find(value, Place { key: Some(key), ..place }, depth - 1);
                }
                return;
            }
            Err(no_log(object, place).into())
        };
        self.logs.extend(self.wrong.take(log));
    }
}

fn is_log(object: &Map<String, Value>) -> bool {
    object.contains_key("nvme_smart_health_information_log")
        || ata::ANY.iter().any(|key| object.contains_key(*key))
        || nvme_cli(object).is_some()
}

/// Returns the kind of a log of nvme-cli, and its fields under the keys of newer versions; `None`
/// if the object is no such log.
fn nvme_cli(object: &Map<String, Value>) -> Option<(Layout, Map<String, Value>)> {
    const WANTED: [&str; 12] = [
        "data_units_written",
        "media_units_written",
        "mediate_write_commands",
        "physical_media_units_written",
        "endurance_estimate",
        "host_write_commands",
        "host_write_cmds",
        "host_writes",
        "power_on_hours",
        "percentage_used",
        "percent_used",
        "nand_avg_erase_count",
    ];
    // The first version of the OCP output has names in words.
    let known = object.iter().filter_map(|(name, value)| {
        let key = text::key(name);
        WANTED.contains(&key.as_str()).then(|| (key, value.clone()))
    });
    let plain: Map<String, Value> = known.collect();
    let has = |key: &str| plain.contains_key(key);
    let layout = if has("physical_media_units_written") {
        Layout::OcpExtended
    } else if has("media_units_written") || has("mediate_write_commands") {
        Layout::NvmeEnduranceGroup
    } else if has("data_units_written") || (has("power_on_hours") && has("percent_used")) {
        Layout::NvmeHealth
    } else {
        return None;
    };
    Some((layout, plain))
}

/// Reads the counters of an NVMe health, endurance group or OCP log from the JSON object that a
/// tool such as `nvme` printed.
fn fields(
    object: &Map<String, Value>,
    log: SmartLog,
    place: Place<'_>,
) -> Result<SmartLog, Diagnostics> {
    let get = |key: &str| {
        field(object, key).map_err(|what| {
            let what = format!("`{key}`: {what}");
            Diagnostics::from(
                place
                    .wrong(what)
                    .expected("a whole number of at least 0 as the value of this SMART counter"),
            )
        })
    };
    Fields { log, get: &get, wrong: Diagnostics::default() }.read()
}

/// Returns a log with the drive's identity (serial number, model, device) from an output of
/// `smartctl -j`, without counters.
pub(super) fn identity(
    object: &Map<String, Value>,
    layout: Layout,
    place: Place<'_>,
) -> Result<SmartLog, Diagnostics> {
    let word = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).map(String::from)
    };
    let inner = |key: &str, name: &str| object.get(key).and_then(|it| it.get(name));
    let capacity = match object.get("user_capacity") {
        Some(Value::Object(capacity)) => field(capacity, "bytes"),
        _ => field(object, "nvme_total_capacity"),
    };
    let capacity = capacity.map_err(|what| place.wrong(format!("`user_capacity`: {what}")))?;
    let taken = inner("local_time", "time_t").and_then(Value::as_f64);
    Ok(SmartLog {
        serial: word(object.get("serial_number")),
        name: word(inner("device", "name")).or_else(|| place.key.map(String::from)),
        model: word(object.get("model_name")),
        taken_s: taken.filter(|seconds| (0.0..1e11).contains(seconds)),
        capacity: capacity.filter(|bytes| *bytes > 0.0),
        ..SmartLog::new(layout, place.file, place.line)
    })
}

fn smartctl_nvme(
    object: &Map<String, Value>,
    health: &Value,
    place: Place<'_>,
) -> Result<SmartLog, Diagnostics> {
    let log = identity(object, Layout::NvmeHealth, place)?;
    let Value::Object(health) = health else {
        let what = "`nvme_smart_health_information_log` is not an object";
        return Err(place.wrong(what).into());
    };
    let mut log = fields(health, log, place)?;
    let outer = hours(object, place)?;
    match (log.hours, outer) {
        (Some(own), Some(outer)) if own.value != outer.value => log.notes.push(format!(
            "`power_on_hours` is {}, and `power_on_time.hours` {}: the first is taken",
            own.low, outer.low
        )),
        (None, Some(_)) => log.hours = outer,
        _ => {}
    }
    Ok(log)
}

/// Returns the power-on hours that `smartctl -j` states for every kind of drive, to the minute if
/// the drive counts minutes.
pub(super) fn hours(
    object: &Map<String, Value>,
    place: Place<'_>,
) -> Result<Option<super::Interval>, Diagnostics> {
    let Some(Value::Object(time)) = object.get("power_on_time") else { return Ok(None) };
    let part = |key: &str| {
        let wrong = |what| place.wrong(format!("`power_on_time.{key}`: {what}"));
        field(time, key).map_err(|what: String| Diagnostics::from(wrong(what)))
    };
    let (hours, minutes) = (part("hours")?, part("minutes")?);
    Ok(hours.map(|hours| match minutes.filter(|minutes| *minutes < 60.0) {
        Some(minutes) => super::Interval::completed(hours * 60.0 + minutes, 1.0 / 60.0),
        None => super::Interval::completed(hours, 1.0),
    }))
}

/// Returns the error for an output of smartctl without counters.
fn without_data(object: &Map<String, Value>, place: Place<'_>) -> Diagnostic {
    let said = object.get("smartctl").and_then(|it| it.get("messages")).and_then(Value::as_array);
    let said = said.into_iter().flatten().filter_map(|it| it.get("string")?.as_str());
    let said: Vec<String> = said.take(3).map(printable).collect();
    let is_scsi = object.keys().any(|key| key.starts_with("scsi_"));
    let what = match (is_scsi, said.is_empty()) {
        (true, _) => "a SAS drive, whose counters this reader does not know".to_string(),
        (false, true) => "an output of smartctl without SMART data".to_string(),
        (false, false) => {
            format!("an output of smartctl without SMART data; it says: {}", said.join("; "))
        }
    };
    let hint = "save `smartctl -j -x /dev/...`, as the root user".to_string();
    place.wrong(what).expected(EXPECTED).hint(Some(hint).filter(|_| !is_scsi))
}

/// Returns the error for a JSON object that is no SMART log.
fn no_log(object: &Map<String, Value>, place: Place<'_>) -> Diagnostic {
    let has = |key: &str| object.keys().any(|name| text::key(name) == key);
    let keys: Vec<&str> = object.keys().map(String::as_str).take(6).collect();
    let keys = printable(keys.join(", "));
    let (what, hint) = if has("fio_version") {
        ("a result of fio, not a SMART log".to_string(), None)
    } else if has("nand_bytes_written") || has("device_stats") {
        let hint = "save `nvme smart-log -o json`, and `nvme ocp smart-add-log -o json` if the drive has it";
        (
            "an additional log of the vendor, whose units this reader does not know".to_string(),
            Some(hint),
        )
    } else if has("percentage_used") || has("percent_used") || has("power_on_hours") {
        ("a health log without `data_units_written`".to_string(), None)
    } else if object.is_empty() {
        ("an empty object".to_string(), None)
    } else {
        (format!("this is not a SMART log: it has {keys}"), None)
    };
    place.wrong(what).expected(EXPECTED).hint(hint.map(String::from))
}
