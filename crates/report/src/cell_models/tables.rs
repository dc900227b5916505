//! The constants, their effects, and where the models and the papers agree.

use super::Cells;
use super::chip_measurements::{
    CAI_2017, CAI_CYCLES, LUO_2018, LUO_CYCLES, PARK_2021, PARK_CORRECTABLE, Retries, States,
    gaussian_rber, programmed_sd,
};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_physics::bch::Bch;
use fowler_physics::parameters::{CONSTANTS, Parameters, WORD_LINE_CONSTANTS, WordLine};
use fowler_physics::sensitivity::{POINTS, Results, results, sweep};
use fowler_physics::voltage::{Hire, OPERATING_POINT};
use fowler_physics::word_lines::{self, days};
use fowler_units::Span;

/// Formats a very small or large number for a table.
fn plain(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        _ if (0.01..1e5).contains(&value.abs()) => format!("{value}"),
        _ => format!("{value:e}"),
    }
}

/// Returns the table of all constants of the cell models: value, unit, origin and range to sweep.
/// Constants of word lines are named as their configuration keys, `aging.*`.
pub fn constants() -> Sheet {
    let heads = ["constant", "value", "unit", "origin", "swept", "what it is", "source"];
    let mut sheet = Sheet::new("constants", "Constants of the models", &heads);
    let word_lines = WORD_LINE_CONSTANTS.iter().map(|it| (format!("aging.{}", it.name), it));
    let names = CONSTANTS.iter().map(|it| (it.name.to_owned(), it));
    for (name, constant) in names.chain(word_lines) {
        let sweep = constant.sweep.map(|(low, high)| format!("{} to {}", plain(low), plain(high)));
        sheet.row(vec![
            name.into(),
            plain(constant.value).into(),
            constant.unit.into(),
            constant.origin.word().into(),
            sweep.map_or(Cell::Nothing, Cell::Text),
            constant.about.trim_end_matches('.').into(),
            constant.source.into(),
        ]);
    }
    sheet
}

/// Returns the table of the effects of each unpublished constant of the cell model, at both ends of
/// its range.
pub fn sensitivity() -> Sheet {
    let points = POINTS.map(|point| point.name);
    let heads: Vec<&str> = ["constant", "value"]
        .into_iter()
        .chain(points)
        .chain(["strong block's step (V)", "HIRE's references"])
        .collect();
    let title = "RBER and references of an average block's pages, the coarsest step of a block that 1 in 10 is stronger than, and \
                 the references for HIRE's three voltages, by constant";
    let mut sheet = Sheet::new("sensitivity", title, &heads);
    let base = results(&Parameters::default());
    sheet.row(row("(as it is)", String::new(), base.as_ref()));
    for it in sweep(&Parameters::default()) {
        sheet.row(row(it.constant.name, plain(it.value), it.results.as_ref()));
    }
    sheet
}

fn references(count: Option<u32>) -> String {
    count.map_or("lost".into(), |count| count.to_string())
}

fn row(name: &str, value: String, results: Option<&Results>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![name.into(), value.into()];
    let Some(results) = results else {
        cells.extend(vec![Cell::Nothing; POINTS.len() + 2]);
        return cells;
    };
    for (rber, count) in results.rber.iter().zip(results.references) {
        cells.push(format!("{rber:.2e}: {}", references(count)).into());
    }
    cells.push(format!("{:.3}", results.step).into());
    cells.push(results.hire.map(references).join(", ").into());
    cells
}

/// Returns the effects on three-bit cells of each unpublished constant that has any, at both ends
/// of its range.
pub fn sensitivity_of_word_lines() -> Sheet {
    let heads = ["constant", "value", "1,000 cycles, 30 days", "3,000, 30 days", "3,000, a year"];
    let title = "Three-bit cells: mean RBER of an average block at usual references and at those that follow the data, and the \
                 retries of the lower, middle and upper page, by constant";
    let mut sheet = Sheet::new("sensitivity_tlc", title, &heads);
    let base = word_lines::results(&Parameters::default(), &WordLine::default());
    sheet.row(row_of_word_lines("(as it is)", String::new(), base.as_ref()));
    for word_lines::Row { constant, value, results } in word_lines::sweep() {
        sheet.row(row_of_word_lines(constant.name, plain(value), results.as_ref()));
    }
    sheet
}

fn row_of_word_lines(
    name: &str,
    value: String,
    results: Option<&word_lines::Results>,
) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![name.into(), value.into()];
    let Some(results) = results else {
        cells.extend(vec![Cell::Nothing; word_lines::POINTS.len()]);
        return cells;
    };
    for ([fixed, tracked], retries) in results.rber.iter().zip(results.retries) {
        let retries = retries.map(references).join(" ");
        cells.push(format!("{fixed:.2e}, {tracked:.2e}: {retries}").into());
    }
    cells
}

/// Returns the table of numbers that papers publish about flash cells, each beside the number that
/// the cell models compute.
pub fn agreement() -> Sheet {
    let heads = ["what", "published", "model", "remark"];
    let mut sheet = Sheet::new("agreement", "The papers and the models", &heads);
    let cells = Cells::new();
    let ldpc = &cells.ldpc;
    let mut add = |what: &str, published: &str, model: String, remark: &str| {
        sheet.row(vec![what.into(), published.into(), model.into(), remark.into()]);
    };
    let us = |of: &dyn Fn(usize) -> Span| {
        let times: Vec<String> = (0..3).map(|level| of(level).as_us().to_string()).collect();
        times.join(", ")
    };
    let (sensing, transfer) = (us(&|it| ldpc.sensing(it)), us(&|it| ldpc.transfer(it)));
    add("HIRE: sensing at 3, 9, 21 references (us)", "30, 90, 210", sensing, "exact");
    add("HIRE: transfer (us)", "40, 80, 100", transfer, "exact");
    let worst = Bch::DA_RAID_5.worst_cells(1e-3);
    add("DA-RAID-5: cells of 99.9 % yield", "5.84297e-4", format!("{worst:.5e}"), "exact");
    let hire = Hire { model: &cells.model, ldpc };
    let asked = |(cycles, age): (f64, Span)| {
        let counts = hire.levels(cycles, age);
        counts.map(|it| references(it.map(|level| ldpc.levels()[level].references))).join(", ")
    };
    add(
        "HIRE: references at 1.2, 1.0, 0.8, average block, 10,500 cycles, just written",
        "3, 9, 21",
        asked(OPERATING_POINT),
        "the operating point is ours: one number chosen for three",
    );
    let week = Span::ms(7 * 86_400_000);
    add(
        "the same at 3,000 cycles, 1 week",
        "3, 9, 21",
        asked((3000.0, week)),
        "retention takes in proportion to voltage: boosting buys little against it",
    );
    let years = Span::ms(381 * 86_400_000);
    let nominal = cells.nominal();
    let strained = |age, reads| cells.model.block(15_000.0).rber(age, reads, nominal);
    let remark = "another chip: not ours to reproduce; its thresholds stay constants";
    add(
        "DA-RAID-5: RBER after 15,000 cycles and 381 days",
        "5.84297e-4",
        format!("{:.2e}", strained(years, 0)),
        remark,
    );
    add(
        "DA-RAID-5: RBER after 15,000 cycles and 46,000 reads",
        "5.84297e-4",
        format!("{:.2e}", strained(Span::ZERO, 46_000)),
        remark,
    );
    measured_cells(&cells, &mut add);
    sheet
}

/// Adds rows that compare the cell models with published measurements of 3D cells and of cells with
/// three bits, as other texts quote them.
fn measured_cells(cells: &Cells, add: &mut impl FnMut(&str, &str, String, &str)) {
    let (first, last) = (&CAI_2017[0], &CAI_2017[CAI_2017.len() - 1]);
    let measured = [first.states(), last.states()];
    let ours = [first.days, last.days].map(|age| cells.states(age));
    let mean = |rates: [f64; 3]| rates.iter().sum::<f64>() / 3.0;
    let chip = format!("Cai 2017, 3 bits, {CAI_CYCLES} cycles");
    let mut chips = |what: &str, number: &dyn Fn(&[States; 2]) -> String, remark: &str| {
        add(&format!("{chip}: {what}"), &number(&measured), number(&ours), remark);
    };
    chips(
        &format!(
            "standard deviation of a programmed state, at ages {} and {}",
            first.name, last.name
        ),
        &|it| format!("{:.3}, {:.3}", programmed_sd(&it[0]), programmed_sd(&it[1])),
        "in distances of two states; quoted",
    );
    for (number, name) in [(1, "lowest"), (4, "fourth"), (7, "highest")] {
        let moved = |it: &[States; 2]| format!("{:+.3}", it[1][number].mean - it[0][number].mean);
        let what = format!("{name} programmed state, {} to {}", first.name, last.name);
        chips(&what, &moved, "in distances; the model lets no state rise; quoted");
    }
    let rates = |it: &[States; 2]| {
        let rates = [(0, 0), (1, 0), (1, 1)];
        rates
            .map(|(read, at)| format!("{:.1e}", mean(gaussian_rber(&it[read], &it[at]))))
            .join(", ")
    };
    let what = format!(
        "RBER at age {0}; at {1}, read at references for {0}; at {1}, read at those for {1}",
        first.name, last.name
    );
    chips(&what, &rates, "of Gaussians with the quoted means and widths");
    for Retries { cycles, days: age, mean, at_least } in PARK_2021 {
        let published = if at_least { format!("at least {mean}") } else { format!("{mean}") };
        let ours = cells.lines.mean_retries(&cells.lines.cells.worn(cycles), days(age));
        add(
            &format!("Park 2021, 3D, 3 bits: retries after {cycles} cycles and {age} days"),
            &published,
            format!("{ours:.1}"),
            "another retry table; the model's fresh cells lose nothing; quoted",
        );
    }
    add(
        "Park 2021: correctable RBER",
        &format!("{PARK_CORRECTABLE:.1e}"),
        format!("{:.1e}", WordLine::default().correctable),
        "assumed; 72 bits per KiB, quoted",
    );
    for (from, to, growth) in LUO_2018 {
        let block = cells.model.block(LUO_CYCLES);
        let rber = |age| block.rber(days(age), 0, cells.nominal());
        let hours = |days: f64| format!("{:.1} h", 24.0 * days);
        add(
            &format!(
                "Luo 2018, 3D, 2 bits, {LUO_CYCLES} cycles: growth of RBER from {} to {}",
                hours(from),
                hours(to)
            ),
            &format!("about {growth}"),
            format!("{:.1}", rber(to) / rber(from)),
            "the 2-bit model at usual references; quoted",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_be_exact_is() {
        let sheet = agreement();
        let exact: Vec<_> = sheet.rows.iter().filter(|row| row[3] == "exact".into()).collect();
        assert_eq!(exact.len(), 3);
        assert!(exact.iter().all(|row| row[1] == row[2]), "{exact:?}");
    }

    #[test]
    fn every_constant_stands_in_the_table_and_every_range_in_the_other() {
        let swept = CONSTANTS.iter().filter(|it| it.sweep.is_some()).count();
        assert_eq!(constants().rows.len(), CONSTANTS.len() + WORD_LINE_CONSTANTS.len());
        assert_eq!(sensitivity().rows.len(), 1 + 2 * swept);
    }
}
