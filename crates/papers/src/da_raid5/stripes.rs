//! The stripe size: the measured cost of wide and narrow stripes, and the probability that each
//! loses data by the model of section III-E; the widest stripe for a target probability of loss.

use super::claims::config;
use super::life::{TARGET, page};
use super::paper::Paper;
use super::plan::{Evidence, Shown};
use super::variants::{Case, HC, RAID5, STRIPED, SWEPT, stripe};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_theory::stripes::{page_loss, stripe_loss, widest};

/// P/E cycles of the blocks for which the probability of data loss is shown.
const CYCLES: [f64; 4] = [12_000.0, 13_500.0, 15_000.0, 16_500.0];
/// P/E cycles, named T_p in the DA-RAID-5 paper, above which a block counts as worn and at which
/// the paper prints a point of its reliability model.
const PRINTED: f64 = 15_000.0;
/// The widest stripe considered, in data pages.
const MOST: u32 = 62;

/// Returns the stripe sizes (N, in data pages) that the DA-RAID-5 study's chart of cost and data
/// loss by stripe size shows.
fn widths() -> impl Iterator<Item = u32> {
    1..=36
}

/// Returns two tables: cost and data loss by stripe size N, and the widest N by target probability
/// of data loss.
pub(super) fn sheets(paper: &Paper, evidence: &Evidence) -> Result<[Sheet; 2], Diagnostics> {
    Ok([by_size(&paper.sweeps.stripes, evidence)?, by_target()?])
}

fn by_size(sizes: &[u32], evidence: &Evidence) -> Result<Sheet, Diagnostics> {
    let q = page(&config()?, PRINTED, 1.0);
    let heads = [
        "N",
        "parity of capacity",
        "a stripe loses data",
        "a page is lost",
        "case",
        "response (us)",
        "pages programmed",
        "pages read",
        "chip time (ms)",
    ];
    let title = format!(
        "By data pages per stripe: probability of data loss in blocks of 15,000 cycles within 381 days, and latency and flash work on 36 chips under {SWEPT}"
    );
    let mut sheet = Sheet::new("stripes", title, &heads);
    for &n in sizes {
        for case in STRIPED {
            let of = |shown| evidence.value(SWEPT, case, &stripe(n), shown);
            sheet.row(vec![
                Cell::Number(n.into()),
                Cell::Share(1.0 / f64::from(n + 1)),
                Cell::Number(stripe_loss(n, q)),
                Cell::Number(page_loss(n, q)),
                case.name.into(),
                Cell::number(of(Shown::Response)),
                Cell::number(of(Shown::Writes)),
                Cell::number(of(Shown::Reads)),
                Cell::number(of(Shown::Work).map(|it| it * 1e3)),
            ]);
        }
    }
    Ok(sheet)
}

/// Returns the probabilities of data loss that the DA-RAID-5 study's table allows a stripe,
/// descending: powers of ten, [`TARGET`], and the losses of stripes with 8 and with 9 data pages,
/// between which 8 is the widest allowed.
fn targets(q: f64) -> Vec<f64> {
    let mut all =
        vec![0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, TARGET, stripe_loss(8, q), stripe_loss(9, q)];
    all.sort_by(|one, other| other.total_cmp(one));
    all
}

fn by_target() -> Result<Sheet, Diagnostics> {
    let config = config()?;
    let heads: Vec<String> = CYCLES.iter().map(|cycles| format!("N at {cycles} cycles")).collect();
    let heads: Vec<&str> =
        ["a stripe may lose data"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    let title = "The widest stripe that keeps to a probability of loss within 381 days; empty: not even a mirror does";
    let mut sheet = Sheet::new("widest", title, &heads);
    for target in targets(page(&config, PRINTED, 1.0)) {
        let at = |&cycles: &f64| {
            Cell::number(widest(page(&config, cycles, 1.0), target, MOST).map(f64::from))
        };
        sheet.row([Cell::Number(target)].into_iter().chain(CYCLES.iter().map(at)).collect());
    }
    Ok(sheet)
}

/// Returns the figure of response time and flash work by data pages per stripe (N) under RAID-5 and
/// hybrid caching, and of the probability that a stripe loses data by the model of the paper.
pub(super) fn picture(paper: &Paper, evidence: &Evidence) -> Result<Figure, Diagnostics> {
    let config = &config()?;
    let measured = |shown: Shown| {
        let series = |case: Case| {
            let point = |&n: &u32| {
                Some((f64::from(n), evidence.change(SWEPT, case, (&stripe(n), &stripe(8)), shown)?))
            };
            Series::line(case.name, paper.sweeps.stripes.iter().filter_map(point))
        };
        [RAID5, HC].map(series)
    };
    let named = |cycles: f64| format!("{} cycles", cycles as u32);
    let by_width = |cycles: f64| {
        widths().map(move |n| (f64::from(n), stripe_loss(n, page(config, cycles, 1.0))))
    };
    let loss = CYCLES.map(|cycles| {
        Series::line(named(cycles), by_width(cycles).filter(|(_, loss)| *loss > 0.0)).theory()
    });
    let allowed = CYCLES.map(|cycles| {
        Series::line(named(cycles), by_width(cycles).map(|(n, loss)| (loss, n))).theory()
    });
    let wide = || Axis::log2("data pages per stripe, N");
    let over = |what: &str| Axis::linear(format!("{what} / N = 8"));
    let panels = [
        Panel::lines("Response", wide(), over("mean response"), measured(Shown::Response)),
        Panel::lines("Cost", wide(), over("chip time per request"), measured(Shown::Work)),
        Panel::lines(
            "A stripe loses data within 381 days",
            wide(),
            Axis::log10("probability"),
            loss,
        ),
        Panel::lines(
            "Widest stripe",
            Axis::log10("allowed probability of loss"),
            Axis::log2("widest N"),
            allowed,
        ),
    ];
    let caption = format!(
        "Response and chip time are measured under the workload {SWEPT} at four times the recorded speed, on \
         36 chips of the same capacity. Data loss is computed from an error model, of which the DA-RAID-5 \
         paper prints one point."
    );
    Ok(Figure::new("stripes", "Stripe size", panels).caption(caption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_is_the_widest_between_its_own_loss_and_that_of_nine() {
        let q = page(&config().unwrap(), PRINTED, 1.0);
        let [eight, nine] = [8, 9].map(|n| stripe_loss(n, q));
        assert_eq!(widest(q, eight, MOST), Some(8));
        assert_eq!(widest(q, nine * (1.0 - 1e-9), MOST), Some(8));
        assert_eq!(widest(q, nine, MOST), Some(9));
    }
}
