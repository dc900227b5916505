//! The tables of a fleet.

use super::{BadBlocks, Fleet, Interval};
use fowler_experiment::tables::{Cell, Sheet};

impl Fleet {
    /// Returns two tables on the fleet: over its whole life, and year by year.
    pub fn sheets(&self) -> [Sheet; 2] {
        [self.whole(), self.year_by_year()]
    }

    fn whole(&self) -> Sheet {
        let percent = self.spec.confidence * 100.0;
        let title = format!(
            "a fleet of {} drives like the simulated one over {:.2} years; {percent} % intervals",
            self.spec.drives, self.horizon
        );
        let mut sheet = Sheet::new("fleet", title, &["quantity", "low", "value", "high"]);
        let mut row = |name: &str, interval: Interval, share: bool| {
            let cell = |value| match share {
                true => Cell::share(Some(value)),
                false => Cell::number(Some(value)),
            };
            sheet.row(vec![
                name.into(),
                cell(interval.low),
                cell(interval.value),
                cell(interval.high),
            ]);
        };
        if let Some(last) = self.survival().last() {
            row("share of first drives alive at the end", last.share, true);
        }
        for (name, share) in [
            ("1 % replaced after (years)", 0.01),
            ("10 % replaced after (years)", 0.1),
            ("half replaced after (years)", 0.5),
        ] {
            row(name, self.years_at(share), false);
        }
        for (name, share) in [
            ("written until replaced, lowest 1 % below (TB)", 0.01),
            ("written until replaced, lowest 10 % below (TB)", 0.1),
            ("written until replaced, median (TB)", 0.5),
        ] {
            row(name, self.tbw_at(share), false);
        }
        row("replaced per drive and year", self.rate(self.all, self.horizon), false);
        let single = |name: &str, cell: Cell| vec![name.into(), Cell::Nothing, cell, Cell::Nothing];
        let early = single("early failures among first replacements", Cell::share(self.early()));
        let spare = self.bad_blocks.map(|_| {
            let share = Cell::share(self.out_of_spare());
            single("spare used up by failed blocks among first replacements", share)
        });
        let replaced = Cell::number(Some(self.all.count as f64));
        let replaced = single("drives replaced", replaced);
        let spares = Cell::number(Some(self.spares(self.all) as f64));
        let spares =
            vec!["spare drives that are enough".into(), Cell::Nothing, Cell::Nothing, spares];
        let rows = [early].into_iter().chain(spare).chain([replaced, spares]);
        rows.for_each(|cells| sheet.row(cells));
        sheet
    }

    fn year_by_year(&self) -> Sheet {
        let title = "the same year by year: drives replaced, and per drive and year";
        let heads = ["year", "replaced", "rate, low", "rate", "rate, high", "spares enough"];
        let mut sheet = Sheet::new("fleet-years", title, &heads);
        for year in self.years() {
            let rate = year.rate;
            let numbers =
                [year.replaced.count as f64, rate.low, rate.value, rate.high, year.spares as f64];
            let mut cells = vec![Cell::from(year.number.to_string())];
            cells.extend(numbers.map(|value| Cell::number(Some(value))));
            sheet.row(cells);
        }
        sheet
    }

    /// Returns a sentence that lists the assumptions about the fleet.
    pub fn assumptions(&self) -> String {
        let spec = &self.spec;
        let dilation = match self.dilation_error {
            Some(share) => {
                format!(
                    "simulating one of many repetitions (dilation) may change the years to wear-out \
                     by {:.2} %",
                    100.0 * share
                )
            }
            None => "the error of dilation is unknown (--no-check)".into(),
        };
        format!(
            "assumed of the fleet: loads differ by a factor of {:.2} (one standard deviation), {} % fail \
             early in the first year (Weibull shape {}), and a drive ends when over {} % of its blocks \
             are worn out{}; {dilation}",
            libm::exp(spec.load_spread),
            100.0 * spec.early_share,
            spec.early_shape,
            100.0 * spec.worn_blocks,
            self.assumptions_on_blocks()
        )
    }

    /// Returns the words on blocks that fail; empty if none does.
    fn assumptions_on_blocks(&self) -> String {
        let Some(law) = self.bad_blocks else { return String::new() };
        let BadBlocks { share, cycles, shape, simulated_loss } = law;
        let beyond = match self.beyond_simulated() {
            Some(beyond) if beyond > 0.0 => format!(
                "; {:.1} % of the drives lose more of their spare than the drive did in its \
                 simulated life ({:.1} %), and are given the write amplification at the end of \
                 that life",
                100.0 * beyond,
                100.0 * simulated_loss
            ),
            _ => String::new(),
        };
        format!(
            " or failed blocks ({} % at {cycles} cycles, Weibull shape {shape}) have used up its spare{beyond}",
            100.0 * share
        )
    }
}
