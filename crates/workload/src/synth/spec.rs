//! The specification of a generated workload, and its validation.

use crate::Short;
use fowler_units::{Bytes, Diagnostic, Span};
use std::fmt::{self, Display};
use std::ops::Range;

/// Process by which the requests of a generated workload arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Requests arrive independently of each other at a mean rate.
    Poisson {
        /// Mean number of requests that arrive per second.
        rate: f64,
    },
    /// One request every `1 / rate` seconds, the first at time zero.
    Fixed {
        /// Number of requests that arrive per second.
        rate: f64,
    },
    /// Poisson arrivals alternating between two rates, starting with the busy one. Lengths of busy
    /// and quiet intervals are exponentially distributed.
    Bursts {
        /// Requests per second in a busy interval, on average.
        busy_rate: f64,
        /// Requests per second in a quiet interval; may be zero.
        quiet_rate: f64,
        /// Mean length of a busy interval of arrivals.
        mean_busy: Span,
        /// Mean length of a quiet interval of arrivals.
        mean_quiet: Span,
    },
    /// Poisson arrivals alternating between two rates, with busy and quiet intervals of fixed
    /// lengths, so that demand is periodic. The rates of each cycle (a busy and a quiet interval)
    /// are multiplied by a random log-normal factor with mean one.
    Cycle {
        /// Requests per second in the busy interval of a cycle, averaged over all cycles.
        busy_rate: f64,
        /// Requests per second in the quiet interval of a cycle, averaged over all cycles; may be
        /// zero.
        quiet_rate: f64,
        /// Length of a busy interval of arrivals.
        busy: Span,
        /// Length of a quiet interval of arrivals.
        quiet: Span,
        /// Standard deviation of the natural logarithm of the random factor that multiplies the
        /// busy and the quiet rate of a cycle; zero if all cycles have equal rates.
        spread: f64,
    },
    /// All requests arrive at time zero, so that the drive's queue depth sets the rate (closed
    /// loop).
    Closed,
}

/// Distribution of a generated workload's request addresses, which are multiples of the workload's
/// alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Addresses {
    /// Every address is equally likely to be accessed.
    Uniform,
    /// The k-th most popular address with probability proportional to `k^-theta`.
    Zipf {
        /// Skew `theta` of Zipf's distribution of accesses over addresses: 0 is uniform, 0.99 is
        /// common for caches.
        theta: f64,
    },
    /// A share of the accesses goes to a share of the space; uniform within each part.
    HotCold {
        /// Share of accesses to the hot part, 0 to 1.
        accesses: f64,
        /// Share of the address space that is hot, 0 to 1.
        space: f64,
    },
}

/// Placement of the popular addresses in the address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Popular {
    /// The popular addresses are the lowest of the address space.
    Lowest,
    /// The popular addresses are scattered over the address space by a seeded bijection shared by
    /// reads and writes: addresses that are hot for reads are hot for writes.
    #[default]
    Scattered,
    /// The popular addresses are scattered by a bijection of each kind of request: reads and writes
    /// have different hot addresses.
    ScatteredApart,
}

/// Place at which a sequential run goes on after a request that ends within an alignment unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Runs {
    /// A sequential run goes on at the next aligned address.
    #[default]
    Aligned,
    /// A sequential run goes on exactly where its last request ended.
    Contiguous,
}

/// A request size and its weight in the mix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeShare {
    /// Request size in bytes.
    pub size: u32,
    /// Weight of this request size among the sizes of the reads or of the writes; weights need not
    /// sum to one.
    pub weight: f64,
}

/// Length of a generated workload, in requests or in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Number of requests in the workload.
    Requests(u64),
    /// Every request that arrives before this time belongs to the workload.
    Duration(Span),
}

impl Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Requests(1) => write!(f, "1 request"),
            Length::Requests(count) => write!(f, "{count} requests"),
            Length::Duration(span) => write!(f, "{span}"),
        }
    }
}

impl Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Arrivals::Poisson { rate } => write!(f, "poisson at {} per second", Short(rate)),
            Arrivals::Fixed { rate } => write!(f, "fixed at {} per second", Short(rate)),
            Arrivals::Bursts { busy_rate, quiet_rate, mean_busy, mean_quiet } => {
                let (busy, quiet) = (Short(busy_rate), Short(quiet_rate));
                write!(f, "bursts, {busy} per second for {mean_busy} and {quiet} for {mean_quiet}")
            }
            Arrivals::Cycle { busy_rate, quiet_rate, busy, quiet, spread } => {
                let [busy_rate, quiet_rate, spread] = [busy_rate, quiet_rate, spread].map(Short);
                write!(
                    f,
                    "cycles, {busy_rate} per second for {busy} and {quiet_rate} for {quiet}, spread {spread}"
                )
            }
            Arrivals::Closed => write!(f, "closed"),
        }
    }
}

/// Addresses and sizes of one kind of request, reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Distribution of the start addresses of sequential runs (and of single requests).
    pub addresses: Addresses,
    /// Placement of the pattern's popular addresses in the address space.
    pub popular: Popular,
    /// Mean length of a sequential run in requests (geometric); 1 for no runs.
    pub mean_run: f64,
    /// Place at which a sequential run goes on.
    pub runs: Runs,
    /// The mean number of requests that arrive at the same time (geometric); 1 for single arrivals.
    pub batch: f64,
    /// The probability that a request outside a sequential run goes to the address of an earlier
    /// request of its kind (read or write); the k-th previous one is drawn with weight 1 / k.
    pub again: f64,
    /// Largest number of requests between a request and the earlier one whose address it repeats.
    pub again_within: u32,
    /// Share (0 to 1) of requests with a new address, neither in a sequential run nor repeating an
    /// earlier address, that go to the part of the address space that only their kind (reads or
    /// writes) uses; the rest go to the part that both kinds use.
    pub own: f64,
    /// Sizes of the pattern's requests, with their weights.
    pub sizes: Vec<SizeShare>,
}

impl Pattern {
    /// Returns reads or writes of a generated workload with uniformly distributed addresses, one
    /// size in bytes, and no sequential runs.
    pub fn uniform(size: u32) -> Pattern {
        Pattern {
            addresses: Addresses::Uniform,
            popular: Popular::Scattered,
            mean_run: 1.0,
            runs: Runs::Aligned,
            batch: 1.0,
            again: 0.0,
            again_within: 512,
            own: 0.0,
            sizes: vec![SizeShare { size, weight: 1.0 }],
        }
    }
}

/// A generated workload. The same spec yields the same requests on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthSpec {
    /// Seed of every random draw of the workload.
    pub seed: u64,
    /// Number of the workload's repetition: times, operations and sizes are the same in each
    /// repetition, but addresses are drawn anew.
    pub round: u64,
    /// Length of the workload: a number of requests, or a duration.
    pub length: Length,
    /// Process by which requests arrive. Rates count requests, however many arrive together.
    pub arrivals: Arrivals,
    /// Resolution of the arrival clock: arrival times are rounded down to a multiple of it. Zero
    /// for whole nanoseconds.
    pub tick: Span,
    /// Size of the address space: requests lie in `[0, space)`.
    pub space: Bytes,
    /// Alignment of request offsets, in bytes.
    pub alignment: Bytes,
    /// Share of the address space, at its start, that only reads use. The space between this part
    /// and that of the writes is shared.
    pub reads_only: f64,
    /// Share of the address space, at its end, that only writes and trims use.
    pub writes_only: f64,
    /// Share of reads among all requests, 0 to 1.
    pub read_share: f64,
    /// Share of trims among all requests, 0 to 1; the rest are writes.
    pub trim_share: f64,
    /// The probability that a batch repeats the previous batch's operation instead of drawing one
    /// by the shares. The shares are unaffected; read batches come in streaks of `1 / ((1 -
    /// persistence) * (1 - share of read batches))` on average.
    pub persistence: f64,
    /// Addresses and sizes of reads.
    pub reads: Pattern,
    /// Addresses and sizes of writes and of trims.
    pub writes: Pattern,
}

impl Default for SynthSpec {
    /// Returns a million random reads of 4 KiB over 1 GiB, at 10,000 per second.
    fn default() -> SynthSpec {
        SynthSpec {
            seed: 1,
            round: 0,
            length: Length::Requests(1_000_000),
            arrivals: Arrivals::Poisson { rate: 10_000.0 },
            tick: Span::ZERO,
            space: Bytes(1 << 30),
            alignment: Bytes(4096),
            reads_only: 0.0,
            writes_only: 0.0,
            read_share: 1.0,
            trim_share: 0.0,
            persistence: 0.0,
            reads: Pattern::uniform(4096),
            writes: Pattern::uniform(4096),
        }
    }
}

/// Accepted rates in requests per second: one request in eleven days to one per nanosecond.
const RATES: std::ops::RangeInclusive<f64> = 1e-6..=1e9;
/// Longest busy or quiet interval, and longest workload: far below the 584 years that a time can
/// represent.
const LONGEST: Span = Span(50 * 365 * 86_400 * 1_000_000_000);
/// Largest address space, in bytes; its addresses are exact in an `f64`.
const LARGEST_SPACE: Bytes = Bytes(1 << 50);
/// Largest Zipf skew; beyond it, practically only one address remains.
const LARGEST_THETA: f64 = 20.0;

/// Largest mean number of requests in a batch, and largest distance of a repeated address in
/// requests.
const LARGEST_BATCH: f64 = 1e6;
const FARTHEST_AGAIN: u32 = 1 << 20;
/// Coarsest resolution of the arrival clock.
const COARSEST_TICK: Span = Span::ms(10_000);
/// Largest persistence, the probability that a batch repeats the previous batch's operation: a
/// billion batches of one operation in a row on average.
const LARGEST_PERSISTENCE: f64 = 0.999_999_999;

/// Smallest mean number of arrivals (batches of simultaneous requests) in a busy and a quiet
/// interval of the workload together. With fewer, nearly all simulated intervals would have no
/// arrival.
const FEWEST_PER_CYCLE: f64 = 1e-3;

/// Collects the errors in a workload specification, each with its key.
struct Check(Vec<Diagnostic>);

impl Check {
    fn that(&mut self, holds: bool, place: &str, value: impl Display, expected: &str) {
        if !holds {
            let text = format!("{place} = {value}");
            let diagnostic = Diagnostic::of(format!("invalid `{place}`")).expected(expected);
            self.0.push(diagnostic.text(text.as_bytes()));
        }
    }

    fn share(&mut self, place: &str, value: f64) {
        self.that((0.0..=1.0).contains(&value), place, Short(value), "a share from 0 to 1");
    }

    fn rate(&mut self, place: &str, value: f64) {
        let expected = "requests per second, from 0.000001 to 1000000000";
        self.that(RATES.contains(&value), place, Short(value), expected);
    }
}

impl SynthSpec {
    /// Returns everything that is wrong with the workload specification; empty if it is valid.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut check = Check(Vec::new());
        self.check_space(&mut check);
        self.check_arrivals(&mut check);
        check.share("read_share", self.read_share);
        check.share("trim_share", self.trim_share);
        let both = self.read_share + self.trim_share;
        check.that(both <= 1.0 + 1e-12, "read_share + trim_share", Short(both), "at most 1");
        let (persistence, expected) = (self.persistence, "a probability from 0 to 0.999999999");
        let holds = (0.0..=LARGEST_PERSISTENCE).contains(&persistence);
        check.that(holds, "persistence", Short(persistence), expected);
        check.that(self.tick <= COARSEST_TICK, "tick", self.tick, "at most 10 s");
        if self.read_share > 0.0 {
            self.check_pattern(&mut check, "reads", &self.reads);
            self.check_sizes(&mut check, "reads", &self.reads, &self.reads_part());
        }
        if self.read_share < 1.0 {
            self.check_pattern(&mut check, "writes", &self.writes);
            self.check_sizes(&mut check, "writes", &self.writes, &self.writes_part());
        }
        check.0
    }

    fn check_space(&self, check: &mut Check) {
        let (space, alignment) = (self.space, self.alignment);
        check.that(alignment.0 > 0, "alignment", alignment, "at least 1 B");
        check.that(space <= LARGEST_SPACE, "space", space, "at most 1024 TiB");
        check.that(
            space >= alignment,
            "space",
            space,
            "a space of at least one multiple of the alignment",
        );
        check.share("reads_only", self.reads_only);
        check.share("writes_only", self.writes_only);
        let both = self.reads_only + self.writes_only;
        check.that(both <= 1.0 + 1e-12, "reads_only + writes_only", Short(both), "at most 1");
    }

    /// Returns the number of aligned addresses that only reads use, and that only writes use.
    fn only(&self) -> [u64; 2] {
        let slots = self.space.0 / self.alignment.0.max(1);
        let of = |share: f64| libm::round(slots as f64 * share) as u64;
        let reads = of(self.reads_only).min(slots);
        [reads, of(self.writes_only).min(slots - reads)]
    }

    /// Returns the byte range of the address space that only reads use.
    pub(crate) fn reads_part(&self) -> Range<u64> {
        0..self.only()[0] * self.alignment.0
    }

    /// Returns the byte range of the address space that only writes and trims use.
    pub(crate) fn writes_part(&self) -> Range<u64> {
        match self.only()[1] {
            0 => self.space.0..self.space.0,
            slots => {
                let alignment = self.alignment.0.max(1);
                (self.space.0 / alignment - slots) * alignment..self.space.0
            }
        }
    }

    /// Returns the mean number of requests that arrive together in a batch.
    pub(crate) fn mean_batch(&self) -> f64 {
        let (reads, writes) = (self.reads.batch, self.writes.batch);
        if self.read_share >= 1.0 || reads == writes {
            reads
        } else if self.read_share <= 0.0 {
            writes
        } else {
            1.0 / (self.read_share / reads + (1.0 - self.read_share) / writes)
        }
    }

    fn check_arrivals(&self, check: &mut Check) {
        let slowest = match self.arrivals {
            Arrivals::Poisson { rate } | Arrivals::Fixed { rate } => {
                check.rate("arrivals.rate", rate);
                let batches = rate / self.mean_batch();
                let expected = "arrivals at 0.000001 batches per second or more";
                let holds = batches >= *RATES.start() || !RATES.contains(&rate);
                check.that(holds, "arrivals", self.arrivals, expected);
                rate
            }
            Arrivals::Bursts { .. } | Arrivals::Cycle { .. } => self.check_bursts(check),
            Arrivals::Closed => {
                let is_counted = matches!(self.length, Length::Requests(_));
                let expected = "a number of requests, because closed arrivals have no duration";
                check.that(is_counted, "length", self.length, expected);
                f64::INFINITY
            }
        };
        match self.length {
            Length::Requests(count) => {
                check.that(count > 0, "length", self.length, "at least one request");
                let holds = count as f64 / slowest <= LONGEST.as_s();
                let expected = "a workload of at most 50 years on average";
                check.that(holds || slowest.is_nan(), "length", self.length, expected);
            }
            Length::Duration(span) => {
                let holds = span > Span::ZERO && span <= LONGEST;
                check.that(holds, "length", self.length, "from 1 ns to 50 years");
            }
        }
    }

    /// Checks arrivals in bursts and returns their mean rate; NaN for other arrivals.
    fn check_bursts(&self, check: &mut Check) -> f64 {
        let (busy_rate, quiet_rate, mean_busy, mean_quiet) = match self.arrivals {
            Arrivals::Bursts { busy_rate, quiet_rate, mean_busy, mean_quiet } => {
                (busy_rate, quiet_rate, mean_busy, mean_quiet)
            }
            Arrivals::Cycle { busy_rate, quiet_rate, busy, quiet, spread } => {
                let expected = "a deviation from 0 to 3";
                check.that(
                    (0.0..=3.0).contains(&spread),
                    "arrivals.spread",
                    Short(spread),
                    expected,
                );
                (busy_rate, quiet_rate, busy, quiet)
            }
            _ => return f64::NAN,
        };
        check.rate("arrivals.busy_rate", busy_rate);
        if quiet_rate != 0.0 {
            check.rate("arrivals.quiet_rate", quiet_rate);
        }
        for (place, mean) in
            [("arrivals.mean_busy", mean_busy), ("arrivals.mean_quiet", mean_quiet)]
        {
            let holds = mean > Span::ZERO && mean <= Span(LONGEST.0 / 1000);
            check.that(holds, place, mean, "from 1 ns to 18 days");
        }
        let (busy, quiet) = (mean_busy.as_s(), mean_quiet.as_s());
        let mean = (busy * busy_rate + quiet * quiet_rate) / (busy + quiet);
        let expected = "arrivals at 0.000001 requests per second or more on average";
        check.that(mean >= *RATES.start(), "arrivals", self.arrivals, expected);
        let per_cycle = (busy * busy_rate + quiet * quiet_rate) / self.mean_batch();
        let expected = "busy and quiet phases long enough for at least 0.001 batches per cycle on \
            average";
        check.that(per_cycle >= FEWEST_PER_CYCLE, "arrivals", self.arrivals, expected);
        mean
    }

    fn check_pattern(&self, check: &mut Check, name: &str, pattern: &Pattern) {
        match pattern.addresses {
            Addresses::Uniform => {}
            Addresses::Zipf { theta } => {
                let holds = (0.0..=LARGEST_THETA).contains(&theta);
                check.that(holds, &format!("{name}.theta"), Short(theta), "a skew from 0 to 20");
            }
            Addresses::HotCold { accesses, space } => {
                check.share(&format!("{name}.accesses"), accesses);
                let holds = space > 0.0 && space < 1.0;
                check.that(
                    holds,
                    &format!("{name}.space"),
                    Short(space),
                    "a share between 0 and 1",
                );
            }
        }
        let holds = (1.0..=1e9).contains(&pattern.mean_run);
        check.that(
            holds,
            &format!("{name}.mean_run"),
            Short(pattern.mean_run),
            "from 1 to 1000000000",
        );
        check.that(
            (1.0..=LARGEST_BATCH).contains(&pattern.batch),
            &format!("{name}.batch"),
            Short(pattern.batch),
            "from 1 to 1000000",
        );
        check.share(&format!("{name}.again"), pattern.again);
        check.that(
            (1..=FARTHEST_AGAIN).contains(&pattern.again_within),
            &format!("{name}.again_within"),
            pattern.again_within,
            "from 1 to 1048576",
        );
        check.share(&format!("{name}.own"), pattern.own);
    }

    /// Checks that every request size of `pattern` fits into each part of the address space that
    /// its requests use. `own` are the addresses of the part that only this kind of request, reads
    /// or writes, uses.
    fn check_sizes(&self, check: &mut Check, name: &str, pattern: &Pattern, own: &Range<u64>) {
        let shared = self.writes_part().start.saturating_sub(self.reads_part().end);
        let room = |uses: bool, bytes: u64| if uses { bytes } else { u64::MAX };
        let room =
            room(pattern.own > 0.0, own.end - own.start).min(room(pattern.own < 1.0, shared));
        let holds = room >= self.alignment.0;
        let expected = "0 if reads or writes have no space of their own, 1 if there is no shared \
            space";
        check.that(holds, &format!("{name}.own"), Short(pattern.own), expected);
        let sizes = format!("{name}.sizes");
        check.that(!pattern.sizes.is_empty(), &sizes, "none", "at least one size");
        for share in &pattern.sizes {
            let fits = share.size > 0 && (u64::from(share.size) <= room || !holds);
            check.that(fits, &sizes, share.size, "at least 1 B and no more than the space");
            let holds = (0.0..=1e12).contains(&share.weight);
            check.that(holds, &sizes, Short(share.weight), "a weight from 0 to 10^12");
        }
        let sum: f64 = pattern.sizes.iter().map(|share| share.weight).sum();
        check.that(
            sum > 1e-9 || sum.is_nan(),
            &sizes,
            Short(sum),
            "weights whose sum is above zero",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_sound() {
        assert_eq!(SynthSpec::default().check(), []);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let mut spec = SynthSpec {
            space: Bytes(100),
            alignment: Bytes(0),
            read_share: 1.5,
            trim_share: f64::NAN,
            arrivals: Arrivals::Poisson { rate: f64::INFINITY },
            length: Length::Requests(0),
            ..SynthSpec::default()
        };
        spec.reads.mean_run = 0.0;
        spec.reads.addresses = Addresses::Zipf { theta: -1.0 };
        let places: Vec<String> =
            spec.check().into_iter().map(|p| p.text.split(" =").next().unwrap().into()).collect();
        let expected = [
            "alignment",
            "arrivals.rate",
            "length",
            "read_share",
            "trim_share",
            "read_share + trim_share",
            "reads.theta",
            "reads.mean_run",
            "reads.sizes",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn values_are_said_in_words_and_short_numbers() {
        let spec = SynthSpec {
            arrivals: Arrivals::Poisson { rate: 1e308 },
            length: Length::Requests(0),
            read_share: 2.5,
            ..SynthSpec::default()
        };
        let texts: Vec<_> = spec.check().into_iter().map(|diagnostic| diagnostic.text).collect();
        assert_eq!(
            texts[..3],
            ["arrivals.rate = 1e308", "length = 0 requests", "read_share = 2.5"]
        );
    }

    #[test]
    fn arrivals_that_never_end_are_refused() {
        let check =
            |arrivals, length| SynthSpec { arrivals, length, ..SynthSpec::default() }.check().len();
        let quiet = |quiet_rate, mean_quiet| Arrivals::Bursts {
            busy_rate: 100.0,
            quiet_rate,
            mean_busy: Span::ms(1),
            mean_quiet,
        };
        assert_eq!(check(quiet(0.0, Span::ms(1)), Length::Requests(10)), 0);
        assert_eq!(check(quiet(-1.0, Span::ms(1)), Length::Requests(10)), 1);
        assert_eq!(check(quiet(0.0, Span::ZERO), Length::Requests(10)), 1);
        assert_eq!(check(Arrivals::Closed, Length::Duration(Span::ms(1))), 1);
        assert_eq!(check(Arrivals::Fixed { rate: 1e-6 }, Length::Requests(1 << 40)), 1);
        assert_eq!(check(Arrivals::Fixed { rate: f64::NAN }, Length::Requests(1)), 1);
    }
}
