//! Tables: the figures of the DA-RAID-5 paper as numbers, and the sweeps.

use super::paper::Paper;
use super::plan::{Evidence, Made, Shown, busy};
use super::variants::{
    AS_IT_IS, CASES, Case, GRID, HC, KEEPS_MOVED, LONG, LONG_SEARCH, MORE_WORN, NONE, Order,
    PE_AWARE, PPC, RAID5, SEARCH, STAGE_2, SWEPT, Setting, UDL, ahead, cache, cut_off, length,
    n_update, replaced,
};
use crate::run_summary::RunSummary;
use fowler_experiment::tables::{Cell, Sheet};

/// Returns Figure 5 of the DA-RAID-5 paper as three tables, the table of its means, and that of the
/// runs behind it.
pub(super) fn shown(evidence: &Evidence) -> Vec<Sheet> {
    let mut sheets = vec![means(evidence)];
    sheets.extend(Shown::ALL.into_iter().map(|shown| figure5(evidence, shown)));
    sheets.extend([long_search(evidence), runs(evidence), speeds(evidence)]);
    sheets
}

/// Pairs of schemes that the text of the DA-RAID-5 paper compares: the first by its reduction of
/// response time and flash operations relative to the second.
pub(super) const PAIRS: [(Case, Case); 5] =
    [(UDL, RAID5), (UDL, PPC), (PPC, RAID5), (HC, RAID5), (HC, PPC)];

/// Returns the table of mean reductions, over the stand-in traces, of response time and flash
/// operations by the first scheme of each pair relative to the second.
fn means(evidence: &Evidence) -> Sheet {
    let heads = ["scheme", "below", "quantity", "all workloads", "without web search"];
    let title = "Reductions in the mean over the stand-ins; claims.csv has their intervals";
    let mut sheet = Sheet::new("means", title, &heads);
    for (case, base) in PAIRS {
        for shown in Shown::ALL {
            let lower = |search| {
                let ratio = |column: &str| evidence.ratio(column, (case, base), shown);
                Cell::share(evidence.mean_of(search, ratio).map(|it| 1.0 - it))
            };
            let mut row: Vec<Cell> = vec![case.name.into(), base.name.into(), shown.name().into()];
            row.extend([true, false].map(lower));
            sheet.row(row);
        }
    }
    sheet
}

fn figure5(evidence: &Evidence, shown: Shown) -> Sheet {
    let heads: Vec<&str> = ["workload"].into_iter().chain(CASES.iter().map(|it| it.name)).collect();
    let beyond = if Shown::PAPER.contains(&shown) { "" } else { ", which the paper does not show" };
    let title = format!("Figure 5: {} relative to RAID-5{beyond}", shown.name());
    let mut sheet = Sheet::new(&format!("figure5-{}", shown.label()), title, &heads);
    let row = |name: &str, of: &dyn Fn(Case) -> Option<f64>| {
        [name.into()].into_iter().chain(CASES.map(|case| Cell::number(of(case)))).collect()
    };
    let ratio = |column: &str, case| evidence.ratio(column, (case, RAID5), shown);
    for column in &evidence.runs.columns {
        sheet.row(row(&column.name, &|case| ratio(&column.name, case)));
    }
    for (name, search) in [("mean", true), ("mean without web search", false)] {
        sheet.row(row(name, &|case| evidence.mean_of(search, |column| ratio(column, case))));
    }
    sheet
}

/// Returns the table of all runs of the DA-RAID-5 study under a workload: response time, flash
/// operations, erases, write amplification and idle time.
fn runs(evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "case",
        "variant",
        "requests",
        "response (us)",
        "pages read",
        "pages programmed",
        "of them parity",
        "of them moved by GC",
        "of them refreshed",
        "erases",
        "refreshed blocks",
        "WAF",
        "drive idle",
        "chip busy",
        "chip time per request (ms)",
    ];
    let mut sheet = Sheet::new("runs", "Results of the runs", &heads);
    for Made { column, case, variant } in &evidence.made {
        let of = |of: fn(&RunSummary) -> Option<f64>| evidence.number(column, *case, variant, of);
        let value = |shown| evidence.value(column, *case, variant, shown);
        sheet.row(vec![
            column.as_str().into(),
            case.name.into(),
            variant.as_str().into(),
            Cell::number(of(|run| run.get("requests"))),
            Cell::number(value(Shown::Response)),
            Cell::number(value(Shown::Reads)),
            Cell::number(value(Shown::Writes)),
            Cell::number(of(|run| run.get("counters.programs.parity"))),
            Cell::number(of(|run| run.get("counters.programs.gc"))),
            Cell::number(of(|run| run.get("counters.programs.refresh"))),
            Cell::number(of(|run| run.get("erases"))),
            Cell::number(of(refreshed)),
            Cell::number(of(|run| run.get("waf"))),
            Cell::share(of(|run| run.get("idle_share"))),
            Cell::share(of(busy)),
            Cell::number(value(Shown::Work).map(|it| it * 1e3)),
        ]);
    }
    sheet
}

fn refreshed(run: &RunSummary) -> Option<f64> {
    let at_limit = run.get("redundancy.refreshed_at_hard_limit")?;
    Some(at_limit + run.get("redundancy.refreshed_in_idle_time")?)
}

/// Returns the table of replay speeds: the factor by which the arrival times of each stand-in trace
/// are divided.
fn speeds(evidence: &Evidence) -> Sheet {
    let title = "Factors by which the times of the stand-ins are divided, and the idle time under RAID-5 that they leave";
    let mut sheet = Sheet::new("speeds", title, &["search", "factor", "drive idle"]);
    for (name, speed) in &evidence.speeds {
        sheet.row(vec![name.as_str().into(), Cell::Number(speed.factor), Cell::Share(speed.idle)]);
    }
    sheet
}

/// Returns Figures 6 and 7 of the DA-RAID-5 paper as tables, and the tables of the sweeps.
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
            "figure6-replaced",
            "Figure 6 under Algorithm 2 as printed, which replaces coverage: HC by N_update, relative to 6",
            evidence,
            &s.n_update.iter().map(|&n| replaced(n)).collect::<Vec<_>>(),
            &replaced(6),
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
        by_order(evidence),
        by_load(evidence),
        by_ahead(paper, evidence),
        by_length(evidence),
        readings(evidence),
        by_wear(evidence),
    ]
}

/// Returns the table of PE-aware RAID-5 relative to RAID-5 and PPC on equally worn drives: in stage
/// 2, and more worn than that.
fn by_wear(evidence: &Evidence) -> Sheet {
    let names = Shown::ALL.map(Shown::name);
    let heads: Vec<&str> = ["workload", "worn blocks", "over"].into_iter().chain(names).collect();
    let title = "PE-aware in stage 2 (0.2 % of blocks worn) and, beyond the paper, at 5 %, where DA-RAID-5 is in stage 3";
    let mut sheet = Sheet::new("pe-aware", title, &heads);
    for column in evidence.runs.stand_ins() {
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
    for column in evidence.runs.stand_ins() {
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
        let parity = evidence.number(LONG, HC, &variant, |run| run.get("counters.programs.parity"));
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

/// Returns the table of the mean reduction by each scheme for both orders of an update, by stripe
/// size and load.
pub(super) fn by_order(evidence: &Evidence) -> Sheet {
    let quantities: Vec<String> = [true, false]
        .iter()
        .flat_map(|&search| Shown::PAPER.map(|shown| headed(shown, search)))
        .collect();
    let mut heads = vec!["order", "N", "multiple of the rate", "chips busy", "scheme", "below"];
    heads.extend(quantities.iter().map(String::as_str));
    let title = "Mean reductions by the order of an update, the stripe size and the load; chips busy under RAID-5";
    let mut sheet = Sheet::new("orders", title, &heads);
    for setting in evidence.paper.settings() {
        let busy = evidence.mean_of(true, |column| evidence.busy_at(column, RAID5, setting));
        for pair in PAIRS {
            let mut row = vec![
                setting.order.name().into(),
                Cell::Number(setting.stripe.into()),
                Cell::Number(setting.load),
                Cell::share(busy),
                pair.0.name.into(),
                pair.1.name.into(),
            ];
            for search in [true, false] {
                for shown in Shown::PAPER {
                    let ratio = |column: &str| evidence.ratio_at(column, setting, pair, shown);
                    row.push(Cell::share(evidence.mean_of(search, ratio).map(|it| 1.0 - it)));
                }
            }
            sheet.row(row);
        }
    }
    sheet
}

fn headed(shown: Shown, search: bool) -> String {
    let without = if search { "" } else { ", without web search" };
    format!("{}{without}", shown.name())
}

fn by_load(evidence: &Evidence) -> Sheet {
    let mut heads = vec![
        "order",
        "N",
        "workload",
        "multiple of the rate",
        "chips busy under RAID-5",
        "RAID-5 (us)",
    ];
    let over: Vec<String> = GRID[1..].iter().map(|it| format!("{} / RAID-5", it.name)).collect();
    heads.extend(over.iter().map(String::as_str));
    let title = "Mean response by load; the paper does not print how busy its drive was";
    let mut sheet = Sheet::new("load", title, &heads);
    for setting in evidence.paper.settings() {
        for column in evidence.runs.stand_ins() {
            let name = column.name.as_str();
            let ratio = |case| evidence.ratio_at(name, setting, (case, RAID5), Shown::Response);
            let mut row = vec![
                setting.order.name().into(),
                Cell::Number(setting.stripe.into()),
                name.into(),
                Cell::Number(setting.load),
                Cell::share(evidence.busy_at(name, RAID5, setting)),
                Cell::number(evidence.response_at(name, RAID5, setting)),
            ];
            row.extend(GRID[1..].iter().map(|&case| Cell::number(ratio(case))));
            sheet.row(row);
        }
    }
    sheet
}

/// Returns the table of the time for which writes wait for a parity cache entry under partial
/// parity, by the number of entries kept free.
fn by_ahead(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "workload",
        "entries kept free",
        "PPC (us)",
        "PPC / RAID-5",
        "pages programmed, PPC / RAID-5",
        "HC (us)",
    ];
    let title = "By the entries of the parity cache that are kept free ahead of demand";
    let mut sheet = Sheet::new("parity-ahead", title, &heads);
    let setting = Setting { order: Order::ReadFirst, stripe: 8, load: 1.0 };
    for column in evidence.runs.stand_ins() {
        let name = column.name.as_str();
        for &entries in &paper.sweeps.parity_ahead {
            let variant = ahead(entries);
            let of = |case| evidence.response(name, case, &variant);
            let ratio = |shown| {
                let ppc = evidence.value(name, PPC, &variant, shown)?;
                Some(ppc / evidence.value_at(name, RAID5, setting, shown)?)
            };
            sheet.row(vec![
                name.into(),
                Cell::Number(entries.into()),
                Cell::number(of(PPC)),
                Cell::number(ratio(Shown::Response)),
                Cell::number(ratio(Shown::Writes)),
                Cell::number(of(HC)),
            ]);
        }
    }
    sheet
}

/// Returns the table of the reductions of response time and flash operations between pairs of
/// schemes under one workload, by requests per run, to show that they converge.
fn by_length(evidence: &Evidence) -> Sheet {
    let mut heads = vec!["requests", "WAF of RAID-5"];
    let names: Vec<String> = PAIRS
        .iter()
        .flat_map(|(case, base)| {
            Shown::PAPER.map(|it| format!("{}, {} below {}", it.name(), case.name, base.name))
        })
        .collect();
    heads.extend(names.iter().map(String::as_str));
    let title = format!(
        "Reductions of response time and flash work by the number of requests that a run simulates, under {SWEPT}"
    );
    let mut sheet = Sheet::new("length", title, &heads);
    for &requests in &evidence.paper.sweeps.lengths {
        let variant = length(requests);
        let waf = evidence.number(SWEPT, RAID5, &variant, |run| run.get("waf"));
        let mut row = vec![Cell::Number(requests as f64), Cell::number(waf)];
        for pair in PAIRS {
            for shown in Shown::PAPER {
                let ratio = evidence.ratio_in(SWEPT, &variant, pair, shown);
                row.push(Cell::share(ratio.map(|it| 1.0 - it)));
            }
        }
        sheet.row(row);
    }
    sheet
}

/// Returns the table of a web search run so long that its reads cause blocks to be refreshed.
fn long_search(evidence: &Evidence) -> Sheet {
    let heads = [
        "requests",
        "case",
        "refreshed blocks",
        "pages programmed",
        "of them by GC",
        "response (us)",
    ];
    let title = "Web search until its reads refresh blocks";
    let mut sheet = Sheet::new("web-search", title, &heads);
    for case in [RAID5, PPC, UDL, NONE] {
        let of =
            |of: fn(&RunSummary) -> Option<f64>| evidence.number(SEARCH, case, LONG_SEARCH, of);
        sheet.row(vec![
            Cell::number(of(|run| run.get("requests"))),
            case.name.into(),
            Cell::number(of(refreshed)),
            Cell::number(evidence.value(SEARCH, case, LONG_SEARCH, Shown::Writes)),
            Cell::number(of(|run| run.get("counters.programs.gc"))),
            Cell::number(evidence.value(SEARCH, case, LONG_SEARCH, Shown::Response)),
        ]);
    }
    sheet
}

/// Returns the table of the effects of two other interpretations of the DA-RAID-5 paper: of which
/// pages the parity cache covers in its Algorithm 2, and of whether GC writes parity when it moves
/// pages.
fn readings(evidence: &Evidence) -> Sheet {
    let names = Shown::ALL.map(Shown::name);
    let heads: Vec<&str> = ["reading", "workload", "case"].into_iter().chain(names).collect();
    let title = "Other readings over those that the drives follow: Algorithm 2 as printed; parity that GC does not flush";
    let mut sheet = Sheet::new("readings", title, &heads);
    let replaced = replaced(6);
    for (variant, case) in [(replaced.as_str(), HC), (KEEPS_MOVED, PPC), (KEEPS_MOVED, HC)] {
        for column in evidence.runs.stand_ins() {
            let mut row = vec![variant.into(), column.name.as_str().into(), case.name.into()];
            let base = n_update(6);
            // HC is compared with its unchanged run of the same stripe length in Figure 6, PPC with
            // its run in the grid.
            let setting = Setting { order: Order::ReadFirst, stripe: 8, load: 1.0 };
            for shown in Shown::ALL {
                let name = column.name.as_str();
                let mine = evidence.value(name, case, variant, shown);
                let base = if case == HC {
                    evidence.value(name, case, &base, shown)
                } else {
                    evidence.value_at(name, case, setting, shown)
                };
                row.push(Cell::number(mine.zip(base).map(|(mine, base)| mine / base)));
            }
            sheet.row(row);
        }
    }
    sheet
}
