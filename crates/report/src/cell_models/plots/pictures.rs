//! The figures of the cell models.

use super::{Cells, curve, panel, ratios, steps};
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_physics::bch::Bch;
use fowler_physics::ispp::{EndOfLife, coarsest_step_up_to, program_time};
use fowler_physics::parameters::Parameters;
use fowler_physics::recovery::{CYCLES, Reading};
use fowler_physics::strength::Strengths;
use fowler_physics::voltage::{Hire, SCALES};
use fowler_physics::vth::Setting;
use fowler_physics::word_lines::days;
use fowler_units::Span;

/// The quantiles of a drive's blocks that represent strong, average and weak ones.
const BLOCKS: [(&str, f64); 3] =
    [("strong (1 in 10)", 0.1), ("average", 0.5), ("weak (1 in 10)", 0.9)];

const DAY_S: f64 = 86_400.0;

/// Returns all figures of the cell models: voltages, block strength, bit error rates, sensing,
/// recovery.
pub(super) fn all(cells: &Cells) -> Vec<Figure> {
    vec![
        voltages(cells),
        strengths(),
        wear(cells),
        age(cells),
        reads(cells),
        step(cells),
        scale(cells),
        levels(cells),
        bch(),
        hire(cells),
        Figure::new("recovery", "Achievable P/E cycles by idle time", [recovery()])
            .caption("READY's Figure 1, under each reading of its equation 2 (docs/ready.md)."),
    ]
}

/// Returns the chart of the endurance of rested cells, under each interpretation of the recovery
/// model (Figure 1 of the READY paper).
pub fn recovery() -> Panel {
    let series = Reading::ALL.map(|reading| {
        let point = |step: u32| {
            let hours = 0.1 * 1e4f64.powf(f64::from(step) / 60.0);
            (hours, reading.achievable(Span((hours * 3.6e12) as u64)))
        };
        Series::line(format!("{reading:?}").to_lowercase(), (0..=60).map(point))
    });
    let x = Axis::log10("mean idle time between two cycles (h)");
    Panel::lines("", x, Axis::linear("P/E cycles"), series).reference(CYCLES, "without recovery")
}

fn voltages(cells: &Cells) -> Figure {
    let panel = |title: &str, cycles: f64, age: Span| {
        let worn = cells.analytic.worn(cycles);
        let nominal = cells.nominal();
        let names = ["erased", "lowest", "middle", "highest"];
        let mut series: Vec<Series> = worn
            .states(age, nominal)
            .iter()
            .zip(names)
            .map(|(state, name)| {
                let density = |z: f64| libm::exp(-0.5 * z * z) / state.sd / 2.506_628_274_631;
                curve(name, steps(-4.0, 4.0, 80).map(|z| (state.mean + z * state.sd, density(z))))
            })
            .collect();
        let height = 5.5;
        let marks = worn.references(nominal).map(|at| [(at, 0.0), (at, height), (at, 0.0)]);
        series.push(curve("read references", marks.into_iter().flatten()));
        let (x, y) = (Axis::linear("threshold voltage (V)"), Axis::linear("density (1/V)"));
        Panel::lines(title, x, y, series)
    };
    let panels = vec![
        panel("never cycled", 0.0, Span::ZERO),
        panel("3,000 cycles, just written", 3000.0, Span::ZERO),
        panel("3,000 cycles, 30 days", 3000.0, days(30.0)),
        panel("10,000 cycles, just written", 10_000.0, Span::ZERO),
    ];
    let caption = "An average block at nominal voltages and step. Wear widens every state. Retention lowers programmed \
                   states, higher ones more, while the references stay.";
    Figure::new("voltages", "Threshold voltages of a 2-bit cell", panels).caption(caption).same_y()
}

fn strengths() -> Figure {
    let strengths = Strengths::new(&Parameters::default());
    let (low, high) = strengths.ends();
    let edges: Vec<f64> = steps(low, high, 18).collect();
    let share = |bin: &[f64]| strengths.share_below(bin[1]) - strengths.share_below(bin[0]);
    let groups = edges.windows(2).map(|bin| format!("{:.1}", (bin[0] + bin[1]) * 5e3));
    let blocks = Series::values("blocks", edges.windows(2).map(|bin| 100.0 * share(bin)));
    let panel = Panel::columns("", "share of blocks (%)", groups, [blocks]);
    let caption = "Growth of ln RBER, in units of 10⁻⁴ per cycle; the middle of each bin. A bounded Gaussian of mean 3.7 and \
                   standard deviation 0.9 (RHIO), bounds at three standard deviations (assumed).";
    let title = "Block strength: growth rate of the bit error rate";
    Figure::new("strengths", title, [panel]).caption(caption)
}

fn wear(cells: &Cells) -> Figure {
    let strengths = Strengths::new(cells.analytic.parameters());
    let of = |age: Span| {
        BLOCKS.map(|(name, quantile)| {
            let growth = strengths.strength_at(quantile);
            let rber = |cycles: f64| {
                let cycles = cells.analytic.parameters().equivalent(growth, cycles);
                cells.model.block(cycles).rber(age, 0, cells.nominal())
            };
            curve(name, steps(0.0, 10_000.0, 50).map(|cycles| (cycles, rber(cycles))))
        })
    };
    let panels = [("just written", 0.0), ("after a day", 1.0), ("after 30 days", 30.0)]
        .map(|(title, age)| panel(cells, title, Axis::linear("P/E cycles"), of(days(age))));
    let caption = "Errors of just-written data grow at the published rate; with age, the same wear causes more errors.";
    Figure::new("wear", "Bit errors by wear", panels).caption(caption).same_y().columns(3)
}

fn age(cells: &Cells) -> Figure {
    let series = [500.0, 1000.0, 2000.0, 3000.0, 5000.0].map(|cycles| {
        let block = cells.model.block(cycles);
        let rber = |age: f64| block.rber(days(age), 0, cells.nominal());
        curve(format!("{cycles} cycles"), ratios(0.01, 1000.0, 60).map(|age| (age, rber(age))))
    });
    let x = Axis::log10("retention age (days)");
    let panels = [panel(cells, "", x, series)];
    let caption = "An average block, never read, at nominal voltages and step.";
    Figure::new("age", "Bit errors by retention age", panels).caption(caption)
}

fn reads(cells: &Cells) -> Figure {
    let series = [1000.0, 3000.0, 8000.0].map(|cycles| {
        let block = cells.model.block(cycles);
        let rber = |reads: f64| block.rber(Span::ZERO, reads as u32, cells.nominal());
        curve(format!("{cycles} cycles"), ratios(1e3, 1e7, 60).map(|it| (it, rber(it))))
    });
    let x = Axis::log10("reads of the block since its erase");
    let panels = [panel(cells, "", x, series)];
    let caption = "An average block, just written. Each read adds the same number of errors (Cai et al., DSN 2015).";
    Figure::new("reads", "Bit errors by reads", panels).caption(caption)
}

fn step(cells: &Cells) -> Figure {
    let parameters = cells.analytic.parameters();
    let strengths = Strengths::new(parameters);
    let end = &EndOfLife::new(parameters);
    let errors = BLOCKS.map(|(name, quantile)| {
        let growth = strengths.strength_at(quantile);
        let block = cells.model.block(parameters.equivalent(growth, end.cycles));
        let rber = |step| block.rber(end.age, end.reads, Setting { scale: 1.0, step });
        curve(name, steps(0.15, 0.5, 40).map(|step| (step, rber(step))))
    });
    let time =
        |step| program_time(Span((parameters.program_us * 1e3) as u64), parameters.step, step);
    let times = curve("600 us at 0.25 V", steps(0.15, 0.5, 40).map(|it| (it, time(it).as_us())));
    let coarsest = |quantile: f64| {
        let growth = strengths.strength_at(quantile);
        coarsest_step_up_to(&cells.model, growth, end, &cells.ldpc, 0.5)
    };
    let by_block = curve(
        "coarsest step",
        steps(0.0, 1.0, 50).map(|quantile| (100.0 * quantile, coarsest(quantile))),
    );
    let one = |title, x: &str, y: &str, curve| {
        Panel::lines(title, Axis::linear(x), Axis::linear(y), [curve])
    };
    let panels = [
        panel(cells, "at the end of life", Axis::linear("ISPP step (V)"), errors),
        one("program time", "ISPP step (V)", "program time (us)", times),
        one(
            "coarsest step by block strength",
            "share of blocks that are stronger (%)",
            "coarsest step (V)",
            by_block,
        ),
    ];
    let caption = "End of life: 3,000 cycles, 30 days, 10,000 reads. A block may be programmed at the coarsest step with which \
                   it is still correctable by then; the nominal step is 0.25 V.";
    let title = "ISPP: errors, time, and the step of a block";
    Figure::new("step", title, panels).caption(caption).columns(3)
}

fn scale(cells: &Cells) -> Figure {
    let pages = [
        ("3,000 cycles, just written", 3000.0, 0.0),
        ("3,000 cycles, 1 week", 3000.0, 7.0),
        ("10,500 cycles, just written", 10_500.0, 0.0),
    ];
    let series = pages.map(|(name, cycles, age)| {
        let block = cells.model.block(cycles);
        let step = cells.nominal().step;
        let rber = |scale| block.rber(days(age), 0, Setting { scale, step });
        curve(name, steps(0.7, 1.3, 40).map(|scale| (scale, rber(scale))))
    });
    let x = Axis::linear("threshold voltages relative to nominal");
    let panels = [panel(cells, "", x, series)];
    let caption = "Boosting widens the margins but not the noise, which helps just-written data. The loss by retention grows \
                   with the voltage, so old data benefits less.";
    Figure::new("scale", "Bit errors by threshold voltage", panels).caption(caption)
}

fn levels(cells: &Cells) -> Figure {
    let ldpc = &cells.ldpc;
    let count = ldpc.levels().len();
    let groups: Vec<String> =
        ldpc.levels().iter().map(|level| format!("{} references", level.references)).collect();
    let assumed = ldpc.levels().iter().map(|level| level.correctable);
    let correctable = [Series::values("assumed", assumed)];
    let us = |of: &dyn Fn(usize) -> Span| (0..count).map(|it| of(it).as_us()).collect::<Vec<_>>();
    let series = |name, values, published: [f64; 3]| {
        Series::values(name, values).published(published.map(Some))
    };
    let times = [
        series("sensing", us(&|it| ldpc.sensing(it)), [30.0, 90.0, 210.0]),
        series("transfer", us(&|it| ldpc.transfer(it)), [40.0, 80.0, 100.0]),
    ];
    let panels = [
        Panel::columns(
            "correctable error rate",
            "correctable raw bit error rate",
            groups.clone(),
            correctable,
        ),
        Panel::columns("read time", "us", groups, times),
    ];
    let caption = "Diamonds: Table 1 of HIRE. The error rate that each level corrects is assumed; bounds for a code of rate 8/9 are \
                   0.0148, 0.0251 and 0.0282.";
    Figure::new("levels", "Sensing levels", panels).caption(caption)
}

fn bch() -> Figure {
    let code = Bch::DA_RAID_5;
    let fails = ratios(1e-4, 3e-3, 60).map(|p| (p, code.fails(p)));
    let series = curve("BCH (4200, 4096, 104), 8 errors", fails)
        .published_at([(code.worst_cells(1e-3), 1e-3)]);
    let (x, y) = (Axis::log10("bit error rate"), Axis::log10("share of words lost, 1 - yield"));
    let panels = [Panel::lines("", x, y, [series])];
    let caption = "The diamond is DA-RAID-5's yield of 99.9 %, at a bit error rate of 5.84297e-4.";
    Figure::new("bch", "Yield of BCH code words", panels).caption(caption)
}

/// Range of retention ages on the axis of the figure of HIRE's sensing levels, in days: shorter and
/// longer ages are drawn at its ends.
const SHOWN_DAYS: (f64, f64) = (1e-3, 1e3);

fn hire(cells: &Cells) -> Figure {
    let hire = Hire { model: &cells.model, ldpc: &cells.ldpc };
    let cycles: Vec<f64> = steps(0.0, 15_000.0, 150).collect();
    let ages: Vec<_> = cycles.iter().map(|&cycles| hire.ages(cycles)).collect();
    let shown = |age: Span| (age.as_s() / DAY_S).clamp(SHOWN_DAYS.0, SHOWN_DAYS.1);
    let lines = |title, series: Vec<Series>| {
        let x = Axis::linear("P/E cycles of an average block");
        Panel::lines(title, x, Axis::log10("retention age (days)"), series)
    };
    let names = ["boosted (1.2)", "traditional (1.0)", "reduced (0.8)"];
    let mut panels: Vec<Panel> = (0..SCALES.len())
        .map(|set| {
            let series = cells.ldpc.levels().iter().enumerate().map(|(level, it)| {
                let points = cycles.iter().zip(&ages);
                let points = points.filter_map(|(at, ages)| Some((*at, shown(ages[set][level]?))));
                curve(format!("{} references suffice until", it.references), points)
            });
            lines(names[set], series.collect())
        })
        .collect();
    let window = |pick: fn((Span, Span)) -> Span| {
        let at = |cycles: &f64| Some((*cycles, shown(pick(hire.window(*cycles)?))));
        cycles.iter().filter_map(at).collect::<Vec<_>>()
    };
    let window = [("from", window(|it| it.0)), ("until", window(|it| it.1))];
    let window = window.map(|(name, points)| curve(name, points));
    panels.push(lines("exactly 3, 9 and 21 are needed", window.into()));
    let caption = "Below a curve, its number of references suffices for pages programmed at that voltage. HIRE reads boosted, \
                   traditional and reduced pages with 3, 9 and 21: the last panel shows where exactly these are \
                   needed. 0.001 days stands for just-written data.";
    let title = "Where HIRE's levels match the needs of its voltages";
    Figure::new("hire", title, panels).caption(caption).same_y()
}
