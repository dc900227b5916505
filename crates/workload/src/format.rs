//! The trace formats there are: their names, columns, units and read/write codes.
//!
//! Sources: the SPC trace file format 1.0.1; the README of the SNIA trace set "MSR Cambridge
//! Traces"; DiskSim's `disksim_iotrace.c`; MQSim's `ASCII_Trace_Definition.h`; SSDsim's trace
//! reader; and those named in the modules of `decode`. The formats contradict one another, above
//! all in which code is a read: [`Format::about`] states it for each.

use std::fmt;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// This project's own CSV.
    Native,
    /// SPC (Storage Performance Council), as in the UMass repository.
    Spc,
    /// MSR Cambridge CSV.
    Msr,
    /// DiskSim ASCII.
    Disksim,
    /// MQSim ASCII.
    Mqsim,
    /// SSDsim ASCII, time in nanoseconds.
    SsdsimNs,
    /// SSDsim ASCII, time in microseconds.
    SsdsimUs,
    /// SSDsim ASCII, time in nanoseconds, with a digest of the content, as made from the FIU
    /// traces.
    SsdsimDigest,
    /// FlashSim ASCII with sizes in 4 KiB pages.
    Flashsim,
    /// Cuts of MSR Cambridge in FlashSim's columns, with offsets and sizes in bytes.
    FlashsimBytes,
    /// The text that blkparse prints by default.
    Blkparse,
    /// SYSTOR '17 CSV.
    Systor17,
    /// Alibaba block traces of 2020.
    Alibaba,
}

/// What there is to know about a format.
struct Facts {
    name: &'static str,
    columns: &'static str,
    about: &'static str,
}

impl Format {
    /// Every format.
    pub const ALL: &[Format] = &[
        Format::Native,
        Format::Spc,
        Format::Msr,
        Format::Disksim,
        Format::Mqsim,
        Format::SsdsimNs,
        Format::SsdsimUs,
        Format::SsdsimDigest,
        Format::Flashsim,
        Format::FlashsimBytes,
        Format::Blkparse,
        Format::Systor17,
        Format::Alibaba,
    ];

    const fn facts(self) -> Facts {
        match self {
            Format::Native => Facts {
                name: "native",
                columns: "at_ns,op,offset,size",
                about: "CSV with the header at_ns,op,offset,size; time in ns, offset and size in \
                        bytes, op one of read, write, trim, flush",
            },
            Format::Spc => Facts {
                name: "spc",
                columns: "ASU,LBA,Size,Opcode,Timestamp[,more...]",
                about: "SPC as in the UMass repository: the ASU is the device, LBA in 512 B \
                        blocks, size in bytes, opcode r/R or w/W, time in decimal seconds; \
                        further columns are ignored",
            },
            Format::Msr => Facts {
                name: "msr",
                columns: "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
                about: "MSR Cambridge CSV: time in ticks of 100 ns (counted from the first \
                        request on), the disk number is the device, Type Read or Write, offset \
                        and size in bytes",
            },
            Format::Disksim => Facts {
                name: "disksim",
                columns: "time device block blocks flags",
                about: "DiskSim ASCII: time in decimal ms, blocks of 512 B, flags in hexadecimal \
                        whose bit 0 is set for a read",
            },
            Format::Mqsim => Facts {
                name: "mqsim",
                columns: "time device sector sectors op",
                about: "MQSim ASCII: time in ns, sectors of 512 B, op 1 is a read and 0 a write",
            },
            Format::SsdsimNs => Facts {
                name: "ssdsim-ns",
                columns: "time device sector sectors op",
                about: "SSDsim ASCII: time in ns, sectors of 512 B, op 1 is a read and 0 a write",
            },
            Format::SsdsimUs => Facts {
                name: "ssdsim-us",
                columns: "time device sector sectors op",
                about: "SSDsim ASCII with time in us: sectors of 512 B, op 1 is a read and 0 a \
                        write",
            },
            Format::SsdsimDigest => Facts {
                name: "ssdsim-digest",
                columns: "time device sector sectors op digest",
                about: "SSDsim ASCII made from the FIU traces: time in ns, sectors of 512 B, op \
                        1 is a read and 0 a write, and a sixth column, a digest of the content, \
                        which is ignored",
            },
            Format::Flashsim => Facts {
                name: "flashsim",
                columns: "time 0 sector pages op",
                about: "FlashSim ASCII: time in decimal ms, sector of 512 B, size in pages of 4 \
                        KiB, op 1 is a read and 0 a write",
            },
            Format::FlashsimBytes => Facts {
                name: "msr-cut",
                columns: "time 0 offset bytes op",
                about: "cuts of MSR Cambridge in FlashSim's columns: time in decimal ms, offset \
                        and size in bytes, op 1 is a read and 0 a write",
            },
            Format::Blkparse => Facts {
                name: "blkparse",
                columns: "device cpu sequence time pid Q rwbs sector + sectors [process]",
                about: "blkparse text in its default layout: of all events only Q (arrival) is \
                        read, time in decimal seconds, sectors of 512 B, R or W in the rwbs \
                        column, D a trim, F without a range a flush",
            },
            Format::Systor17 => Facts {
                name: "systor17",
                columns: "Timestamp,Response,IOType,LUN,Offset,Size",
                about: "SYSTOR '17 CSV with its header: time in decimal Unix seconds (counted \
                        from the first request on), IOType R or W, the LUN is the device, offset \
                        and size in bytes",
            },
            Format::Alibaba => Facts {
                name: "alibaba",
                columns: "device_id,opcode,offset,length,timestamp",
                about: "Alibaba block traces of 2020: opcode R or W, offset and length in bytes, \
                        time in us since 1970 (counted from the first request on)",
            },
        }
    }

    /// The name used in configuration and on the command line.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The columns in order, as the format's own documentation calls them.
    pub fn columns(self) -> &'static str {
        self.facts().columns
    }

    /// Columns, units and read/write codes in one sentence.
    pub fn about(self) -> &'static str {
        self.facts().about
    }

    /// The format of that name.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Every name, in order, for messages.
    pub fn names() -> String {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }

    /// The header row that must come first, where the format has one.
    pub(crate) fn header(self) -> Option<&'static str> {
        matches!(self, Format::Native | Format::Systor17).then(|| self.columns())
    }

    /// Whether a line, without blanks at its ends, is the header row of this format; for native traces,
    /// also with more columns.
    pub(crate) fn begins_with(self, line: &[u8]) -> bool {
        let rest = self.header().and_then(|header| line.strip_prefix(header.as_bytes()));
        rest.is_some_and(|rest| rest.is_empty() || self == Format::Native && rest[0] == b',')
    }

    /// The column that holds the time, for messages.
    pub(crate) fn time_column(self) -> &'static str {
        match self {
            Format::Native => "at_ns",
            Format::Spc | Format::Msr | Format::Systor17 => "Timestamp",
            Format::Alibaba => "timestamp",
            _ => "time",
        }
    }

    /// Whether times count from a calendar date, so that the first request's must be subtracted.
    pub(crate) fn counts_from_a_date(self) -> bool {
        matches!(self, Format::Msr | Format::Systor17 | Format::Alibaba)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_listed_once_and_found_by_its_name() {
        for (index, &format) in Format::ALL.iter().enumerate() {
            assert_eq!(format as usize, index);
            assert_eq!(Format::by_name(format.name()), Some(format));
            let about = format.about();
            assert!(about.contains("time in "), "{format} says what its time counts");
            assert!(
                ["1 is a read", "set for a read", "r/R", "Read or Write", "R or W", "op one of"]
                    .iter()
                    .any(|code| about.contains(code)),
                "{format} says which code is a read"
            );
        }
        assert_eq!(Format::by_name("SPC"), None);
    }
}
