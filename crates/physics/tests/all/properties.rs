//! Tests properties of the models over their whole domain: directions, inverses, and that a lookup
//! never returns a lower level than the function.

use fowler_physics::ispp::{EndOfLife, coarsest_step, program_time};
use fowler_physics::ldpc::Ldpc;
use fowler_physics::parameters::Parameters;
use fowler_physics::rates::{AgeColumn, Rates};
use fowler_physics::rber::{Analytic, Condition, ModelError, Reliability};
use fowler_physics::strength::Strengths;
use fowler_physics::table::{Table, Tabled};
use fowler_physics::thresholds::{Grid, Read, Thresholds, UNIT};
use fowler_physics::vth::Setting;
use fowler_units::{Rng, Span};

const TEN_YEARS_S: f64 = 3.2e8;
/// Above this rate, six times the highest correctable one, states have crossed their references.
const HOPELESS: f64 = 0.09;

fn model() -> Reliability {
    Reliability::Analytic(Analytic::new(Parameters::default()).unwrap())
}

fn ldpc() -> Ldpc {
    Ldpc::hire(&Parameters::default()).unwrap()
}

fn seconds(seconds: f64) -> Span {
    Span((seconds * 1e9) as u64)
}

/// Any page that a drive may have: up to 15,000 equivalent cycles, ten years and a million reads,
/// at 0.7 to 1.3 of the voltages and 0.5 to 2 nominal steps.
fn any(rng: &mut Rng) -> Condition {
    let age = if rng.chance(0.2) { 0.0 } else { TEN_YEARS_S.powf(rng.unit()) };
    Condition {
        cycles: if rng.chance(0.1) { 0.0 } else { 15_000.0 * rng.unit() },
        age: seconds(age),
        reads: if rng.chance(0.3) { 0 } else { 1e6f64.powf(rng.unit()) as u32 },
        setting: Setting { scale: 0.7 + 0.6 * rng.unit(), step: 0.25 * (0.5 + 1.5 * rng.unit()) },
    }
}

/// A page, and the same page with one condition worse.
fn worsen(page: &Condition, what: usize, rng: &mut Rng) -> (Condition, &'static str) {
    let mut worse = *page;
    let more = 1.0 + rng.unit();
    let what = match what {
        0 => {
            worse.cycles = page.cycles * more + 1.0;
            "cycles"
        }
        1 => {
            worse.age = seconds(page.age.as_s() * more + 60.0);
            "age"
        }
        2 => {
            worse.reads = (f64::from(page.reads) * more) as u32 + 1000;
            "reads"
        }
        3 => {
            worse.setting.step = (page.setting.step * more).min(0.5);
            "step"
        }
        _ => {
            worse.setting.scale = (page.setting.scale / more).max(0.7);
            "scale"
        }
    };
    (worse, what)
}

#[test]
fn whatever_makes_a_page_worse_makes_more_errors() {
    let model = model();
    let mut rng = Rng::stream(1, "physics/worse");
    let mut strictly = [0; 5];
    for round in 0..20_000 {
        let page = any(&mut rng);
        let (worse, what) = worsen(&page, round % 5, &mut rng);
        let (before, after) = (model.rber(&page), model.rber(&worse));
        assert!((0.0..=0.5).contains(&before));
        let worse_or_lost = after >= before * (1.0 - 1e-9) || after.min(before) > HOPELESS;
        assert!(worse_or_lost, "{what}: {before} {after} {page:?} {worse:?}");
        strictly[round % 5] += usize::from(after > before);
    }
    // Without wear, age and reads have no effect; with wear, every condition has one.
    assert!(strictly.iter().all(|count| *count > 3200), "{strictly:?}");
}

#[test]
fn just_written_pages_follow_the_law_of_growth() {
    let parameters = Parameters::default();
    let analytic = Analytic::new(parameters).unwrap();
    let setting = analytic.nominal();
    let strengths = Strengths::new(&parameters);
    for quantile in [0.0, 0.3, 0.5, 1.0] {
        let growth = strengths.strength_at(quantile);
        for cycles in [0.0, 100.0, 3000.0, 10_000.0] {
            let expected = 1e-4 * (growth * cycles).exp();
            let rber =
                analytic.worn(parameters.equivalent(growth, cycles)).rber(Span::ZERO, 0, setting);
            assert!((rber / expected - 1.0).abs() < 1e-9, "{growth} {cycles}: {rber} {expected}");
        }
    }
    // An unreadable page does not get worse.
    assert_eq!(analytic.just_written(1e6), 0.2);
}

/// Compares with reference values, computed from the same formulas in another language with another
/// `erfc` and another bisection, to all digits printed.
#[test]
fn a_twin_in_another_language_agrees() {
    let model = model();
    let day = 86_400.0;
    for (cycles, age, scale, step, rber) in [
        (0.0, 30.0, 1.0, 1.0, 1.000_000_000_000e-4),
        (500.0, 1.0, 1.0, 1.0, 2.717_194_685_599e-4),
        (3000.0, 0.0, 1.0, 1.0, 3.034_358_394_436e-4),
        (3000.0, 7.0, 1.2, 1.0, 5.185_424_715_595e-3),
        (3000.0, 30.0, 0.8, 1.0, 1.779_236_537_231e-2),
        (2000.0, 30.0, 1.0, 1.5, 1.749_412_094_529e-2),
        (8000.0, 1.0, 1.0, 0.5, 7.669_752_031_374e-3),
        (10500.0, 0.0, 1.2, 1.25, 4.610_711_265_095e-3),
    ] {
        let setting = Setting { scale, step: 0.25 * step };
        let page = Condition { cycles, age: seconds(age * day), reads: 0, setting };
        let found = model.rber(&page);
        assert!((found / rber - 1.0).abs() < 1e-9, "{page:?}: {found} {rber}");
    }
}

#[test]
fn nothing_befalls_an_unworn_block() {
    let analytic = Analytic::new(Parameters::default()).unwrap();
    let unworn = analytic.worn(0.0);
    let year = seconds(3.15e7);
    let rber = |age, reads| unworn.rber(age, reads, analytic.nominal());
    assert_eq!(rber(Span::ZERO, 0), rber(year, 1_000_000));
    assert!(unworn.noise_sd() > 0.0 && analytic.worn(1000.0).noise_sd() > unworn.noise_sd());
}

#[test]
fn growth_rates_have_the_moments_of_their_distribution() {
    let strengths = Strengths::new(&Parameters::default());
    let mut rng = Rng::stream(7, "physics/strength");
    let count = 100_000;
    let moments = |drawn: Vec<f64>| {
        let mean = drawn.iter().sum::<f64>() / f64::from(count);
        (mean, drawn.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / f64::from(count))
    };
    let sd = strengths.truncated_sd();
    // Quantiles in equal steps, so that the test is not random.
    let even = (0..count).map(|step| (f64::from(step) + 0.5) / f64::from(count));
    let (mean, variance) = moments(even.map(|it| strengths.strength_at(it)).collect());
    assert!((mean / 3.7e-4 - 1.0).abs() < 1e-9, "{mean}");
    assert!((variance / (sd * sd) - 1.0).abs() < 1e-4, "{variance}");
    let (mean, variance) = moments((0..count).map(|_| strengths.strength_at(rng.unit())).collect());
    assert!(sd < 9e-5 && sd > 8.8e-5, "{sd}");
    let error = sd / f64::from(count).sqrt();
    assert!((mean - 3.7e-4).abs() < 3.0 * error, "{mean}");
    // The error of a variance, for tails no longer than normal ones.
    let error = sd * sd * (2.0 / f64::from(count)).sqrt();
    assert!((variance - sd * sd).abs() < 3.0 * error, "{variance}");
    // The distribution function is the integral of the density.
    let (low, high) = strengths.ends();
    let width = (high - low) / 1000.0;
    let mut below = 0.0;
    for step in 0..1000 {
        below += strengths.density(low + (f64::from(step) + 0.5) * width) * width;
        let share = strengths.share_below(low + f64::from(step + 1) * width);
        assert!((share - below).abs() < 1e-6, "{share} {below}");
    }
}

#[test]
fn constants_that_make_no_cells_are_refused() {
    let with = |name, value| Analytic::new(Parameters::default().with(name, value).unwrap());
    let refused = |name, value| with(name, value).unwrap_err().to_string();
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(with("step", value), Err(ModelError::NoAmount { name: "step", .. })));
    }
    assert_eq!(
        refused("program_us", 0.0),
        "`program_us` is 0; expected a number above 0 and below 1e12"
    );
    assert!(with("disturb_slope", 0.0).is_ok() && with("retention_charge", 0.0).is_ok());
    assert_eq!(with("programmed_2", 2.0), Err(ModelError::NotAscending));
    assert_eq!(with("growth_bound", 5.0), Err(ModelError::Healing { bound: 5.0 }));
    assert!(refused("rber_unworn", 1e-6).contains("; the step and the erased state alone cause"));
    assert_eq!(with("rber_unworn", 0.3), Err(ModelError::TooBad { asked: 0.3 }));
}

#[test]
fn the_cells_of_rhio_are_those_of_hire_but_for_the_scale() {
    let rhio = Analytic::new(Parameters::rhio()).unwrap();
    let (setting, week) = (rhio.nominal(), seconds(604_800.0));
    let hire = Analytic::new(Parameters::default()).unwrap();
    for cycles in [0.0, 1000.0, 3000.0, 8000.0] {
        let fresh = [&rhio, &hire].map(|it| it.just_written(cycles));
        assert_eq!(fresh[0], fresh[1]);
        let rates = [rhio.worn(cycles).rber(week, 0, setting), {
            hire.worn(cycles).rber(week, 0, hire.nominal())
        }];
        assert!((0.9..1.01).contains(&(rates[0] / rates[1])), "{cycles}: {rates:?}");
    }
}

/// Compares the levels of a block that the drive looks up with the function.
#[test]
fn a_looked_up_level_is_never_too_low_and_at_most_a_bucket_too_high() {
    let (model, ldpc) = (model(), ldpc());
    let (scales, steps) = (vec![1.2, 1.0, 0.8], vec![0.25, 0.3]);
    let grid = Grid::new(scales.clone(), steps.clone(), 6000.0);
    let width = grid.cycles / f64::from(grid.wears);
    let mut table = Thresholds::new(model.clone(), ldpc.clone(), grid);
    assert_eq!(table.bytes(), 3 * 2 * 64 * 12 * 3 * 4);
    let mut rng = Rng::stream(3, "physics/thresholds");
    let (mut exact, mut seen) = (0, [0; 4]);
    let number = |level: Option<usize>| level.unwrap_or(3);
    for _ in 0..20_000 {
        let page = any(&mut rng);
        let (scale, step) = (rng.below(3) as usize, rng.below(2) as usize);
        let cycles = page.cycles * 0.4 * (1.0 - 1e-9);
        let setting = Setting { scale: scales[scale], step: steps[step] };
        let page = Condition { cycles, setting, ..page };
        let read = Read { cycles, age: page.age, reads: page.reads, scale, step };
        let found = number(table.level(&read).map(usize::from));
        let needed = number(model.level(&page, &ldpc));
        assert!(found >= needed, "{read:?}: {found} {needed}");
        let corner = Condition {
            cycles: (cycles / width).floor() * width + width * (1.0 + 1e-9),
            age: page.age + UNIT,
            reads: page.reads.max(256) * 2,
            ..page
        };
        let worst = number(model.level(&corner, &ldpc));
        assert!(found <= worst, "{read:?}: {found} {worst}");
        exact += usize::from(found == needed);
        seen[found] += 1;
    }
    assert!(exact > 19_000, "{exact} of 20,000 are exact");
    assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
}

#[test]
fn a_looked_up_rate_is_within_two_per_cent() {
    let model = model();
    let setting = Setting { scale: 1.0, step: 0.25 };
    let mut rates = Rates::new(setting, 6000.0);
    let mut rng = Rng::stream(7, "physics/rates");
    for _ in 0..5_000 {
        let page = any(&mut rng);
        let page = Condition { cycles: page.cycles * 0.4, setting, ..page };
        let age = AgeColumn::of(page.age);
        let found = rates.rber(&model, page.cycles, age, page.reads);
        let exact = model.rber(&page);
        // The first interval of wear has the steepest part of every curve.
        let allowed = if page.cycles < 25.0 { 0.4 } else { 0.02 };
        assert!((found / exact - 1.0).abs() < allowed, "{page:?}: {found} {exact}");
    }
}

#[test]
fn a_table_of_the_model_is_the_model() {
    let analytic = Analytic::new(Parameters::default()).unwrap();
    let setting = analytic.nominal();
    let cycles: Vec<f64> = (0..=40).map(|step| 100.0 * f64::from(step)).collect();
    let ages: Vec<f64> = (0..=60).map(|step| 1.4f64.powi(step) - 1.0).collect();
    let rates: Vec<f64> = cycles
        .iter()
        .flat_map(|&cycles| {
            let worn = analytic.worn(cycles);
            ages.iter().map(|age| worn.rber(seconds(*age), 0, setting)).collect::<Vec<_>>()
        })
        .collect();
    let table = Table::new(&cycles, &ages, &rates).unwrap();
    let tables = Tabled::new(Parameters::default(), vec![(setting, table)]).unwrap();
    let (tables, model) = (Reliability::Tabled(tables), Reliability::Analytic(analytic));
    let mut rng = Rng::stream(5, "physics/table");
    for _ in 0..2000 {
        let page = any(&mut rng);
        let page = Condition { cycles: page.cycles * 4.0 / 15.0, setting, ..page };
        let (one, other) = (tables.rber(&page), model.rber(&page));
        // A curve that rises from zero wear is least straight at its start.
        let allowed = if page.cycles < 100.0 { 0.35 } else { 0.02 };
        assert!((one / other - 1.0).abs() < allowed, "{page:?}: {one} {other}");
    }
    // All users of a model accept both kinds: levels by lookup, and steps.
    let grid = Grid { wears: 8, ..Grid::new(vec![1.0], vec![0.25], 4000.0) };
    let mut both = [&tables, &model].map(|it| Thresholds::new(it.clone(), ldpc(), grid.clone()));
    let read = Read { cycles: 1000.0, age: seconds(6e5), reads: 0, scale: 0, step: 0 };
    let [one, other] = both.each_mut().map(|it| it.level(&read));
    assert_eq!(one, other);
    let end = EndOfLife::new(&Parameters::default());
    assert_eq!(coarsest_step(&tables, (3e-4, 1.0), &end, &ldpc(), &[0.25]), 0.25);
}

#[test]
fn a_coarser_step_is_sooner_done_and_a_higher_level_later() {
    let mut before = Span(u64::MAX);
    for step in 1..100 {
        let time = program_time(Span::us(600), 0.3, f64::from(step) * 0.01);
        assert!(time < before);
        before = time;
    }
    let ldpc = ldpc();
    for level in 1..ldpc.levels().len() {
        assert!(ldpc.levels()[level].correctable > ldpc.levels()[level - 1].correctable);
        assert!(ldpc.sensing(level) > ldpc.sensing(level - 1));
        assert!(ldpc.transfer(level) > ldpc.transfer(level - 1));
    }
}
