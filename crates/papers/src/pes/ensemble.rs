//! The ensemble of stand-ins. For some traces the paper prints four latencies and nothing else:
//! every workload that fits those four is an equally good stand-in. Gains are given as intervals:
//! the least and the largest over the members of the ensemble that are within the stated distance
//! of Table 2.

use super::claims::{
    OVERHEAD, READS_IPC_BELOW_FIFO, READS_IPC_BELOW_RPS, READS_IPS_ABOVE_IPC, READS_PE0_BELOW_FIFO,
    READS_RPS_BELOW_FIFO, SUSPENDED, WRITES_IPC_ABOVE_FIFO, WRITES_IPS_ABOVE_FIFO,
    WRITES_RPS_ABOVE_FIFO,
};
use super::paper::{Flash, Paper};
use super::plan::Evidence;
use crate::claim::ClaimId;
use crate::column::Column;
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Figure, Panel, Series};

/// Replaces the specification of each stand-in trace of the P/E suspension study by that generated
/// workload which fits the paper's Table 2 best, if such workloads were found.
pub(super) fn stand_in(paper: &Paper, columns: &mut [Column]) {
    for column in columns.iter_mut().filter(|column| column.is_stand_in()) {
        let first = paper.ensemble.member.iter().find(|member| member.trace == column.name);
        if let Some(member) = first {
            column.spec = member.spec();
            column.source = format!("ensemble: {}", member.family);
        }
    }
}

/// Returns the generated workloads that fit the P/E suspension paper's Table 2, except the best fit
/// to each trace, which stands in for it; they are named `DAP 2` and so on.
pub(super) fn members(paper: &Paper) -> Vec<Column> {
    let mut members = Vec::new();
    for (place, published) in paper.workload.iter().enumerate() {
        let mine = paper.ensemble.member.iter().filter(|it| it.trace == published.name());
        members.extend(mine.enumerate().skip(1).map(|(index, member)| Column {
            name: format!("{} {}", member.trace, index + 1),
            source: format!("ensemble: {}", member.family),
            spec: member.spec(),
            place: Some(place),
        }));
    }
    members
}

/// Metric of the run under the first scheme, as the share by which it is lower than under the
/// second.
#[derive(Clone, Copy)]
enum Of {
    /// Metric of the run under the first scheme, as the share by which it is lower than under the
    /// second.
    Lower(Number, (&'static str, &'static str)),
    /// Metric of the run under the first scheme, as the share by which it is higher than under the
    /// second.
    Higher(Number, (&'static str, &'static str)),
    /// A metric, such as a latency, of the run under PES_IPC, which cancels the phase of a program
    /// or erase for a read.
    Ipc(Number),
}

/// A gain or cost that the P/E suspension paper states as a mean over its workloads: name, ID of
/// the claim that publishes it, and the rest of the published number's label after the kind of
/// flash (such as ` mean` in `SLC mean`).
struct Gain {
    name: &'static str,
    claim: ClaimId,
    label: &'static str,
    of: Of,
}

const fn gain(name: &'static str, claim: ClaimId, label: &'static str, of: Of) -> Gain {
    Gain { name, claim, label, of }
}

const GAINS: [Gain; 10] = [
    gain("reads, RPS below FIFO", READS_RPS_BELOW_FIFO, "", Of::Lower(READ, ("rps", "fifo"))),
    gain("reads, PE0 below FIFO", READS_PE0_BELOW_FIFO, "", Of::Lower(READ, ("pe0", "fifo"))),
    gain("reads, PES_IPC below RPS", READS_IPC_BELOW_RPS, "", Of::Lower(READ, ("pes_ipc", "rps"))),
    gain(
        "reads, PES_IPC below FIFO",
        READS_IPC_BELOW_FIFO,
        "",
        Of::Lower(READ, ("pes_ipc", "fifo")),
    ),
    gain(
        "reads, PES_IPS above PES_IPC",
        READS_IPS_ABOVE_IPC,
        " mean",
        Of::Higher(READ, ("pes_ips", "pes_ipc")),
    ),
    gain(
        "writes, RPS above FIFO",
        WRITES_RPS_ABOVE_FIFO,
        " mean",
        Of::Higher(WRITE, ("rps", "fifo")),
    ),
    gain(
        "writes, PES_IPS above FIFO",
        WRITES_IPS_ABOVE_FIFO,
        " mean",
        Of::Higher(WRITE, ("pes_ips", "fifo")),
    ),
    gain(
        "writes, PES_IPC above FIFO",
        WRITES_IPC_ABOVE_FIFO,
        " mean",
        Of::Higher(WRITE, ("pes_ipc", "fifo")),
    ),
    gain("programs and erases suspended", SUSPENDED, "", Of::Ipc(|run| run.get("suspended_share"))),
    gain(
        "extra time of a suspended one",
        OVERHEAD,
        "",
        Of::Ipc(|run| run.get("suspension_overhead")),
    ),
];
/// Indices in [`GAINS`] of the two gains that the figure of the stand-ins shows: read latency under
/// PES_IPC (a program's phase is cancelled for a read) below that under RPS (reads first) and below
/// that under FIFO.
const SHOWN: [usize; 2] = [2, 3];

impl Gain {
    fn value(&self, evidence: &Evidence, column: &str, flash: Flash) -> Option<f64> {
        let ratio = |of, schemes| evidence.ratio(column, flash.plain(), of, schemes);
        match self.of {
            Of::Lower(of, schemes) => Some(1.0 - ratio(of, schemes)?),
            Of::Higher(of, schemes) => Some(ratio(of, schemes)? - 1.0),
            Of::Ipc(of) => evidence.number(column, flash.plain(), "pes_ipc", of),
        }
    }

    fn published(&self, paper: &Paper, flash: Flash) -> Option<f64> {
        paper.number(self.claim, &format!("{}{}", flash.name(), self.label))
    }
}

/// A reduction or increase of a metric by a scheme under a workload's stand-in trace, with the
/// least and largest value over all generated workloads that fit the published latencies about as
/// well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    stand_in: f64,
    least: f64,
    most: f64,
}

impl Spread {
    /// Returns the mean of a gain over all workloads, with the interval of that mean: each trace
    /// may be represented by any of the generated workloads that fit the latencies published for
    /// it.
    fn mean(all: &[Spread]) -> Option<Spread> {
        let of = |of: fn(&Spread) -> f64| mean(&all.iter().map(of).collect::<Vec<_>>());
        Some(Spread {
            stand_in: of(|it| it.stand_in)?,
            least: of(|it| it.least)?,
            most: of(|it| it.most)?,
        })
    }

    fn contains(self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

/// Returns the latencies of a generated workload under FIFO divided by those of the P/E suspension
/// paper's Table 2: SLC read, SLC write, MLC read, MLC write.
fn fits(paper: &Paper, evidence: &Evidence, column: &Column) -> Option<[f64; 4]> {
    let mut ratios = [0.0; 4];
    let kinds = [("read", READ), ("write", WRITE)];
    let cells = Flash::ALL.into_iter().flat_map(|flash| kinds.map(|kind| (flash, kind)));
    for (ratio, (flash, (kind, of))) in ratios.iter_mut().zip(cells) {
        let ours = evidence.number(&column.name, flash.plain(), "fifo", of)? / 1e3;
        *ratio = ours / paper.table2(flash, kind, column.place?)?;
    }
    Some(ratios)
}

/// Returns the distance of a generated workload from the P/E suspension paper's Table 2: the root
/// mean square of the logarithms of the four ratios of measured to published latency, as a factor
/// (1 is a perfect fit).
fn residual(ratios: &[f64; 4]) -> f64 {
    let squares: f64 = ratios.iter().map(|ratio| libm::log(*ratio).powi(2)).sum();
    libm::exp(libm::sqrt(squares / 4.0))
}

/// Returns the stand-in trace of a workload, and the other generated workloads for it whose
/// latencies differ from the P/E suspension paper's Table 2 by at most the factor `ensemble.within`
/// of the study's data file.
fn counted<'e>(evidence: &'e Evidence, stand_in: &'e Column) -> Vec<&'e Column> {
    let paper = &evidence.paper;
    let near = |member: &&Column| {
        let ratios = fits(paper, evidence, member);
        ratios.is_some_and(|ratios| residual(&ratios) <= paper.ensemble.within)
    };
    let others = evidence.members.iter().filter(|it| it.place == stand_in.place).filter(near);
    [stand_in].into_iter().chain(others).collect()
}

/// Returns a gain by a scheme under one workload's stand-in trace, with its least and largest value
/// over all generated workloads that fit the published latencies about as well.
fn spread(evidence: &Evidence, gain: &Gain, flash: Flash, stand_in: &Column) -> Option<Spread> {
    let value = |column: &&Column| gain.value(evidence, &column.name, flash);
    let values: Vec<f64> = counted(evidence, stand_in).iter().map(value).collect::<Option<_>>()?;
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    Some(Spread { stand_in: *values.first()?, least, most })
}

/// Returns a gain by a scheme under every workload, in the P/E suspension paper's order, each with
/// its least and largest value over all generated workloads that fit the published latencies.
fn spreads(evidence: &Evidence, gain: &Gain, flash: Flash) -> Option<Vec<Spread>> {
    evidence.runs.stand_ins().map(|it| spread(evidence, gain, flash, it)).collect()
}

/// Returns two tables: every published gain with its interval over generated workloads, and every
/// generated workload with its distance from the P/E suspension paper's Table 2.
pub(super) fn sheets(evidence: &Evidence) -> [Sheet; 2] {
    [gains(evidence), table_of_members(evidence)]
}

fn gains(evidence: &Evidence) -> Sheet {
    let heads =
        ["gain", "flash", "published", "stand-ins", "least", "most", "published is between"];
    let title = format!(
        "Gains and costs that the P/E suspension paper claims: mean over its six workloads, and interval over all stand-in traces within a factor of {} of its Table 2",
        evidence.paper.ensemble.within
    );
    let mut sheet = Sheet::new("ensemble", title, &heads);
    for gain in &GAINS {
        for flash in Flash::ALL {
            let published = gain.published(&evidence.paper, flash);
            let spread = spreads(evidence, gain, flash).and_then(|all| Spread::mean(&all));
            let between = spread.zip(published).map(|(spread, it)| spread.contains(it));
            sheet.row(vec![
                gain.name.into(),
                flash.name().into(),
                Cell::share(published),
                Cell::share(spread.map(|it| it.stand_in)),
                Cell::share(spread.map(|it| it.least)),
                Cell::share(spread.map(|it| it.most)),
                between.map_or(Cell::Nothing, |it| if it { "yes" } else { "no" }.into()),
            ]);
        }
    }
    sheet
}

fn table_of_members(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "source",
        "SLC read / Table 2",
        "SLC write / Table 2",
        "MLC read / Table 2",
        "MLC write / Table 2",
        "residual",
        "counts",
        "SLC: IPC below RPS",
        "MLC: IPC below RPS",
        "SLC: IPC below FIFO",
        "MLC: IPC below FIFO",
    ];
    let title = "Stand-ins: FIFO latencies relative to Table 2, their residual, and what IPC gains";
    let mut sheet = Sheet::new("ensemble_members", title, &heads);
    for stand_in in evidence.runs.stand_ins() {
        let counted: Vec<&str> =
            counted(evidence, stand_in).iter().map(|it| it.name.as_str()).collect();
        let others = evidence.members.iter().filter(|it| it.place == stand_in.place);
        for member in [stand_in].into_iter().chain(others) {
            let ratios = fits(&evidence.paper, evidence, member);
            let mut row = vec![member.name.as_str().into(), member.source.as_str().into()];
            row.extend((0..4).map(|cell| Cell::number(ratios.map(|it| it[cell]))));
            row.push(Cell::number(ratios.as_ref().map(residual)));
            let near = ratios.is_some_and(|it| residual(&it) <= evidence.paper.ensemble.within);
            let counts = match counted.contains(&member.name.as_str()) {
                true if near => "yes",
                true => "yes, though beyond the bound",
                false => "no",
            };
            row.push(counts.into());
            for gain in SHOWN.map(|place| &GAINS[place]) {
                let value = |flash| Cell::share(gain.value(evidence, &member.name, flash));
                row.extend(Flash::ALL.map(value));
            }
            sheet.row(row);
        }
    }
    sheet
}

/// Returns the figure of the latency gains of PES_IPC (intra-phase cancellation) over RPS and FIFO
/// under every workload: a bar for the nearest stand-in trace, and the interval over all generated
/// workloads that fit the paper's numbers.
pub(super) fn picture(evidence: &Evidence) -> Figure {
    let names = evidence.runs.stand_ins().map(|column| column.name.clone());
    let groups: Vec<String> = names.chain(["mean".into()]).collect();
    let series = |place: usize, flash: Flash| {
        let gain = &GAINS[place];
        // A run of few requests may have no reads: its bar is missing, the others are drawn.
        let each: Vec<Option<Spread>> =
            evidence.runs.stand_ins().map(|it| spread(evidence, gain, flash, it)).collect();
        let known: Option<Vec<Spread>> = each.iter().copied().collect();
        let mean = known.and_then(|all| Spread::mean(&all));
        let all = || each.iter().copied().chain([mean]);
        let mark = gain.published(&evidence.paper, flash).map(|it| 100.0 * it);
        let values = Series::values(
            gain.name.replace("reads, ", ""),
            all().map(|it| Some(100.0 * it?.stand_in)),
        );
        Series {
            spread: all().map(|it| it.map(|it| (100.0 * it.least, 100.0 * it.most))).collect(),
            ..values.published(each.iter().map(|_| None).chain([mark]))
        }
    };
    let panel = |flash: Flash| {
        let series = SHOWN.map(|place| series(place, flash));
        Panel::columns(flash.name(), "mean read latency lower by (percent)", &groups, series)
    };
    let caption = format!(
        "Bars: the stand-in trace nearest to Table 2 of the P/E suspension paper. Whiskers: all stand-ins whose four \
         FIFO latencies are within a factor of {} of Table 2 (root mean square). The workloads F1 and F2 have one \
         stand-in each. Diamonds are the paper's means.",
        evidence.paper.ensemble.within
    );
    let title = "What suspension gains, over every stand-in that fits Table 2";
    Figure::new("ensemble", title, Flash::ALL.map(panel)).caption(caption).same_y()
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::{invented, with_members};
    use super::*;

    fn of(flash: Flash, scheme: &str, paper: &Paper, place: usize) -> (f64, f64) {
        let cell = |kind| 1e3 * paper.table2(flash, kind, place).unwrap();
        let faster = if scheme == "fifo" { 1.0 } else { 0.5 };
        (cell("read") * faster, cell("write"))
    }

    /// A member of the ensemble too far from Table 2 does not widen any interval, however large its
    /// gains are.
    #[test]
    fn only_members_near_table_2_count() {
        let paper = Paper::open().unwrap();
        for (off, counts) in [(1.3, true), (1.5, false)] {
            let evidence = with_members(|flash, scheme, column| {
                let place = column.place.unwrap();
                let (read, write) = of(flash, scheme, &paper, place);
                let member = column.name.contains(' ');
                let gain = if member && scheme == "pes_ipc" { 0.2 } else { 1.0 };
                let off = if member { off } else { 1.0 };
                (read * off * gain, write * off)
            });
            let gain = &GAINS[3];
            let dap = evidence.runs.stand_ins().find(|it| it.name == "DAP").unwrap();
            let found = spread(&evidence, gain, Flash::Mlc, dap).unwrap();
            assert!((found.stand_in - 0.5).abs() < 1e-9 && (found.least - 0.5).abs() < 1e-9);
            let most = if counts { 0.9 } else { 0.5 };
            assert!((found.most - most).abs() < 1e-9, "{off}: {found:?}");
        }
    }

    #[test]
    fn the_interval_of_the_mean_is_that_of_every_choice() {
        let of = |stand_in, least, most| Spread { stand_in, least, most };
        let mean = Spread::mean(&[of(0.5, 0.4, 0.8), of(0.3, 0.3, 0.3)]).unwrap();
        assert!((mean.least - 0.35).abs() < 1e-12 && (mean.most - 0.55).abs() < 1e-12);
        assert!(mean.contains(0.4) && !mean.contains(0.56));
    }

    #[test]
    fn a_residual_is_the_factor_by_which_all_are_off() {
        for ratios in [[1.5; 4], [1.5, 1.0 / 1.5, 1.5, 1.5]] {
            assert!((residual(&ratios) - 1.5).abs() < 1e-9);
        }
        assert!(sheets(&invented(|_, _| (1.0, 1.0))).iter().all(|sheet| !sheet.rows.is_empty()));
    }
}
