//! Compares lookups by age with the model itself, over dense ages: at the nodes of tables, next to
//! them, and between them.

use fowler_physics::ldpc::Ldpc;
use fowler_physics::parameters::Parameters;
use fowler_physics::rates::{AgeColumn, Rates};
use fowler_physics::rber::{Analytic, Reliability};
use fowler_physics::table::{Table, Tabled};
use fowler_physics::thresholds::{Grid, Read, Thresholds, UNIT};
use fowler_physics::vth::Setting;
use fowler_units::Span;

const NOMINAL: Setting = Setting { scale: 1.0, step: 0.25 };
/// The equivalent cycles that the lookups cover.
const CYCLES: f64 = 4000.0;
/// The ages at which the table bends, in units: from a minute to five years.
const BENDS: [u64; 7] = [0, 56, 3353, 40_000, 41_000, 2_414_000, 147_000_000];

fn analytic() -> Reliability {
    Reliability::Analytic(Analytic::new(Parameters::default()).unwrap())
}

fn ldpc() -> Ldpc {
    Ldpc::hire(&Parameters::default()).unwrap()
}

/// A table with sharp bends: plateaus, and steps by a factor of up to 50. Right before or after a
/// bend, its rates cross the correctable rate of each level.
fn bent() -> Reliability {
    let [hard, soft, softest] = [0, 1, 2].map(|level| ldpc().levels()[level].correctable);
    let fresh = [1e-5, 1e-5, 2e-4, 2e-4, hard * 0.999, hard * 0.999, hard * 1.5];
    let used = [1e-4, hard * 0.999, hard * 1.001, hard * 1.001, soft * 1.001, soft * 1.001, 0.2];
    let worn = [hard * 0.5, hard * 1.001, soft * 0.999, soft * 0.999, softest * 0.999, 0.1, 0.4];
    let ages = BENDS.map(|units| (UNIT * units).as_s());
    let rates = [fresh, used, worn].concat();
    let table = Table::new(&[0.0, 2000.0, 4000.0], &ages, &rates).unwrap();
    Reliability::Tabled(Tabled::new(Parameters::default(), vec![(NOMINAL, table)]).unwrap())
}

/// Ages in units: `count` of them up to ten years, evenly spaced over the logarithm, and all those
/// next to a bend.
fn dense(count: u32) -> Vec<u64> {
    let across = |at: u32| (f64::from(at) / f64::from(count) * 300e6f64.ln_1p()).exp_m1() as u64;
    let next_to = |age: u64| age.saturating_sub(3)..=age + 3;
    let mut ages: Vec<u64> =
        (0..=count).map(across).chain(BENDS.map(next_to).into_iter().flatten()).collect();
    ages.sort_unstable();
    ages.dedup();
    ages
}

/// The tolerance is zero. A threshold is the exact last unit at which a level suffices in the worst
/// corner of its buckets, so at whole units the looked-up level is that of the model in that
/// corner, whether the search interpolates or bisects, and despite any bends.
#[test]
fn a_looked_up_level_is_exact_at_every_age() {
    let ldpc = ldpc();
    for model in [analytic(), bent()] {
        let grid = Grid { wears: 8, ..Grid::new(vec![NOMINAL.scale], vec![NOMINAL.step], CYCLES) };
        let per_cycle = f64::from(grid.wears) / grid.cycles;
        let mut table = Thresholds::new(model.clone(), ldpc.clone(), grid);
        let mut ends = [0; 3];
        for wear in 0..8 {
            // The end of the bucket, computed as in the table.
            let block = model.block(f64::from(wear + 1) / per_cycle * (1.0 + 1e-12));
            let page = block.page(1024, NOMINAL);
            let mut at = |units: u64| {
                let cycles = (f64::from(wear) + 0.5) / per_cycle;
                let read = Read { cycles, age: UNIT * units, reads: 1000, scale: 0, step: 0 };
                let exact = ldpc.needed(page.rber(UNIT * units)).map(|level| level as u8);
                let found = table.lasting(&read);
                assert_eq!(found.level, exact, "wear {wear}, {units} units");
                // Rounded up to the next unit.
                let younger = Read { age: Span(read.age.0.saturating_sub(UNIT.0 - 1)), ..read };
                assert_eq!(table.lasting(&younger), found, "wear {wear}, {units} units");
                (found.level, found.age)
            };
            for units in dense(2000) {
                let (level, until) = at(units);
                let Some(level) = level.filter(|_| until != Span(u64::MAX)) else { continue };
                let last = until.0 / UNIT.0;
                assert!(last >= units && at(last) == (Some(level), until));
                assert!(at(last + 1).0 != Some(level), "{level} at {} units", last + 1);
                ends[usize::from(level)] += 1;
            }
        }
        assert!(ends.iter().all(|&count| count > 500), "every level ends somewhere: {ends:?}");
    }
}

/// Tests at a node of wear, so that only the age is interpolated, linearly between logarithms.
///
/// At a node of age, the tolerance is rounding. Between nodes, linear interpolation of a smooth
/// curve is off by at most an eighth of its second derivative. The tolerance for the analytic model
/// is a quarter of its largest second difference, because the largest derivative may lie between
/// nodes. Interpolation cuts off the bends of a table, but a rate always lies between those of the
/// two nodes around it.
#[test]
fn a_looked_up_rate_is_exact_at_its_nodes_and_close_between_them() {
    const NODES: u32 = 48;
    const BETWEEN: u32 = 16;
    // Nodes of age grow by the square root of two, from a minute.
    let age = |node: f64| Span((60e9 * ((node / 2.0).exp2() - 1.0)) as u64);
    for (model, is_smooth) in [(analytic(), true), (bent(), false)] {
        let mut rates = Rates::new(NOMINAL, CYCLES);
        for wear in [1, 10, 100, 255] {
            let cycles = CYCLES / 256.0 * f64::from(wear);
            let block = model.block(cycles);
            let exact = |node: f64| block.rber(age(node), 0, NOMINAL);
            let second_difference = |node: u32| {
                let [a, b, c] = [-1.0, 0.0, 1.0].map(|by| exact(f64::from(node) + by).ln());
                (a - 2.0 * b + c).abs()
            };
            let bend = (1..NODES - 1).map(second_difference).fold(0.0, f64::max);
            let tolerance = if is_smooth { bend / 4.0 } else { f64::INFINITY };
            for place in 0..=(NODES - 1) * BETWEEN {
                let node = f64::from(place) / f64::from(BETWEEN);
                let found = rates.rber(&model, cycles, AgeColumn::of(age(node)), 0);
                let off = (found / exact(node)).ln().abs();
                let allowed = if place % BETWEEN == 0 { 1e-9 } else { tolerance };
                assert!(off < allowed, "{wear}, {node}: {off} of {allowed}");
                let [low, high] = [exact(node.floor()), exact(node.ceil())];
                let between = low * (1.0 - 1e-9)..=high * (1.0 + 1e-9);
                assert!(between.contains(&found), "{wear}, {node}: {found} in {between:?}");
            }
            assert!(!is_smooth || tolerance < 0.01, "{wear}: {tolerance}");
            // Beyond the last node, at 22 years, the rate is that of the last node.
            let last = exact(f64::from(NODES - 1));
            let beyond = rates.rber(&model, cycles, AgeColumn::of(age(f64::from(NODES + 1))), 0);
            assert!((beyond / last - 1.0).abs() < 1e-9, "{wear}: {beyond} {last}");
        }
    }
}
