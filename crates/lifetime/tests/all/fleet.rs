//! Fleets against closed forms, and against drives that are simulated one by one.

use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_lifetime::fleet::{self, Fleet, FleetSpec, Interval, wilson};
use fowler_lifetime::{Ended, Lifetime, LifetimeSpec, SaveTo, Watch, live};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Twenty days of a drive of 64 MiB under a load of so many writes a second.
pub(crate) fn spec(cycles: f64, rate: f64, more: &[&str]) -> LifetimeSpec {
    let mut set: Vec<String> = [
        "geometry.channels=1",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=64",
        "lifetime.target=20d",
    ]
    .map(String::from)
    .to_vec();
    set.push(format!("lifetime.cycles={cycles}"));
    set.extend(more.iter().map(|it| it.to_string()));
    let text = format!(
        "duration = '1h'\narrivals = {{ kind = 'poisson', rate = {rate:?} }}\nmix.reads = 0.0\n\
         space.share = 0.8\nwrites.sizes = '4KiB 3, 16KiB 1'\n"
    );
    LifetimeSpec {
        device: DeviceSpec { device: "ready-32".into(), set, ..DeviceSpec::default() },
        scheme: Some("nt".into()),
        workload: WorkloadSpec::Generated(Source { name: "load".into(), text }),
        limit: None,
        dilation: Some(4),
        check: true,
        close_up: None,
        checkpoint: SaveTo::Nowhere,
        checkpoint_every: 1000,
    }
}

fn life(cycles: f64, rate: f64, more: &[&str]) -> Lifetime {
    simulated(&spec(cycles, rate, more))
}

fn simulated(spec: &LifetimeSpec) -> Lifetime {
    let watch =
        Watch { control: Control::UNWATCHED, share: &|_| (), early: &|_| (), warn: &|_| () };
    match live(spec, watch).unwrap() {
        Ended::Lived(life) => *life,
        Ended::Stopped { .. } => panic!("nobody stopped it"),
    }
}

/// Returns the life on which most fleets here are based, simulated once for all tests.
fn base() -> Lifetime {
    static BASE: OnceLock<Lifetime> = OnceLock::new();
    BASE.get_or_init(|| life(300.0, 5.0, &[])).clone()
}

const YEAR_D: f64 = 365.0;

/// Cells that do not recover: what they endure is `cycles`, however long they rest.
const NO_RECOVERY: [&str; 1] = ["lifetime.recovery='table'"];

fn without_recovery(cycles: f64) -> Vec<String> {
    let mut set = NO_RECOVERY.map(String::from).to_vec();
    set.push("lifetime.table.idle=['1h']".into());
    set.push(format!("lifetime.table.cycles=[{cycles}]"));
    set
}

fn drawn(life: &Lifetime, spec: &FleetSpec) -> Fleet {
    fleet::draw(life, spec, Control::UNWATCHED).unwrap().expect("nobody stopped it")
}

/// Four standard errors: one in 16,000 by chance, and the draws are fixed.
const Z: f64 = 4.0;

fn agrees(fleet: &Fleet, expected: impl Fn(f64) -> f64) {
    let all = fleet.drives.len() as u64;
    let survival = fleet.survival();
    assert!(survival.len() > 50 && survival[0].share.value == 1.0);
    for alive in survival {
        let count = (alive.share.value * all as f64).round() as u64;
        let (bounds, exact) = (wilson(count, all, Z), expected(alive.years));
        let holds = bounds.low <= exact + 1e-12 && exact <= bounds.high + 1e-12;
        assert!(holds, "{} years: {exact} and not {bounds:?}", alive.years);
    }
}

/// Drives that only fail early survive as `exp(-(t / eta)^k)`, and are replaced, if the rate is
/// constant, as a Poisson process is.
// Slow: three fleets of 40,000 drives; with fewer, the interval hides a wrong shape.
#[test]
fn early_failures_are_those_of_the_closed_form() {
    let life = life(1e8, 5.0, &[]);
    for shape in [0.5, 1.0, 2.0] {
        let share = if shape < 1.0 { 0.2 } else { 0.5 };
        let spec = FleetSpec {
            drives: 40_000,
            early_share: share,
            early_shape: shape,
            load_spread: 0.0,
            ..FleetSpec::default()
        };
        let fleet = drawn(&life, &spec);
        let hazard = -(-share).ln_1p();
        agrees(&fleet, |years| (-hazard * years.powf(shape)).exp());
        assert!(fleet.early().is_none_or(|it| it == 1.0));
        if shape == 1.0 {
            let expected = hazard * fleet.horizon * 40_000.0;
            let off = (fleet.all.count as f64 - expected) / expected.sqrt();
            assert!(off.abs() < Z, "{} replaced and not {expected}", fleet.all.count);
            let rate = fleet.rate(fleet.all, fleet.horizon);
            assert!(rate.low < hazard && hazard < rate.high, "{hazard} and not {rate:?}");
        }
    }
}

/// Without recovery a drive with twice the load lives half as long, so that lives are log-normal as
/// loads are; the strengths of the blocks that end drives differ by a percent, the loads by 50.
#[test]
fn wear_of_lognormal_loads_is_lognormal() {
    let set = without_recovery(300.0);
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let life = life(300.0, 5.0, &set);
    let spec = FleetSpec { drives: 40_000, early_share: 0.0, ..FleetSpec::default() };
    let fleet = drawn(&life, &spec);
    let strength = fleet.drives.iter().map(|it| it.strength).sum::<f64>() / 40_000.0;
    let one = &life.lived[0];
    let years = one.lives().unwrap() * life.target().as_s() / (YEAR_D * 86_400.0) * strength;
    let above = |z: f64| 0.5 * erfc(z / 2f64.sqrt());
    agrees(&fleet, |t| if t > 0.0 { above((t / years).ln() / spec.load_spread) } else { 1.0 });
    assert_eq!(fleet.early(), (fleet.all.count > 0).then_some(0.0));
    // The terabytes written that a drive endures do not depend on how fast it is written.
    let tbw: Vec<f64> = [0.01, 0.5, 0.9].map(|share| fleet.tbw_at(share).value).to_vec();
    assert!(tbw[2] / tbw[0] < 1.3 * fleet.drives.iter().map(|it| it.strength).fold(1.0, f64::max));
}

/// The complementary error function by numerical integration, apart from what the fleet uses.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let (steps, end) = (4000, 8.0);
    let width = end / f64::from(steps);
    let density = |at: f64| (-(x + at).powi(2)).exp();
    let inner: f64 = (1..steps).map(|step| density(f64::from(step) * width)).sum();
    (density(0.0) / 2.0 + inner) * width * 2.0 / std::f64::consts::PI.sqrt()
}

/// Drives of a fleet, each simulated alone with its own load and its own cells.
// Slow: eight whole lives.
#[test]
fn a_fleet_is_the_drives_that_are_simulated_one_by_one() {
    let drives = FleetSpec { drives: 200, early_share: 0.0, ..FleetSpec::default() };
    let fleet = drawn(&base(), &drives);
    let mut by_load: Vec<_> = fleet.drives.iter().collect();
    by_load.sort_by(|one, other| one.load.total_cmp(&other.load));
    for place in [0, 20, 60, 100, 140, 180, 199] {
        let drive = by_load[place];
        // A life at twice the dilation bounds the error of this one, which is not asked for here.
        let alone = spec(300.0 * drive.strength, 5.0 * drive.load, &[]);
        let alone = simulated(&LifetimeSpec { check: false, ..alone });
        let lives = alone.lived[0].lives().unwrap();
        let years = lives * alone.target().as_s() / (YEAR_D * 86_400.0);
        // A Poisson process of 10^5 writes has 0.3 % more or less of them, and one that is slower
        // is another draw.
        let off = drive.worn_years / years - 1.0;
        assert!(off.abs() < 0.02, "{drive:?}: {years} years alone, off by {off}");
    }
}

/// A fleet has equal drives, whatever else is in the fleet and whoever draws them; another seed has
/// others.
#[test]
fn a_fleet_is_the_same_on_any_number_of_threads_and_stops() {
    let base = base();
    let spec = FleetSpec { drives: 10_000, ..FleetSpec::default() };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let [one, three] = [1, 3].map(|threads| pool(threads).install(|| drawn(&base, &spec)));
    assert_eq!(one.drives, three.drives);
    assert_eq!((one.by_year, one.all), (three.by_year, three.all));
    let fewer = drawn(&base, &FleetSpec { drives: 77, ..spec });
    assert_eq!(fewer.drives[..], one.drives[..77]);
    let stop = AtomicBool::new(false);
    stop.store(true, Ordering::Relaxed);
    let control = Control { stop: &stop, progress: &|_| () };
    assert!(fleet::draw(&base, &spec, control).unwrap().is_none());
}

/// The spare drives that one fleet asks for are enough for others, as often as is promised.
// Slow: 600 fleets; with fewer, a promise of 95 % could not be told from one of 90 %.
#[test]
fn spare_drives_are_enough_as_often_as_promised() {
    let mut base = base();
    // Few failures, some, and many with wear.
    for (drives, early_share) in [(50, 0.1), (400, 0.3), (400, 0.01)] {
        let spec = FleetSpec { drives, early_share, ..FleetSpec::default() };
        let fleets: Vec<Fleet> = (0..200)
            .map(|seed| {
                base.drive.config.seed = seed;
                drawn(&base, &spec)
            })
            .collect();
        let enough = fleets.windows(2).filter(|it| it[0].spares(it[0].all) >= it[1].all.count);
        let share = enough.count() as f64 / 199.0;
        // 95 % is asked for; 199 pairs show it to 1.5 %.
        assert!(share > 0.905, "{drives} drives, {early_share}: enough in {share}");
    }
}

/// Fleets of some hundred drives against one of tens of thousands, whose own scatter is small:
/// intervals hold the truth as often as promised.
// Slow: a fleet of 60,000 drives for the truth, and hundreds of small ones for the share.
#[test]
fn intervals_hold_as_often_as_promised() {
    let mut base = base();
    // Without the life at twice the dilation, which would widen the intervals.
    base.lived.truncate(1);
    let spec = FleetSpec { drives: 60_000, early_share: 0.3, ..FleetSpec::default() };
    base.drive.config.seed = 1_000_000;
    let truth = drawn(&base, &spec);
    let small = FleetSpec { drives: 300, ..spec };
    type Asked = fn(&Fleet) -> Interval;
    let all: [(&str, Asked); 9] = [
        ("alive after a third", |it| it.survival()[20].share),
        ("alive after two thirds", |it| it.survival()[40].share),
        ("alive in the end", |it| it.survival()[60].share),
        ("years until 1 % are replaced", |it| it.years_at(0.01)),
        ("years until half are replaced", |it| it.years_at(0.5)),
        ("years until 90 % are replaced", |it| it.years_at(0.9)),
        ("TBW, lowest 10 %", |it| it.tbw_at(0.1)),
        ("TBW, median", |it| it.tbw_at(0.5)),
        ("replaced per place and year", |it| it.rate(it.all, it.horizon)),
    ];
    let fleets: Vec<Fleet> = (0..200)
        .map(|seed| {
            base.drive.config.seed = seed;
            drawn(&base, &small)
        })
        .collect();
    for (name, asked) in all {
        let exact = asked(&truth).value;
        let holds = |it: &&Fleet| (asked(it).low..=asked(it).high).contains(&exact);
        let share = fleets.iter().filter(holds).count() as f64 / 200.0;
        // 95 % is promised; 200 fleets show it to 1.5 %, and the truth scatters a little, too.
        assert!(share >= 0.9, "{name}: {exact} is in {share} of the intervals");
    }
}

#[test]
fn everything_wrong_with_a_fleet_is_said() {
    let spec = FleetSpec {
        drives: 0,
        load_spread: f64::NAN,
        early_share: 0.9,
        early_shape: 0.0,
        worn_blocks: -1.0,
        confidence: 1.0,
    };
    let said = fleet::check(&spec).to_string();
    let flags = ["--drives", "--load-spread", "--early-share", "--early-shape", "--worn-blocks"];
    assert!(
        flags.iter().all(|flag| said.contains(flag)) && said.contains("--confidence"),
        "{said}"
    );
}
