//! Rules that all records of a format keep: the clock of its times, how often they go back, which
//! sizes and device numbers occur, and whether a blank follows a comma. A file that breaks a rule
//! is not detected as that format, even if all lines decode.
//!
//! [`Rules::objection`] serves detection. [`doubts`] and [`doubt_of_dates`] check a file that is
//! read: they question units that lead to sizes below a sector, impossible rates, or dates that may
//! be times since boot.

use crate::csv::{CsvColumn, CsvColumns};
use crate::recognition::time_unit::{self, SHORTEST_GAP_NS};
use fowler_units::{HostIo, HostOp};

/// The clock that a format's times are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Clock that counts from boot or from the beginning of the trace: its times are no dates.
    Relative,
    /// Clock that counts from 1970.
    Unix,
    /// Clock that counts from 1601, as Windows file times do.
    Windows,
    /// Any clock: relative, Unix or Windows.
    Any,
}

/// Rules that all records of a format keep. A format states those that hold for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Clock to which the times in traces of this format refer.
    pub clock: Clock,
    /// Exclusive upper bound of the device numbers in traces of this format.
    pub devices_below: u64,
    /// True if a blank follows every comma in traces of this format.
    pub blank_after_comma: bool,
    /// True if the lines of traces in this format are in order of time, with few exceptions.
    pub in_order: bool,
}

/// Seconds from 1601 to 1970.
const WINDOWS_EPOCH_S: u64 = 11_644_473_600;
/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// The dates that a trace may have, in seconds since 1970: 1990 to 2100.
const DATES_S: std::ops::Range<u64> = 631_152_000..4_102_444_800;
/// Longest time since boot, in nanoseconds: 15 years. Larger numbers are dates.
const LONGEST_UP: u64 = 15 * 365 * 86_400 * SECOND;
/// Largest plausible median size of reads and writes, in bytes.
const LARGEST_MEDIAN: u32 = 256 << 20;
/// Smallest number of records that show the order of times and the rate of requests.
const FEWEST: usize = 8;
/// Longest mean time between two requests of a trace, in nanoseconds, at which the trace's time
/// unit is not doubted (10 minutes).
const LONGEST_GAP_NS: f64 = 600e9;
/// Upper bound of plausible drive capacities, in bytes.
const LARGEST_DRIVE: u64 = 1 << 50;
/// Size of a sector, in bytes.
const SECTOR: u64 = 512;

impl Rules {
    /// Rules of a format that any records keep: times may be on any clock and in any order, and
    /// device numbers may be any.
    pub const NONE: Rules = Rules {
        clock: Clock::Any,
        devices_below: u64::MAX,
        blank_after_comma: false,
        in_order: false,
    };

    /// Returns the rule of the trace format that the sampled beginning of a trace breaks, phrased
    /// to follow the format's name; `None` if it breaks none. `records` are decoded from `lines`,
    /// each with its device.
    pub fn objection(&self, lines: &[&[u8]], records: &[(u64, HostIo)]) -> Option<String> {
        self.wrong_clock(records)
            .or_else(|| self.wrong_commas(lines))
            .or_else(|| self.wrong_devices(records))
            .or_else(|| wrong_sizes(records))
            .or_else(|| self.wrong_order(records))
    }

    fn wrong_clock(&self, records: &[(u64, HostIo)]) -> Option<String> {
        let times = || records.iter().map(|(_, io)| io.at.0);
        let (first, last) = (times().min()?, times().max()?);
        let year = |count: u64, of_zero: u64| of_zero + count / SECOND / 31_556_952;
        let dates = |epoch_s: u64| (DATES_S.start + epoch_s) * SECOND;
        let (epoch, name, of_zero) = match self.clock {
            Clock::Any => return None,
            Clock::Relative => {
                return (first > LONGEST_UP).then(|| {
                    let years = first / SECOND / 31_556_952;
                    format!(
                        "times in this format count from boot or from the start of tracing, \
                        and these begin after {years} years"
                    )
                });
            }
            Clock::Unix => (0, "1970", 1970),
            Clock::Windows => (WINDOWS_EPOCH_S, "1601", 1601),
        };
        let latest = (DATES_S.end + epoch).saturating_mul(SECOND);
        let wrong = if first < dates(epoch) { first } else { last };
        (first < dates(epoch) || last > latest).then(|| {
            let year = year(wrong, of_zero);
            format!(
                "times in this format are dates, counted from {name}, and one of these would \
                be in {year}"
            )
        })
    }

    fn wrong_commas(&self, lines: &[&[u8]]) -> Option<String> {
        let tight = |line: &&&[u8]| line.windows(2).any(|pair| pair[0] == b',' && pair[1] != b' ');
        let broken = self.blank_after_comma && lines.iter().filter(tight).count() * 2 > lines.len();
        broken
            .then(|| "this format has a blank after every comma, and these lines have none".into())
    }

    fn wrong_devices(&self, records: &[(u64, HostIo)]) -> Option<String> {
        let largest = records.iter().map(|(device, _)| *device).max()?;
        (largest >= self.devices_below).then(|| {
            let below = self.devices_below;
            format!(
                "device numbers in this format are below {below}, and one of these is {largest}"
            )
        })
    }

    fn wrong_order(&self, records: &[(u64, HostIo)]) -> Option<String> {
        let steps = records.len().saturating_sub(1);
        let back = records.windows(2).filter(|pair| pair[1].1.at < pair[0].1.at).count();
        let broken = self.in_order && records.len() >= FEWEST && 4 * back > steps;
        broken.then(|| {
            format!(
                "this format is in order of time, and these times go back in {back} of \
                {steps} lines"
            )
        })
    }
}

/// Returns the clock of a CSV's times: dates count from 1970.
pub(crate) fn clock_of(sample: &[HostIo]) -> Clock {
    let first = sample.iter().map(|io| io.at.0).min();
    if first.is_some_and(|first| first > LONGEST_UP) { Clock::Unix } else { Clock::Relative }
}

/// Returns the reason why the request sizes in the first lines of a file make its assumed format
/// implausible (half of them are too large); `None` if they are plausible.
fn wrong_sizes(records: &[(u64, HostIo)]) -> Option<String> {
    let mut sizes: Vec<u32> = moved(records.iter().map(|(_, io)| io)).map(|io| io.size).collect();
    sizes.sort_unstable();
    let median = *sizes.get(sizes.len() / 2)?;
    (median > LARGEST_MEDIAN).then(|| {
        let mib = median >> 20;
        format!("half of the first requests would be {mib} MiB or larger, which is implausible")
    })
}

/// Returns the reads and writes among the requests.
fn moved<'a>(all: impl Iterator<Item = &'a HostIo>) -> impl Iterator<Item = &'a HostIo> {
    all.filter(|io| matches!(io.op, HostOp::Read | HostOp::Write))
}

/// Returns questions to the user about the trace's units if these give sizes below a sector, rates
/// that no drive reaches or addresses beyond any drive. Each question ends with a column list in
/// other units; `columns` is the list in use.
pub(crate) fn doubts(clock: Clock, sample: &[HostIo], columns: Option<&CsvColumns>) -> Vec<String> {
    let found = [
        of_small_sizes(sample),
        of_multiples(sample, columns),
        of_rate(clock, sample, columns),
        of_addresses(sample, columns),
    ];
    found.into_iter().flatten().map(|doubt| in_words(doubt, columns)).collect()
}

/// Returns a question to the user if the trace's times, read as dates in whole units, may instead
/// be times since boot in a finer unit; `None` if they cannot.
pub(crate) fn doubt_of_dates(sample: &[HostIo], columns: &CsvColumns) -> Option<String> {
    let digits = columns.digits()?;
    let unit = 10u64.pow(digits as u32);
    let mut counts: Vec<u64> = sample.iter().map(|io| io.at.0 / unit).collect();
    let is_whole = sample.len() > 1 && sample.iter().all(|io| io.at.0.is_multiple_of(unit));
    let times = time_unit::since_boot(&mut counts, digits).filter(|_| is_whole)?;
    let [dates, finer] = [digits, times].map(time_unit::name);
    let what = format!("times are read as dates in {dates}: are they {finer} since boot?");
    let doubt = (what, Otherwise { times: Some(times), ..Otherwise::default() });
    Some(in_words(doubt, Some(columns)))
}

/// Returns a question to the user about a doubtful unit of a trace, followed by the `--columns`
/// that read the trace in the other unit.
fn in_words((what, otherwise): (String, Otherwise), columns: Option<&CsvColumns>) -> String {
    match columns.and_then(|columns| otherwise.of(columns)) {
        Some(line) => format!("{what} If so, use --columns {line}"),
        None => what,
    }
}

/// Other units in which a trace's columns may have to be read, which a question to the user
/// proposes; `None` leaves a column as it is.
#[derive(Clone, Copy, Debug, Default)]
struct Otherwise {
    /// Bytes per unit of addresses.
    offsets: Option<u64>,
    /// Bytes per unit of sizes.
    sizes: Option<u64>,
    /// Other unit for a trace's times, as the power of ten of its nanoseconds; `None` leaves the
    /// unit.
    times: Option<usize>,
}

impl Otherwise {
    /// Returns the column list `columns` with the other units of addresses, sizes and times that
    /// `self` proposes; `None` if nothing changes.
    fn of(self, columns: &CsvColumns) -> Option<CsvColumns> {
        columns.with(|column| match column {
            CsvColumn::Offset { .. } => self.offsets.map(|unit| CsvColumn::Offset { unit }),
            CsvColumn::Size { .. } => self.sizes.map(|unit| CsvColumn::Size { unit }),
            CsvColumn::Time { .. } => self.times.map(|digits| CsvColumn::Time { digits }),
            _ => None,
        })
    }
}

fn of_small_sizes(sample: &[HostIo]) -> Option<(String, Otherwise)> {
    let largest = moved(sample.iter()).map(|io| u64::from(io.size)).max()?;
    let in_sectors = Otherwise { sizes: Some(SECTOR), ..Otherwise::default() };
    let what = format!(
        "all sizes are below a sector (the largest is {largest} B): are they sectors of 512 B?"
    );
    (largest < SECTOR).then_some((what, in_sectors))
}

fn of_multiples(sample: &[HostIo], columns: Option<&CsvColumns>) -> Option<(String, Otherwise)> {
    let counted =
        |is: fn(&CsvColumn) -> bool| columns.is_some_and(|it| it.columns().iter().any(is));
    let in_sectors = counted(|it| *it == CsvColumn::Size { unit: SECTOR })
        && counted(|it| *it == CsvColumn::Offset { unit: SECTOR });
    let whole = |io: &HostIo| {
        io.offset.is_multiple_of(SECTOR * SECTOR)
            && u64::from(io.size).is_multiple_of(SECTOR * SECTOR)
    };
    let bytes = Otherwise { offsets: Some(1), sizes: Some(1), ..Otherwise::default() };
    let holds = in_sectors && moved(sample.iter()).count() >= FEWEST;
    let what = "all addresses and sizes are multiples of 512 sectors: are they bytes?";
    (holds && moved(sample.iter()).all(whole)).then_some((what.to_string(), bytes))
}

fn of_rate(
    clock: Clock,
    sample: &[HostIo],
    columns: Option<&CsvColumns>,
) -> Option<(String, Otherwise)> {
    let times = || sample.iter().map(|io| io.at);
    let span = times().max()? - times().min()?;
    let gap = span.0 as f64 / (sample.len() as f64 - 1.0).max(1.0);
    let fast = span.0 > 0 && gap < SHORTEST_GAP_NS;
    let slow = gap > LONGEST_GAP_NS && clock == Clock::Relative;
    if !(fast || slow) || sample.len() < 3 || (fast && sample.len() < FEWEST) {
        return None;
    }
    let unit = columns.and_then(CsvColumns::digits).and_then(|now| time_unit::by_gap(gap, now));
    let question = unit.map_or("is the unit of time right?".to_string(), |digits| {
        format!("are times in {}?", time_unit::name(digits))
    });
    let what = format!("the first {} requests span {span}: {question}", sample.len());
    Some((what, Otherwise { times: unit, ..Otherwise::default() }))
}

fn of_addresses(sample: &[HostIo], columns: Option<&CsvColumns>) -> Option<(String, Otherwise)> {
    let end = moved(sample.iter()).map(|io| io.offset.saturating_add(u64::from(io.size))).max()?;
    let is_unit = |column: &CsvColumn| matches!(column, CsvColumn::Offset { unit } if *unit > 1);
    let in_units = columns.is_some_and(|columns| columns.columns().iter().any(is_unit));
    let otherwise = Otherwise { offsets: in_units.then_some(1), ..Otherwise::default() };
    let what = format!(
        "addresses reach {} TiB, more than any drive has{}",
        end >> 40,
        if in_units { ": are they bytes?" } else { "" }
    );
    (end > LARGEST_DRIVE).then_some((what, otherwise))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Nanos;

    fn reads(times: &[u64], size: u32) -> Vec<(u64, HostIo)> {
        times.iter().map(|&at| (0, HostIo::read(Nanos(at), 0, size))).collect()
    }

    #[test]
    fn each_rule_objects_to_what_breaks_it() {
        let of = |rules: Rules, records: &[(u64, HostIo)]| rules.objection(&[b"1,2"], records);
        let unix = Rules { clock: Clock::Unix, ..Rules::NONE };
        let now = 1_700_000_000 * SECOND;
        assert_eq!(of(unix, &reads(&[now, now + 1], 512)), None);
        assert!(of(unix, &reads(&[3500 * SECOND], 512)).unwrap().contains("would be in 1970"));
        assert!(of(unix, &reads(&[now, 5_000_000_000 * SECOND], 512)).unwrap().contains("2128"));
        let windows = Rules { clock: Clock::Windows, ..Rules::NONE };
        assert_eq!(of(windows, &reads(&[12_816_638_529_551_466_300], 512)), None);
        assert!(of(windows, &reads(&[now], 512)).unwrap().contains("1654"));
        let relative = Rules { clock: Clock::Relative, ..Rules::NONE };
        assert_eq!(of(relative, &reads(&[0, 5], 512)), None);
        assert!(of(relative, &reads(&[now], 512)).unwrap().contains("after 53 years"));
        let small = Rules { devices_below: 8, ..Rules::NONE };
        let on_device_8 = [(8, HostIo::read(Nanos(0), 0, 512))];
        assert!(of(small, &on_device_8).unwrap().contains("below 8, and one of these is 8"));
        let spaced = Rules { blank_after_comma: true, ..Rules::NONE };
        assert!(of(spaced, &[]).unwrap().contains("blank after every comma"));
        assert_eq!(spaced.objection(&[b"1, 2"], &[]), None);
        let ordered = Rules { in_order: true, ..Rules::NONE };
        assert_eq!(of(ordered, &reads(&[1, 2, 1, 3, 4, 5, 6, 7, 8], 512)), None);
        let mixed = of(ordered, &reads(&[1, 9, 1, 8, 2, 7, 3, 6], 512));
        assert!(mixed.unwrap().contains("go back in 3 of 7 lines"));
        assert!(of(Rules::NONE, &reads(&[1], 1 << 30)).unwrap().contains("1024 MiB"));
    }

    fn doubts_of(columns: &str, sample: &[(u64, u64, u32)]) -> Vec<String> {
        let columns = CsvColumns::parse(columns).unwrap();
        let sample = sample.iter().map(|&(at, offset, size)| HostIo::read(Nanos(at), offset, size));
        doubts(Clock::Relative, &sample.collect::<Vec<_>>(), Some(&columns))
    }

    #[test]
    fn a_doubt_ends_with_the_columns_that_read_otherwise() {
        let spc = "dev=number,lba=512,len=bytes,op=rw,ts=s,...";
        assert_eq!(doubts_of(spc, &[(0, 512, 512), (1, 512, 16)]), Vec::<String>::new());
        let small = doubts_of(spc, &[(0, 512, 8), (1, 512, 16)]);
        assert_eq!(
            small,
            [
                "all sizes are below a sector (the largest is 16 B): are they sectors of 512 B? If so, \
              use --columns dev=number,lba=512,len=512,op=rw,ts=s,..."
            ]
        );
        let five = "ts=ns,dev=number,lba=512,len=512,op=1=read";
        let many = |step: u64, size: u32| -> Vec<(u64, u64, u32)> {
            (0..9).map(|number| (number * step, number << 18, size)).collect()
        };
        assert_eq!(doubts_of(five, &many(50_000, 4096)), Vec::<String>::new());
        let bytes = doubts_of(five, &many(50_000, 1 << 18));
        assert!(
            bytes[0].contains(
                "are they bytes? If so, use --columns ts=ns,dev=number,lba=bytes,len=bytes"
            )
        );
        let fast = doubts_of(five, &many(7, 4096));
        assert!(fast[0].contains("are times in us? If so, use --columns ts=us,dev"), "{fast:?}");
        let slow = doubts_of("ts=s,op=rw,lba=bytes,len=bytes", &many(900_000 * SECOND, 4096));
        assert!(slow[0].contains("are times in ns? If so, use --columns ts=ns,op"), "{slow:?}");
        let far = doubts_of(five, &[(0, 1 << 51, 4096), (1, 0, 4096)]);
        assert!(far[0].contains("2048 TiB") && far[0].contains("lba=bytes"), "{far:?}");
    }
}
