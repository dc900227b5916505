//! Counters of SATA drives, from the output of `smartctl -j`.
//!
//! The device statistics are standardized (ACS-4, log 04h): *Logical Sectors Written*, *Power-on
//! Hours*, *Percentage Used Endurance Indicator*. The attributes are the vendor's. Their units
//! follow from the names that the drive database of smartmontools gives them (`drivedb/drivedb.h`:
//! `Host_Writes_32MiB`, `NAND_Writes_1GiB`, `Host_Program_Page_Count`, ...). A drive that is not in
//! the database has default names (entry `DEFAULT`), which are guesses: vendors count LBAs, 32 MiB
//! or GiB in attribute 241.
//!
//! Micron's drives count the pages programmed for the host (247) and those programmed by the drive
//! itself (248); WAF is the sum of both over the former (Micron TN-FD-23).

use super::counter::{is_full, of_json, whole};
use super::interval::Interval;
use super::json::{Place, hours, identity};
use super::log::{Layout, SmartLog};
use super::nvme::used;
use fowler_experiment::diagnostic::{Diagnostics, printable};
use serde_json::{Map, Value};

/// Keys of which the output of smartctl for a SATA drive has at least one.
pub(super) const ANY: [&str; 2] = ["ata_smart_attributes", "ata_device_statistics"];

const SECTOR: f64 = 512.0;
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1024.0 * MIB;

/// SATA attributes that count writes of the host, with their units in bytes.
const HOST: [(&str, f64); 10] = [
    ("Total_Host_Sector_Write", SECTOR),
    ("Host_Writes_32MiB", 32.0 * MIB),
    ("Host_Writes_MiB", MIB),
    ("Host_Writes_GiB", GIB),
    ("Lifetime_Writes_GiB", GIB),
    ("Total_Host_Writes_GiB", GIB),
    ("Total_Writes_32MiB", 32.0 * MIB),
    ("Total_Writes_GiB", GIB),
    ("Total_Writes_GB", 1e9),
    // The block size of the drive takes the place of its unit.
    ("Total_LBAs_Written", SECTOR),
];
/// SATA attributes that count writes to the flash, with their units in bytes.
const MEDIA: [(&str, f64); 5] = [
    ("NAND_Writes_1GiB", GIB),
    ("NAND_Writes_GiB", GIB),
    ("NAND_Writes_32MiB", 32.0 * MIB),
    ("Flash_Writes_GiB", GIB),
    ("Total_NAND_Writes_GiB", GIB),
];
/// SATA attributes whose normalized value is the share of life left, in percent.
const LEFT: [&str; 4] = [
    "Percent_Lifetime_Remain",
    "Percent_Lifetime_Used",
    "SSD_Life_Left",
    "Media_Wearout_Indicator",
];
/// SATA attributes whose raw value is the mean number of erases of a block.
const ERASES: [&str; 3] = ["Ave_Block-Erase_Count", "Average_Erase_Count", "Avg_Erase_Count"];
/// Samsung's SATA attribute with the share of life left as normalized value, and the mean number of
/// erases of a block as raw value.
const SAMSUNG_WEAR: &str = "Wear_Leveling_Count";
/// SATA attributes that count writes in a unit that smartctl's drive database does not state, or
/// split over two attributes.
const NO_UNIT: [&str; 5] = [
    "NAND_Writes",
    "Total_LBAs_Written_Low",
    "Flash_Writes_LBAs_Low",
    "Flash_LBAs_Written",
    "Total_NAND_Writes",
];
/// Attribute names that smartctl also gives to drives that its database does not have; their units
/// are guesses.
const DEFAULT_NAMES: [&str; 3] = ["Total_LBAs_Written", "Media_Wearout_Indicator", SAMSUNG_WEAR];

/// Returns the counters of a SATA drive from an output of `smartctl -j`.
pub(super) fn log(object: &Map<String, Value>, place: Place<'_>) -> Result<SmartLog, Diagnostics> {
    let log = identity(object, Layout::Ata, place)?;
    if let Some(speed) = object.get("rotation_rate").and_then(Value::as_f64)
        && speed > 0.0
    {
        let what = format!("a hard disk of {speed} rpm: writes do not wear it");
        return Err(place.wrong(what).expected("a solid-state drive").into());
    }
    let block = match object.get("logical_block_size").map(of_json) {
        Some(Ok(size)) if (512.0..=65_536.0).contains(&size) => size,
        _ => SECTOR,
    };
    let is_unknown = object.get("in_smartctl_database") == Some(&Value::Bool(false));
    let model = log.model.clone().unwrap_or_default();
    let family = object.get("model_family").and_then(Value::as_str).unwrap_or_default();
    let is_samsung = [&*model, family].iter().any(|it| it.to_ascii_lowercase().contains("samsung"));
    let mut reader =
        Attributes { log, wrong: Diagnostics::default(), place, block, is_unknown, is_samsung };
    reader.log.hours = hours(object, place)?;
    reader.statistics(object);
    if reader.log.used.is_none()
        && let Some(percent) = object.get("endurance_used").and_then(|it| it.get("current_percent"))
    {
        let value = reader.value("endurance_used.current_percent", percent);
        reader.percent("endurance_used.current_percent", value);
    }
    let table = object.get("ata_smart_attributes").and_then(|it| it.get("table"));
    for row in table.and_then(Value::as_array).into_iter().flatten() {
        reader.attribute(row);
    }
    reader.wrong.or(reader.log)
}

struct Attributes<'a> {
    log: SmartLog,
    wrong: Diagnostics,
    place: Place<'a>,
    /// Size of a logical block of the drive, in bytes.
    block: f64,
    /// True if smartctl's database does not have the drive, so that the names of its attributes are
    /// guesses.
    is_unknown: bool,
    is_samsung: bool,
}

impl Attributes<'_> {
    /// Returns the value of a counter; `None` if it is not a counter, or the drive does not report
    /// it.
    fn value(&mut self, name: &str, value: &Value) -> Option<f64> {
        match of_json(value) {
            Ok(value) if is_full(value) => {
                let note = format!(
                    "`{name}` has all bits set: the drive does not report this counter, or the \
                     counter has saturated"
                );
                self.log.notes.push(note);
                None
            }
            Ok(value) => Some(value),
            Err(what) => {
                let what = format!("`{}`: {what}", printable(name));
                self.wrong.push(
                    self.place.wrong(what).expected(
                        "a whole number of at least 0 as the value of this SMART counter",
                    ),
                );
                None
            }
        }
    }

    fn percent(&mut self, name: &str, value: Option<f64>) {
        match value.map(used) {
            Some(Ok(used)) => self.log.used = Some(used),
            Some(Err(what)) => self.wrong.push(self.place.wrong(format!("`{name}`: {what}"))),
            None => {}
        }
    }

    /// Reads the standardized device statistics of the drive.
    fn statistics(&mut self, object: &Map<String, Value>) {
        let pages = object.get("ata_device_statistics").and_then(|it| it.get("pages"));
        let pages = pages.and_then(Value::as_array).into_iter().flatten();
        let rows = pages.filter_map(|page| page.get("table")?.as_array()).flatten();
        for row in rows {
            let is_valid =
                row.get("flags").and_then(|it| it.get("valid")) != Some(&Value::Bool(false));
            let (Some(name), Some(value)) =
                (row.get("name").and_then(Value::as_str), row.get("value"))
            else {
                continue;
            };
            let known = [
                "Logical Sectors Written",
                "Percentage Used Endurance Indicator",
                "Power-on Hours",
            ];
            if !is_valid || !known.contains(&name) {
                continue;
            }
            let value = self.value(name, value);
            match name {
                "Logical Sectors Written" => {
                    let counted = value.filter(|sectors| *sectors > 0.0);
                    self.log.host = counted.map(|count| Interval::exact(count * self.block));
                }
                "Percentage Used Endurance Indicator" => self.percent(name, value),
                _ if self.log.hours.is_none() => {
                    self.log.hours = value.map(|hours| Interval::completed(hours, 1.0));
                }
                _ => {}
            }
        }
    }

    /// Reads a SATA attribute, unless it is not a counter from which the drive's life can be
    /// judged.
    fn attribute(&mut self, row: &Value) {
        let Some(name) = row.get("name").and_then(Value::as_str) else { return };
        let id = row.get("id").and_then(Value::as_u64).unwrap_or(0);
        if NO_UNIT.contains(&name) {
            let note =
                format!("attribute {id} ({name}) has no unit in smartctl's database: not used");
            return self.log.notes.push(note);
        }
        let is_guess = self.is_unknown && DEFAULT_NAMES.contains(&name);
        let is_other = name == SAMSUNG_WEAR && !self.is_samsung;
        if is_guess || is_other {
            let note = format!(
                "attribute {id} ({name}) is not used: its meaning is the vendor's, and smartctl's \
                 database does not have it for this drive"
            );
            return self.log.notes.push(note);
        }
        let unit = |list: &[(&str, f64)]| list.iter().find(|it| it.0 == name).map(|it| it.1);
        if let Some(unit) = unit(&HOST) {
            let unit = if name == "Total_LBAs_Written" { self.block } else { unit };
            let raw = self.written(row, id, name, unit);
            self.log.host = self.log.host.or(raw);
        } else if let Some(unit) = unit(&MEDIA) {
            let raw = self.written(row, id, name, unit);
            self.log.media = self.log.media.or(raw);
        } else if LEFT.contains(&name) || name == SAMSUNG_WEAR {
            if self.log.used.is_none() {
                self.left(row, id, name);
            }
            if name == SAMSUNG_WEAR {
                self.erases(row, name);
            }
        } else if ERASES.contains(&name) {
            self.erases(row, name);
        } else if name.starts_with("Power_On_Hours") && self.log.hours.is_none() {
            let hours = self.raw(row, name);
            self.log.hours = hours.map(|hours| Interval::completed(hours, 1.0));
        } else {
            self.pages(row, name);
        }
    }

    /// Returns the raw value of a SATA attribute.
    fn raw(&mut self, row: &Value, name: &str) -> Option<f64> {
        let raw = row.get("raw")?;
        // Raw values may have other numbers in their upper bytes; the string begins with the
        // counter.
        let text = raw.get("string").and_then(Value::as_str).map_or("", str::trim);
        // `742h+12m+03.000s`, where a drive counts milliseconds.
        let end = text.find(|c: char| c == 'h' || c.is_whitespace()).unwrap_or(text.len());
        if let Ok((value, _)) = whole(&text[..end]) {
            return Some(value);
        }
        self.value(name, raw.get("value")?)
    }

    fn written(&mut self, row: &Value, id: u64, name: &str, unit: f64) -> Option<Interval> {
        let count = self.raw(row, name)?;
        if count == 0.0 {
            let note =
                format!("attribute {id} ({name}) is 0: not reported, or nothing was written");
            self.log.notes.push(note);
            return None;
        }
        // The database does not say how drives round this counter.
        Some(Interval::rounded(count).times(unit))
    }

    fn left(&mut self, row: &Value, id: u64, name: &str) {
        let Some(value) = row.get("value") else { return };
        let Some(left) = self.value(name, value) else { return };
        if left > 100.0 {
            let note = format!(
                "attribute {id} ({name}) has the normalized value {left}, above 100: not used as life left"
            );
            return self.log.notes.push(note);
        }
        let used = used(100.0 - left).expect("a percentage");
        self.log.used = Some(used);
    }

    fn erases(&mut self, row: &Value, name: &str) {
        let erases = self.raw(row, name).filter(|erases| *erases > 0.0);
        self.log.erases = self.log.erases.or(erases.map(Interval::rounded));
    }

    /// Reads the counts of programmed pages of a Micron drive.
    fn pages(&mut self, row: &Value, name: &str) {
        let own = match name {
            "Host_Program_Page_Count" => false,
            "FTL_Program_Page_Count" | "Bckgnd_Program_Page_Cnt" => true,
            _ => return,
        };
        let Some(count) = self.raw(row, name) else { return };
        let mut pages = self.log.pages.unwrap_or([Interval::exact(0.0); 2]);
        pages[usize::from(own)] = Interval::exact(count);
        self.log.pages = Some(pages);
    }
}
