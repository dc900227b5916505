//! Tables: the paper's figures as numbers, and the sweeps.

use super::paper::Paper;
use super::plan::{
    AS_IT_IS, CASES, Case, Evidence, HC, LOADED, LONG, MORE_WORN, NONE, PE_AWARE, PPC, RAID5,
    STAGE_2, Shown, cache, cut_off, load, n_update,
};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};

/// Figure 5, in three parts, and what the runs came to.
pub(super) fn shown(evidence: &Evidence) -> Vec<Sheet> {
    let mut sheets: Vec<Sheet> =
        Shown::ALL.into_iter().map(|shown| figure5(evidence, shown)).collect();
    sheets.push(runs(evidence));
    sheets
}

fn figure5(evidence: &Evidence, shown: Shown) -> Sheet {
    let heads: Vec<&str> = ["workload"].into_iter().chain(CASES.iter().map(|it| it.name)).collect();
    let beyond = if Shown::PAPER.contains(&shown) { "" } else { ", which the paper does not show" };
    let title = format!("Figure 5: {} relative to RAID-5{beyond}", shown.name());
    let mut sheet = Sheet::new(&format!("figure5-{}", shown.label()), title, &heads);
    let row = |name: &str, of: &dyn Fn(Case) -> Option<f64>| {
        [name.into()].into_iter().chain(CASES.map(|case| Cell::number(of(case)))).collect()
    };
    for column in &evidence.runs.columns {
        let name = column.name.as_str();
        sheet.row(row(name, &|case| evidence.ratio(name, case, RAID5, shown)));
    }
    sheet.row(row("mean", &|case| {
        mean(&evidence.runs.each(|column| evidence.ratio(column, case, RAID5, shown))?)
    }));
    sheet
}

fn runs(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "case",
        "response (us)",
        "pages read",
        "pages programmed",
        "of them parity",
        "refreshed blocks",
        "WAF",
        "drive idle",
        "chip busy",
        "chip time per request (ms)",
    ];
    let mut sheet = Sheet::new("runs", "Results of the runs", &heads);
    for column in &evidence.runs.columns {
        for case in CASES.into_iter().chain([NONE]) {
            let name = column.name.as_str();
            let of = |of| evidence.number(name, case, AS_IT_IS, of);
            let value = |shown| evidence.value(name, case, AS_IT_IS, shown);
            let refreshed = of(|run| {
                let its = run.redundancy.as_ref()?;
                Some(its.refreshed_at_hard_limit + its.refreshed_in_idle_time)
            });
            sheet.row(vec![
                name.into(),
                case.name.into(),
                Cell::number(value(Shown::Response)),
                Cell::number(value(Shown::Reads)),
                Cell::number(value(Shown::Writes)),
                Cell::number(of(|run| Some(run.counters.programs.parity))),
                Cell::number(refreshed),
                Cell::number(of(|run| run.waf)),
                Cell::share(of(|run| run.idle_share)),
                Cell::share(evidence.busy(name, case, AS_IT_IS)),
                Cell::number(value(Shown::Work).map(|it| it * 1e3)),
            ]);
        }
    }
    sheet
}

/// Figures 6 and 7, and the sweeps of the cut-off and of the load.
pub(super) fn swept(paper: &Paper, evidence: &Evidence) -> Vec<Sheet> {
    let s = &paper.sweeps;
    vec![
        by_workload(
            "figure6",
            "Figure 6: HC by N_update, relative to 6",
            evidence,
            &s.n_update.iter().map(|&n| n_update(n)).collect::<Vec<_>>(),
            &n_update(6),
            &Shown::PAPER,
        ),
        by_workload(
            "figure7",
            "Figure 7: HC by data cache, relative to 128 KiB",
            evidence,
            &s.caches_kib.iter().map(|&kib| cache(kib)).collect::<Vec<_>>(),
            &cache(128),
            &[Shown::Response, Shown::Work],
        ),
        by_cut_off(&s.cut_off, evidence),
        by_load(&s.loads, evidence),
        by_wear(evidence),
    ]
}

/// PE-aware over RAID-5 and PPC on drives as worn: in stage 2, and beyond it.
fn by_wear(evidence: &Evidence) -> Sheet {
    let names = Shown::ALL.map(Shown::name);
    let heads: Vec<&str> = ["workload", "worn blocks", "over"].into_iter().chain(names).collect();
    let title = "PE-aware in stage 2 (0.2 % of blocks worn) and, beyond the paper, at 5 %, where DA-RAID-5 is in stage 3";
    let mut sheet = Sheet::new("pe-aware", title, &heads);
    for column in &evidence.runs.columns {
        let name = column.name.as_str();
        for (share, own, others) in [(0.002, AS_IT_IS, STAGE_2), (0.05, MORE_WORN, MORE_WORN)] {
            for base in [RAID5, PPC] {
                let over = |shown: &Shown| {
                    let mine = evidence.value(name, PE_AWARE, own, *shown)?;
                    Some(mine / evidence.value(name, base, others, *shown)?)
                };
                let mut row = vec![name.into(), Cell::Share(share), base.name.into()];
                row.extend(Shown::ALL.iter().map(|shown| Cell::number(over(shown))));
                sheet.row(row);
            }
        }
    }
    sheet
}

fn by_workload(
    name: &str,
    title: &str,
    evidence: &Evidence,
    variants: &[String],
    base: &str,
    shown: &[Shown],
) -> Sheet {
    let heads: Vec<String> = shown
        .iter()
        .flat_map(|shown| variants.iter().map(move |it| format!("{}, {it}", shown.name())))
        .collect();
    let heads: Vec<&str> =
        ["workload"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    let mut sheet = Sheet::new(name, title, &heads);
    for column in &evidence.runs.columns {
        let mut row = vec![Cell::from(column.name.as_str())];
        for &shown in shown {
            for variant in variants {
                row.push(Cell::number(evidence.change(&column.name, HC, (variant, base), shown)));
            }
        }
        sheet.row(row);
    }
    sheet
}

fn by_cut_off(cut_offs: &[u32], evidence: &Evidence) -> Sheet {
    let heads = [
        "cut-off",
        "response (us)",
        "pages programmed",
        "of them parity",
        "pages read",
        "chip time (ms)",
    ];
    let title = format!("HC by cut-off (the longest write that is cached, in pages), under {LONG}");
    let mut sheet = Sheet::new("cut-off", title, &heads);
    for &pages in cut_offs {
        let variant = cut_off(pages);
        let of = |shown| evidence.value(LONG, HC, &variant, shown);
        let parity = evidence.number(LONG, HC, &variant, |run| Some(run.counters.programs.parity));
        sheet.row(vec![
            Cell::Number(pages.into()),
            Cell::number(of(Shown::Response)),
            Cell::number(of(Shown::Writes)),
            Cell::number(parity),
            Cell::number(of(Shown::Reads)),
            Cell::number(of(Shown::Work).map(|it| it * 1e3)),
        ]);
    }
    sheet
}

fn by_load(loads: &[f64], evidence: &Evidence) -> Sheet {
    let mut heads =
        vec!["workload", "multiple of the rate", "chips busy under RAID-5", "RAID-5 (us)"];
    let over: Vec<String> = LOADED[1..].iter().map(|it| format!("{} / RAID-5", it.name)).collect();
    heads.extend(over.iter().map(String::as_str));
    let title = "Mean response by load; the paper does not print how busy its drive was";
    let mut sheet = Sheet::new("load", title, &heads);
    for column in &evidence.runs.columns {
        let name = column.name.as_str();
        for (factor, variant) in with_the_rate_itself(loads) {
            let ratio = |case| evidence.ratio_in(name, &variant, (case, RAID5), Shown::Response);
            let mut row = vec![
                name.into(),
                Cell::Number(factor),
                Cell::share(evidence.busy(name, RAID5, &variant)),
                Cell::number(evidence.response(name, RAID5, &variant)),
            ];
            row.extend(LOADED[1..].iter().map(|&case| Cell::number(ratio(case))));
            sheet.row(row);
        }
    }
    sheet
}

/// The loads that are swept and the stand-ins' own, in order, with the variants that they are run
/// as.
pub(super) fn with_the_rate_itself(loads: &[f64]) -> Vec<(f64, String)> {
    let mut all: Vec<(f64, String)> = loads.iter().map(|&it| (it, load(it))).collect();
    let place = all.partition_point(|(factor, _)| *factor < 1.0);
    all.insert(place, (1.0, AS_IT_IS.into()));
    all
}
