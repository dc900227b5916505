//! Every claim of the DA-RAID-5 paper, with the function that measures it.

use super::plan::{Evidence, Shown};
use super::variants::{
    AS_IT_IS, Acknowledged, Case, HC, LONG, LONG_SEARCH, PE_AWARE, PPC, RAID5, SEARCH, STAGE_2,
    SWEPT, UDL, Worn, cache, cut_off, equal, n_update,
};
use super::{example, limits};
use crate::claim::{Claim, ClaimId, Found, Measured, claim, named};
use fowler_device::Config;
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::trace::synth_requests;
use fowler_experiment::workload::WorkloadSpec;
use fowler_physics::bch::Bch;
use fowler_units::{HostIo, HostOp};

// Claims whose numbers also appear in tables and figures.
const SEQUENTIAL: ClaimId = ClaimId("003-024s");
pub(super) const UDL_BELOW_RAID5: ClaimId = ClaimId("003-025");
const UDL_BELOW_PPC: ClaimId = ClaimId("003-026");
pub(super) const HC_BELOW_RAID5: ClaimId = ClaimId("003-028");
const HC_BELOW_PPC: ClaimId = ClaimId("003-028b");

/// Name, without the workload, of the runs of partial parity caching (PPC) with a buffer that
/// acknowledges writes on insertion, as under hybrid caching (HC): the control for the DA-RAID-5
/// paper's claims about HC.
pub(super) const PPC_ON_INSERT: &str = "ppc all acknowledge on insertion, no block worn";

/// Every claim of the DA-RAID-5 paper, in the order of its data file.
pub(super) const CLAIMS: &[Claim<Evidence>] = &[
    claim("003-001", |_| of_drive("MB", |it| kib(block_bytes(it)) / 1024.0)),
    claim("003-002", |_| of_drive("blocks", blocks_of_a_chip)),
    claim("003-003", |_| of_drive("KB", |it| kib(it.geometry.page_size.0))),
    claim("003-004", |_| {
        let config = config()?;
        are([("first", program_us(&config, 0)), ("second", program_us(&config, 1))])
    }),
    claim("003-005", |_| of_drive("us", |it| it.timing.read.at(0).as_us())),
    claim("003-006", |_| {
        let config = config()?;
        let worn = config.redundancy.worn_erase_pulse;
        are([("typical", config.timing.erase().as_us() / 1e3), ("maximum", worn.as_us() / 1e3)])
    }),
    claim("003-007", |_| of_drive("N", |it| it.redundancy.stripe.into())),
    claim("003-008", |_| of_drive("L", |it| it.redundancy.all_above.into())),
    claim("003-009", |_| of_drive("KB", |it| kib(it.redundancy.parity_cache.0))),
    claim("003-010", |_| {
        are([("m", Bch::DA_RAID_5.bits.into()), ("n", Bch::DA_RAID_5.corrects.into())])
    }),
    claim("003-011", |_| of_drive("cycles", |it| it.redundancy.worn_above.into())),
    claim("003-012", |_| of_drive("days", |it| it.redundancy.retention.0 as f64 / DAY)),
    claim("003-013", |_| of_drive("reads", |it| it.redundancy.reads.into())),
    claim("003-014", |_| of_drive("N_update", |it| it.redundancy.n_update.into())),
    claim("003-015", |_| of_drive("pages", |it| it.redundancy.cut_off.into())),
    claim("003-016", |_| figure_4(&example::drive()?)),
    claim("003-017", |e| {
        let words = "parity from the old page is the XOR of all pages";
        Ok(Some(lawful(e, words, e.checks.by_old)))
    })
    .example(),
    claim("003-018", |e| {
        let words = "parity from the rest of the stripe is the XOR of all pages";
        Ok(Some(lawful(e, words, e.checks.by_rest)))
    })
    .example(),
    claim("003-019", |e: &Evidence| {
        let update = e.checks.update;
        are([("reads", update.reads as f64), ("writes", update.writes as f64)])
    })
    .example(),
    claim("003-020", |_| Ok(yields(&config()?))),
    claim("003-021", |_| Ok(Some(limits::measured(&config()?)))),
    claim("003-022", |e: &Evidence| Ok(parities(e))).example(),
    // 2^20 is a MB in section III-C.
    claim("003-023", |_| {
        let blocks = |it: &Config| (256u64 << 30) as f64 / block_bytes(it) as f64;
        of_drive("MB", |it| blocks(it) * 4.0 / f64::from(1 << 20))
    }),
    claim("003-024", |e| Ok(shares(e))),
    named(SEQUENTIAL, sequential).baseline(),
    claim("003-stages", |e| Ok(in_stages(e))).baseline(),
    named(UDL_BELOW_RAID5, |e| Ok(lowered(e, UDL, RAID5))).without(&[("udl", "fifo")]),
    named(UDL_BELOW_PPC, |e| Ok(udl_below_ppc(e))).without(&[("udl", "fifo")]),
    claim("003-026c", |e| Ok(most(e, UDL, PPC, "response"))).without(&[("udl", "fifo")]),
    claim("003-027", |e| Ok(pe_aware(e))).without(&[("pe_aware", "ppc")]),
    named(HC_BELOW_RAID5, |e| Ok(lowered(e, HC, RAID5))).without(&[("hc", PPC_ON_INSERT)]),
    named(HC_BELOW_PPC, |e| Ok(lowered(e, HC, PPC))).without(&[("hc", PPC_ON_INSERT)]),
    claim("003-028c", |e| Ok(most(e, HC, PPC, "response"))).without(&[("hc", PPC_ON_INSERT)]),
    claim("003-028w", |e| Ok(unchanged(e))).without(&[("hc", PPC_ON_INSERT)]),
    claim("003-030", |e| Ok(updating(e, [4, 6, 8])))
        .by("N_update stays at 4", |e| Ok(updating(e, [4; 3]))),
    claim("003-031", |e| Ok(caching(e, [128, 2048])))
        .by("the cache stays at 128 KiB", |e| Ok(caching(e, [128; 2]))),
    claim("003-cut", |e| Ok(best_cut_off(e, &e.paper.sweeps.cut_off)))
        .by("every cut-off is that of 8 pages", |e| Ok(best_cut_off(e, &[8]))),
    claim("003-032", |e: &Evidence| {
        let lawful = example::lawful(&e.checks.example);
        Ok(example::outcome(&e.checks.example).map(|it| Measured::of(it).if_holds(lawful)))
    }),
    claim("003-033", |e| Ok(implied(e))),
    claim("003-033b", |e| Ok(lowered(e, PPC, RAID5))).without(&[("ppc", "raid5")]),
    claim("003-web", |e| Ok(search_writes(e))).without(&[("udl", "fifo")]),
    claim("003-wear", |e| Ok(erasing(e))).without(&[("udl", "fifo"), ("hc", PPC_ON_INSERT)]),
];

/// Length of a day in nanoseconds.
const DAY: f64 = 86_400_000_000_000.0;

/// Returns the configuration of the DA-RAID-5 paper's drive under DA-RAID-5.
pub(super) fn config() -> Result<Config, Diagnostics> {
    let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
    Ok(resolve(&spec.source()?, &Scheme::load("da_raid5")?, &spec)?.config)
}

fn are<const N: usize>(values: [(&str, f64); N]) -> Found {
    Ok(Some(Measured::of(values)))
}

/// Returns a number of the configuration of the DA-RAID-5 paper's drive under DA-RAID-5, as a
/// measurement.
fn of_drive(label: &str, of: impl Fn(&Config) -> f64) -> Found {
    are([(label, of(&config()?))])
}

fn kib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

fn block_bytes(config: &Config) -> u64 {
    u64::from(config.geometry.pages_per_block) * config.geometry.page_size.0
}

fn blocks_of_a_chip(config: &Config) -> f64 {
    let g = &config.geometry;
    f64::from(g.blocks_per_plane * g.planes_per_die * g.dies_per_chip)
}

/// Returns the time of a page's program in microseconds, by the page's place in its word line.
fn program_us(config: &Config, page: u32) -> f64 {
    config.timing.iteration().as_us() * f64::from(config.timing.program_iterations.at(page))
}

/// Returns the probability that a page can be read at the bit error rate at which the error
/// correction code corrects 99.9 % of words.
fn yields(config: &Config) -> Option<Measured> {
    let worst = Bch::DA_RAID_5.worst_cells(1e-3);
    let words = config.geometry.page_size.0 / 512;
    // To the digits printed: six of the rate.
    let p = format!("{worst:.5e}").parse().ok()?;
    let page = libm::pow(Bch::DA_RAID_5.yields(worst), words as f64);
    Some(Measured::of([("p", p), ("page", page)]))
}

/// Returns the measurement of a DA-RAID-5 claim on the way to compute parity: it holds if the small
/// drives passed all checks of their state, and parity was computed that way at least once (`ways`
/// times).
fn lawful(evidence: &Evidence, words: &str, ways: u64) -> Measured {
    let values = vec![("laws broken".into(), evidence.checks.broken as f64)];
    Measured::exactly(values).direction(words, evidence.checks.broken == 0 && ways > 0)
}

fn parities(evidence: &Evidence) -> Option<Measured> {
    let parity = evidence.checks.parity?;
    Some(Measured::of([
        ("first reads", parity.first.reads as f64),
        ("first writes", parity.first.writes as f64),
        ("later reads", parity.later.reads as f64),
        ("later writes", parity.later.writes as f64),
    ]))
}

/// Returns the numbers of the drive on which the example of the DA-RAID-5 paper's Figure 4 is run,
/// as a measurement.
fn figure_4(config: &Config) -> Found {
    let cache = config.buffer.size.0 / config.geometry.page_size.0;
    let redundancy = &config.redundancy;
    are([
        ("N", redundancy.stripe.into()),
        ("N_update", redundancy.n_update.into()),
        ("cache", (cache as u32).into()),
    ])
}

fn shares(evidence: &Evidence) -> Option<Measured> {
    let share = |column: &str| {
        // Web search writes so little that only its long run has enough writes to count.
        let variant = if column == SEARCH { LONG_SEARCH } else { AS_IT_IS };
        let share = evidence.number(column, RAID5, variant, |run| {
            let [reads, writes] = [run.get("read.count")?, run.get("write.count")?];
            Some(writes / (reads + writes))
        });
        Some((column.to_string(), share?))
    };
    let values = evidence.runs.stand_ins().map(|column| share(&column.name));
    Some(Measured::exactly(values.collect::<Option<_>>()?))
}

/// Returns the share of writes that begin where the write before them ended, counted in the
/// stand-ins' requests as the DA-RAID-5 paper's drive receives them.
fn sequential(evidence: &Evidence) -> Found {
    let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
    let drive = resolve(&spec.source()?, &Scheme::load("raid5")?, &spec)?;
    let (mut values, mut holds) = (Vec::new(), true);
    for column in evidence.runs.stand_ins() {
        let WorkloadSpec::Generated(source) = &column.spec else { return Ok(None) };
        let requests = synth_requests(source, &drive)?;
        let share = goes_on(requests.take(COUNTED));
        let published = evidence.paper.number(SEQUENTIAL, &column.name);
        holds &= published.is_some_and(|it| (share - it).abs() <= NEAR);
        values.push((column.name.clone(), share));
    }
    Ok(Some(Measured::held(values, holds)))
}

/// Number of requests of each stand-in trace in which sequential writes are counted.
const COUNTED: usize = 300_000;
/// Largest difference (half a percentage point) between a measured share of sequential writes and
/// the DA-RAID-5 paper's: more than five standard errors of the largest share, 15.2 %, in
/// [`COUNTED`] requests.
const NEAR: f64 = 0.005;

fn goes_on(requests: impl Iterator<Item = HostIo>) -> f64 {
    let (mut writes, mut on, mut end) = (0u64, 0u64, None);
    for it in requests.filter(|it| it.op == HostOp::Write) {
        writes += 1;
        on += u64::from(end == Some(it.offset));
        end = Some(it.offset + u64::from(it.size));
    }
    if writes == 0 { 0.0 } else { on as f64 / writes as f64 }
}

/// Returns the reduction of response time, flash writes and flash reads by the scheme `case`
/// relative to `base`, mean over the stand-in traces: with web search, as in the DA-RAID-5 paper,
/// and without it, because its few writes dominate a mean of ratios.
fn lowered(evidence: &Evidence, case: Case, base: Case) -> Option<Measured> {
    let lower = |search, shown| {
        Some(1.0 - evidence.mean_of(search, |column| evidence.ratio(column, (case, base), shown))?)
    };
    let (mut values, mut directions) = (Vec::new(), Vec::new());
    for (shown, words) in Shown::PAPER.into_iter().zip([
        "response falls on average",
        "writes fall on average",
        "reads fall on average",
    ]) {
        let mean = lower(true, shown)?;
        values.push((shown.label().to_string(), mean));
        directions.push((words.to_string(), mean > 0.0));
    }
    for shown in Shown::PAPER {
        values.push((format!("{} without web search", shown.label()), lower(false, shown)?));
    }
    values.push(("chip time".into(), lower(true, Shown::Work)?));
    Some(Measured { directions, ..Measured::exactly(values) })
}

/// Measures UDL against PPC with "the only exception" of the DA-RAID-5 paper: response time, flash
/// writes and flash reads fall under all workloads but web search.
fn udl_below_ppc(evidence: &Evidence) -> Option<Measured> {
    let mut measured = lowered(evidence, UDL, PPC)?;
    for (shown, words) in Shown::PAPER.into_iter().zip([
        "response falls under all but web search",
        "writes fall under all but web search",
        "reads fall under all but web search",
    ]) {
        let others = evidence.runs.stand_ins().filter(|it| it.name != SEARCH);
        let all: Option<Vec<f64>> =
            others.map(|it| evidence.ratio(&it.name, (UDL, PPC), shown)).collect();
        measured = measured.direction(words, all?.into_iter().all(|ratio| ratio < 1.0));
    }
    Some(measured)
}

/// Returns the reduction of response time by PE-aware RAID-5 under the trace TPC-C, relative to
/// partial parity caching (PPC) and relative to RAID-5.
fn pe_aware(evidence: &Evidence) -> Option<Measured> {
    let mut measured = most(evidence, PE_AWARE, PPC, "most")?;
    let ratio = evidence.ratio(SWEPT, (PE_AWARE, RAID5), Shown::Response)?;
    measured.values.push(("below RAID-5".into(), 1.0 - ratio));
    Some(measured)
}

/// Returns the largest relative change of mean response time between the DA-RAID-5 paper's drive in
/// stage 1 of its life (no block is worn) and in stage 2 (some blocks are worn).
fn in_stages(evidence: &Evidence) -> Option<Measured> {
    let largest = |case: Case, variants: (&str, &str)| {
        let change =
            |column: &str| Some(evidence.change(column, case, variants, Shown::Response)? - 1.0);
        let all: Vec<f64> = evidence.runs.each(change)?;
        all.into_iter().max_by(|one, other| one.abs().total_cmp(&other.abs()))
    };
    // RAID-5 and PPC acknowledge a write after its program.
    let [one, three] = [Worn::None, Worn::All].map(|worn| equal(worn, Acknowledged::OnProgram));
    let (second, third) = ((STAGE_2, AS_IT_IS), (three.as_str(), one.as_str()));
    let values = [
        ("RAID-5, stage 2", largest(RAID5, second)?),
        ("PPC, stage 2", largest(PPC, second)?),
        ("RAID-5, stage 3", largest(RAID5, third)?),
        ("PPC, stage 3", largest(PPC, third)?),
    ];
    let holds = values.iter().all(|(_, change)| change.abs() < UNCHANGED);
    let words = "response in stages 2 and 3 is within 1 % of that in stage 1";
    Some(Measured::of(values).direction(words, holds))
}

/// Returns the reduction of response time by PPC relative to RAID-5 that follows from the DA-RAID-5
/// paper's printed reductions: once from those by UDL relative to RAID-5 and to PPC, and once from
/// those by HC relative to the same two.
fn implied(evidence: &Evidence) -> Option<Measured> {
    let left = |id| Some(1.0 - evidence.paper.number(id, "response")?);
    let udl = 1.0 - left(UDL_BELOW_RAID5)? / left(UDL_BELOW_PPC)?;
    let hc = 1.0 - left(HC_BELOW_RAID5)? / left(HC_BELOW_PPC)?;
    Some(Measured::of([("by UDL", udl), ("by HC", hc)]))
}

/// Returns the reduction of response time by the scheme `case` relative to `base` under TPC-C,
/// where the DA-RAID-5 paper has the largest reduction.
fn most(evidence: &Evidence, case: Case, base: Case, label: &str) -> Option<Measured> {
    let lower = |column: &str| Some(1.0 - evidence.ratio(column, (case, base), Shown::Response)?);
    let most = evidence.runs.each(lower)?.into_iter().fold(f64::MIN, f64::max);
    let there = lower(SWEPT)?;
    Some(Measured::of([(label, there)]).direction("largest under TPC-C", there == most))
}

/// Largest relative change (1 %) of a mean that counts as "unchanged" in the text of the DA-RAID-5
/// paper.
const UNCHANGED: f64 = 0.01;

fn unchanged(evidence: &Evidence) -> Option<Measured> {
    let change = |base| Some(evidence.ratio(SEARCH, (HC, base), Shown::Response)? - 1.0);
    let (raid5, ppc) = (change(RAID5)?, change(PPC)?);
    let words = "response under web search changes by less than 1 %";
    let holds = raid5.abs() < UNCHANGED && ppc.abs() < UNCHANGED;
    Some(Measured::of([("RAID-5", raid5), ("PPC", ppc)]).direction(words, holds))
}

/// Returns the relative changes in response time and flash reads when hybrid caching's parameter
/// N_update grows from `few` to `some`, and from `some` to `many`.
fn updating(evidence: &Evidence, [few, some, many]: [u32; 3]) -> Option<Measured> {
    let change = |column: &str, to, from, shown| {
        Some(evidence.change(column, HC, (&n_update(to), &n_update(from)), shown)? - 1.0)
    };
    let [response, writes, reads] = Shown::PAPER.map(|shown| change(LONG, some, few, shown));
    let eight = change(LONG, many, some, Shown::Response)?;
    let others: Option<Vec<f64>> = evidence
        .runs
        .stand_ins()
        .filter(|it| it.name != LONG)
        .flat_map(|it| [(some, few), (many, some)].map(|(to, from)| (it, to, from)))
        .flat_map(|(it, to, from)| Shown::PAPER.map(|shown| change(&it.name, to, from, shown)))
        .collect();
    let still = others?.into_iter().all(|it| it.abs() < UNCHANGED);
    let values = [("response", -response?), ("reads", -reads?), ("8 over 6", eight)];
    Some(
        Measured::of(values)
            .direction("writes under Win 7 stay the same", writes?.abs() < UNCHANGED)
            .direction("8 responds more slowly than 6 under Win 7", eight > 0.0)
            .direction("other workloads hardly change", still),
    )
}

/// Returns the relative change in mean response time when the data cache grows from `small` to
/// `large` KiB.
fn caching(evidence: &Evidence, [small, large]: [u32; 2]) -> Option<Measured> {
    let lower = |column: &str| {
        let pair = (cache(large), cache(small));
        Some(1.0 - evidence.change(column, HC, (&pair.0, &pair.1), Shown::Response)?)
    };
    let all: Option<Vec<(String, f64)>> =
        evidence.runs.stand_ins().map(|it| Some((it.name.clone(), lower(&it.name)?))).collect();
    let all = all?;
    let (there, search) = (lower(SWEPT)?, lower(SEARCH)?);
    let falls = all.iter().all(|(name, value)| name == SEARCH || *value > 0.0);
    let largest = all.iter().all(|(_, value)| *value <= there);
    Some(
        Measured::exactly(all)
            .direction("largest under TPC-C", largest)
            .direction("response falls under all but web search", falls)
            .direction("web search does not gain", search < UNCHANGED),
    )
}

/// Returns the mean response time under hybrid caching if writes of at most 8 pages are cached (the
/// cut-off), divided by the lowest one at any other cut-off in the sweep.
fn best_cut_off(evidence: &Evidence, swept: &[u32]) -> Option<Measured> {
    let response = |pages: u32| evidence.response(LONG, HC, &cut_off(pages));
    let others = swept.iter().filter(|&&pages| pages != 8 || swept.len() == 1);
    let others: Option<Vec<f64>> = others.map(|&pages| response(pages)).collect();
    let (eight, least) = (response(8)?, others?.into_iter().fold(f64::MAX, f64::min));
    let words = "response is lowest at a cut-off of 8 pages";
    Some(Measured::of([("8 over the best", eight / least)]).direction(words, eight < least))
}

/// Returns the reductions of block erases by the schemes UDL and HC relative to PPC, mean over the
/// stand-in traces without web search, which erases next to nothing.
fn erasing(evidence: &Evidence) -> Option<Measured> {
    let fewer = |case: Case| {
        let erases = |column: &str, which: Case| {
            evidence.number(column, which, AS_IT_IS, |run| run.get("erases"))
        };
        let ratio = |column: &str| {
            let ratio = erases(column, case)? / erases(column, PPC)?;
            Some(ratio).filter(|ratio| ratio.is_finite())
        };
        Some(1.0 - evidence.mean_of(false, ratio)?)
    };
    let (udl, hc) = (fewer(UDL)?, fewer(HC)?);
    Some(
        Measured::of([("UDL", udl), ("HC", hc)])
            .direction("UDL erases less than PPC on average", udl > 0.0)
            .direction("HC erases less than PPC on average", hc > 0.0),
    )
}

fn search_writes(evidence: &Evidence) -> Option<Measured> {
    let ratio = evidence.ratio_in(SEARCH, LONG_SEARCH, (UDL, PPC), Shown::Writes)?;
    let words = "UDL writes more than PPC under web search";
    Some(Measured::of([("ratio", ratio)]).direction(words, ratio > 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::paper::Paper;
    use super::*;
    use crate::claim::tests::assert_each_is_declared;
    use fowler_units::Nanos;

    #[test]
    fn every_statement_has_its_claim() {
        assert_each_is_declared(&Paper::open().unwrap().claim, CLAIMS);
    }

    #[test]
    fn writes_that_go_on_are_counted_whatever_is_read_between() {
        let io = |op, page: u64, pages: u32| HostIo::new(op, Nanos(0), page * 8192, pages * 8192);
        let (read, write) = (HostOp::Read, HostOp::Write);
        let all = [
            io(write, 5, 2),
            io(read, 90, 1),
            io(write, 7, 1),
            io(write, 8, 1),
            io(write, 8, 1),
            io(read, 9, 1),
        ];
        assert_eq!(goes_on(all.into_iter()), 0.5);
        assert_eq!(goes_on(all.into_iter().filter(|it| it.op == read)), 0.0);
    }
}
