//! The figures of word lines of three-bit cells, beside what others measured of such cells.

use super::chip_measurements::{CAI_2017, PARK_2021, States, gaussian_rber, programmed_sd};
use super::{Cells, curve, panel, rates, ratios, steps};
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_physics::ispp::{EndOfLife, coarsest_step_up_to};
use fowler_physics::multibit::{References, WornCells};
use fowler_physics::parameters::WordLine;
use fowler_physics::rber::Reliability;
use fowler_physics::vth::Setting;
use fowler_physics::word_lines::{WordLines, days};

/// The types of pages of a word line, and the number of references of each.
const PAGES: [&str; 3] = ["lower page (2 references)", "middle page (3)", "upper page (2)"];

/// Retry table of the three-bit cells that the figures show: number of entries after the reference
/// voltages of the first read, and shift of the references per entry, in V.
const TABLE: (u32, f64) = (15, 0.08);

/// The coarsest ISPP step considered, as a multiple of the nominal step: nine tenths of the
/// distance of two neighboring states.
const WIDEST: f64 = 6.0;

/// Range of retention ages on the axes of the figures of three-bit cells, in days.
const AGES: (f64, f64) = (0.01, 1000.0);

/// Returns every figure of three-bit cells.
pub(super) fn all(cells: &Cells) -> Vec<Figure> {
    vec![
        voltages(cells),
        wear(cells),
        age(cells),
        references(cells),
        retries(cells),
        levels(cells),
        program(cells),
        published(cells),
    ]
}

/// Returns three curves for a figure of three-bit cells, one each for lower, middle and upper
/// pages; `points` returns the points of the curve of page 0, 1 or 2.
fn by_page(points: impl Fn(usize) -> Vec<(f64, f64)>) -> impl Iterator<Item = Series> {
    PAGES.into_iter().enumerate().map(move |(page, name)| curve(name, points(page)))
}

fn x_age() -> Axis {
    Axis::log10("retention age (days)")
}

fn x_cycles() -> Axis {
    Axis::linear("P/E cycles")
}

fn ages() -> impl Iterator<Item = f64> + Clone {
    ratios(AGES.0, AGES.1, 60)
}

fn voltages(cells: &Cells) -> Figure {
    let panel = |title: &str, cycles: f64, age: f64| {
        let worn = cells.lines.cells.worn(cycles);
        let states = (0..8).map(|number| {
            let state = worn.state(number, days(age));
            let density = |z: f64| libm::exp(-0.5 * z * z) / state.sd / 2.506_628_274_631;
            let name = if number == 0 { "erased".into() } else { format!("state {number}") };
            curve(name, steps(-4.0, 4.0, 60).map(|z| (state.mean + z * state.sd, density(z))))
        });
        let marks = (0..7).map(|at| worn.reference(at, days(0.0)));
        let marks = marks.flat_map(|at| [(at, 0.0), (at, 4.0), (at, 0.0)]);
        let series: Vec<Series> = states.chain([curve("read references", marks)]).collect();
        let (x, y) = (Axis::linear("threshold voltage (V)"), Axis::linear("density (1/V)"));
        Panel::lines(title, x, y, series)
    };
    let panels = [
        panel("never cycled", 0.0, 0.0),
        panel("3,000 cycles, just written", 3000.0, 0.0),
        panel("3,000 cycles, 30 days", 3000.0, 30.0),
        panel("3,000 cycles, a year", 3000.0, 365.0),
    ];
    let caption = "An average block at the positions of aging.* (assumed). The references are those for just-written data: \
                   with age, states come down past them.";
    Figure::new("tlc_voltages", "Threshold voltages of a 3-bit cell", panels)
        .caption(caption)
        .same_y()
}

fn wear(cells: &Cells) -> Figure {
    let rate = |rber: &dyn Fn(&WornCells, usize) -> f64, page: usize| {
        let rates = steps(0.0, 10_000.0, 50)
            .map(|cycles| (cycles, rber(&cells.lines.cells.worn(cycles), page)));
        rates.collect::<Vec<_>>()
    };
    let fixed = |age: f64| move |worn: &WornCells, page: usize| worn.rber(page, 0.0, days(age));
    let tracked = |worn: &WornCells, page: usize| worn.rber_at_best(page, days(30.0));
    let model = Reliability::WordLines(cells.lines.cells, References::Fixed);
    let step = cells.lines.cells.window().step();
    let reads = [1000.0, 3000.0, 8000.0].map(|cycles| {
        let block = model.block(cycles);
        let setting = Setting { scale: 1.0, step };
        let rber = |reads: f64| block.rber(days(0.0), reads as u32, setting);
        curve(format!("{cycles} cycles"), ratios(1e3, 1e7, 60).map(|it| (it, rber(it))))
    });
    let panels = [
        panel(cells, "just written", x_cycles(), by_page(|page| rate(&fixed(0.0), page))),
        panel(
            cells,
            "30 days, usual references",
            x_cycles(),
            by_page(|page| rate(&fixed(30.0), page)),
        ),
        panel(
            cells,
            "30 days, references that follow the data",
            x_cycles(),
            by_page(|page| rate(&tracked, page)),
        ),
        panel(
            cells,
            "just written, mean over the pages, by reads",
            Axis::log10("reads of the block since its erase"),
            reads,
        ),
    ];
    let caption = "An average block. The mean over the pages of just-written data follows the growth law. A read adds the same \
                   to every page, as in 2-bit cells (assumed).";
    Figure::new("tlc_wear", "3-bit cells: bit errors by wear and reads", panels)
        .caption(caption)
        .same_y()
}

fn age(cells: &Cells) -> Figure {
    let panels = [
        (1000.0, References::Fixed, "1,000 cycles, usual references"),
        (3000.0, References::Fixed, "3,000 cycles, usual references"),
        (1000.0, References::Tracked, "1,000 cycles, references that follow the data"),
        (3000.0, References::Tracked, "3,000 cycles, references that follow the data"),
    ];
    let panels = panels.map(|(cycles, references, title)| {
        let worn = cells.lines.cells.worn(cycles);
        let rber = |page, age| match references {
            References::Fixed => worn.rber(page, 0.0, days(age)),
            References::Tracked => worn.rber_at_best(page, days(age)),
        };
        let points = |page| ages().map(|age| (age, rber(page, age))).collect();
        panel(cells, title, x_age(), by_page(points))
    });
    let caption = "An average block, never read, at nominal voltages and step.";
    Figure::new("tlc_age", "3-bit cells: bit errors by retention age", panels)
        .caption(caption)
        .same_y()
}

fn references(cells: &Cells) -> Figure {
    let data = [
        (1000.0, 30.0, "1,000 cycles, 30 days"),
        (3000.0, 30.0, "3,000 cycles, 30 days"),
        (3000.0, 365.0, "3,000 cycles, a year"),
    ];
    let panels = data.map(|(cycles, age, title)| {
        let worn = cells.lines.cells.worn(cycles);
        let rber = |page, entry: f64| worn.rber(page, entry * TABLE.1, days(age));
        let entries = || steps(0.0, f64::from(TABLE.0), TABLE.0);
        let points = |page| entries().map(|entry| (entry, rber(page, entry))).collect();
        let x = Axis::linear("entry of the retry table");
        let panel = Panel::lines(title, x, rates(), by_page(points));
        panel.reference(WordLine::default().correctable, "correctable by a try")
    });
    let caption = "Each entry lowers the reference of the highest state by 0.08 V and the others in proportion to their height. The \
                   rate that a try corrects is assumed.";
    Figure::new("tlc_references", "3-bit cells: bit errors by read references", panels)
        .caption(caption)
        .same_y()
        .columns(3)
}

fn retries(cells: &Cells) -> Figure {
    let lines = &cells.lines;
    let measured = |days: f64| {
        let of = PARK_2021.iter().filter(move |it| it.days == days);
        of.map(|it| (it.cycles, it.mean)).collect::<Vec<_>>()
    };
    let by_cycles = [1.0, 30.0, 90.0, 365.0].map(|age| {
        let mean = |cycles| lines.mean_retries(&lines.cells.worn(cycles), days(age));
        let name = if age == 1.0 { "1 day".into() } else { format!("{age} days") };
        let points = steps(0.0, 5000.0, 100).map(|cycles| (cycles, mean(cycles)));
        curve(name, points).published_at(measured(age))
    });
    let by_age = [500.0, 1000.0, 2000.0, 3000.0].map(|cycles| {
        let worn = lines.cells.worn(cycles);
        let points = ages().map(|age| (age, lines.mean_retries(&worn, days(age))));
        let of = PARK_2021.iter().filter(move |it| it.cycles == cycles);
        let measured: Vec<_> = of.map(|it| (it.days, it.mean)).collect();
        curve(format!("{cycles} cycles"), points).published_at(measured)
    });
    let y = || Axis::linear("retries of a read, mean over the pages");
    let panels =
        [Panel::lines("", x_cycles(), y(), by_cycles), Panel::lines("", x_age(), y(), by_age)];
    let caption = "A page that no entry reads counts 16. Diamonds: 160 chips with 3-bit cells and another retry table (Park et al., \
                   ASPLOS 2021, as others quote it); those at 90 days are lower bounds.";
    Figure::new("tlc_retries", "3-bit cells: retries by wear and age", panels)
        .caption(caption)
        .same_y()
}

fn levels(cells: &Cells) -> Figure {
    let levels = cells.ldpc.levels().iter().zip([1, 3, 7]);
    let panels = levels.map(|(level, each)| {
        let until = |references, page| {
            let at = steps(0.0, 10_000.0, 50);
            let points = at.filter_map(move |cycles| {
                let worn = cells.lines.cells.worn(cycles);
                let limit = level.correctable;
                let age = WordLines::suffices_until(&worn, page, references, limit)?;
                Some((cycles, age.clamp(AGES.0, AGES.1)))
            });
            points.collect::<Vec<_>>()
        };
        let fixed = by_page(|page| until(References::Fixed, page));
        let tracked = curve("middle page, references that follow", until(References::Tracked, 1));
        let series: Vec<Series> = fixed.chain([tracked]).collect();
        let title = match each {
            1 => "hard decision: one voltage per reference".into(),
            _ => format!("soft decision: {each} voltages per reference"),
        };
        Panel::lines(title, x_cycles(), Axis::log10("suffices until age (days)"), series)
    });
    let caption = "An average block, never read. A page is sensed at one, three or seven voltages for each of its two or three \
                   references, as in 2-bit cells; the rates that the code then corrects are assumed (0.004, 0.01, 0.015).";
    Figure::new("tlc_levels", "3-bit cells: sensing levels by type of page", panels)
        .caption(caption)
        .same_y()
        .columns(3)
}

fn program(cells: &Cells) -> Figure {
    let lines = &cells.lines;
    let step = lines.cells.window().step();
    let pages = [
        ("just written", 0.0, References::Fixed),
        ("30 days, usual references", 30.0, References::Fixed),
        ("30 days, references that follow", 30.0, References::Tracked),
    ];
    let by = |setting: &dyn Fn(f64) -> Setting, (low, high): (f64, f64)| {
        pages.map(|(name, age, references)| {
            let worn = lines.cells.worn(3000.0);
            let rber = |at| worn.at(setting(at)).mean_rber(references, days(age));
            curve(name, steps(low, high, 40).map(|at| (at, rber(at))))
        })
    };
    let by_step = by(&|ratio| Setting { scale: 1.0, step: ratio * step }, (0.5, 4.0));
    let by_scale = by(&|scale| Setting { scale, step }, (0.7, 1.3));
    let coarsest = [
        (1000.0, References::Fixed, "1,000 cycles, usual references"),
        (3000.0, References::Fixed, "3,000 cycles, usual references"),
        (3000.0, References::Tracked, "3,000 cycles, references that follow"),
        (6000.0, References::Tracked, "6,000 cycles, references that follow"),
    ];
    let coarsest = coarsest.map(|(cycles, references, name)| {
        let at = |age| {
            let end = EndOfLife { cycles, age: days(age), reads: 10_000 };
            let model = Reliability::WordLines(lines.cells, references);
            let growth = lines.cells.parameters().growth_mean;
            coarsest_step_up_to(&model, growth, &end, &cells.ldpc, WIDEST * step) / step
        };
        curve(name, ages().map(|age| (age, at(age))))
    });
    let panels = [
        panel(cells, "3,000 cycles", Axis::linear("ISPP step, in nominal ones (0.12 V)"), by_step),
        Panel::lines(
            "coarsest step, readable from 21 references",
            Axis::log10("age at which data must be readable (days)"),
            Axis::linear("coarsest step, in nominal ones"),
            coarsest,
        ),
        panel(
            cells,
            "3,000 cycles",
            Axis::linear("threshold voltages relative to nominal"),
            by_scale,
        ),
    ];
    let caption = "All pages of a word line are programmed together, at one step and one set of voltages. An average block. Program \
                   time is inversely proportional to the step. Steps above six nominal ones were not considered.";
    Figure::new("tlc_program", "3-bit cells: step and voltages of a program", panels)
        .caption(caption)
        .columns(3)
}

fn published(cells: &Cells) -> Figure {
    let (young, measured_young) = (cells.states(1.0), CAI_2017[0].states());
    let drawn = |name: &str, of: &dyn Fn(&States) -> f64, base: [f64; 2]| {
        let points = ratios(1.0, 365.0, 40).map(|age| (age, of(&cells.states(age)) - base[0]));
        let measured = CAI_2017.iter().map(|it| (it.days, of(&it.states()) - base[1]));
        curve(name, points).published_at(measured)
    };
    let moved = [(0, "erased"), (1, "lowest"), (4, "fourth"), (7, "highest")];
    let moved = moved.map(|(number, name)| {
        let mean = move |states: &States| states[number].mean;
        drawn(name, &mean, [mean(&young), mean(&measured_young)])
    });
    let widths = [
        drawn("programmed, mean of seven", &programmed_sd, [0.0, 0.0]),
        drawn("erased", &|states: &States| states[0].sd, [0.0, 0.0]),
    ];
    let mean = |rates: [f64; 3]| rates.iter().sum::<f64>() / 3.0;
    let rates = [("references of the first day", true), ("references that follow the data", false)];
    let rates = rates.map(|(name, stale)| {
        let of = |states: &States, young: &States| {
            mean(gaussian_rber(states, if stale { young } else { states }))
        };
        let points = ratios(1.0, 365.0, 40).map(|age| (age, of(&cells.states(age), &young)));
        let measured = CAI_2017.map(|it| (it.days, of(&it.states(), &measured_young)));
        curve(name, points).published_at(measured)
    });
    let panels = [
        Panel::lines(
            "means",
            x_age(),
            Axis::linear("moved since the first day (distances)"),
            moved,
        ),
        Panel::lines("widths", x_age(), Axis::linear("standard deviation (distances)"), widths),
        panel(cells, "bit errors of these Gaussians", x_age(), rates),
    ];
    let caption = "After 2,000 cycles, in units of the mean distance of two programmed states. Diamonds: a chip with 3-bit cells \
                   (Cai et al., Proc. IEEE 2017, Table 5, as others quote it).";
    Figure::new("tlc_published", "3-bit cells: the model and a measured chip", panels)
        .caption(caption)
        .columns(3)
}
