//! The fields of the logs of NVMe drives, whichever tool printed them.
//!
//! - SMART / Health Information, log 02h: *Data Units Written* counts thousands of units of 512
//!   bytes, rounded up (NVM Express Base Specification 2.0c, figure 207, as quoted in
//!   <https://github.com/linux-nvme/nvme-cli/issues/1745>); 0 means that it is not reported (quoted
//!   in <https://github.com/prometheus-community/smartctl_exporter/pull/211>). *Percentage Used* is
//!   one byte, with 255 for everything above 254.
//! - Endurance Group Information, log 09h: *Data Units Written*, *Media Units Written* and
//!   *Endurance Estimate* count billions of bytes, rounded up, and 0 means that it is not reported
//!   (<https://learn.microsoft.com/en-us/windows/win32/api/nvme/ns-nvme-nvme_endurance_group_log>).
//!   A key that log 02h has as well counts in another unit here. nvme-cli 1.x calls *Media Units
//!   Written* `mediate_write_commands`.
//! - SMART / Health Information Extended, log C0h of OCP's Datacenter NVMe SSD Specification:
//!   *Physical Media Units Written* (SMART-1) and *Endurance Estimate* count bytes. In both logs
//!   the estimate is what can be written at a write amplification of 1, so that it bounds what is
//!   written to the flash.

use super::counter::is_full;
use super::interval::Interval;
use super::log::{Layout, SmartLog};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};

/// Size of a data unit in log 02h (SMART / Health Information), in bytes: a thousand times 512.
pub(super) const DATA_UNIT: f64 = 512_000.0;
/// Size of a unit in log 09h (Endurance Group Information), in bytes.
const BILLION: f64 = 1e9;
/// Largest value of a percentage that is stored in one byte.
const PERCENT_MOST: f64 = 255.0;

/// A function that looks up a counter of a SMART log by its key; `None` if the log does not have
/// it.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Result<Option<f64>, Diagnostics>;

/// Reads the counters of an NVMe log.
pub(super) struct Fields<'a> {
    /// SMART log that receives the counters read from the fields of an NVMe drive.
    pub log: SmartLog,
    /// Function that looks up a counter of an NVMe SMART log by its key.
    pub get: Lookup<'a>,
    /// Errors found so far in the fields of an NVMe SMART log.
    pub wrong: Diagnostics,
}

impl Fields<'_> {
    /// Returns the first counter in `keys` (names of one SMART counter in different tools) that the
    /// log has and the drive reports.
    fn counter(&mut self, keys: &[&str]) -> Option<f64> {
        for key in keys {
            match (self.get)(key) {
                Ok(None) => {}
                Ok(Some(value)) if is_full(value) => {
                    self.log.notes.push(format!(
                        "`{key}` has all bits set: the drive does not report it, or the counter has \
                         stopped at its end"
                    ));
                    return None;
                }
                Ok(Some(value)) => return Some(value),
                Err(wrong) => {
                    self.wrong.0.extend(wrong.0);
                    return None;
                }
            }
        }
        None
    }

    /// Returns the first counter in `keys` that the log has, or `None` if it is zero, which means
    /// that the drive does not report it.
    fn reported(&mut self, keys: &[&str]) -> Option<f64> {
        let value = self.counter(keys)?;
        if value == 0.0 {
            self.log.notes.push(format!(
                "`{}` is 0: the drive does not report it, or nothing was written",
                keys[0]
            ));
        }
        Some(value).filter(|value| *value > 0.0)
    }

    fn used(&mut self, keys: &[&str]) {
        let Some(value) = self.counter(keys) else { return };
        let key =
            keys.iter().find(|key| matches!((self.get)(key), Ok(Some(_)))).unwrap_or(&keys[0]);
        match used(value) {
            Ok(used) => self.log.used = Some(used),
            Err(what) => {
                let what = format!("`{key}`: {what}");
                self.wrong.push(Diagnostic::new(&*self.log.file, what).line(self.log.line));
            }
        }
    }

    /// Reads the counters of the log's kind (NVMe health, endurance group or OCP extended) into the
    /// log.
    pub fn read(mut self) -> Result<SmartLog, Diagnostics> {
        match self.log.layout {
            Layout::NvmeHealth => self.health(),
            Layout::NvmeEnduranceGroup => self.endurance_group(),
            Layout::OcpExtended => self.extended(),
            Layout::Ata => {}
        }
        self.wrong.or(self.log)
    }

    fn health(&mut self) {
        let units = self.reported(&["data_units_written"]);
        self.log.host = units.map(|units| Interval::rounded_up(units, DATA_UNIT));
        self.log.commands = self.counter(&["host_write_commands", "host_writes"]);
        let hours = self.counter(&["power_on_hours"]);
        self.log.hours = hours.map(|hours| Interval::completed(hours, 1.0));
        self.used(&["percentage_used", "percent_used"]);
        let capacity = ["namespace_1_size_capacity", "total_nvm_capacity"];
        self.log.capacity = self.log.capacity.or_else(|| self.counter(&capacity));
    }

    fn endurance_group(&mut self) {
        let written = self.reported(&["data_units_written"]);
        self.log.host = written.map(|units| Interval::rounded_up(units, BILLION));
        let media = self.reported(&["media_units_written", "mediate_write_commands"]);
        self.log.media = media.map(|units| Interval::rounded_up(units, BILLION));
        let estimate = self.counter(&["endurance_estimate"]).filter(|units| *units > 0.0);
        self.log.estimate = estimate.map(|units| Interval::rounded_up(units, BILLION));
        self.log.commands = self.counter(&["host_write_cmds"]);
        self.used(&["percent_used", "percentage_used"]);
    }

    fn extended(&mut self) {
        let media = self.reported(&["physical_media_units_written"]);
        self.log.media = media.map(Interval::exact);
        let estimate = self.counter(&["endurance_estimate"]).filter(|bytes| *bytes > 0.0);
        self.log.estimate = estimate.map(Interval::exact);
        let erases = self.counter(&["nand_avg_erase_count"]).filter(|erases| *erases > 0.0);
        self.log.erases = erases.map(Interval::rounded);
    }
}

/// Returns the range of the share of the drive's life that is used, in percent, from the whole
/// percent that a one-byte field states; NVMe does not specify the rounding.
///
/// # Errors
/// If the value does not fit in a byte.
pub(super) fn used(percent: f64) -> Result<Interval, String> {
    if percent > PERCENT_MOST {
        return Err(format!(
            "{percent} % of life used is more than 255, the most that the counter of one byte holds"
        ));
    }
    let used = Interval::rounded(percent);
    // A byte cannot state more than that.
    Ok(if percent == PERCENT_MOST { Interval { value: None, high: None, ..used } } else { used })
}
