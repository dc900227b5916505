//! The time that a trim takes: for the command, and for each unit with data.

use super::cases::{UNIT, answer_to, drive, read, tiny};
use crate::config::{LinkConfig, Pattern, UnwrittenReads};
use crate::event_loop::Pacing;
use crate::observe::blame::Part;
use crate::observe::completion::Completion;
use fowler_units::{HostIo, HostOp, Nanos, Span};

/// A page has four units: a trim of one of them has one entry.
#[test]
fn units_with_data_take_their_time() {
    let mut config = tiny();
    config.precondition.pattern = Pattern::Sequential;
    config.unwritten_reads = UnwrittenReads::Zero;
    let trim = |ms: u64, unit: u64, units: u64| {
        let at = Nanos::ZERO + Span::ms(ms);
        HostIo::new(HostOp::Trim, at, unit * UNIT, (units * UNIT) as u32)
    };
    let after = read(Span::ms(1) + Span::ns(1), 8, 1);
    let trims =
        [(trim(1, 8, 1), 1), (trim(2, 8, 8), 7), (trim(3, 8, 8), 0), (trim(4, 100, 333), 333)];
    let mut requests: Vec<HostIo> = trims.iter().map(|&(io, _)| io).collect();
    requests.insert(1, after);
    let mut answers: Vec<Completion> = Vec::new();
    drive(&config).run(requests, Pacing::Open, &mut answers);
    for (io, entries) in trims {
        let answer = answer_to(&io, &answers);
        assert_eq!(answer.latency(), LinkConfig::TRIM + LinkConfig::TRIM_ENTRY * entries, "{io:?}");
        assert_eq!(answer.blame[Part::Mapping], answer.latency());
    }
    // A trim takes effect at once: the read of a trimmed unit takes no time.
    assert_eq!(answer_to(&after, &answers).latency(), Span::ZERO);
}
