//! The constants, their effects, and where the models and the papers agree.

use super::Cells;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_physics::bch::Bch;
use fowler_physics::parameters::{CONSTANTS, Parameters};
use fowler_physics::sensitivity::{POINTS, Results, results, sweep};
use fowler_physics::voltage::{Hire, OPERATING_POINT};
use fowler_units::Span;

/// Formats a very small or large number for a table.
fn plain(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        _ if (0.01..1e5).contains(&value.abs()) => format!("{value}"),
        _ => format!("{value:e}"),
    }
}

/// Returns the table of every constant of the cell model: value, unit, source, and the range in
/// which it is varied.
pub fn constants() -> Sheet {
    let heads = ["constant", "value", "unit", "origin", "swept", "what it is", "source"];
    let mut sheet = Sheet::new("constants", "Constants of the models", &heads);
    for constant in CONSTANTS {
        let sweep = constant.sweep.map(|(low, high)| format!("{} to {}", plain(low), plain(high)));
        sheet.row(vec![
            constant.name.into(),
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

/// Returns the table of published numbers beside those of the cell model.
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
    sheet
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
        assert_eq!(constants().rows.len(), CONSTANTS.len());
        assert_eq!(sensitivity().rows.len(), 1 + 2 * swept);
    }
}
