//! Schemes compared at equal acknowledgement: all schemes have the same buffer, and all acknowledge
//! a write on insertion into it, or all after the program. The paper does not say which its drives
//! did.

use super::paper::Paper;
use super::plan::{Evidence, Shown};
use super::variants::{
    Acknowledged, Case, HC, PE_AWARE, PPC, RAID5, SWEPT, UDL, Worn, equal, local,
};
use crate::repetition::Repetition;
use crate::studies::interval;
use fowler_experiment::tables::{Cell, Sheet};

/// Pairs of schemes that the DA-RAID-5 study compares where all acknowledge a write at the same
/// moment: a row shows the reduction of response time or flash operations by the first scheme
/// relative to the second, on each drive that runs both.
const PAIRS: [(Case, Case); 7] = [
    (UDL, RAID5),
    (UDL, PPC),
    (PPC, RAID5),
    (PE_AWARE, RAID5),
    (PE_AWARE, PPC),
    (HC, RAID5),
    (HC, PPC),
];

/// Returns the table of reductions of response time and flash operations by one DA-RAID-5 study
/// scheme relative to another, mean over the stand-in traces, by the wear of the drive and by the
/// moment at which all schemes acknowledge a write. Of the study's repetitions (`again`), the seeds
/// give a mean with its interval, and the runs twice as long a column.
pub(super) fn sheet(evidence: &Evidence, again: &[(Repetition, Evidence)]) -> Sheet {
    let heads = [
        "drive",
        "acknowledgement",
        "scheme",
        "below",
        "quantity",
        "all workloads",
        "without web search",
        "all workloads, mean over seeds",
        "all workloads, +-",
        "without web search, mean over seeds",
        "without web search, +-",
        "all workloads, twice as long",
    ];
    let seeds = || {
        let seeded = again.iter().filter(|(how, _)| matches!(how, Repetition::Seed(_)));
        [evidence].into_iter().chain(seeded.map(|(_, study)| study))
    };
    let twice = again.iter().find(|(how, _)| *how == Repetition::Twice).map(|(_, study)| study);
    let title = "Reductions in the mean over the stand-ins where all schemes have a buffer of 1 MiB \
                 and acknowledge alike";
    let mut sheet = Sheet::new("equal", title, &heads);
    for worn in Worn::ALL {
        let has = |case: Case| worn.cases().contains(&case);
        for acknowledged in Acknowledged::ALL {
            let variant = equal(worn, acknowledged);
            for (case, base) in PAIRS.into_iter().filter(|&(case, base)| has(case) && has(base)) {
                for shown in Shown::ALL {
                    let lower = |study: &Evidence, search| {
                        let ratio =
                            |column: &str| study.ratio_in(column, &variant, (case, base), shown);
                        study.mean_of(search, ratio).map(|it| 1.0 - it)
                    };
                    let over_seeds = |search| {
                        let all: Option<Vec<f64>> =
                            seeds().map(|study| lower(study, search)).collect();
                        let spread = all.as_deref().and_then(interval);
                        [spread.map(|it| it.mean), spread.map(|it| it.half_width)].map(Cell::share)
                    };
                    let own = [true, false].map(|search| Cell::share(lower(evidence, search)));
                    let words: [Cell; 5] = [
                        worn.name().into(),
                        acknowledged.name().into(),
                        case.name.into(),
                        base.name.into(),
                        shown.name().into(),
                    ];
                    let cells = words.into_iter().chain(own);
                    let cells = cells.chain([true, false].into_iter().flat_map(over_seeds));
                    let long = Cell::share(twice.and_then(|study| lower(study, true)));
                    sheet.row(cells.chain([long]).collect());
                }
            }
        }
    }
    sheet
}

/// Returns the table of reductions of response time and flash operations by hybrid caching relative
/// to partial parity caching, if both acknowledge a write at the same moment, by the locality of
/// the requests.
pub(super) fn localities(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "space",
        "popular pages",
        "mean run",
        "acknowledgement",
        "HC below PPC: response",
        "pages programmed",
        "pages read",
        "PPC below RAID-5: pages programmed",
    ];
    let title = "What HC saves over PPC under TPC-C, by locality, where both acknowledge alike";
    let mut sheet = Sheet::new("localities", title, &heads);
    for locality in &paper.sweeps.localities {
        for acknowledged in Acknowledged::ALL {
            let variant = local(locality, acknowledged);
            let lower = |pair, shown| {
                Cell::share(evidence.ratio_in(SWEPT, &variant, pair, shown).map(|it| 1.0 - it))
            };
            sheet.row(vec![
                locality.space.as_str().into(),
                locality.popular.as_str().into(),
                Cell::number(Some(locality.mean_run)),
                acknowledged.name().into(),
                lower((HC, PPC), Shown::Response),
                lower((HC, PPC), Shown::Writes),
                lower((HC, PPC), Shown::Reads),
                lower((PPC, RAID5), Shown::Writes),
            ]);
        }
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::super::claims::PPC_ON_INSERT;
    use super::*;

    /// The run with which claims about hybrid caching are compared is one of the runs at equal
    /// acknowledgement.
    #[test]
    fn the_null_of_hybrid_caching_is_ppc_with_its_cache() {
        let variant = equal(Worn::None, Acknowledged::OnInsert);
        assert_eq!(PPC_ON_INSERT, format!("{} {variant}", PPC.scheme));
    }
}
