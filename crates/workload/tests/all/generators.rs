//! Generated workloads: a spec reproduces its requests, which have the specified statistics.

use fowler_units::{Bytes, HostIo, HostOp, Nanos, Rng, Span};
use fowler_workload::{
    Addresses, Arrivals, Length, OptionalColumns, Pattern, Popular, Runs, SizeShare, Synth,
    SynthSpec, TraceInfo, write_native,
};

fn generate(spec: &SynthSpec) -> Vec<HostIo> {
    Synth::new(spec).unwrap_or_else(|error| panic!("{error}")).collect()
}

fn info(spec: &SynthSpec) -> TraceInfo {
    TraceInfo::gather(None, Synth::new(spec).unwrap().map(Ok)).unwrap()
}

/// A spec that uses every part of the generator.
fn rich() -> SynthSpec {
    SynthSpec {
        seed: 42,
        round: 0,
        length: Length::Requests(1000),
        arrivals: Arrivals::Bursts {
            busy_rate: 20_000.0,
            quiet_rate: 100.0,
            mean_busy: Span::ms(5),
            mean_quiet: Span::ms(20),
        },
        tick: Span::ZERO,
        space: Bytes(1 << 30),
        alignment: Bytes(4096),
        reads_only: 0.0,
        writes_only: 0.0,
        read_share: 0.6,
        trim_share: 0.05,
        persistence: 0.0,
        reads: Pattern {
            addresses: Addresses::Zipf { theta: 0.99 },
            popular: Popular::Scattered,
            mean_run: 1.5,
            runs: Runs::Aligned,
            batch: 1.0,
            again: 0.0,
            again_within: 512,
            own: 0.0,
            sizes: vec![
                SizeShare { size: 4096, weight: 3.0 },
                SizeShare { size: 65_536, weight: 1.0 },
            ],
        },
        writes: Pattern {
            addresses: Addresses::HotCold { accesses: 0.9, space: 0.1 },
            popular: Popular::ScatteredApart,
            mean_run: 1.0,
            runs: Runs::Aligned,
            batch: 1.0,
            again: 0.0,
            again_within: 512,
            own: 0.0,
            sizes: vec![SizeShare { size: 4096, weight: 1.0 }],
        },
    }
}

/// FNV-1a over a native trace.
fn fingerprint(spec: &SynthSpec) -> u64 {
    let mut text = Vec::new();
    write_native(generate(spec).into_iter().map(Ok), OptionalColumns::default(), &mut text)
        .unwrap();
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn the_same_spec_is_the_same_bytes_on_every_machine() {
    let first: Vec<String> = generate(&rich())
        .iter()
        .take(4)
        .map(|it| format!("{},{},{},{}", it.at.0, it.op.word(), it.offset, it.size))
        .collect();
    assert_eq!(first, GOLDEN_FIRST);
    let poisson = SynthSpec { length: Length::Requests(1000), ..SynthSpec::default() };
    assert_eq!([fingerprint(&rich()), fingerprint(&poisson)], GOLDEN_FINGERPRINTS);
    assert_ne!(fingerprint(&SynthSpec { seed: 43, ..rich() }), GOLDEN_FINGERPRINTS[0]);
}

const GOLDEN_FIRST: [&str; 4] = [
    "89520,read,564408320,65536",
    "130905,write,129765376,4096",
    "469387,write,1033175040,4096",
    "525825,read,564473856,4096",
];
const GOLDEN_FINGERPRINTS: [u64; 2] = [10_187_673_368_189_271_091, 270_805_273_055_615_362];

#[test]
fn changing_one_part_changes_nothing_of_the_others() {
    let before = generate(&rich());
    let after = generate(&SynthSpec { arrivals: Arrivals::Closed, ..rich() });
    let mut again = rich();
    again.writes.again = 0.5;
    let operation = |it: &HostIo| (it.at, it.op, it.size);
    assert!(before.iter().map(operation).eq(generate(&again).iter().map(operation)));
    let without_time = |it: &HostIo| (it.op, it.offset, it.size);
    assert!(before.iter().map(without_time).eq(after.iter().map(without_time)));
    assert!(after.iter().all(|it| it.at == Nanos::ZERO));
    let mut spec = rich();
    spec.writes.sizes[0].size = 512;
    let after = generate(&spec);
    let reads = |requests: &[HostIo]| -> Vec<HostIo> {
        requests.iter().copied().filter(|it| it.op == HostOp::Read).collect()
    };
    assert_eq!(reads(&before), reads(&after));
}

#[test]
fn shares_sizes_and_rates_are_those_asked_for() {
    let spec = SynthSpec { length: Length::Requests(200_000), ..rich() };
    let info = info(&spec);
    let share = |op: HostOp| info.requests[op] as f64 / 200_000.0;
    for (op, expected) in [(HostOp::Read, 0.6), (HostOp::Trim, 0.05), (HostOp::Write, 0.35)] {
        assert!((share(op) - expected).abs() < 0.005, "{op:?}: {}", share(op));
    }
    let large = info.sizes.iter().find(|size| size.size == 65_536).unwrap().share;
    assert!((large - 0.6 * 0.25).abs() < 0.005, "{large}");
    let mean_rate = (5.0 * 20_000.0 + 20.0 * 100.0) / 25.0;
    assert!((info.mean_rate / mean_rate - 1.0).abs() < 0.1, "{}", info.mean_rate);
}

#[test]
fn runs_have_their_mean_length() {
    let mut spec = SynthSpec { length: Length::Requests(100_000), ..SynthSpec::default() };
    for mean_run in [1.0, 4.0, 100.0] {
        spec.reads.mean_run = mean_run;
        let share = info(&spec).sequential_share;
        assert!((share - (1.0 - 1.0 / mean_run)).abs() < 0.01, "{mean_run}: {share}");
    }
}

/// Half of the requests are half a unit long. After such a request a run that goes on at the next
/// unit leaves a gap, and one that goes on where the request ended does not. So of the three
/// quarters of requests that continue a run, half or all begin where the last one ended.
#[test]
fn runs_go_on_at_the_next_unit_or_where_the_last_request_ended() {
    let mut spec = SynthSpec { length: Length::Requests(100_000), ..SynthSpec::default() };
    let half = u32::try_from(spec.alignment.0).unwrap() / 2;
    spec.read_share = 1.0;
    spec.reads.mean_run = 4.0;
    spec.reads.sizes = [half, 2 * half].map(|size| SizeShare { size, weight: 1.0 }).into();
    for (runs, expected) in [(Runs::Aligned, 0.375), (Runs::Contiguous, 0.75)] {
        spec.reads.runs = runs;
        let share = info(&spec).sequential_share;
        // Four standard deviations of a share of 100,000 draws.
        assert!((share - expected).abs() < 4.0 * 0.0016, "{runs:?}: {share}");
        let end = spec.space.0;
        let all: Vec<HostIo> = Synth::new(&spec).unwrap().collect();
        assert!(all.iter().all(|io| io.offset + u64::from(io.size) <= end), "{runs:?}");
    }
}

/// Requests that arrive at the same moment, grouped.
fn batches(requests: &[HostIo]) -> Vec<&[HostIo]> {
    requests.chunk_by(|a, b| a.at == b.at).collect()
}

#[test]
fn batches_have_their_means_and_keep_rate_and_shares() {
    const REQUESTS: u64 = 400_000;
    let mut spec = SynthSpec {
        length: Length::Requests(REQUESTS),
        arrivals: Arrivals::Poisson { rate: 1000.0 },
        read_share: 0.6,
        trim_share: 0.1,
        ..SynthSpec::default()
    };
    for (reads, writes) in [(1.0, 1.0), (3.0, 3.0), (1.0, 8.0), (20.0, 2.0)] {
        (spec.reads.batch, spec.writes.batch) = (reads, writes);
        let requests = generate(&spec);
        let groups = batches(&requests);
        for (is_read, wanted) in [(true, reads), (false, writes)] {
            let of_kind = groups.iter().filter(|it| (it[0].op == HostOp::Read) == is_read);
            let (count, sum) =
                of_kind.fold((0.0, 0.0), |(count, sum), it| (count + 1.0, sum + it.len() as f64));
            assert!((sum / count / wanted - 1.0).abs() < 0.02, "{reads} {writes}: {}", sum / count);
        }
        assert!(groups.iter().all(|it| it.iter().all(|io| io.op == it[0].op)));
        let share = |op| requests.iter().filter(|it| it.op == op).count() as f64 / REQUESTS as f64;
        for (op, wanted) in [(HostOp::Read, 0.6), (HostOp::Trim, 0.1), (HostOp::Write, 0.3)] {
            assert!((share(op) - wanted).abs() < 0.01, "{reads} {writes} {op:?}: {}", share(op));
        }
        let rate = REQUESTS as f64 / (requests.last().unwrap().at - Nanos::ZERO).as_s();
        assert!((rate / 1000.0 - 1.0).abs() < 0.02, "{reads} {writes}: {rate}");
        if reads == writes {
            // The gaps of a batch Poisson process: one in `b` is exponential with mean `b` times
            // the overall mean, the others are zero, so that the squared variation is 2 b - 1.
            let cv = info(&spec).interarrival_cv;
            assert!((cv / (2.0 * reads - 1.0).sqrt() - 1.0).abs() < 0.02, "{reads}: {cv}");
        }
    }
}

#[test]
fn operations_persist_and_their_shares_stay() {
    let mut spec = SynthSpec {
        length: Length::Requests(400_000),
        read_share: 0.4,
        trim_share: 0.05,
        ..SynthSpec::default()
    };
    for persistence in [0.0f64, 0.5, 0.95] {
        spec.persistence = persistence;
        let requests = generate(&spec);
        let same = requests.windows(2).filter(|pair| pair[0].op == pair[1].op).count() as f64;
        let independent = 0.4f64.powi(2) + 0.55f64.powi(2) + 0.05f64.powi(2);
        let wanted = persistence + (1.0 - persistence) * independent;
        assert!((same / 4e5 - wanted).abs() < 0.005, "{persistence}: {}", same / 4e5);
        let reads = requests.iter().filter(|it| it.op == HostOp::Read).count() as f64 / 4e5;
        assert!((reads - 0.4).abs() < 0.01, "{persistence}: {reads}");
        let runs = requests.chunk_by(|a, b| a.op == b.op).filter(|it| it[0].op == HostOp::Read);
        let mean = reads * 4e5 / runs.count() as f64;
        assert!((mean * (1.0 - persistence) * 0.6 - 1.0).abs() < 0.05, "{persistence}: {mean}");
    }
}

#[test]
fn requests_go_again_where_earlier_ones_went() {
    const WITHIN: usize = 64;
    let mut spec = SynthSpec {
        length: Length::Requests(200_000),
        space: Bytes(1 << 50),
        ..SynthSpec::default()
    };
    (spec.reads.again, spec.reads.again_within) = (0.7, WITHIN as u32);
    let offsets: Vec<u64> = generate(&spec).iter().map(|it| it.offset).collect();
    // New addresses of so large a space hardly ever meet: the others are the repeated ones.
    let seen = |at: usize| offsets[at.saturating_sub(WITHIN)..at].contains(&offsets[at]);
    let share = (WITHIN..offsets.len()).filter(|&at| seen(at)).count() as f64 / 2e5;
    assert!((share - 0.7).abs() < 0.01, "{share}");
    // The one before is named with probability 1 / (1 + 1/2 + ... + 1/64), and others may have gone
    // there too.
    let next = offsets.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 / 2e5;
    let harmonic: f64 = (1..=WITHIN).map(|k| 1.0 / k as f64).sum();
    assert!(next > 0.7 / harmonic && next < 0.7, "{next}");
}

#[test]
fn a_coarse_clock_rounds_down_and_keeps_the_rate() {
    let spec = SynthSpec { length: Length::Requests(10_000), ..SynthSpec::default() };
    let coarse = SynthSpec { tick: Span::ms(1), ..spec.clone() };
    let down = |it: HostIo| it.with_at(Nanos(it.at.0 / 1_000_000 * 1_000_000));
    assert_eq!(generate(&coarse), generate(&spec).into_iter().map(down).collect::<Vec<_>>());
}

#[test]
fn popular_addresses_are_scattered_or_lowest_and_shared_or_apart() {
    let mut spec = SynthSpec {
        length: Length::Requests(50_000),
        space: Bytes(4096 * 1000),
        read_share: 0.5,
        ..SynthSpec::default()
    };
    let hot = |spec: &SynthSpec| {
        let mut counts = [vec![0u32; 1000], vec![0u32; 1000]];
        for it in generate(spec) {
            counts[it.op as usize][(it.offset / 4096) as usize] += 1;
        }
        counts.map(|counts| (0..1000).max_by_key(|&page| counts[page]).unwrap())
    };
    for pattern in [&mut spec.reads, &mut spec.writes] {
        pattern.addresses = Addresses::Zipf { theta: 1.1 };
        pattern.popular = Popular::Lowest;
    }
    assert_eq!(hot(&spec), [0, 0]);
    spec.reads.popular = Popular::Scattered;
    spec.writes.popular = Popular::Scattered;
    let [read, write] = hot(&spec);
    assert!(read == write && read != 0, "{read} {write}");
    spec.writes.popular = Popular::ScatteredApart;
    let [read, write] = hot(&spec);
    assert_ne!(read, write);
}

/// The part of the space that an address lies in: that of reads, the shared one, that of writes.
fn part_of(spec: &SynthSpec, at: u64) -> usize {
    let slots = (spec.space.0 / spec.alignment.0) as f64;
    let bytes = |share: f64| (slots * share).round() as u64 * spec.alignment.0;
    usize::from(at >= bytes(spec.reads_only)) + usize::from(at >= bytes(1.0 - spec.writes_only))
}

#[test]
fn reads_and_writes_keep_to_their_parts_and_share_the_rest() {
    let mut spec = SynthSpec {
        length: Length::Requests(200_000),
        space: Bytes(4096 * 1000),
        reads_only: 0.4,
        writes_only: 0.25,
        read_share: 0.5,
        ..SynthSpec::default()
    };
    (spec.reads.own, spec.writes.own) = (0.7, 0.9);
    // Runs, requests that go again and sizes of several pages stay in their part too.
    for pattern in [&mut spec.reads, &mut spec.writes] {
        pattern.addresses = Addresses::Zipf { theta: 0.9 };
        (pattern.mean_run, pattern.again) = (3.0, 0.5);
        pattern.sizes.push(SizeShare { size: 65_536, weight: 0.2 });
    }
    let requests = generate(&spec);
    let mut counts = [[0u32; 3]; 2];
    for it in &requests {
        let [first, last] =
            [it.offset, it.offset + u64::from(it.size) - 1].map(|at| part_of(&spec, at));
        assert_eq!(first, last, "{it:?}");
        counts[it.op as usize][first] += 1;
    }
    let [reads, writes] = counts;
    assert_eq!((reads[2], writes[0]), (0, 0));
    // Runs of three and repeats make draws of a part some ten times fewer than requests: about
    // 10,000.
    let share = |own: u32, shared: u32| f64::from(own) / f64::from(own + shared);
    assert!((share(reads[0], reads[1]) - 0.7).abs() < 0.02, "{reads:?}");
    assert!((share(writes[2], writes[1]) - 0.9).abs() < 0.02, "{writes:?}");
    // In the shared part, the page read most often is also the one written most often.
    let hottest = |op: HostOp| {
        let mut counts = vec![0u32; 1000];
        let shared = requests.iter().filter(|it| it.op == op && part_of(&spec, it.offset) == 1);
        shared.for_each(|it| counts[(it.offset / 4096) as usize] += 1);
        (0..1000).max_by_key(|&page| counts[page]).unwrap()
    };
    assert_eq!(hottest(HostOp::Read), hottest(HostOp::Write));
    // A part for one kind must not change times and sizes of the other kind.
    let of = |op: HostOp, spec: &SynthSpec| -> Vec<HostIo> {
        generate(spec).into_iter().filter(|it| it.op == op).collect()
    };
    let mut other = spec.clone();
    other.writes.own = 0.2;
    assert_eq!(of(HostOp::Read, &other), of(HostOp::Read, &spec));
    let shape = |it: &HostIo| (it.at, it.size);
    let [before, after] = [&spec, &other].map(|it| of(HostOp::Write, it));
    assert!(before.iter().map(shape).eq(after.iter().map(shape)) && before != after);
}

#[test]
fn parts_that_are_empty_or_too_small_are_refused() {
    let check = |reads_only: f64, own: f64, size: u32| {
        let mut spec = SynthSpec { reads_only, space: Bytes(4096 * 100), ..SynthSpec::default() };
        spec.reads.own = own;
        spec.reads.sizes[0].size = size;
        Synth::new(&spec).map_err(|error| error.to_string()).err()
    };
    for (reads_only, own, size, reported) in [
        (0.5, 0.5, 4096, None),
        (1.0, 1.0, 4096, None),
        (0.0, 0.5, 4096, Some("reads.own = 0.5")),
        (1.0, 0.9, 4096, Some("reads.own = 0.9")),
        (0.1, 0.5, 65_536, Some("reads.sizes = 65536")),
        (0.1, 0.0, 65_536, None),
        (1.5, 1.0, 4096, Some("reads_only = 1.5")),
    ] {
        let error = check(reads_only, own, size);
        let holds = match reported {
            None => error.is_none(),
            Some(reported) => error.as_ref().is_some_and(|error| error.contains(reported)),
        };
        assert!(holds, "{reads_only} {own} {size}: {error:?}");
    }
}

#[test]
fn a_duration_ends_in_time_and_a_count_is_exact() {
    let arrivals = Arrivals::Fixed { rate: 1000.0 };
    let spec =
        SynthSpec { arrivals, length: Length::Duration(Span::ms(5)), ..SynthSpec::default() };
    let times: Vec<u64> = generate(&spec).iter().map(|it| it.at.0).collect();
    assert_eq!(times, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]);
    assert_eq!(generate(&rich()).len(), 1000);
}

#[test]
fn unusable_specs_are_refused_with_every_diagnostic() {
    let spec = SynthSpec { read_share: 2.0, space: Bytes(0), ..SynthSpec::default() };
    let error = Synth::new(&spec).unwrap_err().to_string();
    assert!(error.contains("read_share = 2") && error.contains("a share from 0 to 1"), "{error}");
    assert!(error.contains("space"), "{error}");
}

/// Any valid spec yields requests inside the space, in order, and aligned unless runs go on where
/// requests end.
#[test]
fn every_sound_spec_is_generated_soundly() {
    let mut rng = Rng::stream(1, "specs");
    let mut sound = 0;
    for _ in 0..20_000 {
        let spec = random_spec(&mut rng);
        if !spec.check().is_empty() {
            continue;
        }
        sound += 1;
        let requests: Vec<HostIo> = Synth::new(&spec).unwrap().take(50).collect();
        assert!(requests.iter().map(|it| it.at).is_sorted(), "{spec:?}");
        for it in &requests {
            assert!(
                it.size > 0 && it.offset + u64::from(it.size) <= spec.space.0,
                "{spec:?}: {it:?}"
            );
            let pattern = if it.op == HostOp::Read { &spec.reads } else { &spec.writes };
            let aligned = it.offset.is_multiple_of(spec.alignment.0);
            assert!(aligned || pattern.runs == Runs::Contiguous, "{spec:?}: {it:?}");
        }
    }
    assert!(sound > 200, "{sound}");
}

fn random_spec(rng: &mut Rng) -> SynthSpec {
    let rate = |rng: &mut Rng| [1e-6, 0.5, 1e4, 1e9, 0.0, f64::NAN][rng.below(6) as usize];
    let share = |rng: &mut Rng| [0.0, 1.0, 0.3, 1e-300, 1.0 - 1e-16][rng.below(5) as usize];
    // Most shares are drawn valid; otherwise hardly any spec would be.
    let part = |rng: &mut Rng| {
        [0.0, 0.2, 0.3, 1e-300, 1.0, f64::NAN].get(rng.below(40) as usize).copied().unwrap_or(0.1)
    };
    let pattern = |rng: &mut Rng| Pattern {
        addresses: match rng.below(3) {
            0 => Addresses::Uniform,
            1 => Addresses::Zipf { theta: [0.0, 0.99, 1.0, 1.5, 20.0][rng.below(5) as usize] },
            _ => Addresses::HotCold { accesses: share(rng), space: share(rng) },
        },
        popular: [Popular::Lowest, Popular::Scattered, Popular::ScatteredApart]
            [rng.below(3) as usize],
        mean_run: [1.0, 3.0, 1e9][rng.below(3) as usize],
        runs: [Runs::Aligned, Runs::Contiguous][rng.below(2) as usize],
        batch: [1.0, 1.0, 2.5, 1e6, f64::NAN][rng.below(5) as usize],
        again: share(rng),
        again_within: [1, 2, 100, 1 << 20, 0][rng.below(5) as usize],
        own: [0.0, 0.5, 0.9, 1.0, f64::NAN].get(rng.below(10) as usize).copied().unwrap_or(0.3),
        sizes: (0..1 + rng.below(3))
            .map(|_| SizeShare {
                size: (rng.bits() >> (33 + rng.below(30))) as u32,
                weight: share(rng),
            })
            .collect(),
    };
    let arrivals = match rng.below(4) {
        0 => Arrivals::Poisson { rate: rate(rng) },
        1 => Arrivals::Fixed { rate: rate(rng) },
        2 => Arrivals::Bursts {
            busy_rate: rate(rng),
            quiet_rate: rate(rng),
            mean_busy: Span(rng.bits() >> rng.below(64)),
            mean_quiet: Span(rng.bits() >> rng.below(64)),
        },
        _ => Arrivals::Closed,
    };
    let length = match rng.below(2) {
        0 => Length::Requests(rng.below(200)),
        _ => Length::Duration(Span(rng.bits() >> rng.below(64))),
    };
    SynthSpec {
        seed: rng.bits(),
        round: 0,
        length,
        arrivals,
        tick: Span(rng.bits() >> (20 + rng.below(44))),
        space: Bytes(rng.bits() >> rng.below(64)),
        alignment: Bytes([0, 1 << rng.below(20)][usize::from(rng.chance(0.99))]),
        reads_only: part(rng),
        writes_only: part(rng),
        read_share: share(rng),
        trim_share: share(rng),
        persistence: [0.0, 0.9, 1.0][rng.below(3) as usize],
        reads: pattern(rng),
        writes: pattern(rng),
    }
}

#[test]
fn rounds_have_the_same_times_kinds_and_sizes_and_other_addresses() {
    let spec = SynthSpec { length: Length::Requests(2000), ..rich() };
    let round =
        |round| Synth::new(&SynthSpec { round, ..spec.clone() }).unwrap().collect::<Vec<_>>();
    let (first, second, again) = (round(0), round(1), round(1));
    assert_eq!(second, again);
    let but_where =
        |all: &[HostIo]| all.iter().map(|io| (io.at, io.op, io.size)).collect::<Vec<_>>();
    assert_eq!(but_where(&first), but_where(&second));
    let moved = first.iter().zip(&second).filter(|(one, other)| one.offset != other.offset);
    assert!(moved.count() > 1500);
}
