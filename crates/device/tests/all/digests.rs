//! Every completion of many drives, hashed: the time of each answer, its blame to the nanosecond,
//! and the counters. A change made for speed must leave every digest as it is. A change of
//! semantics records the digests anew, and its commit message says why: `FOWLER_DIGESTS=write cargo
//! test -p fowler-device --test all digests::`.

use crate::support::random::{Choice, drive, requests};
use crate::support::{scheme, small, superblocks};
use fowler_device::blame::Part;
use fowler_device::policy::custom::{
    Candidates, CustomDieOrder, CustomHotness, CustomPlacement, CustomSuspension, CustomThrottle,
    CustomVictim, Maker, Opens, Queued, StreamId, StreamLimits, StreamTable, StreamTag, Used, View,
};
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::suspension::{Candidate, Running, SuspensionKind};
use fowler_device::policy::throttle::{
    self, AnyThrottle, Life, Throttle as _, ThrottleKind, Throttled,
};
use fowler_device::policy::victim::VictimKind;
use fowler_device::*;
use fowler_nand::SuspendAt;
use fowler_units::{BlockId, Bytes, HostIo, HostOp, Nanos, Rng, Span, TxnId};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

/// 64-bit FNV-1a, a word at a time.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn words(&mut self, words: impl IntoIterator<Item = u64>) {
        words.into_iter().for_each(|word| self.word(word));
    }
}

impl<L: Layer> Probe<L> for Digest {
    fn completed(&mut self, completion: &Completion) {
        let io = &completion.io;
        self.words([io.at.0, io.offset, u64::from(io.size), io.op as u64, completion.done.0]);
        // Parts are hashed by name, and only if they are not zero: a new part changes no drive that
        // has none of it.
        for part in Part::ALL.into_iter().filter(|&part| completion.blame[part] > Span::ZERO) {
            part.name().bytes().for_each(|letter| self.word(letter.into()));
            self.word(completion.blame[part].0);
        }
    }
}

/// Serves the requests and hashes everything that can be seen of the run.
fn serve(config: &Config, requests: &[HostIo], pacing: Pacing, digest: &mut Digest) {
    match Device::new(config) {
        Ok(device) => serve_on(device, requests, pacing, Device::erase_counts, digest),
        Err(_) => digest.word(0),
    }
}

fn serve_on<L: Layer>(
    mut device: Device<L>,
    requests: &[HostIo],
    pacing: Pacing,
    erases: fn(&Device<L>) -> &[u32],
    digest: &mut Digest,
) {
    device.run(requests.iter().copied(), pacing, digest);
    let c = device.counters();
    digest.words([c.pages_read, c.buffer_read_hits, c.unwritten_reads, c.pages_written]);
    digest.words([c.buffer_write_hits, c.pages_trimmed, c.merge_reads, c.suspensions]);
    for by_source in [c.reads, c.programs, c.erases] {
        digest.words(by_source.values().take(3).copied());
    }
    digest.words([c.collections.foreground, c.collections.background]);
    digest.words([c.operations, c.suspended_operations, c.outstanding as u64, device.now().0]);
    let spans = [c.suspended_nominal, c.suspended_extra, c.idle, c.channel_busy, c.die_busy];
    digest.words(spans.map(|Span(ns)| ns));
    digest.words(erases(&device).iter().map(|&count| u64::from(count)));
}

/// Lets trims take no time, as when most digests were recorded.
fn free_trims(config: &mut Config) {
    (config.host.trim, config.host.trim_entry) = (Span::ZERO, Span::ZERO);
}

/// Forty random drives, `altered` each.
fn swarm(group: u64, altered: impl Fn(&mut Config)) -> u64 {
    let mut digest = Digest::new();
    for seed in group * 40..(group + 1) * 40 {
        let mut rng = Rng::stream(seed, "digests");
        let mut config = drive(&mut rng, seed, &Choice::fixed());
        free_trims(&mut config);
        altered(&mut config);
        let Ok(layout) = config.layout() else { continue };
        let pacing = if rng.chance(0.5) {
            Pacing::Open
        } else {
            Pacing::Closed { depth: 1 + seed as u32 % 9 }
        };
        let requests = requests(&mut rng, &layout, 150);
        serve(&config, &requests, pacing, &mut digest);
    }
    digest.0
}

fn erases(device: &Device<Superblocks>) -> &[u32] {
    device.superblocks().erase_counts()
}

/// Ten random drives with superblocks, each changed by `altered`: as varied in map, buffer,
/// collection and commands as such drives can be.
fn drives_with_superblocks(group: u64, altered: impl Fn(&mut Rng, Config) -> Config) -> u64 {
    let mut digest = Digest::new();
    for seed in group * 10..(group + 1) * 10 {
        let mut rng = Rng::stream(seed, "digests/superblocks");
        let config = superblocks::drawn(&mut rng);
        let config = altered(&mut rng, config);
        let Ok(device) = superblocks::built(&config) else {
            digest.word(0);
            continue;
        };
        let logical = config.layout().expect("it was built").logical.0;
        let pacing = if rng.chance(0.5) {
            Pacing::Open
        } else {
            Pacing::Closed { depth: 1 + rng.below(u64::from(config.queue.depth)) as u32 }
        };
        let requests = superblocks::requests(&mut rng, logical, 400, 12);
        serve_on(device, &requests, pacing, erases, &mut digest);
    }
    digest.0
}

/// Serves 20,000 requests on a drive in steady state with a scheme. The drive can just bear their
/// arrivals.
fn steady(name: &str, ack: Ack, pattern: Pattern, pacing: Pacing) -> u64 {
    let mut config = small();
    config.buffer.ack = ack;
    config.precondition.pattern = pattern;
    free_trims(&mut config);
    scheme(&mut config, name);
    let layout = config.layout().expect("a sound drive");
    let mut rng = Rng::stream(1, "digests/steady");
    let mut requests = requests(&mut rng, &layout, 20_000);
    for (number, io) in requests.iter_mut().enumerate() {
        io.at = Nanos(number as u64 * 1_500_000 + rng.below(4_000_000));
    }
    requests.sort_by_key(|io| io.at);
    let mut digest = Digest::new();
    serve(&config, &requests, pacing, &mut digest);
    digest.0
}

fn computed() -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    let mut put = |name: String, digest: u64| digests.insert(name, format!("{digest:016x}"));
    for group in 0..50 {
        put(format!("random drives {}..{}", group * 40, (group + 1) * 40), swarm(group, |_| {}));
    }
    for group in 0..3 {
        let altered = |config: &mut Config| {
            config.host.trim = LinkConfig::TRIM;
            config.host.trim_entry = LinkConfig::TRIM_ENTRY;
        };
        let drives = format!("{}..{}", group * 40, (group + 1) * 40);
        put(format!("trims that take time, random drives {drives}"), swarm(group, altered));
    }
    for group in 0..3 {
        // Pages that are no power of two, blocks of more pages than a word has bits or a run has
        // pages.
        let page = [1536, 2560, 4096][group as usize];
        let blocks = [33, 100, 384][group as usize];
        let altered = |config: &mut Config| {
            config.geometry.page_size = Bytes(page);
            config.geometry.pages_per_block = blocks;
            config.buffer.size = Bytes(config.buffer.size.0 / page * page);
        };
        put(format!("pages of {page} bytes, blocks of {blocks}"), swarm(group, altered));
    }
    for group in 0..10 {
        let seeds = format!("{}..{}", group * 10, (group + 1) * 10);
        put(format!("superblocks {seeds}"), drives_with_superblocks(group, |_, config| config));
    }
    for group in 10..15 {
        let seeds = format!("{}..{}", group * 10, (group + 1) * 10);
        put(
            format!("superblocks in a cache {seeds}"),
            drives_with_superblocks(group, superblocks::cached),
        );
    }
    for group in 15..20 {
        let seeds = format!("{}..{}", group * 10, (group + 1) * 10);
        put(
            format!("superblocks that age {seeds}"),
            drives_with_superblocks(group, superblocks::aging),
        );
    }
    for name in ["FIFO", "RPS", "PES_IPS", "PES_IPC"] {
        for ack in [Ack::OnInsert, Ack::OnProgram] {
            for pattern in [Pattern::Steady, Pattern::Rested] {
                for pacing in [Pacing::Open, Pacing::Closed { depth: 16 }] {
                    let digest = steady(name, ack, pattern, pacing);
                    put(format!("{name} {ack:?} {pattern:?} {pacing:?}"), digest);
                }
            }
        }
    }
    digests
}

#[test]
#[allow(clippy::disallowed_methods, reason = "digests are written on request")]
fn results_are_those_on_record() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/digests.json");
    let digests = computed();
    if std::env::var("FOWLER_DIGESTS").is_ok_and(|value| value == "write") {
        let text = serde_json::to_string_pretty(&digests).expect("a map of strings");
        return std::fs::write(path, text + "\n").expect("the record can be written");
    }
    let text = std::fs::read_to_string(path).expect("the record is there");
    let recorded: BTreeMap<String, String> = serde_json::from_str(&text).expect("a map of strings");
    let differ = |name: &&String| recorded.get(*name) != digests.get(*name);
    let names: Vec<&String> = digests.keys().chain(recorded.keys()).filter(differ).collect();
    assert!(names.is_empty(), "results have changed: {names:#?}");
}

/// Read priority and cancellation, as custom policies.
#[derive(Clone, Debug)]
struct ReadFirstCancelling;

impl CustomDieOrder for ReadFirstCancelling {
    fn pick(&mut self, view: &View<'_>) -> Option<TxnId> {
        view.head(Queued::HostRead).or_else(|| view.oldest())
    }
}

impl CustomSuspension for ReadFirstCancelling {
    fn interrupts(&mut self, _running: Running, _candidate: Candidate) -> Option<SuspendAt> {
        Some(SuspendAt::Anywhere)
    }
}

#[test]
fn custom_policies_decide_as_built_in_ones_do() {
    for group in 0..4 {
        let unbound = |config: &mut Config| {
            (config.suspension.max_suspends, config.suspension.min_progress) = (None, Span::ZERO);
        };
        let ours = swarm(group, |config| {
            unbound(config);
            config.die_order.name = DieOrderKind::ReadFirst;
            config.suspension.name = SuspensionKind::Ipc;
        });
        let custom = swarm(group, |config| {
            unbound(config);
            config.die_order.name = DieOrderKind::Fifo;
            config.suspension.name = SuspensionKind::Never;
            config.policies.die_order =
                Some(Maker::new("read first", || Box::new(ReadFirstCancelling) as Box<_>));
            config.policies.suspension =
                Some(Maker::new("cancel", || Box::new(ReadFirstCancelling) as Box<_>));
        });
        assert_eq!(ours, custom, "drives {}..{}", group * 40, (group + 1) * 40);
    }
}

/// The block that became full first, and a stream for each tag, numbered from the last.
#[derive(Clone, Debug)]
struct FirstFilledFromTheLast;

impl CustomVictim for FirstFilledFromTheLast {
    fn pick(&mut self, candidates: &Candidates<'_>, _now: Nanos) -> Option<BlockId> {
        candidates.iter().min_by_key(|&block| candidates.fill_order(block))
    }
}

impl CustomPlacement for FirstFilledFromTheLast {
    fn streams(&mut self, limits: StreamLimits) -> StreamTable {
        let mut table = StreamTable::default();
        for tag in StreamTag::all() {
            let number = tag.with_handle(0).index() as u8;
            table[tag.index()] = StreamId(limits.streams.saturating_sub(1 + number));
        }
        table
    }

    fn opens(&mut self, _tag: StreamTag) -> Opens {
        Opens::Oldest
    }
}

/// Custom victims decide as built-in ones do on drives with superblocks: with a cache, with data
/// that ages, and with neither.
#[test]
fn custom_victims_of_superblocks_decide_as_built_in_ones_do() {
    let altered = |group: u64, rng: &mut Rng, config: Config| match group % 3 {
        0 => superblocks::cached(rng, config),
        1 => superblocks::aging(rng, config),
        _ => config,
    };
    for group in 0..6 {
        let ours = drives_with_superblocks(group, |rng, config| {
            let mut config = altered(group, rng, config);
            config.victim.name = VictimKind::Fifo;
            config
        });
        let custom = drives_with_superblocks(group, |rng, config| {
            let mut config = altered(group, rng, config);
            config.policies.victim =
                Some(Maker::new("fifo", || Box::new(FirstFilledFromTheLast) as Box<_>));
            config
        });
        assert_eq!(ours, custom, "drives {}..{}", group * 10, (group + 1) * 10);
    }
}

/// Custom orders and suspensions decide as built-in ones do on drives with superblocks.
#[test]
fn custom_orders_of_superblocks_decide_as_built_in_ones_do() {
    for group in 0..3 {
        let unbound = |mut config: Config| {
            (config.suspension.max_suspends, config.suspension.min_progress) = (None, Span::ZERO);
            config.suspension.delay = Span::ZERO;
            config.die_order.name = DieOrderKind::Fifo;
            config.suspension.name = SuspensionKind::Never;
            config
        };
        let ours = drives_with_superblocks(group, |_, config| {
            let mut config = unbound(config);
            config.die_order.name = DieOrderKind::ReadFirst;
            config.suspension.name = SuspensionKind::Ipc;
            config
        });
        let custom = drives_with_superblocks(group, |_, config| {
            let mut config = unbound(config);
            config.policies.die_order =
                Some(Maker::new("read first", || Box::new(ReadFirstCancelling) as Box<_>));
            config.policies.suspension =
                Some(Maker::new("cancel", || Box::new(ReadFirstCancelling) as Box<_>));
            config
        });
        assert_eq!(ours, custom, "drives {}..{}", group * 10, (group + 1) * 10);
        let without = drives_with_superblocks(group, |_, config| unbound(config));
        assert_ne!(ours, without, "drives {}..{}", group * 10, (group + 1) * 10);
    }
}

/// A stream for each handle, or else for each kind of data; hot data in strong superblocks if asked
/// for.
#[derive(Clone, Debug)]
struct StreamOfEach {
    hot_to_strong: bool,
}

impl CustomPlacement for StreamOfEach {
    fn streams(&mut self, limits: StreamLimits) -> StreamTable {
        let mut table = StreamTable::default();
        for tag in limits.tags() {
            let kind = tag.with_handle(0).index() as u8;
            table[tag.index()] = StreamId(if limits.handles > 1 { tag.handle() } else { kind });
        }
        table
    }

    fn opens(&mut self, tag: StreamTag) -> Opens {
        match (self.hot_to_strong, tag.is_hot()) {
            (false, _) => Opens::Oldest,
            (true, true) => Opens::Strongest,
            (true, false) => Opens::Weakest,
        }
    }
}

/// The rule of `buffer_hits`.
#[derive(Clone, Debug)]
struct Hits(f64);

impl CustomHotness for Hits {
    fn class(&mut self, page: Used) -> AccessClass {
        let least = self.0 * (f64::from(page.reads) + f64::from(page.writes));
        match (f64::from(page.reads) > least, f64::from(page.writes) > least) {
            (true, _) => AccessClass::ReadHot,
            (_, true) => AccessClass::WriteHot,
            _ => AccessClass::Mixed,
        }
    }
}

/// Custom placements and detectors of hotness decide as built-in ones do on drives with
/// superblocks: by handles, by the sizes of requests and by hits in the buffer, where all
/// superblocks are alike and where they differ in strength.
#[test]
fn custom_placements_of_superblocks_decide_as_built_in_ones_do() {
    type Altered = fn(&mut Rng, Config) -> Config;
    let kinds: [Altered; 3] = [superblocks::streamed, superblocks::lazy, superblocks::erring];
    for group in 0..6 {
        let altered = kinds[group as usize % 3];
        let ours = drives_with_superblocks(group, altered);
        let custom = drives_with_superblocks(group, |rng, config| {
            let mut config = altered(rng, config);
            let hot_to_strong = config.placement.hot_to_strong;
            config.policies.placement = Some(Maker::new("each", move || {
                Box::new(StreamOfEach { hot_to_strong }) as Box<_>
            }));
            if config.hotness.classes() > 1 {
                let watermark = config.hotness.watermark;
                config.policies.hotness =
                    Some(Maker::new("hits", move || Box::new(Hits(watermark)) as Box<_>));
            }
            config
        });
        assert_eq!(ours, custom, "drives {}..{}", group * 10, (group + 1) * 10);
        let without = drives_with_superblocks(group, |_, config| config);
        assert_ne!(ours, without, "drives {}..{}", group * 10, (group + 1) * 10);
    }
}

/// A built-in throttle that sees the life of the drive as a custom one does.
#[derive(Clone, Debug)]
struct Shown(AnyThrottle);

/// The life of a drive as a custom policy sees it.
struct Seen<'a>(&'a dyn Life);

impl Life for Seen<'_> {
    fn taken(&self) -> u64 {
        self.0.taken()
    }

    fn left(&self, now: Nanos, healed: bool) -> f64 {
        self.0.left(now, healed)
    }

    fn ends(&self) -> Nanos {
        self.0.ends()
    }
}

impl CustomThrottle for Shown {
    fn delay(&mut self, now: Nanos, pages: u32, life: &dyn Life) -> Throttled {
        self.0.delay(now, pages, &Seen(life))
    }
}

/// Custom throttles decide as built-in ones do on drives with superblocks.
#[test]
fn custom_throttles_of_superblocks_decide_as_built_in_ones_do() {
    let living = |mut config: Config| {
        (config.life.cycles, config.life.target) = (3.0, Span::ms(1_000_000));
        config.throttle.name = ThrottleKind::FixedRate;
        config
    };
    for group in 0..3 {
        let ours = drives_with_superblocks(group, |_, config| living(config));
        let custom = drives_with_superblocks(group, |_, config| {
            let mut config = living(config);
            let (params, seed) = (config.throttle, config.seed);
            let make = move || Box::new(Shown(AnyThrottle::new(&params, seed))) as Box<_>;
            config.policies.throttle = Some(Maker::new("fixed rate", make));
            // It is replaced, whatever its name.
            config.throttle = throttle::Params { name: ThrottleKind::Dynamic, ..config.throttle };
            config
        });
        assert_eq!(ours, custom, "drives {}..{}", group * 10, (group + 1) * 10);
        let without = drives_with_superblocks(group, |_, config| config);
        assert_ne!(ours, without, "drives {}..{}", group * 10, (group + 1) * 10);
    }
}

/// A victim rule that insists on blocks without an invalid page, and takes each in its turn.
#[derive(Clone, Debug)]
struct Fruitless(usize);

impl CustomVictim for Fruitless {
    fn pick(&mut self, candidates: &Candidates<'_>, _now: Nanos) -> Option<BlockId> {
        let full = |&block: &BlockId| candidates.valid(block) == candidates.capacity();
        let full: Vec<BlockId> = candidates.iter().filter(full).collect();
        self.0 += 1;
        full.get(self.0 % full.len().max(1)).copied().or_else(|| candidates.fewest_valid())
    }
}

/// A custom victim that never gains anything ends with its name, on either kind of drive: while the
/// drive is preconditioned, or in the run.
#[test]
fn a_custom_victim_that_gains_nothing_ends_with_its_name() {
    let ended = |superblocks: bool, pattern: Pattern| {
        let mut config = if superblocks { superblocks::tiny() } else { small() };
        config.precondition.pattern = pattern;
        config.policies.victim = Some(Maker::new("in vain", || Box::new(Fruitless(0)) as Box<_>));
        let work = move || {
            let mut rng = Rng::stream(1, "in vain");
            if superblocks {
                let mut device = superblocks::built(&config).expect("a sound drive");
                let logical = device.layout().logical.0;
                // Most superblocks keep all of their data.
                let write = |_| {
                    let at = rng.below(logical / 8 / 4096) * 4096;
                    HostIo::new(HostOp::Write, Nanos::ZERO, at, 4096)
                };
                let writes: Vec<HostIo> = (0..100_000).map(write).collect();
                device.run(writes, Pacing::Closed { depth: 8 }, &mut ());
            } else {
                let mut device = Device::new(&config).expect("a sound drive");
                let requests = requests(&mut rng, device.layout(), 20_000);
                device.run(requests, Pacing::Closed { depth: 8 }, &mut ());
            }
        };
        let panic =
            std::panic::catch_unwind(AssertUnwindSafe(work)).expect_err("it cannot end otherwise");
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    for superblocks in [false, true] {
        for pattern in [Pattern::Steady, Pattern::Sequential] {
            let why = ended(superblocks, pattern);
            let named = why.contains("policy.victim = \"in vain\" chose block");
            assert!(named && why.contains("would never end"), "{superblocks}, {pattern:?}: {why}");
        }
    }
}

/// A victim rule that never names a block.
#[derive(Clone, Debug)]
struct Nobody;

impl CustomVictim for Nobody {
    fn pick(&mut self, _candidates: &Candidates<'_>, _now: Nanos) -> Option<BlockId> {
        None
    }
}

/// A drive with superblocks that needs space takes the emptiest superblock where the policy names
/// none.
#[test]
fn a_victim_rule_that_names_nobody_is_greedy_with_superblocks() {
    let greedy = drives_with_superblocks(3, |_, config| config);
    let nobody = drives_with_superblocks(3, |_, mut config| {
        config.policies.victim = Some(Maker::new("nobody", || Box::new(Nobody) as Box<_>));
        config
    });
    assert_eq!(greedy, nobody);
}

/// A custom victim acts in preconditioning, too, or these drives would start from another state.
/// The numbers of streams do not matter, nor that plain data, of which a preconditioned drive has
/// open blocks, is in the last one.
#[test]
fn custom_victims_and_placements_decide_as_built_in_ones_do() {
    for group in 0..4 {
        let unled = |config: &mut Config| config.placement.hot_to_strong = false;
        let ours = swarm(group, |config| {
            unled(config);
            config.victim.name = VictimKind::Fifo;
        });
        let custom = swarm(group, |config| {
            unled(config);
            config.victim.name = VictimKind::Greedy;
            config.policies.victim =
                Some(Maker::new("fifo", || Box::new(FirstFilledFromTheLast) as Box<_>));
            config.policies.placement =
                Some(Maker::new("from the last", || Box::new(FirstFilledFromTheLast) as Box<_>));
        });
        assert_eq!(ours, custom, "drives {}..{}", group * 40, (group + 1) * 40);
    }
}
