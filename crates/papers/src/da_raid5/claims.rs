//! Every claim of the paper, and how it is measured.

use super::plan::{
    AS_IT_IS, Case, Evidence, HC, PE_AWARE, PPC, RAID5, Shown, UDL, cache, n_update,
};
use super::{example, limits};
use crate::claim::{Claim, ClaimId, Found, Measured, claim, named};
use crate::runs::mean;
use fowler_device::Config;
use fowler_experiment::device::{DeviceSpec, resolve};
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

/// Every claim, in the order of the paper's data.
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
    claim("003-017", |e| Ok(Some(lawful(e, e.checks.by_old)))),
    claim("003-018", |e| Ok(Some(lawful(e, e.checks.by_rest)))),
    claim("003-019", |e| {
        let update = e.checks.update;
        are([("reads", update.reads as f64), ("writes", update.writes as f64)])
    }),
    claim("003-020", |_| Ok(yields(&config()?))),
    claim("003-021", |_| Ok(limits::measured(&config()?))),
    claim("003-022", |e| Ok(parities(e))),
    // 2^20 is a MB in section III-C.
    claim("003-023", |_| {
        let blocks = |it: &Config| (256u64 << 30) as f64 / block_bytes(it) as f64;
        of_drive("MB", |it| blocks(it) * 4.0 / f64::from(1 << 20))
    }),
    claim("003-024", |e| Ok(shares(e))),
    named(SEQUENTIAL, sequential),
    named(UDL_BELOW_RAID5, |e| Ok(lowered(e, UDL, RAID5, &Shown::PAPER))),
    named(UDL_BELOW_PPC, |e| Ok(lowered(e, UDL, PPC, &Shown::PAPER))),
    claim("003-026c", |e| Ok(most(e, UDL, PPC, "response"))),
    claim("003-027", |e| Ok(most(e, PE_AWARE, RAID5, "most"))),
    named(HC_BELOW_RAID5, |e| Ok(lowered(e, HC, RAID5, &Shown::PAPER))),
    named(HC_BELOW_PPC, |e| Ok(lowered(e, HC, PPC, &Shown::PAPER))),
    claim("003-028c", |e| Ok(most(e, HC, PPC, "response"))),
    claim("003-028w", |e| {
        let ratio = e.ratio("websearch", HC, RAID5, Shown::Response);
        Ok(ratio.map(|it| Measured::of([("changed by", (it - 1.0).abs())])))
    }),
    claim("003-029", |e| Ok(lowered(e, HC, PPC, &[Shown::Response]))),
    claim("003-030", |e| Ok(updating(e))),
    claim("003-031", |e| Ok(caching(e))),
    claim("003-032", |e| Ok(example::outcome(&e.checks.example).map(Measured::of))),
    claim("003-033", |e| Ok(implied(e))),
    claim("003-033b", |e| Ok(lowered(e, PPC, RAID5, &Shown::PAPER))),
    claim("003-web", |e| {
        let ratio = e.ratio("websearch", UDL, RAID5, Shown::Writes);
        Ok(ratio.map(|it| Measured::of([("more", f64::from(u8::from(it > 1.0)))])))
    }),
];

/// In nanoseconds.
const DAY: f64 = 86_400_000_000_000.0;

/// The drive under DA-RAID-5.
pub(super) fn config() -> Result<Config, Diagnostics> {
    let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
    Ok(resolve(&spec.source()?, &Scheme::load("da_raid5")?, &spec)?.config)
}

fn are<const N: usize>(values: [(&str, f64); N]) -> Found {
    Ok(Some(Measured::of(values)))
}

/// A number of that drive.
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

/// How long a program of a page takes, by its place in its word line.
fn program_us(config: &Config, page: u32) -> f64 {
    config.timing.iteration().as_us() * f64::from(config.timing.program_iterations.at(page))
}

/// The chance that a page can be read at the rate at which 99.9 % of words are corrected.
fn yields(config: &Config) -> Option<Measured> {
    let worst = Bch::DA_RAID_5.worst_cells(1e-3);
    let words = config.geometry.page_size.0 / 512;
    // To the digits printed: six of the rate.
    let p = format!("{worst:.5e}").parse().ok()?;
    let page = libm::pow(Bch::DA_RAID_5.yields(worst), words as f64);
    Some(Measured::of([("p", p), ("page", page)]))
}

/// Laws broken on the small drives, if parity was computed in the way in question at all.
fn lawful(evidence: &Evidence, ways: u64) -> Measured {
    Measured::of([("broken", evidence.checks.broken as f64)]).if_holds(ways > 0)
}

fn parities(evidence: &Evidence) -> Option<Measured> {
    let its = evidence.checks.parity?;
    Some(Measured::of([
        ("first reads", its.first.reads as f64),
        ("first writes", its.first.writes as f64),
        ("later reads", its.later.reads as f64),
        ("later writes", its.later.writes as f64),
    ]))
}

/// The drive on which the example is run.
fn figure_4(config: &Config) -> Found {
    let cache = config.buffer.size.0 / config.geometry.page_size.0;
    let its = &config.redundancy;
    are([
        ("N", its.stripe.into()),
        ("N_update", its.n_update.into()),
        ("cache", (cache as u32).into()),
    ])
}

fn shares(evidence: &Evidence) -> Option<Measured> {
    let share = |column: &str| {
        let share = evidence.number(column, RAID5, AS_IT_IS, |run| {
            Some(run.write.count / (run.read.count + run.write.count))
        });
        Some((column.to_string(), share?))
    };
    let values = evidence.runs.stand_ins().map(|column| share(&column.name));
    Some(Measured::exactly(values.collect::<Option<_>>()?))
}

/// The share of writes that begin where the write before them ended, of the stand-ins' requests on
/// the drive of the paper.
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

/// So many requests of a stand-in are counted: what each run of the figures has.
const COUNTED: usize = 300_000;
/// And a share is that of the paper to half a per cent of all: five standard errors of the largest,
/// 15.2 % of 126,000.
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

/// By how much a case lies below another, on average over the stand-ins.
fn lowered(evidence: &Evidence, case: Case, base: Case, shown: &[Shown]) -> Option<Measured> {
    let mut values = Vec::new();
    for &shown in shown {
        let ratios = evidence.runs.each(|column| evidence.ratio(column, case, base, shown))?;
        values.push((shown.label().to_string(), 1.0 - mean(&ratios)?));
    }
    let holds = values.iter().all(|(_, value)| *value > 0.0);
    Some(Measured::held(values, holds))
}

/// By how much PPC lies below RAID-5 if two schemes lie below both of them by what is printed.
fn implied(evidence: &Evidence) -> Option<Measured> {
    let left = |id| Some(1.0 - evidence.paper.number(id, "response")?);
    let udl = 1.0 - left(UDL_BELOW_RAID5)? / left(UDL_BELOW_PPC)?;
    let hc = 1.0 - left(HC_BELOW_RAID5)? / left(HC_BELOW_PPC)?;
    Some(Measured::of([("by UDL", udl), ("by HC", hc)]))
}

/// By how much the response of a case lies below another's under TPC-C, where the paper has the
/// most of it.
fn most(evidence: &Evidence, case: Case, base: Case, label: &str) -> Option<Measured> {
    let lower = |column: &str| Some(1.0 - evidence.ratio(column, case, base, Shown::Response)?);
    let most = evidence.runs.each(lower)?.into_iter().fold(f64::MIN, f64::max);
    let there = lower("TPCC")?;
    let holds = there > 0.0 && there == most;
    Some(Measured::held(vec![(label.into(), there)], holds))
}

fn updating(evidence: &Evidence) -> Option<Measured> {
    let lower = |shown: Shown| {
        let change = evidence.change("Win7", HC, (&n_update(6), &n_update(4)), shown)?;
        Some((shown.label().to_string(), 1.0 - change))
    };
    let values = vec![lower(Shown::Response)?, lower(Shown::Reads)?];
    let holds = values.iter().all(|(_, value)| *value > 0.0);
    Some(Measured::held(values, holds))
}

fn caching(evidence: &Evidence) -> Option<Measured> {
    let lower = |column: &str| {
        let pair = (cache(2048), cache(128));
        Some(1.0 - evidence.change(column, HC, (&pair.0, &pair.1), Shown::Response)?)
    };
    let mut others = evidence.runs.stand_ins().filter(|it| it.name != "websearch");
    let holds = others.all(|it| lower(&it.name).is_some_and(|value| value > 0.0));
    Some(Measured::held(vec![("TPCC".into(), lower("TPCC")?)], holds))
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
