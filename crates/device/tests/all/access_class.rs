//! Pages classified by their use in the buffer, and blocks by the class of their data (HIRE,
//! sections 3.1 and 3.2).

use crate::support::small;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::PlacementKind;
use fowler_device::policy::replacement::ReplacementKind;
use fowler_device::policy::sensing::{Input, SensingKind};
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::reliability::ModelKind;
use fowler_device::*;
use fowler_units::{Bytes, HostIo, HostOp, Nanos, Rng, Span};
use std::collections::VecDeque;

/// Frames of the buffer, of which one stays free.
const FRAMES: usize = 8;

/// Three quarters are exact in binary, so that the model can decide in whole numbers.
const WATERMARK: f64 = 0.75;

/// HIRE on a drive of a few thousand pages.
fn config(read_hot: ReadHot) -> Config {
    let mut config = small();
    config.geometry.blocks_per_plane = 32;
    config.over_provisioning = 0.5;
    config.buffer = BufferConfig {
        size: Bytes(FRAMES as u64 * 4096),
        ack: Ack::OnInsert,
        evict_ahead: 1,
        cache_reads: true,
        read_hot,
        ..config.buffer
    };
    config.hotness.detectors = 1 << Detector::BufferHits as u32;
    config.hotness.watermark = WATERMARK;
    config.placement.name = PlacementKind::Streams;
    config.voltage.name = VoltageKind::ByHotness;
    config.replacement.name = ReplacementKind::Lru;
    config.reliability.model = ModelKind::ByVoltage;
    config.sensing.name = SensingKind::Model;
    config.sensing.inputs = 1 << Input::Voltage as u32;
    config
}

fn io(at: Span, page: u64, op: HostOp) -> HostIo {
    HostIo::new(op, Nanos::ZERO + at, page * 4096, 4096)
}

fn served(config: &Config, requests: &[HostIo]) -> (Device, Vec<Completion>) {
    let mut completions: Vec<Completion> = Vec::new();
    let mut device = Device::new(config).unwrap_or_else(|why| panic!("{why:?}"));
    device.run_watched(requests.iter().copied(), Pacing::Open, &mut completions, |device| {
        device.check().unwrap_or_else(|law| panic!("at {}: {}", device.now().0, law.0));
    });
    (device, completions)
}

/// The obvious model of the buffer: the page used last in front, with its reads and writes.
#[derive(Default)]
struct Model {
    pages: VecDeque<(u64, u64, u64)>,
    /// Pages that left the buffer.
    left: ByClass<u64>,
}

impl Model {
    /// PageUses a page. Returns true if the page was in the buffer.
    fn uses(&mut self, page: u64, op: HostOp) -> bool {
        let found = self.pages.iter().position(|&(recorded, ..)| recorded == page);
        let (_, mut reads, mut writes) =
            found.map_or((page, 0, 0), |at| self.pages.remove(at).expect("found"));
        if op == HostOp::Read {
            reads += 1
        } else {
            writes += 1
        }
        self.pages.push_front((page, reads, writes));
        while self.pages.len() > FRAMES - 1 {
            let (_, reads, writes) = self.pages.pop_back().expect("more than one");
            let all = reads + writes;
            let class = if 4 * reads > 3 * all {
                AccessClass::ReadHot
            } else if 4 * writes > 3 * all {
                AccessClass::WriteHot
            } else {
                AccessClass::Mixed
            };
            self.left[class] += 1;
        }
        found.is_some()
    }
}

/// Requests so far apart that each finds the drive at rest.
#[test]
fn the_buffer_is_a_list_by_last_use_that_counts_hits() {
    let mut classes = ByClass::default();
    for seed in 0..20 {
        let mut rng = Rng::stream(seed, "uses/lru");
        // Pages below 6 are mostly read, others mostly written; some are hit often, so that they
        // stay for long.
        let requests: Vec<HostIo> = (0..600u64)
            .map(|number| {
                let few = rng.chance(0.5);
                let page = rng.below(if few { 5 } else { 16 });
                let reads = rng.chance(if page < 6 { 0.8 } else { 0.2 });
                let op = if reads { HostOp::Read } else { HostOp::Write };
                io(Span::ms(10 * (number + 1)), page, op)
            })
            .collect();
        let (device, completions) = served(&config(ReadHot::OnDirty), &requests);
        let mut model = Model::default();
        for (request, completion) in requests.iter().zip(&completions) {
            let hit = model.uses(request.offset / 4096, request.op);
            if request.op == HostOp::Read {
                let at_once = completion.latency() == Span::ZERO;
                assert_eq!(at_once, hit, "seed {seed}: {completion:?}");
            }
        }
        let left = device.counters().left;
        assert_eq!(left, model.left, "seed {seed}: mixed, read-hot and write-hot");
        classes += left;
    }
    assert!(classes.values().all(|&count| count > 100), "{classes:?}: each class is tested");
}

/// Section 3.1: WebSearch only reads, so that all its pages are read-hot.
#[test]
fn what_is_only_read_is_read_hot() {
    let mut rng = Rng::stream(1, "uses/websearch");
    let requests: Vec<HostIo> =
        (0..500).map(|number| io(Span::us(50 * number), rng.below(200), HostOp::Read)).collect();
    let (device, _) = served(&config(ReadHot::OnDirty), &requests);
    let [mixed, read_hot, write_hot] = device.counters().left.into_array();
    assert_eq!((mixed, write_hot), (0, 0));
    assert!(read_hot > 100, "{read_hot}");
    assert_eq!(device.counters().programs, BySource::default(), "and none of it is programmed");
}

/// Reads pages 0 to 19, so that the first ones leave the buffer as read-hot; a second later, reads
/// `page` again.
fn read_again(page: u64) -> Vec<HostIo> {
    let first = |page: u64| io(Span::us(1000 + 200 * page), page, HostOp::Read);
    let again = io(Span::ms(1005), page, HostOp::Read);
    (0..20).map(first).chain([again]).collect()
}

#[test]
fn a_clean_page_that_was_read_is_read_fast_from_then_on_only_as_told() {
    // Pages had no class when the drive was filled: the first reads are those of nominal voltages.
    // A page that waits to be reprogrammed takes one more frame, and only one page may wait.
    let last = 19 - FRAMES as u64 + 1;
    for (read_hot, page, fast) in [
        (ReadHot::OnDirty, last, 0),
        (ReadHot::OnEvict, last, 1),
        (ReadHot::RewriteOnIdle, last, 0),
        (ReadHot::RewriteOnIdle, last + 1, 1),
    ] {
        let (device, _) = served(&config(read_hot), &read_again(page));
        let c = device.counters();
        assert_eq!(c.reads_at[..3], [fast, 21 - fast, 0], "{read_hot:?}");
        let programs = c.programs_at[Source::Refresh];
        let anew = c.rewritten.anew;
        assert_eq!(programs.into_array(), [anew, 0, 0], "at boosted voltages");
        assert_eq!(anew > 0, read_hot == ReadHot::RewriteOnIdle, "{anew}");
    }
}

#[test]
fn a_page_is_programmed_anew_only_on_a_die_that_was_idle_for_long_enough() {
    let mut config = config(ReadHot::RewriteOnIdle);
    config.gc.idle_after = Span::ms(40);
    let last = Span::ms(5);
    let mut completions: Vec<Completion> = Vec::new();
    let mut device = Device::new(&config).expect("a sound drive");
    let mut first = None;
    device.run_watched(read_again(0), Pacing::Open, &mut completions, |device| {
        if device.counters().rewritten.anew > 0 {
            first = first.or(Some(device.now()));
        }
    });
    let first = first.expect("there was a second without requests");
    // The reads of `read_again` end before 5 ms; the first dies of the stripe have been idle since
    // 4 ms.
    assert!(
        first > Nanos::ZERO + Span::ms(44) && first < Nanos::ZERO + last + Span::ms(45),
        "{first:?}"
    );
    // Without such a pause no page is reprogrammed.
    let busy: Vec<HostIo> =
        (0..2000).map(|n| io(Span::us(500 * n), n % 64, HostOp::Read)).collect();
    let (device, _) = served(&config, &busy);
    assert_eq!(device.counters().rewritten.anew, 0);
    assert!(
        device.counters().rewritten.given_up > 100,
        "they are given up when their frames are needed"
    );
}

/// Survivors of GC share blocks with data of their class: read-hot data is programmed at boosted
/// voltages again.
// Slow: 20,000 requests, until GC has collected many blocks of read-hot data.
#[test]
fn gc_keeps_the_class_of_a_page() {
    let mut config = config(ReadHot::OnDirty);
    config.precondition.fill = 0.0;
    config.over_provisioning = 0.25;
    let pages = config.layout().expect("sound").logical_pages;
    let mut rng = Rng::stream(3, "uses/collection");
    let mut requests = Vec::new();
    for number in 0..20_000u64 {
        let at = Span::us(400 * number);
        let page = rng.below(pages.into());
        // A fifth of the pages is hardly ever written, and read so often in between that the pages
        // leave the buffer as read-hot.
        let op = if page.is_multiple_of(5) && !number.is_multiple_of(11) {
            HostOp::Read
        } else {
            HostOp::Write
        };
        let times = if page.is_multiple_of(5) { 6 } else { 1 };
        requests.push(io(at, page, op));
        for _ in 1..times {
            requests.push(io(at, page, HostOp::Read));
        }
    }
    let (device, _) = served(&config, &requests);
    let c = device.counters();
    let [boosted, _, reduced] = c.programs_at[Source::Gc].into_array();
    assert!(boosted > 50 && reduced > 50, "{:?}", c.programs_at);
}

/// Data from before the run has the configured class: reads and GC treat the data accordingly.
#[test]
fn data_is_preconditioned_by_class() {
    let reads: Vec<HostIo> =
        (0..200).map(|number| io(Span::us(500 * number), 3 * number, HostOp::Read)).collect();
    for read_hot in [ReadHot::OnDirty, ReadHot::OnEvict] {
        for (class, level) in
            [(AccessClass::ReadHot, 0), (AccessClass::Mixed, 1), (AccessClass::WriteHot, 2)]
        {
            let mut config = config(read_hot);
            config.precondition = PreconditionConfig {
                pattern: Pattern::Random,
                access_class: class,
                ..config.precondition
            };
            let (device, _) = served(&config, &reads);
            let at = device.counters().reads_at;
            // Data in blocks that are still open has no class.
            assert!(at[level] > 150, "{read_hot:?} {class:?}: {at:?}");
        }
    }
    // Without access classes, data has no class.
    let mut config = config(ReadHot::OnDirty);
    config.hotness.detectors = 0;
    config.placement.name = PlacementKind::SingleStream;
    config.voltage.name = VoltageKind::Nominal;
    config.precondition.access_class = AccessClass::ReadHot;
    let (device, _) = served(&config, &reads);
    assert_eq!(device.counters().reads_at[0], 0);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let refused = |change: &dyn Fn(&mut Config), key: &str, said: &str| {
        let mut config = config(ReadHot::OnDirty);
        assert!(config.layout().is_ok(), "{:?}", config.layout());
        change(&mut config);
        let refusals = config.layout().expect_err(said);
        let reported =
            |refusal: &&Refusal| refusal.keys.contains(&key) && refusal.what.contains(said);
        assert!(refusals.iter().any(|it| reported(&it)), "{said}: {refusals:?}");
    };
    refused(&|it| it.hotness.watermark = 0.5, "policy.hotness.watermark", "a watermark of 0.5");
    refused(&|it| it.hotness.watermark = 1.01, "policy.hotness.watermark", "a watermark of 1.01");
    refused(
        &|it| it.hotness.watermark = f64::NAN,
        "policy.hotness.watermark",
        "a watermark of NaN",
    );
    let pages = config(ReadHot::OnDirty).layout().expect("sound").logical_pages;
    let more = u64::from(pages) + 1;
    let said = format!("a buffer of {more} pages; the drive has only {pages}");
    refused(&|it| it.buffer.size = Bytes(more * 4096), "buffer.size", &said);
    refused(
        &|it| it.buffer.size = Bytes(0),
        "policy.hotness",
        "`buffer_hits` has no hits to count",
    );
    refused(&|it| it.buffer.size = Bytes(0), "buffer.cache_reads", "cannot cache reads");
    refused(&|it| it.reliability.model = ModelKind::Off, "policy.voltage", "no bit errors");
    refused(
        &|it| it.placement.name = PlacementKind::SingleStream,
        "policy.placement",
        "separate blocks for each access class",
    );
    refused(
        &|it| it.hotness.detectors = 1,
        "policy.hotness",
        "separate blocks for each access class",
    );
    let crossed = |it: &mut Config| it.reliability.cells.programmed_2 = 9.0;
    refused(&crossed, "reliability.cells.programmed_1", "");
    // As large as the drive, and every rule above 0.5, is possible.
    let mut largest = config(ReadHot::OnDirty);
    largest.buffer.size = Bytes(u64::from(pages) * 4096);
    largest.hotness.watermark = 0.500_001;
    assert!(largest.layout().is_ok());
}
