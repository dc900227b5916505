//! The columns of the disk events in a CSV of Event Tracing for Windows, as the file's own header
//! names them. Versions of the tool differ: some print the processor, too.

/// Meaning of a column in a disk event of a Windows trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EtwColumn {
    /// A column of an event, in a trace of Event Tracing for Windows (ETW), that is skipped.
    Skipped,
    /// Time at which Windows logged the event of the trace, in microseconds.
    Time,
    /// Byte offset of the request.
    Offset,
    /// Size of the request, in bytes.
    Size,
    /// Time that the request took, from its start to its completion, in microseconds.
    Elapsed,
    /// Number of the disk that the request was for.
    Disk,
}

/// Columns of a disk event that are read, by their names in the file's header.
const NAMES: [(&[u8], EtwColumn); 5] = [
    (b"TimeStamp", EtwColumn::Time),
    (b"ByteOffset", EtwColumn::Offset),
    (b"IOSize", EtwColumn::Size),
    (b"ElapsedTime", EtwColumn::Elapsed),
    (b"DiskNum", EtwColumn::Disk),
];

/// Largest number of columns of a disk event in an ETW (Windows) trace that are searched for the
/// required ones (time, offset, size); further columns are ignored.
const MOST: usize = 32;

/// The columns of a disk event after its name, up to the last one that is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EtwEvent {
    columns: [EtwColumn; MOST],
    length: usize,
}

impl EtwEvent {
    /// Returns the columns of an event as Microsoft's production servers log them; `ranges` are the
    /// columns after `IrpPtr`.
    fn usual(ranges: &[EtwColumn]) -> EtwEvent {
        let mut event = EtwEvent { columns: [EtwColumn::Skipped; MOST], length: 0 };
        event.columns[0] = EtwColumn::Time;
        let behind = [ranges, &[EtwColumn::Elapsed, EtwColumn::Disk]].concat();
        event.length = 4 + behind.len();
        event.columns[4..event.length].copy_from_slice(&behind);
        event
    }

    /// Returns the columns of an ETW event; `names` are the words of the event's header line in the
    /// trace after the event's name.
    ///
    /// # Errors
    /// The name of a column that is missing. `has_range` says whether an address and a size must be
    /// among them.
    fn named<'a>(
        names: impl Iterator<Item = &'a [u8]>,
        has_range: bool,
    ) -> Result<EtwEvent, &'static str> {
        let mut event = EtwEvent { columns: [EtwColumn::Skipped; MOST], length: 0 };
        for (at, name) in names.take(MOST).enumerate() {
            let known = NAMES.iter().find(|(known, _)| *known == name);
            // If a name occurs twice, the first column counts.
            let known = known.filter(|(_, column)| !event.columns.contains(column));
            if let Some(&(_, column)) = known {
                event.columns[at] = column;
                event.length = at + 1;
            }
        }
        for (name, column) in NAMES {
            let is_range = matches!(column, EtwColumn::Offset | EtwColumn::Size);
            if !event.columns.contains(&column) && (has_range || !is_range) {
                return Err(str::from_utf8(name).expect("the names above are text"));
            }
        }
        Ok(event)
    }

    /// Returns the columns of the disk event in file order, up to the last one that is read.
    #[inline]
    pub fn columns(&self) -> &[EtwColumn] {
        &self.columns[..self.length]
    }
}

/// Columns of the disk events in a trace of Event Tracing for Windows (ETW), as the header of the
/// trace names them.
#[derive(Clone, Debug)]
pub(crate) struct EtwColumns {
    /// Columns of read, write and flush events; `None` for a kind whose header lacks a required
    /// column.
    events: [Option<EtwEvent>; 3],
    /// True while the lines read belong to the header of the ETW (Windows) trace.
    pub in_header: bool,
}

/// Kind of a disk event that is a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EtwKind {
    /// Event `DiskRead`, a read.
    Read,
    /// Event `DiskWrite`, a write.
    Write,
    /// Event `DiskFlush`, a flush.
    Flush,
}

impl EtwColumns {
    /// Returns the columns of disk events of this kind (read, write or flush) in an ETW (Windows)
    /// trace; `None` if the trace's header lacks a required column of the kind.
    #[inline]
    pub fn of(&self, kind: EtwKind) -> Option<EtwEvent> {
        self.events[kind as usize]
    }

    /// Reads the columns of an ETW event (reads, writes or flushes) from the event's header line in
    /// the trace.
    ///
    /// # Errors
    ///
    /// The name of a required column that the header lacks.
    pub fn learn<'a>(
        &mut self,
        kind: EtwKind,
        names: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), &'static str> {
        let named = EtwEvent::named(names, kind != EtwKind::Flush);
        self.events[kind as usize] = named.ok();
        named.map(drop)
    }
}

impl Default for EtwColumns {
    fn default() -> EtwColumns {
        let ranged = EtwEvent::usual(&[EtwColumn::Offset, EtwColumn::Size]);
        let events = [Some(ranged), Some(ranged), Some(EtwEvent::usual(&[]))];
        EtwColumns { events, in_header: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> impl Iterator<Item = &[u8]> {
        line.split(',').map(|name| name.trim().as_bytes())
    }

    #[test]
    fn columns_are_where_the_header_names_them() {
        let mut columns = EtwColumns::default();
        let usual = "TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, \
                     ElapsedTime, DiskNum, IrpFlags";
        let before = columns.of(EtwKind::Read).unwrap();
        assert_eq!(columns.learn(EtwKind::Read, names(usual)), Ok(()));
        assert_eq!(columns.of(EtwKind::Read).unwrap().columns(), before.columns());
        let other = "DiskNum, CPU, IOSize, TimeStamp, ByteOffset, ElapsedTime, FileName, IOSize";
        assert_eq!(columns.learn(EtwKind::Write, names(other)), Ok(()));
        use EtwColumn::{Disk, Elapsed, Offset, Size, Skipped, Time};
        let expected = [Disk, Skipped, Size, Time, Offset, Elapsed];
        assert_eq!(columns.of(EtwKind::Write).unwrap().columns(), expected);
    }

    #[test]
    fn a_column_that_is_missing_is_named() {
        let mut columns = EtwColumns::default();
        let line = "TimeStamp, ByteOffset, ElapsedTime, DiskNum";
        assert_eq!(columns.learn(EtwKind::Read, names(line)), Err("IOSize"));
        assert!(columns.of(EtwKind::Read).is_none() && columns.of(EtwKind::Write).is_some());
        assert_eq!(columns.learn(EtwKind::Flush, names(line)), Ok(()));
        let far = "x, ".repeat(MOST) + "TimeStamp";
        assert_eq!(columns.learn(EtwKind::Flush, names(&far)), Err("TimeStamp"));
    }
}
