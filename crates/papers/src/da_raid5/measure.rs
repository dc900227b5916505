//! Our number for each of the paper's claims.

use super::plan::{
    AS_IT_IS, Case, Evidence, HC, PE_AWARE, PPC, RAID5, Shown, UDL, UPDATES, cache, n_update,
};
use super::{example, limits};
use crate::claim::{Claim, Labelled, Measured};
use crate::published::number;
use crate::runs::mean;
use fowler_device::Config;
use fowler_experiment::device::{DeviceSpec, resolve};
use fowler_experiment::problem::Problems;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::trace::synth_requests;
use fowler_experiment::workload::WorkloadSpec;
use fowler_physics::bch::Bch;
use fowler_units::{HostIo, HostOp};

/// The drive under DA-RAID-5.
pub(super) fn config() -> Result<Config, Problems> {
    let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
    Ok(resolve(&spec.source()?, &Scheme::load("da_raid5")?, &spec)?.config)
}

/// Our number for the claim `id`; nothing if it cannot be measured.
pub(super) fn measure(
    id: &str,
    claims: &[Claim],
    evidence: &Evidence,
) -> Result<Option<Measured>, Problems> {
    let its = id.strip_prefix("003-").unwrap_or(id);
    Ok(match its {
        "017" => lawful(evidence, "/by_old"),
        "018" => lawful(evidence, "/by_rest"),
        "019" => exactly(of_updates(
            evidence,
            &[("reads", "/update/reads"), ("writes", "/update/writes")],
        )),
        "022" => exactly(of_updates(
            evidence,
            &[
                ("first reads", "/parity/first/reads"),
                ("first writes", "/parity/first/writes"),
                ("later reads", "/parity/later/reads"),
                ("later writes", "/parity/later/writes"),
            ],
        )),
        "021" => limits::measured(&config()?),
        "024" => shares(evidence),
        "024s" => sequential(claims, evidence)?,
        "025" => lowered(evidence, UDL, RAID5, &Shown::PAPER),
        "026" => lowered(evidence, UDL, PPC, &Shown::PAPER),
        "026c" => most(evidence, UDL, PPC, "response"),
        "027" => most(evidence, PE_AWARE, RAID5, "most"),
        "028" => lowered(evidence, HC, RAID5, &Shown::PAPER),
        "028b" => lowered(evidence, HC, PPC, &Shown::PAPER),
        "028c" => most(evidence, HC, PPC, "response"),
        "028w" => {
            let ratio = evidence.ratio("websearch", HC, RAID5, Shown::Response);
            exactly(ratio.map(|it| vec![("changed by".into(), (it - 1.0).abs())]))
        }
        "029" => lowered(evidence, HC, PPC, &[Shown::Response]),
        "030" => updating(evidence),
        "031" => caching(evidence),
        "032" => example_outcome(evidence),
        "033" => exactly(implied(claims)),
        "033b" => lowered(evidence, PPC, RAID5, &Shown::PAPER),
        "web" => {
            let ratio = evidence.ratio("websearch", UDL, RAID5, Shown::Writes);
            exactly(ratio.map(|it| vec![("more".into(), f64::from(u8::from(it > 1.0)))]))
        }
        "016" => figure_4(&example::drive()?),
        _ => parameters(its, &config()?),
    })
}

fn exactly(values: Option<Vec<Labelled>>) -> Option<Measured> {
    Some(Measured { values: values?, holds: true })
}

fn of_updates(evidence: &Evidence, what: &[(&str, &str)]) -> Option<Vec<Labelled>> {
    let one = |(label, pointer): &(&str, &str)| {
        Some(((*label).to_string(), evidence.runs.number(UPDATES, pointer)?))
    };
    what.iter().map(one).collect()
}

/// Laws broken on the small drives, as far as they computed parity by that equation at all.
fn lawful(evidence: &Evidence, way: &str) -> Option<Measured> {
    let values = of_updates(evidence, &[("broken", "/broken")])?;
    let holds = evidence.runs.number(UPDATES, way)? > 0.0;
    Some(Measured { values, holds })
}

fn example_outcome(evidence: &Evidence) -> Option<Measured> {
    let outcome = example::outcome(&evidence.example()?)?;
    exactly(Some(outcome.map(|(label, value)| (label.to_string(), value)).into()))
}

/// The drive on which the example is run.
fn figure_4(config: &Config) -> Option<Measured> {
    let cache = config.buffer.size.0 / config.geometry.page_size.0;
    let its = &config.redundancy;
    let values = [("N", its.stripe), ("N_update", its.n_update), ("cache", cache as u32)];
    exactly(Some(values.map(|(label, value)| (label.to_string(), value.into())).into()))
}

/// What needs no run.
fn parameters(number: &str, config: &Config) -> Option<Measured> {
    let (g, its) = (&config.geometry, &config.redundancy);
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    let day = 86_400_000_000_000.0;
    let program = |page: u32| {
        config.timing.iteration().as_us() * f64::from(config.timing.program_iterations.at(page))
    };
    let one = |label: &str, value: f64| vec![(label.to_string(), value)];
    let block = u64::from(g.pages_per_block) * g.page_size.0;
    let words = g.page_size.0 / 512;
    let worst = Bch::DA_RAID_5.worst_cells(1e-3);
    let values: Vec<Labelled> = match number {
        "001" => one("MB", kib(block) / 1024.0),
        "002" => one("blocks", f64::from(g.blocks_per_plane * g.planes_per_die * g.dies_per_chip)),
        "003" => one("KB", kib(g.page_size.0)),
        "004" => vec![("first".into(), program(0)), ("second".into(), program(1))],
        "005" => one("us", config.timing.read.at(0).as_us()),
        "006" => vec![
            ("typical".into(), config.timing.erase().as_us() / 1e3),
            ("maximum".into(), its.worn_erase_pulse.as_us() / 1e3),
        ],
        "007" => one("N", its.stripe.into()),
        "008" => one("L", its.all_above.into()),
        "009" => one("KB", kib(its.parity_cache.0)),
        "010" => vec![
            ("m".into(), Bch::DA_RAID_5.bits.into()),
            ("n".into(), Bch::DA_RAID_5.corrects.into()),
        ],
        "011" => one("cycles", its.worn_above.into()),
        "012" => one("days", its.retention.0 as f64 / day),
        "013" => one("reads", its.reads.into()),
        "014" => one("N_update", its.n_update.into()),
        "015" => one("pages", its.cut_off.into()),
        "020" => {
            // To the digits printed: six of the rate.
            let p = format!("{worst:.5e}").parse().ok()?;
            let page = libm::pow(Bch::DA_RAID_5.yields(worst), words as f64);
            vec![("p".into(), p), ("page".into(), page)]
        }
        // 2^20 is a MB in section III-C.
        "023" => one("MB", (256u64 << 30) as f64 / block as f64 * 4.0 / f64::from(1 << 20)),
        _ => return None,
    };
    Some(Measured { values, holds: true })
}

fn shares(evidence: &Evidence) -> Option<Measured> {
    let share = |column: &str| {
        let count =
            |side: &str| evidence.number(column, RAID5, AS_IT_IS, &format!("/{side}/count"));
        let (reads, writes) = (count("read")?, count("write")?);
        Some((column.to_string(), writes / (reads + writes)))
    };
    let values = evidence.runs.stand_ins().map(|column| share(&column.name)).collect::<Option<_>>();
    exactly(values)
}

/// The share of writes that begin where the write before them ended, of the stand-ins' requests on the drive of the paper.
fn sequential(claims: &[Claim], evidence: &Evidence) -> Result<Option<Measured>, Problems> {
    let spec = DeviceSpec { device: "da-raid5".into(), ..DeviceSpec::default() };
    let drive = resolve(&spec.source()?, &Scheme::load("raid5")?, &spec)?;
    let (mut values, mut holds) = (Vec::new(), true);
    for column in evidence.runs.stand_ins() {
        let WorkloadSpec::Generated(source) = &column.spec else { return Ok(None) };
        let requests = synth_requests(source, &drive)?;
        let share = goes_on(requests.take(COUNTED));
        holds &=
            number(claims, "003-024s", &column.name).is_some_and(|it| (share - it).abs() <= NEAR);
        values.push((column.name.clone(), share));
    }
    Ok(Some(Measured { values, holds }))
}

/// So many requests of a stand-in are counted: what each run of the figures has.
const COUNTED: usize = 300_000;
/// And a share is that of the paper to half a per cent of all: five standard errors of the largest, 15.2 % of 126,000.
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
    Some(Measured { values, holds })
}

/// By how much PPC lies below RAID-5 if two schemes lie below both of them by what is printed.
fn implied(claims: &[Claim]) -> Option<Vec<Labelled>> {
    let of = |label: &str, raid5: &str, ppc: &str| {
        let left = |id: &str| Some(1.0 - number(claims, id, "response")?);
        Some((label.to_string(), 1.0 - left(raid5)? / left(ppc)?))
    };
    Some(vec![of("by UDL", "003-025", "003-026")?, of("by HC", "003-028", "003-028b")?])
}

/// By how much the response of a case lies below another's under TPC-C, where the paper has the most of it.
fn most(evidence: &Evidence, case: Case, base: Case, label: &str) -> Option<Measured> {
    let lower = |column: &str| Some(1.0 - evidence.ratio(column, case, base, Shown::Response)?);
    let most = evidence.runs.each(lower)?.into_iter().fold(f64::MIN, f64::max);
    let there = lower("TPCC")?;
    let holds = there > 0.0 && there == most;
    Some(Measured { values: vec![(label.into(), there)], holds })
}

fn updating(evidence: &Evidence) -> Option<Measured> {
    let lower = |shown: Shown| {
        let change = evidence.change("Win7", HC, (&n_update(6), &n_update(4)), shown)?;
        Some((shown.label().to_string(), 1.0 - change))
    };
    let values = vec![lower(Shown::Response)?, lower(Shown::Reads)?];
    let holds = values.iter().all(|(_, value)| *value > 0.0);
    Some(Measured { values, holds })
}

fn caching(evidence: &Evidence) -> Option<Measured> {
    let lower = |column: &str| {
        let pair = (cache(2048), cache(128));
        Some(1.0 - evidence.change(column, HC, (&pair.0, &pair.1), Shown::Response)?)
    };
    let mut others = evidence.runs.stand_ins().filter(|it| it.name != "websearch");
    let holds = others.all(|it| lower(&it.name).is_some_and(|value| value > 0.0));
    Some(Measured { values: vec![("TPCC".into(), lower("TPCC")?)], holds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Nanos;

    #[test]
    fn writes_that_go_on_are_counted_whatever_is_read_between() {
        let io = |op, page: u64, pages: u32| HostIo {
            at: Nanos(0),
            offset: page * 8192,
            size: pages * 8192,
            op,
        };
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
