//! Roles of columns, recognized by name: time, operation, address, size, device. The names are
//! those of public traces, kernel tools and loggers; a unit may follow the name, as in `time_s`,
//! `Offset (bytes)` or `latencyUs`.

/// Role of a column in a trace, suggested by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The column holds arrival times; their unit as the power of ten of its nanoseconds, if the
    /// name states it.
    Time(Option<usize>),
    /// The column holds the operations of the requests.
    Op,
    /// The column holds a flag that is true for a read.
    IsRead,
    /// The column holds a flag that is true for a write.
    IsWrite,
    /// The column holds the addresses of the requests; their unit in bytes, if the column's name
    /// states it.
    Offset(Option<u64>),
    /// The column holds the sizes of the requests; their unit in bytes, if the column's name states
    /// it.
    Size(Option<u64>),
    /// The column names the device to which each request goes.
    Device,
}

/// Names of columns that hold times, without their unit.
const TIMES: &[&str] = &[
    "time",
    "ts",
    "t",
    "timestamp",
    "at",
    "arrival",
    "arrivaltime",
    "arrived",
    "arrive",
    "start",
    "starttime",
    "issue",
    "issued",
    "issuetime",
    "submit",
    "submitted",
    "submittime",
    "clock",
    "clocktime",
    "requesttime",
    "reqtime",
    "timestart",
    "begin",
    "date",
    "datetime",
    "epoch",
    "epochtime",
    "unixtime",
    "unixts",
    "unixtimestamp",
    "walltime",
    "wallclock",
];
/// Parts of names that say that a column's times are dates.
const OF_DATES: &[&str] = &["date", "epoch", "unix", "wall", "utc"];
/// Names of columns that hold operations.
const OPS: &[&str] = &[
    "op",
    "ops",
    "rw",
    "type",
    "iotype",
    "optype",
    "opcode",
    "operation",
    "direction",
    "dir",
    "ddir",
    "rwbs",
    "cmd",
    "command",
    "kind",
    "reqtype",
    "requesttype",
    "readwrite",
    "iokind",
    "readorwrite",
    "action",
    "access",
    "accesstype",
    "ioop",
];
/// Names of columns that hold addresses, each with its unit in bytes if it is unambiguous.
const OFFSETS: &[(&str, Option<u64>)] = &[
    ("offset", Some(1)),
    ("off", Some(1)),
    ("byteoffset", Some(1)),
    ("offsetbytes", Some(1)),
    ("addr", Some(1)),
    ("address", Some(1)),
    ("position", Some(1)),
    ("pos", Some(1)),
    ("startoffset", Some(1)),
    ("iooffset", Some(1)),
    ("startingoffset", Some(1)),
    ("sector", Some(512)),
    ("startsector", Some(512)),
    ("startingsector", Some(512)),
    ("sectornumber", Some(512)),
    ("lba", None),
    ("slba", None),
    ("startlba", None),
    ("startinglba", None),
    ("lbn", None),
    ("block", None),
    ("blkno", None),
    ("blockno", None),
    ("blocknumber", None),
    ("startblock", None),
    ("blkaddr", None),
];
/// Names of columns that hold sizes, each with its unit in bytes if it is unambiguous.
const SIZES: &[(&str, Option<u64>)] = &[
    ("size", Some(1)),
    ("length", Some(1)),
    ("len", Some(1)),
    ("bytes", Some(1)),
    ("nbytes", Some(1)),
    ("numbytes", Some(1)),
    ("iosize", Some(1)),
    ("reqsize", Some(1)),
    ("requestsize", Some(1)),
    ("iolength", Some(1)),
    ("bs", Some(1)),
    ("blocksize", Some(1)),
    ("bytecount", Some(1)),
    ("transfersize", Some(1)),
    ("xfersize", Some(1)),
    ("datalength", Some(1)),
    ("sizebytes", Some(1)),
    ("sectors", Some(512)),
    ("nsectors", Some(512)),
    ("nrsectors", Some(512)),
    ("numsectors", Some(512)),
    ("nrsector", Some(512)),
    ("nsector", Some(512)),
    ("sectorcount", Some(512)),
    ("blocks", None),
    ("nblocks", None),
    ("numblocks", None),
    ("nlb", None),
    ("blkcount", None),
    ("blockcount", None),
    ("nblk", None),
    ("bcount", None),
    ("pages", None),
];
/// Names of columns that hold devices.
const DEVICES: &[&str] = &[
    "device",
    "dev",
    "disk",
    "drive",
    "volume",
    "vol",
    "lun",
    "asu",
    "disknumber",
    "disknum",
    "diskno",
    "diskid",
    "devid",
    "deviceid",
    "deviceno",
    "devno",
    "devicenumber",
    "devname",
    "devicename",
    "diskname",
    "volumeid",
    "volid",
    "volumename",
    "nsid",
    "namespace",
    "file",
    "filename",
    "target",
];
/// Names of time units at the end of a column's name, each as the power of ten of its nanoseconds.
const TIME_UNITS: &[(&str, usize)] = &[
    ("s", 9),
    ("sec", 9),
    ("secs", 9),
    ("second", 9),
    ("seconds", 9),
    ("ms", 6),
    ("msec", 6),
    ("msecs", 6),
    ("millis", 6),
    ("millisecond", 6),
    ("milliseconds", 6),
    ("us", 3),
    ("usec", 3),
    ("usecs", 3),
    ("micros", 3),
    ("microsecond", 3),
    ("microseconds", 3),
    ("100ns", 2),
    ("filetime", 2),
    ("ns", 0),
    ("nsec", 0),
    ("nsecs", 0),
    ("nanos", 0),
    ("nanosecond", 0),
    ("nanoseconds", 0),
];
/// Names of the units of addresses and sizes, with their bytes.
const SIZE_UNITS: &[(&str, u64)] = &[
    ("b", 1),
    ("byte", 1),
    ("bytes", 1),
    ("sector", 512),
    ("sectors", 512),
    ("512", 512),
    ("512b", 512),
    ("kib", 1 << 10),
    ("kb", 1 << 10),
    ("k", 1 << 10),
    ("4k", 1 << 12),
    ("4kib", 1 << 12),
    ("4kb", 1 << 12),
    ("4096", 1 << 12),
    ("mib", 1 << 20),
    ("mb", 1 << 20),
];
/// Longest column name, in bytes, whose meaning (such as time or size) is looked up.
const LONGEST_NAME: usize = 48;

/// Splits a column's name into lower-case words, at anything but letters and digits and at capitals
/// after small letters.
fn words(name: &[u8]) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = b' ';
    for &byte in name.iter().take(LONGEST_NAME) {
        let parts = !byte.is_ascii_alphanumeric();
        if (parts || before.is_ascii_lowercase() && byte.is_ascii_uppercase())
            && words.last().is_some_and(|word| !word.is_empty())
        {
            words.push(String::new());
        }
        if !parts && let Some(word) = words.last_mut() {
            word.push(byte.to_ascii_lowercase() as char);
        }
        before = byte;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the value for `name` in a table of pairs of a column name (or unit) and its meaning;
/// `None` if the table lacks the name.
fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|&(_, meant)| meant)
}

/// Returns the role of a column (time, operation, address, size or device) that its name suggests;
/// `None` if it suggests none.
pub(crate) fn role(name: &[u8]) -> Option<Role> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let words = words(name);
    let whole = words.concat();
    let exact = of_name(&whole);
    let (last, before) = words.split_last()?;
    let stem = before.concat();
    let with_unit = match of_name(&stem) {
        Some(Role::Time(_)) => find(TIME_UNITS, last).map(|unit| Role::Time(Some(unit))),
        Some(Role::Offset(_)) => find(SIZE_UNITS, last).map(|unit| Role::Offset(Some(unit))),
        Some(Role::Size(_)) => find(SIZE_UNITS, last).map(|unit| Role::Size(Some(unit))),
        _ => None,
    };
    let alone = find(TIME_UNITS, &whole).filter(|_| whole.len() > 1);
    with_unit.or(exact).or(alone.map(|unit| Role::Time(Some(unit))))
}

/// Returns true if the name of a column of times says that they are dates.
pub(crate) fn says_date(name: &[u8]) -> bool {
    let whole = words(name).concat();
    OF_DATES.iter().any(|part| whole.contains(part))
}

/// Cache of the roles (time, operation, address, size, device) that the keys of JSON lines suggest,
/// because lines repeat their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownNames(Vec<(Vec<u8>, Option<Role>)>);

/// Largest number of JSON keys in the cache of their roles; the roles of further keys are
/// determined anew on each line.
const KNOWN_MOST: usize = 64;

impl KnownNames {
    /// Returns the role (such as time or size) that the name of a column or key suggests, from the
    /// cache if possible; `None` if it suggests none.
    pub fn role(&mut self, name: &[u8]) -> Option<Role> {
        if let Some((_, role)) = self.0.iter().find(|(known, _)| known == name) {
            return *role;
        }
        let role = role(name);
        if self.0.len() < KNOWN_MOST && name.len() <= LONGEST_NAME {
            self.0.push((name.to_vec(), role));
        }
        role
    }
}

/// Returns the role of a column (time, operation, address, size or device) from its lower-case name
/// without a unit; `None` if the name is unknown.
fn of_name(name: &str) -> Option<Role> {
    match name {
        "isread" | "readflag" => Some(Role::IsRead),
        "iswrite" | "writeflag" => Some(Role::IsWrite),
        _ if TIMES.contains(&name) => Some(Role::Time(None)),
        _ if OPS.contains(&name) => Some(Role::Op),
        _ if DEVICES.contains(&name) => Some(Role::Device),
        _ => find(OFFSETS, name)
            .map(Role::Offset)
            .or_else(|| find(SIZES, name).map(Role::Size))
            .or_else(|| glued_unit(name)),
    }
}

/// Recognizes a name of a column of times that ends in the unit, as `timens` and `tsus` do; `None`
/// for other names.
fn glued_unit(name: &str) -> Option<Role> {
    let unit = |&(unit, digits): &(&str, usize)| {
        let stem = name.strip_suffix(unit).filter(|_| unit.len() > 1)?;
        (stem.len() > 1 && TIMES.contains(&stem)).then_some(Role::Time(Some(digits)))
    };
    TIME_UNITS.iter().find_map(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_roles_and_units() {
        for (name, expected) in [
            ("time_s", Some(Role::Time(Some(9)))),
            ("Timestamp", Some(Role::Time(None))),
            ("TimeStamp (us)", Some(Role::Time(Some(3)))),
            ("ts[ms]", Some(Role::Time(Some(6)))),
            ("at_ns", Some(Role::Time(Some(0)))),
            ("timestampNs", Some(Role::Time(Some(0)))),
            ("timens", Some(Role::Time(Some(0)))),
            ("seconds", Some(Role::Time(Some(9)))),
            ("s", None),
            ("timestamp_100ns", Some(Role::Time(Some(2)))),
            ("IOType", Some(Role::Op)),
            ("r/w", Some(Role::Op)),
            ("is_read", Some(Role::IsRead)),
            ("Offset", Some(Role::Offset(Some(1)))),
            ("offset_sectors", Some(Role::Offset(Some(512)))),
            ("lba", Some(Role::Offset(None))),
            ("lba_512", Some(Role::Offset(Some(512)))),
            ("Sector", Some(Role::Offset(Some(512)))),
            ("nr_sectors", Some(Role::Size(Some(512)))),
            ("length", Some(Role::Size(Some(1)))),
            ("size_kib", Some(Role::Size(Some(1024)))),
            ("nlb", Some(Role::Size(None))),
            ("device_id", Some(Role::Device)),
            ("DiskNumber", Some(Role::Device)),
            ("unix_time_ms", Some(Role::Time(Some(6)))),
            ("@timestamp", Some(Role::Time(None))),
            ("ResponseTime", None),
            ("latency_us", None),
            ("Hostname", None),
            ("", None),
            ("7", None),
        ] {
            assert_eq!(role(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn names_may_say_that_a_time_is_a_date() {
        for (name, is_date) in
            [("unix_time", true), ("DateTime", true), ("epoch", true), ("timestamp", false)]
        {
            assert_eq!(role(name.as_bytes()), Some(Role::Time(None)), "{name}");
            assert_eq!(says_date(name.as_bytes()), is_date, "{name}");
        }
    }

    #[test]
    fn a_name_has_the_same_role_when_it_is_known() {
        let mut known = KnownNames::default();
        for name in (0..200).map(|n| format!("x{}", n % 90)).chain(["ts".into(), "op".into()]) {
            assert_eq!(known.role(name.as_bytes()), role(name.as_bytes()), "{name}");
        }
        assert_eq!(known.0.len(), KNOWN_MOST);
    }

    #[test]
    fn no_name_is_in_two_tables() {
        let names = TIMES.iter().chain(OPS).chain(DEVICES).copied();
        let measures = OFFSETS.iter().chain(SIZES).map(|(name, _)| *name);
        let mut all: Vec<&str> = names.chain(measures).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
    }
}
