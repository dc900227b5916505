//! The counters of one log, and the drive that the log names.

use super::interval::Interval;
use fowler_experiment::diagnostic::printable;

/// Commands whose output can be read as a SMART or health log, for messages.
pub(super) const EXPECTED: &str = "`nvme smart-log` (text or -o json), `smartctl -j -a` or `-x`, `nvme ocp smart-add-log -o json`, \
                                   or `nvme endurance-log -o json`";

/// Kind of a log: a log page of an NVMe drive, or the output of smartctl for a SATA drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// The SMART / Health Information log of NVMe, from `nvme smart-log` or `smartctl`.
    NvmeHealth,
    /// The Endurance Group Information log of NVMe, from `nvme endurance-log`.
    NvmeEnduranceGroup,
    /// The SMART / Health Information Extended log of OCP, from `nvme ocp smart-add-log`.
    OcpExtended,
    /// Attributes and device statistics of a SATA drive, from `smartctl -j`.
    Ata,
}

impl Layout {
    /// Returns the name of this kind of SMART or health log, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Layout::NvmeHealth => "NVMe health log",
            Layout::NvmeEnduranceGroup => "NVMe endurance group log",
            Layout::OcpExtended => "OCP extended health log",
            Layout::Ata => "SATA attributes",
        }
    }
}

/// Counters of a SMART or health log. A counter that the log lacks, or that the drive does not
/// report, is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct SmartLog {
    /// Kind of the SMART or health log, such as the health log of NVMe.
    pub layout: Layout,
    /// Name of the file that the SMART log was read from, for messages.
    pub file: String,
    /// Number of the line, from 1, on which the SMART log begins in its file.
    pub line: u64,
    /// Serial number of the drive that the log is of.
    pub serial: Option<String>,
    /// Name of the drive's device, such as `/dev/nvme0`.
    pub name: Option<String>,
    /// Model of the drive that the log is of.
    pub model: Option<String>,
    /// Time at which the SMART log was taken, in seconds since 1970.
    pub taken_s: Option<f64>,
    /// Capacity that the host sees, in bytes.
    pub capacity: Option<f64>,
    /// Number of bytes that the host has written to the drive.
    pub host: Option<Interval>,
    /// Bytes that the drive has written to its flash.
    pub media: Option<Interval>,
    /// Pages that the drive has programmed for the host, and pages that it has programmed by
    /// itself.
    pub pages: Option<[Interval; 2]>,
    /// Number of write commands that the drive has received from the host.
    pub commands: Option<f64>,
    /// Power-on hours of the drive.
    pub hours: Option<Interval>,
    /// Share of its life that the drive reports as used, in percent; may exceed 100.
    pub used: Option<Interval>,
    /// Bytes that, by the drive's own estimate, can be written to its flash over its life.
    pub estimate: Option<Interval>,
    /// Mean number of erases of a block of the drive.
    pub erases: Option<Interval>,
    /// Remarks for the user on counters of the SMART log that are zero, saturated, or of an unknown
    /// unit.
    pub notes: Vec<String>,
}

impl SmartLog {
    /// Returns a SMART log of the kind `layout` without counters.
    pub fn new(layout: Layout, file: &str, line: u64) -> SmartLog {
        SmartLog {
            layout,
            file: file.into(),
            line,
            serial: None,
            name: None,
            model: None,
            taken_s: None,
            capacity: None,
            host: None,
            media: None,
            pages: None,
            commands: None,
            hours: None,
            used: None,
            estimate: None,
            erases: None,
            notes: Vec::new(),
        }
    }

    /// Returns true if the log has at least one counter from which the drive's life can be judged.
    pub fn says_something(&self) -> bool {
        let counters = [self.host, self.media, self.hours, self.used, self.estimate, self.erases];
        counters.iter().any(Option::is_some) || self.pages.is_some() || !self.notes.is_empty()
    }

    /// Returns the drive as text for messages: its serial number or its device name; `None` if the
    /// log has neither.
    pub fn drive(&self) -> Option<String> {
        match (&self.serial, &self.name) {
            (Some(serial), _) => Some(format!("serial number {}", printable(serial))),
            (None, Some(name)) => Some(printable(name)),
            (None, None) => None,
        }
    }

    /// Returns false if the two logs name different drives. A log without a name may be of any
    /// drive.
    pub fn may_be_of(&self, other: &SmartLog) -> bool {
        if let (Some(one), Some(two)) = (&self.serial, &other.serial) {
            return one == two;
        }
        match (&self.name, &other.name) {
            (Some(one), Some(two)) => controller(one) == controller(two),
            _ => true,
        }
    }

    /// Returns true if `wanted` is the serial number or the device name of the drive.
    pub fn is_called(&self, wanted: &str) -> bool {
        let wanted = wanted.trim();
        self.serial.as_deref() == Some(wanted)
            || self.name.as_deref().is_some_and(|name| controller(name) == controller(wanted))
    }
}

/// Returns the controller in a device name: `/dev/nvme0n1` and `nvme0` are the same drive.
fn controller(name: &str) -> &str {
    let name = name.trim().trim_start_matches("/dev/");
    let Some(rest) = name.strip_prefix("nvme") else { return name };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_namespace = digits > 0 && rest[digits..].starts_with('n');
    if is_namespace { &name[.."nvme".len() + digits] } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(serial: Option<&str>, name: Option<&str>) -> SmartLog {
        let of = |text: Option<&str>| text.map(String::from);
        let log = SmartLog::new(Layout::NvmeHealth, "f", 1);
        SmartLog { serial: of(serial), name: of(name), ..log }
    }

    #[test]
    fn drives_are_told_apart_by_serial_number_then_by_name() {
        for (one, two, same) in [
            ((Some("A"), Some("/dev/nvme0")), (Some("A"), Some("/dev/nvme1")), true),
            ((Some("A"), Some("/dev/nvme0")), (Some("B"), Some("/dev/nvme0")), false),
            ((None, Some("/dev/nvme0n1")), (None, Some("nvme0")), true),
            ((None, Some("/dev/nvme1n1")), (None, Some("nvme11")), false),
            ((Some("A"), Some("sda")), (None, Some("/dev/sdb")), false),
            ((Some("A"), None), (None, Some("/dev/sdb")), true),
            ((None, None), (None, None), true),
        ] {
            let (one, two) = (named(one.0, one.1), named(two.0, two.1));
            assert_eq!(one.may_be_of(&two), same, "{one:?} {two:?}");
            assert_eq!(two.may_be_of(&one), same, "{one:?} {two:?}");
        }
        let drive = named(Some("S1"), Some("/dev/nvme0n1"));
        assert!(drive.is_called("S1") && drive.is_called("nvme0") && !drive.is_called("nvme1"));
        assert_eq!(drive.drive().as_deref(), Some("serial number S1"));
        assert_eq!(named(None, None).drive(), None);
    }
}
