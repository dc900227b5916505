//! The whole life of a drive: probability of data loss, wear and response time without RAID, and
//! under RAID-5, PPC and DA-RAID-5, by P/E cycles.
//!
//! The paper prints one point of its reliability model: at 15,000 cycles, data of 381 days can just
//! be read from cells with an error rate of 5.84297e-4 (equation (3)). Through that point goes the
//! error rate by which the drives refresh, too (`policy.redundancy.limit_growth`): it grows as RHIO
//! publishes, and is proportional to age, which is assumed. Block cycles are spread evenly by up to
//! 20 % around the mean, also assumed.

use super::claims::config;
use super::plan::{Evidence, Shown};
use super::variants::{AS_IT_IS, Case, HC, NONE, PE_AWARE, PPC, RAID5, SWEPT, UDL};
use crate::studies::fan_out;
use fowler_device::Config;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_physics::bch::Bch;
use fowler_theory::stripes::{periods_to_loss, stripe_loss, widest};
use std::sync::LazyLock;

/// Largest relative difference of a block's P/E cycles from the mean of all blocks; uniformly
/// distributed.
const SPREAD: f64 = 0.2;
/// End of the simulated life of the DA-RAID-5 drive, in mean P/E cycles of the blocks.
const LIFE: u32 = 20_000;
/// P/E cycles between two neighboring points of a curve in the DA-RAID-5 study's figure of a
/// drive's life.
const DRAWN: u32 = 500;
/// P/E cycles between two points of the life that are listed in a table.
const LISTED: u32 = 2500;
/// Smallest probability that a stripe loses data which the figure of a drive's life plots; below
/// it, a drive is as good as new.
const LEAST: f64 = 1e-24;
/// Highest allowed probability that a stripe loses data within the DA-RAID-5 paper's retention time
/// of 381 days; it determines the stripe size. Assumed: the probability that a page is unreadable
/// after 15,000 P/E cycles and 381 days, a point of the paper's reliability model.
pub(super) const TARGET: f64 = 0.01588;

/// Raw bit error rate at which the BCH code of the DA-RAID-5 paper's equation (3) corrects 99.9 %
/// of code words. The search for it is slow, so it is done once, not for each of thousands of
/// points.
static WORST: LazyLock<f64> = LazyLock::new(|| Bch::DA_RAID_5.worst_cells(1e-3));

/// Returns points of the life in mean P/E cycles, `step` apart, and those at which the stages of
/// DA-RAID-5 begin.
fn life(config: &Config, step: u32) -> Vec<f64> {
    let begins = [PE_AWARE, HC].into_iter().filter_map(|case| begin(config, case));
    let mut all: Vec<f64> =
        (0..=LIFE / step).map(|turn| f64::from(turn * step)).chain(begins).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Returns the smallest mean number of P/E cycles, to one cycle, at which DA-RAID-5 works as the
/// scheme `case`: its stages are UDL, PE-aware RAID-5 and hybrid caching.
fn begin(config: &Config, case: Case) -> Option<f64> {
    (0..=LIFE).map(f64::from).find(|&cycles| works_as(config, cycles) == case)
}

/// Returns the cell error rate after `cycles` P/E cycles, of data whose age is given as a share of
/// T_retention, the age in the DA-RAID-5 paper at which data must be refreshed.
pub(super) fn cells(config: &Config, cycles: f64, age: f64) -> f64 {
    (*WORST * age / config.redundancy.limits_at(cycles)).min(0.5)
}

/// Returns the probability that a page cannot be read after `cycles` P/E cycles, if the age of the
/// data is the share `age` of T_retention, the age in the DA-RAID-5 paper at which data must be
/// refreshed.
pub(super) fn page(config: &Config, cycles: f64, age: f64) -> f64 {
    let words = (config.geometry.page_size.0 / 512) as f64;
    let fails = Bch::DA_RAID_5.fails(cells(config, cycles, age));
    -libm::expm1(words * libm::log1p(-fails))
}

/// Returns the mean of a function `of` of P/E cycles, such as a page's error probability, over
/// blocks whose P/E cycles are spread around the mean `cycles`.
fn over_blocks(cycles: f64, of: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 40;
    let at = |step: u32| {
        cycles * (1.0 - SPREAD + 2.0 * SPREAD * (f64::from(step) + 0.5) / f64::from(STEPS))
    };
    (0..STEPS).map(|step| of(at(step))).sum::<f64>() / f64::from(STEPS)
}

/// Returns the probability that a page cannot be read when the data is T_retention old, the age in
/// the DA-RAID-5 paper at which it must be refreshed; mean over blocks whose P/E cycles are spread
/// around `cycles`.
fn page_of(config: &Config, cycles: f64) -> f64 {
    over_blocks(cycles, |cycles| page(config, cycles, 1.0))
}

/// State of a drive under one scheme at a point of its life.
#[derive(Clone, Copy)]
struct Point {
    /// Scheme as which a drive works at a point of its life; it decides response time and wear.
    case: Case,
    /// Probability (0 to 1) that a stripe of N pages loses data during retention.
    loss: f64,
}

/// Returns the share (0 to 1) of blocks with more P/E cycles than T_p, above which the DA-RAID-5
/// paper counts a block as worn.
fn worn_share(config: &Config, cycles: f64) -> f64 {
    let worn = f64::from(config.redundancy.worn_above);
    let most = cycles * (1.0 + SPREAD);
    if most <= worn { 0.0 } else { ((most - worn) / (2.0 * SPREAD * cycles)).min(1.0) }
}

/// Returns the share (0 to 1) of stripes that have no page in a worn block.
fn bare_share(config: &Config, cycles: f64) -> f64 {
    libm::pow(1.0 - worn_share(config, cycles), f64::from(config.redundancy.stripe))
}

/// Returns the scheme as which DA-RAID-5 works at a mean of `cycles` P/E cycles.
fn works_as(config: &Config, cycles: f64) -> Case {
    let under_parity = (1.0 - bare_share(config, cycles)) * f64::from(config.stripes());
    if under_parity > f64::from(config.redundancy.all_above) {
        HC
    } else if worn_share(config, cycles) > 0.0 {
        PE_AWARE
    } else {
        UDL
    }
}

const SCHEMES: [&str; 4] = ["no RAID", "RAID-5", "PPC", "DA-RAID-5"];

/// Returns the state of the DA-RAID-5 study's drive without RAID, under RAID-5, PPC and DA-RAID-5,
/// in the order of [`SCHEMES`], after `cycles` P/E cycles, if a page is unreadable with probability
/// `q`.
fn points(config: &Config, cycles: f64, q: f64) -> [Point; 4] {
    let n = config.redundancy.stripe;
    let alone = -libm::expm1(f64::from(n) * libm::log1p(-q));
    let protected = stripe_loss(n, q);
    [
        Point { case: NONE, loss: alone },
        Point { case: RAID5, loss: protected },
        Point { case: PPC, loss: protected },
        by_stage(config, cycles, protected),
    ]
}

/// Returns the points of the charts over the DA-RAID-5 drive's life: mean P/E cycles, and the risk
/// of data loss under each of four schemes. Computed on all cores, as all points together take a
/// second.
fn drawn(config: &Config) -> Vec<(f64, [Point; 4])> {
    fan_out::each(&life(config, DRAWN), |&cycles| {
        (cycles, points(config, cycles, page_of(config, cycles)))
    })
}

/// Returns the scheme that DA-RAID-5 uses at a mean wear of `cycles` P/E cycles, and the
/// probability that a stripe loses data then. A stripe without a page in a worn block has no parity
/// and relies on refresh, which rewrites data before its cells fail.
fn by_stage(config: &Config, cycles: f64, protected: f64) -> Point {
    let case = works_as(config, cycles);
    if case == HC {
        return Point { case, loss: protected };
    }
    let worn = f64::from(config.redundancy.worn_above);
    let trusted = |cycles: f64| if cycles > worn { 0.0 } else { page(config, cycles, 1.0) };
    let bare = bare_share(config, cycles);
    let q = over_blocks(cycles, trusted) / (1.0 - worn_share(config, cycles));
    let alone = -libm::expm1(f64::from(config.redundancy.stripe) * libm::log1p(-q));
    Point { case, loss: bare * alone + (1.0 - bare) * protected }
}

/// Returns the mean time to data loss of a drive, in years. Without RAID, the space of parity holds
/// data, too.
fn years(config: &Config, &Point { case, loss }: &Point) -> f64 {
    let redundancy = &config.redundancy;
    let parity = if case == NONE { 1.0 + 1.0 / f64::from(redundancy.stripe) } else { 1.0 };
    let stripes = f64::from(config.stripes()) * parity;
    let period = config.redundancy.retention.0 as f64 / (365.25 * 86_400e9);
    (periods_to_loss(loss, stripes) * period).min(1e30)
}

/// Returns the table of the probability of data loss, wear and response time of each scheme, by
/// mean P/E cycles.
pub(super) fn sheet(evidence: &Evidence) -> Result<Sheet, Diagnostics> {
    let config = config()?;
    let heads = [
        "cycles",
        "scheme",
        "works as",
        "page unreadable",
        "stripe loses data",
        "MTTDL (years)",
        "response (us)",
        "programs / no RAID",
        "widest N",
    ];
    let title = format!(
        "Whole life of a drive: data loss, wear and response time under {SWEPT}, by mean P/E cycles"
    );
    let mut sheet = Sheet::new("life", title, &heads);
    for cycles in life(&config, LISTED) {
        let q = page_of(&config, cycles);
        for (scheme, at) in SCHEMES.into_iter().zip(points(&config, cycles, q)) {
            let Point { case, loss } = at;
            sheet.row(vec![
                Cell::Number(cycles),
                scheme.into(),
                case.name.into(),
                Cell::Number(q),
                Cell::Number(loss),
                Cell::Number(years(&config, &at)),
                Cell::number(evidence.response(SWEPT, case, AS_IT_IS)),
                Cell::number(evidence.ratio(SWEPT, (case, NONE), Shown::Writes)),
                Cell::number(widest(q, TARGET, 62).map(f64::from)),
            ]);
        }
    }
    Ok(sheet)
}

/// Returns the table of each scheme's mean time to data loss in years, by mean P/E cycles.
pub(super) fn until_loss() -> Result<Sheet, Diagnostics> {
    let config = config()?;
    let heads = ["cycles", "no RAID", "RAID-5", "PPC", "DA-RAID-5", "which works as"];
    let mut sheet =
        Sheet::new("mttdl", "Mean time to data loss in years, by mean P/E cycles", &heads);
    for (cycles, points) in drawn(&config) {
        let mut row = vec![Cell::Number(cycles)];
        row.extend(points.map(|it| Cell::Number(years(&config, &it))));
        row.push(works_as(&config, cycles).name.into());
        sheet.row(row);
    }
    Ok(sheet)
}

/// Returns two figures over the life of the drive: response, wear and probability of data loss,
/// between which the DA-RAID-5 paper weighs, and the mean time to data loss.
pub(super) fn pictures(evidence: &Evidence) -> Result<[Figure; 2], Diagnostics> {
    let config = config()?;
    let drawn = drawn(&config);
    let panel = |title: &str, y: Axis, of: &dyn Fn(Point) -> Option<f64>| {
        let series = |(place, scheme): (usize, &&str)| {
            let at = |(cycles, points): &(f64, [Point; 4])| Some((*cycles, of(points[place])?));
            Series::line(*scheme, drawn.iter().filter_map(at))
        };
        let x = Axis::linear("mean P/E cycles of a block");
        Panel::lines(title, x, y, SCHEMES.iter().enumerate().map(series))
    };
    let loss = |it: Point| (it.loss > LEAST).then_some(it.loss);
    let until = |it: Point| (it.loss > LEAST).then(|| years(&config, &it));
    let response = |it: Point| Some(evidence.response(SWEPT, it.case, AS_IT_IS)? / 1e3);
    let wear = |it: Point| evidence.ratio(SWEPT, (it.case, NONE), Shown::Writes);
    let caption = format!(
        "Response and wear are measured under {SWEPT}; data loss follows from the one point of the error model \
         that the DA-RAID-5 paper prints."
    );
    let life = [
        panel("Response", Axis::log10("mean response (ms)"), &response),
        panel("Wear", Axis::linear("pages programmed / no RAID"), &wear),
        panel("A stripe loses data within 381 days", Axis::log10("probability"), &loss),
    ];
    let mttdl = panel("", Axis::log10("mean time to data loss (years)"), &until);
    Ok([
        Figure::new("life", "Whole life of a drive", life).caption(caption).columns(1),
        Figure::new("mttdl", "Mean time to data loss by stage of life", [mttdl])
            .caption(stages(&config)),
    ])
}

/// Returns a sentence with the mean P/E cycles at which the stages of DA-RAID-5 begin.
fn stages(config: &Config) -> String {
    let said = |case: Case| match begin(config, case) {
        Some(cycles) => format!("{} from {cycles} cycles", case.name),
        None => format!("{} never", case.name),
    };
    format!(
        "DA-RAID-5 works as {}, {}, {}. The curves of RAID-5 and PPC coincide. No mean time to data loss is below a year, the age up to which data is kept.",
        said(UDL),
        said(PE_AWARE),
        said(HC)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_that_the_paper_prints_is_met() {
        let config = config().unwrap();
        assert!((cells(&config, 15_000.0, 1.0) / 5.84297e-4 - 1.0).abs() < 1e-5);
        assert!((page(&config, 15_000.0, 1.0) - (1.0 - 0.98412)).abs() < 1e-5);
    }

    /// The number of stripes computed for a drive is that of a simulated drive with a thousandth of
    /// the blocks.
    #[test]
    fn stripes_are_those_of_the_drive() {
        let mut config = config().unwrap();
        assert_eq!(config.stripes(), 786_432, "three quarters of 9,437,184 pages, by nine");
        let at = |case| years(&config, &Point { case, loss: 1e-9 });
        assert!((at(RAID5) / at(NONE) - 9.0 / 8.0).abs() < 1e-3);
        config.geometry.blocks_per_plane /= 128;
        let device = fowler_device::Device::new(&config).unwrap();
        assert_eq!(config.stripes(), device.stripes());
    }

    #[test]
    fn the_stages_follow_each_other_and_parity_always_helps() {
        let config = config().unwrap();
        let all = life(&config, DRAWN);
        let mut stages: Vec<&str> = all.iter().map(|&it| works_as(&config, it).name).collect();
        stages.dedup();
        assert_eq!(stages, ["UDL", "PE-aware", "HC"]);
        assert_eq!(begin(&config, PE_AWARE), Some(12_501.0), "blocks have up to a fifth more");
        for cycles in all {
            let [none, raid5, ..] = points(&config, cycles, page_of(&config, cycles));
            assert!(raid5.loss <= none.loss, "{cycles}");
        }
    }
}
