//! The devices of a trace, and the choice of which to replay. The simulated drive is a single
//! device: requests of several devices share an address space only if the user asks for it.

use crate::Record;
use crate::TraceError;
use crate::context::MOST_DEVICES;
use fowler_units::Diagnostic;

/// Alignment of each device's base address when devices share an address space, in bytes: no page,
/// stripe or block of the usual sizes then spans two devices.
const DEVICE_ALIGNMENT: u64 = 1 << 20;

/// Choice of the devices of a trace whose requests are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Requests of the only device; a trace with several devices is an error that lists them.
    #[default]
    Default,
    /// Requests of the device with this number in the trace.
    Only(u64),
    /// All devices, concatenated into one address space in order of their numbers. Each device is
    /// as long as its highest request end, rounded up to 1 MiB.
    SideBySide,
    /// All devices, each with its own addresses: for inspection, not for replay.
    /// [`TraceReader::device`](crate::TraceReader::device) returns the device of the last request.
    Each,
}

/// Requests of a trace to one device: how many, and the highest address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceUse {
    /// Number of the device in the trace.
    pub device: u64,
    /// Number of requests for the device.
    pub requests: u64,
    /// End of the device's highest request, in bytes.
    pub end: u64,
}

impl DeviceUse {
    #[inline]
    fn count(&mut self, record: &Record) {
        self.requests += 1;
        self.end = self.end.max(record.io.offset + u64::from(record.io.size));
    }
}

/// Devices that the trace's requests named so far, ascending by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Devices {
    seen: Vec<DeviceUse>,
    /// Index, in the list `seen` of a trace's devices, of the device of the last request. The next
    /// request most often goes to the same device, which this finds without a search.
    last: usize,
}

impl Devices {
    pub fn seen(&self) -> &[DeviceUse] {
        &self.seen
    }

    /// True if the trace names more devices than a trace may have.
    #[inline]
    pub fn are_too_many(&self) -> bool {
        self.seen.len() > MOST_DEVICES
    }

    /// Counts a trace record for the device that it goes to. Returns true if the previous record
    /// went to another device.
    #[inline]
    pub fn count(&mut self, record: &Record) -> bool {
        match self.seen.get_mut(self.last) {
            Some(device) if device.device == record.device => {
                device.count(record);
                false
            }
            _ => {
                self.last = self.place_of(record.device);
                self.seen[self.last].count(record);
                true
            }
        }
    }

    /// Returns the index of a device, adding the device if it is new.
    fn place_of(&mut self, number: u64) -> usize {
        self.seen.binary_search_by_key(&number, |device| device.device).unwrap_or_else(|place| {
            self.seen.insert(place, DeviceUse { device: number, requests: 0, end: 0 });
            place
        })
    }

    /// Returns the error for a trace with several devices of which none was chosen; `names` are
    /// their names, if any.
    pub fn several(&self, file: &str, names: &[String]) -> TraceError {
        const SHOWN: usize = 40;
        let shown = self.seen.iter().take(SHOWN);
        let list: Vec<String> = shown
            .map(|device| {
                let s = if device.requests == 1 { "" } else { "s" };
                let name = device_name(names, device.device);
                format!("device {name}: {} request{s}", device.requests)
            })
            .collect();
        if self.are_too_many() {
            let what = format!("this trace has more than {MOST_DEVICES} devices");
            let hint = "the format is probably another one";
            return TraceError::one(file, Diagnostic::of(what).hint(hint.to_string()));
        }
        let more = self.seen.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let what = format!(
            "this trace has requests for {} devices ({}{more})",
            self.seen.len(),
            list.join(", ")
        );
        let hint = "choose one with --device-id N, run each on a drive of its own with --split, or \
                    concatenate them into one address space with --device-id side-by-side";
        TraceError::one(
            file,
            Diagnostic::of(what).expected("requests for a single device").hint(hint.to_string()),
        )
    }

    /// Returns the error for a requested device that has no requests.
    pub fn missing(&self, file: &str, wanted: u64) -> TraceError {
        let numbers: Vec<String> =
            self.seen.iter().take(40).map(|device| device.device.to_string()).collect();
        let diagnostic = Diagnostic::of(format!("this trace has no requests for device {wanted}"))
            .expected(format!("one of devices {}", numbers.join(", ")));
        TraceError::one(file, diagnostic)
    }

    /// Returns the base address of each device when they are concatenated into one address space.
    pub fn side_by_side(&self, file: &str) -> Result<Bases, TraceError> {
        let mut next = 0u64;
        let mut bases = Vec::with_capacity(self.seen.len());
        for device in &self.seen {
            bases.push((device.device, next));
            next = device
                .end
                .checked_next_multiple_of(DEVICE_ALIGNMENT)
                .and_then(|length| next.checked_add(length))
                .ok_or_else(|| {
                    let what = "the devices of this trace, laid side by side, exceed 2^64 bytes";
                    TraceError::one(file, Diagnostic::of(what))
                })?;
        }
        Ok(Bases { bases })
    }
}

/// Returns a device's number, followed by its name if it has one.
pub(crate) fn device_name(names: &[String], device: u64) -> String {
    let name = usize::try_from(device).ok().and_then(|device| names.get(device));
    name.map_or_else(|| device.to_string(), |name| format!("{device} ({name})"))
}

/// The base address of each device in the common address space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bases {
    bases: Vec<(u64, u64)>,
}

impl Bases {
    /// Returns the address at which a device begins in the common address space; `None` if the
    /// first reading of the trace met no request for the device.
    #[inline]
    pub fn of(&self, device: u64) -> Option<u64> {
        let place = self.bases.binary_search_by_key(&device, |&(number, _)| number).ok()?;
        Some(self.bases[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{HostIo, Nanos};

    fn seen(records: &[(u64, u64)]) -> Devices {
        let mut devices = Devices::default();
        for &(device, offset) in records {
            devices.count(&Record { device, io: HostIo::read(Nanos(0), offset, 512) });
        }
        devices
    }

    #[test]
    fn devices_are_counted_in_order_of_their_numbers() {
        let devices = seen(&[(5, 0), (2, 1024), (5, 4096), (2, 0)]);
        let expected = [
            DeviceUse { device: 2, requests: 2, end: 1536 },
            DeviceUse { device: 5, requests: 2, end: 4608 },
        ];
        assert_eq!(devices.seen(), expected);
        let text = devices.several("t", &[]).to_string();
        assert!(text.contains("2 devices (device 2: 2 requests, device 5: 2 requests)"), "{text}");
        assert!(devices.missing("t", 3).to_string().contains("one of devices 2, 5"));
    }

    #[test]
    fn devices_side_by_side_do_not_touch() {
        let bases = seen(&[(9, 1 << 20), (1, 0), (4, 100)]).side_by_side("t").unwrap();
        assert_eq!([1, 4, 9].map(|device| bases.of(device)), [0, 1 << 20, 2 << 20].map(Some));
        assert_eq!(bases.of(2), None);
        assert!(seen(&[(1, u64::MAX - 512), (2, 0)]).side_by_side("t").is_err());
    }
}
