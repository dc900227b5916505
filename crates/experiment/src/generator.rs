//! Generated workloads: the keys of a workload file, and the requests they produce on a drive.

use crate::config_builder::{self, ConfigBuilder};
use crate::device_spec::{Resolved, Source};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document;
use crate::faults::{self, Scripted};
use crate::field::{Access, Field, Word};
use crate::json_schema::{self, configuration};
use crate::keys::{Key, at, words};
use crate::power::{self, PowerOff};
use fowler_units::{Bytes, HostIo, Nanos, Span};
use fowler_workload::{
    Addresses, Arrivals, Length, Pattern, Popular, Runs, SizeShare, Synth, SynthSpec, TraceError,
};

/// A generated workload on a drive of a certain size.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    spec: SynthSpec,
    depth: Option<u32>,
    /// Power losses and other faults of the workload, in order of time.
    faults: Vec<Scripted>,
    /// True if the workload has faults beside the power losses of `power_off`.
    lists_faults: bool,
    text: String,
}

/// The sizes of a drive on which a generated workload depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Logical capacity of the drive in bytes.
    pub logical: u64,
    /// Page size of the drive in bytes.
    pub page: u64,
}

impl Room {
    /// Sizes of an imaginary drive larger than any real one, for workloads that are checked without
    /// a drive.
    pub(crate) const ANY: Room = Room { logical: 1 << 50, page: 4096 };

    /// Returns the sizes of a drive on which a generated workload depends.
    pub fn of(drive: &Resolved) -> Room {
        Room { logical: drive.layout.logical.0, page: drive.layout.page_size.0 }
    }
}

/// The settings of a workload file.
#[derive(Clone, Debug)]
pub struct Description {
    requests: u64,
    duration: Span,
    power_off: Vec<PowerOff>,
    faults: Vec<Scripted>,
    space: Bytes,
    space_share: f64,
    alignment: Bytes,
    reads_only: f64,
    writes_only: f64,
    reads_share: f64,
    trims_share: f64,
    persistence: f64,
    arrivals: ArrivalsText,
    reads: PatternText,
    writes: PatternText,
}

#[derive(Clone, Debug)]
struct ArrivalsText {
    kind: ArrivalKind,
    rate: f64,
    depth: u64,
    busy_rate: f64,
    quiet_rate: f64,
    mean_busy: Span,
    mean_quiet: Span,
    spread: f64,
    tick: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ArrivalKind {
    Poisson,
    Fixed,
    Bursts,
    Cycle,
    Closed,
}

#[derive(Clone, Debug)]
struct PatternText {
    addresses: AddressKind,
    theta: f64,
    hot_accesses: f64,
    hot_space: f64,
    popular: Popular,
    mean_run: f64,
    runs: Runs,
    batch: f64,
    again: f64,
    again_within: u64,
    own: f64,
    sizes: Vec<SizeShare>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum AddressKind {
    Uniform,
    Zipf,
    HotCold,
}

impl Default for Description {
    fn default() -> Self {
        let pattern = PatternText {
            addresses: AddressKind::Uniform,
            theta: 0.99,
            hot_accesses: 0.8,
            hot_space: 0.2,
            popular: Popular::Scattered,
            mean_run: 1.0,
            runs: Runs::Aligned,
            batch: 1.0,
            again: 0.0,
            again_within: 512,
            own: 0.0,
            sizes: vec![SizeShare { size: 4096, weight: 1.0 }],
        };
        Description {
            requests: 0,
            duration: Span::ZERO,
            power_off: Vec::new(),
            faults: Vec::new(),
            space: Bytes(0),
            space_share: 1.0,
            alignment: Bytes(0),
            reads_only: 0.0,
            writes_only: 0.0,
            reads_share: 1.0,
            trims_share: 0.0,
            persistence: 0.0,
            arrivals: ArrivalsText {
                kind: ArrivalKind::Poisson,
                rate: 1000.0,
                depth: 32,
                busy_rate: 10_000.0,
                quiet_rate: 100.0,
                mean_busy: Span::ms(100),
                mean_quiet: Span::ms(900),
                spread: 0.0,
                tick: Span::ZERO,
            },
            reads: pattern.clone(),
            writes: pattern,
        }
    }
}

/// Longest time in a workload file: 10,000 days.
const LONGEST: Span = Span(10_000 * 86_400_000_000_000);
const RATE: std::ops::RangeInclusive<f64> = 1e-6..=1e9;

/// Parses the workload that `text` describes, for a drive of `logical` bytes, and returns its
/// complete description. Never panics, whatever the text.
pub fn check(text: &str, file: &str, logical: u64) -> Result<String, Diagnostics> {
    let source = Source { name: file.into(), text: text.into() };
    Generator::parse(&source, Room { logical, ..Room::ANY }, 1).map(|generator| generator.text)
}

/// Returns the JSON Schema of a file that describes a workload.
pub fn schema() -> serde_json::Value {
    let body = configuration::of_keys(&keys(), Some(&Description::default())).schema();
    let about = "A generated workload, for --workload. `fowler presets demo` prints one. The \
        program also checks the ranges of times and sizes, and combinations of keys.";
    json_schema::document("Fowler: a workload", about, body)
}

/// Returns every key of a workload file.
#[rustfmt::skip]
pub fn keys() -> Vec<Key<Description>> {
    let mut keys = vec![
        optional("requests", "number of requests; set this or duration",
            Field::Count(0..=1_000_000_000_000, at!(requests))),
        optional("duration", "length of the workload in time; set this or requests",
            Field::Time(Span::ZERO..=LONGEST, at!(duration))),
        optional("power_off", "power losses, each as its time and length; later requests are \
            delayed by that length",
            Field::Text(power::EXPECTED, |it| power::print(&it.power_off), |it, text| {
                it.power_off = power::parse(text)?;
                Ok(())
            })),
        optional("faults", "faults injected into the drive, each with its time",
            Field::Texts(faults::EXPECTED, |it| it.faults.iter().map(Scripted::to_string).collect(), |it, texts| {
                it.faults = faults::parse(texts).map_err(|wrong| wrong.join("; "))?;
                Ok(())
            })),
        optional("mix.reads", "share of reads; requests that are neither reads nor trims are writes",
            Field::Real(0.0..=1.0, at!(reads_share))),
        optional("mix.trims", "share of trims",
            Field::Real(0.0..=1.0, at!(trims_share))),
        optional("mix.persistence", "probability that a batch repeats the operation of the previous one; does not change the shares",
            Field::Real(0.0..=0.999_999_999, at!(persistence))),
        optional("space.share", "share of the drive's logical capacity that is used, from its start",
            Field::Real(1e-9..=1.0, at!(space_share))),
        optional("space.size", "size of the address space used by the workload; 0B to use \
            space.share",
            Field::Size(Bytes(0)..=Bytes(1 << 50), at!(space))),
        optional("space.alignment", "alignment of request offsets; 0B for a page or the smallest \
            request size, whichever is less",
            Field::Size(Bytes(0)..=Bytes(1 << 30), at!(alignment))),
        optional("space.reads_only", "share of the workload's address space, from its start, used \
            by reads only",
            Field::Real(0.0..=1.0, at!(reads_only))),
        optional("space.writes_only", "share of the workload's address space, up to its end, used \
            by writes and trims only",
            Field::Real(0.0..=1.0, at!(writes_only))),
        Key { required: true, ..optional("arrivals.kind", "when requests arrive",
            words!(arrivals.kind,
                "poisson" => ArrivalKind::Poisson, "requests arrive independently, at a mean rate (Poisson)";
                "fixed" => ArrivalKind::Fixed, "one request arrives every 1 / rate seconds";
                "bursts" => ArrivalKind::Bursts, "Poisson arrivals that alternate between a busy \
                    and a quiet rate";
                "cycle" => ArrivalKind::Cycle, "as bursts, but every busy and quiet phase has \
                    exactly its mean length";
                "closed" => ArrivalKind::Closed, "a request arrives whenever fewer than depth \
                    requests are outstanding";
            )) },
        optional("arrivals.rate", "requests per second (poisson, fixed)",
            Field::Real(RATE, at!(arrivals.rate))),
        optional("arrivals.depth", "requests outstanding (closed)",
            Field::Count(1..=65_536, at!(arrivals.depth))),
        optional("arrivals.busy_rate", "requests per second in a busy phase (bursts, cycle)",
            Field::Real(RATE, at!(arrivals.busy_rate))),
        optional("arrivals.quiet_rate", "requests per second in a quiet phase (bursts, cycle)",
            Field::Real(0.0..=1e9, at!(arrivals.quiet_rate))),
        optional("arrivals.mean_busy", "mean length of a busy phase (bursts, cycle)",
            Field::Time(Span::ns(1)..=LONGEST, at!(arrivals.mean_busy))),
        optional("arrivals.mean_quiet", "mean length of a quiet phase (bursts, cycle)",
            Field::Time(Span::ns(1)..=LONGEST, at!(arrivals.mean_quiet))),
        optional("arrivals.spread", "standard deviation of the log of the random factor on each cycle's rates (cycle)",
            Field::Real(0.0..=3.0, at!(arrivals.spread))),
        optional("arrivals.tick", "clock resolution to which arrival times are rounded down; 0ns \
            for no rounding",
            Field::Time(Span::ZERO..=Span::ms(10_000), at!(arrivals.tick))),
    ];
    keys.extend(patterns());
    keys
}

/// Returns the keys of a workload file that describe the addresses and sizes of reads (`reads.*`)
/// and of writes (`writes.*`). Both sides have keys of the same names.
#[rustfmt::skip]
fn patterns() -> Vec<Key<Description>> {
    let mut keys = Vec::new();
    macro_rules! pattern {
        ($side:ident, $($name:literal),+) => {{
            let [addresses, theta, accesses, space, popular, run, runs, batch, again, within, own, sizes] = [$(concat!(stringify!($side), ".", $name)),+];
            keys.extend([
                optional(addresses, "distribution of addresses",
                    words!($side.addresses,
                        "uniform" => AddressKind::Uniform, "every address is equally likely";
                        "zipf" => AddressKind::Zipf, "the k-th most popular address has weight \
                            k^-theta (Zipf)";
                        "hot_cold" => AddressKind::HotCold, "a share of the accesses goes to the \
                            hot share of the address space";
                    )),
                optional(theta, "skew (zipf)", Field::Real(0.0..=20.0, at!($side.theta))),
                optional(accesses, "share of accesses to the hot part (hot_cold)",
                    Field::Real(0.0..=1.0, at!($side.hot_accesses))),
                optional(space, "share of the address space that is hot (hot_cold)",
                    Field::Real(1e-9..=0.999_999_999, at!($side.hot_space))),
                optional(popular, "placement of the popular addresses in the address space",
                    words!($side.popular,
                        "lowest" => Popular::Lowest, "popular addresses are the lowest";
                        "scattered" => Popular::Scattered, "popular addresses are scattered, the same for reads and writes";
                        "scattered_apart" => Popular::ScatteredApart, "popular addresses are scattered, different for reads and writes";
                    )),
                optional(run, "mean number of consecutive requests to adjacent addresses",
                    Field::Real(1.0..=1e9, at!($side.mean_run))),
                optional(runs, "address at which a sequential run (mean_run) goes on",
                    words!($side.runs,
                        "aligned" => Runs::Aligned, "the next multiple of space.alignment";
                        "contiguous" => Runs::Contiguous, "where the last request ended";
                    )),
                optional(batch, "mean number of requests that arrive at the same moment; rates still count requests",
                    Field::Real(1.0..=1e6, at!($side.batch))),
                optional(again, "share of requests, except within runs, that reuse the address of an earlier one of their kind",
                    Field::Real(0.0..=1.0, at!($side.again))),
                optional(within, "largest distance, in requests, of a reused address; the k-th \
                    previous request has weight 1 / k",
                    Field::Count(1..=1 << 20, at!($side.again_within))),
                optional(own, "share of requests that go to the part of the space used by their kind only",
                    Field::Real(0.0..=1.0, at!($side.own))),
                optional(sizes, "one size, or sizes with weights: \"4KiB 70, 64KiB 30\"",
                    Field::Text(SIZES, |it| print_sizes(&it.$side.sizes), |it, text| {
                        it.$side.sizes = parse_sizes(text)?;
                        Ok(())
                    })),
            ]);
        }};
    }
    pattern!(reads, "addresses", "theta", "hot_accesses", "hot_space", "popular", "mean_run", "runs",
        "batch", "again", "again_within", "own", "sizes");
    pattern!(writes, "addresses", "theta", "hot_accesses", "hot_space", "popular", "mean_run", "runs",
        "batch", "again", "again_within", "own", "sizes");
    keys
}

const BOTH: &str = "both `power_off` and `faults` turn the power off";
const SIZES: &str = "a size such as \"4KiB\", or sizes with weights such as \"4KiB 70, 64KiB 30\"";
const LARGEST: u64 = 1 << 30;

fn optional(
    path: &'static str,
    about: &'static str,
    field: Field<Description>,
) -> Key<Description> {
    Key { path, about: about.into(), required: false, field, needs: Vec::new() }
}

fn parse_sizes(text: &str) -> Result<Vec<SizeShare>, String> {
    let one = |part: &str| {
        let (size, weight) =
            part.trim().split_once(char::is_whitespace).unwrap_or((part.trim(), "1"));
        let size: Bytes =
            size.parse().map_err(|error: fowler_units::QuantityError| error.reason)?;
        let size = u32::try_from(size.0)
            .ok()
            .filter(|&size| size > 0 && u64::from(size) <= LARGEST)
            .ok_or_else(|| format!("{size} is outside 1B to 1GiB"))?;
        let weight: f64 = weight.trim().parse().unwrap_or(f64::NAN);
        if !(weight > 0.0 && weight <= 1e9) {
            return Err(format!(
                "`{}` needs a weight above 0",
                crate::diagnostic::printable(part.trim())
            ));
        }
        Ok(SizeShare { size, weight })
    };
    text.split(',').map(one).collect()
}

fn print_sizes(sizes: &[SizeShare]) -> String {
    let one = |share: &SizeShare| format!("{} {}", Bytes(u64::from(share.size)), share.weight);
    match sizes {
        [only] => Bytes(u64::from(only.size)).to_string(),
        many => many.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

impl Generator {
    /// Parses the generated workload that `source` describes, for a drive of the sizes in `room`.
    pub fn parse(source: &Source, room: Room, seed: u64) -> Result<Generator, Diagnostics> {
        let description = Description::parse(source)?;
        let spec = description.spec(room, seed).map_err(|diagnostics| {
            let file = &source.name;
            let here = |diagnostic| Diagnostic { file: file.clone(), ..diagnostic };
            Diagnostics(diagnostics.0.into_iter().map(here).collect())
        })?;
        if let Err(mut error) = Synth::new(&spec) {
            error.file.clone_from(&source.name);
            return Err(error.into());
        }
        let closed = description.arrivals.kind == ArrivalKind::Closed;
        let depth = closed.then_some(description.arrivals.depth as u32);
        let faults = description.script().map_err(|what| {
            let hint = match what {
                BOTH => "put all power losses into `faults`",
                _ => "use arrivals at a rate, such as arrivals.kind = \"poisson\"",
            };
            Diagnostic::new(&source.name, what).hint(hint.to_string())
        })?;
        let text = config_builder::print(&keys(), &description);
        let lists_faults = !description.faults.is_empty();
        Ok(Generator { spec, depth, faults, lists_faults, text })
    }

    /// Returns the complete description of the workload, as TOML.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the workload's queue depth if it is a closed loop; otherwise `None`.
    pub fn depth(&self) -> Option<u32> {
        self.depth
    }

    /// Returns the workload's power losses and other faults, in order.
    pub fn faults(&self) -> &[Scripted] {
        &self.faults
    }

    /// Returns true if the workload has faults beside the power losses of `power_off`.
    pub fn lists_faults(&self) -> bool {
        self.lists_faults
    }

    /// Returns the workload's duration in simulated time, if one is set.
    pub fn duration(&self) -> Option<Span> {
        match self.spec.length {
            Length::Duration(span) => Some(span),
            Length::Requests(_) => None,
        }
    }

    /// Returns the length of the workload: its requests or its duration.
    pub(crate) fn length(&self) -> crate::progress::Length {
        match self.spec.length {
            Length::Duration(span) => crate::progress::Length::Until(Nanos(span.0)),
            Length::Requests(count) => crate::progress::Length::Requests(count),
        }
    }

    /// Returns the requests of the workload, from the first on.
    pub fn requests(
        &self,
    ) -> Result<impl Iterator<Item = Result<HostIo, TraceError>> + use<>, TraceError> {
        self.round(0)
    }

    /// Returns the workload's requests in repetition `round`: times, operations and sizes are the
    /// same in each, addresses differ. Repeated addresses would invalidate blocks in the order in
    /// which they were written, so GC would never have to move a page.
    pub fn round(
        &self,
        round: u64,
    ) -> Result<impl Iterator<Item = Result<HostIo, TraceError>> + use<>, TraceError> {
        Ok(Synth::new(&SynthSpec { round, ..self.spec.clone() })?.map(Ok))
    }
}

/// Returns the workload description `source` with its number of requests or its duration multiplied
/// by `times`.
///
/// # Errors
///
/// All errors in the description.
pub(crate) fn longer(source: &Source, times: u32) -> Result<String, Diagnostics> {
    let mut description = Description::parse(source)?;
    description.requests = description.requests.saturating_mul(times.into());
    description.duration = Span::ns(description.duration.0.saturating_mul(times.into()));
    Ok(config_builder::print(&keys(), &description))
}

impl Description {
    fn parse(source: &Source) -> Result<Description, Diagnostics> {
        let mut builder = ConfigBuilder::new(keys(), Description::default());
        let (settings, diagnostics) = document::read_toml(&source.text, &source.name);
        builder.note(diagnostics);
        builder.apply(&settings);
        builder.finish(&source.name, "`fowler presets mixed-70-30` prints a complete workload")
    }

    /// Returns the workload's power losses and other faults in one list, in order of time. At equal
    /// times, power losses of `power_off` come first.
    fn script(&self) -> Result<Vec<Scripted>, &'static str> {
        let off_in_faults = self.faults.iter().any(|fault| fault.power_off().is_some());
        if off_in_faults && !self.power_off.is_empty() {
            return Err(BOTH);
        }
        let off = self.power_off.iter().copied().map(Scripted::of_power);
        let mut all: Vec<Scripted> = off.chain(self.faults.iter().copied()).collect();
        all.sort_by_key(|fault| fault.at);
        Ok(all)
    }

    /// Returns the alignment in bytes of the offsets that a generated workload accesses. Unless the
    /// workload sets it, it is the smaller one of a page and the smallest request size.
    fn alignment(&self, page: u64) -> Bytes {
        if self.alignment.0 > 0 {
            return self.alignment;
        }
        let used = [(self.reads_share > 0.0, &self.reads), (self.reads_share < 1.0, &self.writes)];
        let sizes = used.into_iter().filter(|(used, _)| *used).flat_map(|(_, it)| &it.sizes);
        Bytes(sizes.map(|share| u64::from(share.size)).fold(page, u64::min))
    }

    fn spec(&self, room: Room, seed: u64) -> Result<SynthSpec, Diagnostics> {
        let logical = room.logical;
        let length = match (self.requests, self.duration) {
            (0, Span::ZERO) => {
                let diagnostic = Diagnostic::new("", "neither `requests` nor `duration` is set");
                return Err(diagnostic.expected("one of them").into());
            }
            (count, Span::ZERO) => Length::Requests(count),
            (0, duration) => Length::Duration(duration),
            _ => {
                let diagnostic = Diagnostic::new("", "both `requests` and `duration` are set");
                return Err(diagnostic.expected("one of them").into());
            }
        };
        let wanted = if self.space.0 > 0 {
            self.space.0
        } else {
            (logical as f64 * self.space_share) as u64
        };
        if wanted > logical {
            let what =
                format!("`space.size` is {}, but the drive has {}", self.space, Bytes(logical));
            let hint = "remove it: `space.share` scales with the drive";
            return Err(Diagnostic::new("", what).hint(hint.to_string()).into());
        }
        let arrivals = &self.arrivals;
        Ok(SynthSpec {
            seed,
            round: 0,
            length,
            arrivals: match arrivals.kind {
                ArrivalKind::Poisson => Arrivals::Poisson { rate: arrivals.rate },
                ArrivalKind::Fixed => Arrivals::Fixed { rate: arrivals.rate },
                ArrivalKind::Closed => Arrivals::Closed,
                ArrivalKind::Cycle => Arrivals::Cycle {
                    busy_rate: arrivals.busy_rate,
                    quiet_rate: arrivals.quiet_rate,
                    busy: arrivals.mean_busy,
                    quiet: arrivals.mean_quiet,
                    spread: arrivals.spread,
                },
                ArrivalKind::Bursts => Arrivals::Bursts {
                    busy_rate: arrivals.busy_rate,
                    quiet_rate: arrivals.quiet_rate,
                    mean_busy: arrivals.mean_busy,
                    mean_quiet: arrivals.mean_quiet,
                },
            },
            tick: arrivals.tick,
            space: Bytes(wanted),
            alignment: self.alignment(room.page),
            reads_only: self.reads_only,
            writes_only: self.writes_only,
            read_share: self.reads_share,
            trim_share: self.trims_share,
            persistence: self.persistence,
            reads: self.reads.pattern(),
            writes: self.writes.pattern(),
        })
    }
}

impl PatternText {
    fn pattern(&self) -> Pattern {
        Pattern {
            addresses: match self.addresses {
                AddressKind::Uniform => Addresses::Uniform,
                AddressKind::Zipf => Addresses::Zipf { theta: self.theta },
                AddressKind::HotCold => {
                    Addresses::HotCold { accesses: self.hot_accesses, space: self.hot_space }
                }
            },
            popular: self.popular,
            mean_run: self.mean_run,
            runs: self.runs,
            batch: self.batch,
            again: self.again,
            again_within: self.again_within as u32,
            own: self.own,
            sizes: self.sizes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::Folder;

    fn parse(text: &str) -> Result<Generator, Diagnostics> {
        parse_for(1 << 30, text)
    }

    /// Parses a workload description for a drive of `logical` bytes.
    fn parse_for(logical: u64, text: &str) -> Result<Generator, Diagnostics> {
        let source = Source { name: "w.toml".into(), text: text.into() };
        Generator::parse(&source, Room { logical, page: 16 << 10 }, 1)
    }

    #[test]
    fn every_preset_generates_and_its_print_reads_back() {
        for preset in Folder::Workloads.presets() {
            // Room for the largest workload.
            let parse = |text: &str| {
                parse_for(16 << 30, text)
                    .unwrap_or_else(|diagnostics| panic!("{}: {diagnostics}", preset.name))
            };
            let generator = parse(preset.text);
            let again = parse(generator.text());
            assert_eq!(again.text(), generator.text());
            let first: Vec<_> = generator.requests().unwrap().take(100).collect();
            assert_eq!(first, again.requests().unwrap().take(100).collect::<Vec<_>>());
            assert_eq!(first.len(), 100);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, reported) in [
            ("requests = 5", "1 required key is missing: arrivals.kind"),
            ("arrivals.kind = 'poisson'", "neither `requests` nor `duration`"),
            ("requests = 1\nduration = '1s'\narrivals.kind = 'poisson'", "both `requests` and"),
            ("arrivals.kind = 'poison'", "did you mean \"poisson\"?"),
            ("reads.sizes = '4096'", "has no unit"),
            ("reads.sizes = '4KiB 0'", "needs a weight above 0"),
            ("reads.sizes = '4KiB 70, 64KiB'\nreads.theta = -1", "-1 is outside 0 to 20"),
            (
                "requests=1\narrivals.kind='fixed'\npower_off='1s 0s, 2s'",
                "has no length; `2s` is not",
            ),
            ("requests=1\narrivals.kind='closed'\nspace.size = '2GiB'", "the drive has 1GiB"),
            ("mix.reads = 0.7\nmix.trims = 0.7\nrequests=1\narrivals.kind='closed'", "at most 1"),
        ] {
            let diagnostics = parse(text).unwrap_err().to_string();
            assert!(diagnostics.contains(reported), "{text}: {diagnostics}");
        }
    }

    #[test]
    fn offsets_are_multiples_of_a_page_or_of_a_smaller_size() {
        for (text, alignment) in [
            ("mix.reads = 1.0\nreads.sizes = '512B'\nwrites.sizes = '1B'", 512),
            ("mix.reads = 0.5\nreads.sizes = '8KiB'\nwrites.sizes = '4KiB 1, 64KiB 1'", 4096),
            ("reads.sizes = '1MiB'", 16 << 10),
            ("reads.sizes = '1MiB'\nspace.alignment = '512B'", 512),
        ] {
            let text = format!("requests = 1\narrivals.kind = 'closed'\n{text}");
            assert_eq!(parse(&text).unwrap().spec.alignment, Bytes(alignment), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_and_written() {
        let sizes = parse_sizes("4KiB 70, 64KiB 30").unwrap();
        assert_eq!(sizes.len(), 2);
        assert_eq!(print_sizes(&sizes), "4KiB 70, 64KiB 30");
        assert_eq!(print_sizes(&parse_sizes("512B").unwrap()), "512B");
    }
}
