//! Specifications of sweeps: what is wrong is said at once and where it stands; designs are the
//! same everywhere.

use fowler_experiment::sweep::{Level, Plan};
use std::collections::BTreeSet;

fn plan(text: &str) -> Plan {
    Plan::read(text, "s.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn diagnostics(text: &str) -> String {
    Plan::read(text, "s.toml").map(drop).unwrap_err().to_string()
}

/// A specification with these lines below its first two.
fn with(lines: &str) -> String {
    format!("device = \"pes-mlc\"\nworkload = \"demo\"\n{lines}")
}

fn levels(plan: &Plan, axis: usize) -> Vec<Level> {
    plan.points().iter().filter_map(|point| point.levels[axis].clone()).collect()
}

fn numbers(plan: &Plan, axis: usize) -> Vec<f64> {
    let number = |level| match level {
        Level::Number(number) => number,
        Level::Text(text) => panic!("{text} is no number"),
    };
    levels(plan, axis).into_iter().map(number).collect()
}

#[test]
fn a_grid_is_every_combination_and_the_last_axis_changes_fastest() {
    let plan = plan(&with(
        "[axis]\nscheme = ['fifo', 'rps']\n'buffer.size' = ['1MiB', '64KiB']\nqueue_depth = [1, 4, 16]\n",
    ));
    assert_eq!(plan.axes().collect::<Vec<_>>(), ["scheme", "buffer.size", "queue_depth"]);
    assert_eq!(plan.points().len(), 12);
    let text = |text: &str| Level::Text(text.into());
    let first: Vec<_> = plan.points()[5].levels.iter().flatten().cloned().collect();
    assert_eq!(first, [text("fifo"), Level::Number(65536.0), Level::Number(16.0)]);
    let hashes: BTreeSet<&str> = plan.points().iter().map(|it| it.hash.as_str()).collect();
    assert_eq!(hashes.len(), 12);
    assert!(hashes.iter().all(|hash| hash.len() == 32));
    assert_eq!(plan.runs(), (0..12).collect::<Vec<_>>());
}

#[test]
fn ranges_of_a_grid_have_steps_and_round_to_what_the_key_takes() {
    let plan = plan(&with(
        "[axis]\n'buffer.size' = { from = '1MiB', to = '16MiB', scale = 'log', steps = 5 }\n\
         queue_depth = { from = 1, to = 10, steps = 4 }\n'timing.read' = { from = '10us', to = '20us', steps = 2 }\n",
    ));
    let (mut sizes, mut depths) = (numbers(&plan, 0), numbers(&plan, 1));
    sizes.dedup();
    depths.truncate(8);
    depths.dedup();
    let mib = f64::from(1 << 20);
    assert_eq!(sizes, [1.0, 2.0, 4.0, 8.0, 16.0].map(|size| size * mib));
    assert_eq!(depths, [1.0, 4.0, 7.0, 10.0]);
    assert_eq!(numbers(&plan, 2)[..2], [10_000.0, 20_000.0]);
}

#[test]
fn a_list_says_each_point_on_its_own() {
    let plan = plan(&with(
        "design = 'list'\nspeed = 2.0\n[[point]]\nscheme = 'rps'\n[[point]]\n'buffer.size' = '1MiB'\nqueue_depth = 4\n\
         [[point]]\n[[point]]\nworkload = 'f1'\n",
    ));
    assert_eq!(
        plan.axes().collect::<Vec<_>>(),
        ["scheme", "buffer.size", "queue_depth", "workload"]
    );
    let said: Vec<usize> =
        plan.points().iter().map(|point| point.levels.iter().flatten().count()).collect();
    assert_eq!(said, [1, 2, 0, 1]);
    let names: Vec<&str> = plan.points().iter().map(|point| &*point.names.workload).collect();
    assert_eq!(names, ["demo", "demo", "demo", "f1"]);
    assert_eq!(plan.points()[2].names.scheme, "as described");
}

#[test]
fn points_that_are_one_run_have_one_hash() {
    // FIFO and NOOP are the same choices under two names; the third is another.
    let plan = plan(&with("[axis]\nscheme = ['fifo', 'noop', 'rps']\n"));
    let hash = |point: usize| &plan.points()[point].hash;
    assert_eq!(hash(0), hash(1));
    assert_ne!(hash(0), hash(2));
    assert_eq!(plan.runs(), [0, 2]);
}

#[test]
fn every_input_of_a_run_is_in_its_hash() {
    let hash = |lines: &str| {
        plan(&with(&format!("{lines}\n[axis]\nseed = [1]\n"))).points()[0].hash.clone()
    };
    let all = [
        "",
        "limit = 5",
        "limit = 6",
        "speed = 2.0",
        "idle = 0.5",
        "queue_depth = 2",
        "requests = true",
        "set = ['buffer.size=2MiB']",
        "scheme = 'pes_ipc'",
    ];
    let hashes: BTreeSet<String> = all.iter().map(|lines| hash(lines)).collect();
    assert_eq!(hashes.len(), all.len());
    let demo = hash("");
    assert_eq!(demo, hash("title = 'under another title'"));
    assert_eq!(demo, hash("requests = false"));
}

#[test]
fn drawn_points_depend_on_the_seed_and_on_their_own_axis() {
    let drawn = |design: &str, seed: u64, more: &str| {
        let size = "'buffer.size' = { from = '1MiB', to = '1GiB', scale = 'log' }";
        let text = format!(
            "design = '{design}'\npoints = 16\ndesign_seed = {seed}\n[axis]\n{more}{size}\n"
        );
        plan(&with(&text))
    };
    for design in ["random", "latin_hypercube"] {
        let one = drawn(design, 1, "");
        assert_eq!(levels(&one, 0), levels(&drawn(design, 1, ""), 0), "{design}");
        assert_ne!(levels(&one, 0), levels(&drawn(design, 2, ""), 0), "{design}");
        let beside = drawn(design, 1, "scheme = ['rps', 'pes_ipc']\n");
        assert_eq!(levels(&one, 0), levels(&beside, 1), "{design}: another axis shifts nothing");
        let range = f64::from(1 << 20)..=f64::from(1 << 30);
        assert!(numbers(&one, 0).iter().all(|size| range.contains(size) && size.fract() == 0.0));
    }
}

/// One point in each part of a range, and every value of a list as often as every other, whatever
/// the number of points and the seed.
#[test]
fn a_latin_hypercube_fills_every_axis_evenly() {
    for (points, seed) in [(1, 1), (2, 5), (7, 9), (12, 3), (40, 11), (60, 2)] {
        let text = format!(
            "design = 'latin_hypercube'\npoints = {points}\ndesign_seed = {seed}\n[axis]\n\
             'geometry.over_provisioning' = {{ from = 0.1, to = 0.5 }}\n\
             'policy.die_order' = ['fifo', 'read_first']\nseed = {{ from = 0, to = 1_000_000, scale = 'linear' }}\n"
        );
        let plan = plan(&with(&text));
        for (axis, low, high) in [(0, 0.1, 0.5), (2, 0.0, 1_000_000.0)] {
            let mut hit = vec![0; points];
            for number in numbers(&plan, axis) {
                let share: f64 = (number - low) / (high - low);
                hit[((share * points as f64) as usize).min(points - 1)] += 1;
            }
            assert!(hit.iter().all(|&times| times == 1), "{points} points, seed {seed}: {hit:?}");
        }
        let fifo = levels(&plan, 1).iter().filter(|it| **it == Level::Text("fifo".into())).count();
        assert!(fifo.abs_diff(points - fifo) <= 1, "{points} points, seed {seed}: {fifo}");
    }
}

#[test]
fn a_combination_that_makes_no_drive_is_a_point_that_fails() {
    let plan = plan(&with("[axis]\n'geometry.over_provisioning' = [0.0, 0.25]\n"));
    let refused: Vec<bool> = plan.points().iter().map(|point| point.refusal.is_some()).collect();
    assert_eq!(refused, [true, false]);
}

/// Faulty specifications, each with the diagnostics it must cause and their lines.
const WRONG: [(&str, &[&str]); 19] = [
    ("[axis]\nschem = ['fifo']", &["s.toml:4: unknown axis `schem`", "did you mean `scheme`?"]),
    (
        "[axis]\n'bufer.size' = ['1MiB']\nscheme = ['pes_icp']\nseed = [-1]\n'buffer.size' = [16, '1MiB']",
        &[
            "s.toml:4: unknown axis `bufer.size`",
            "s.toml:6: `seed`: -1 is outside",
            "s.toml:7: `buffer.size`: 16 has no unit",
        ],
    ),
    (
        "[axis]\nscheme = ['pes_icp']\nworkload = ['dmo']\ndevice = ['tcl']",
        &[
            "s.toml:4: unknown scheme `pes_icp`",
            "did you mean \"pes_ipc\"?",
            "s.toml:5: unknown workload `dmo`",
            "s.toml:6: unknown device `tcl`",
        ],
    ),
    ("[axis]\nseed = []", &["s.toml:4: `seed` has no values"]),
    (
        "[axis]\nseed = 5",
        &["s.toml:4: `seed`: expected a list of values, found a whole number", "outside [axis]"],
    ),
    ("[axis]\nseed = [1, 1]", &["s.toml:4: `seed`: 1 is listed twice"]),
    ("[axis]\nseed = { from = 1, to = 5 }", &["s.toml:4: `seed`: a grid needs a list of values"]),
    (
        "[axis]\nscheme = { from = 'fifo', to = 'rps' }",
        &["`scheme` takes no numbers, so it cannot have a range"],
    ),
    (
        "[axis]\nseed = { from = 5, to = 5, steps = 3 }\nlimit = { to = 9, steps = 1, scale = 'cubic' }",
        &[
            "s.toml:4: `seed`: the range from 5 to 5 is empty",
            "`limit`: `from` is missing",
            "unknown scale",
            "from 2 to 1000000",
        ],
    ),
    (
        "[axis]\nseed = { from = 1, to = 3, steps = 5 }",
        &["5 steps from 1 to 3 give only 3 different values"],
    ),
    (
        "design = 'random'\n[axis]\nseed = { from = 0, to = 5, scale = 'log', steps = 2 }",
        &["s.toml:5: `seed`: a logarithmic range cannot begin at 0"],
    ),
    (
        "design = 'random'\n[axis]\nseed = { from = 0, to = 5, steps = 2 }",
        &["s.toml:3: `points` is missing", "`steps` is for grids"],
    ),
    (
        "seed = 4\nset = ['seed=5', 'policy.die_order.name=rhio']\n[axis]\n'policy.die_order' = ['fifo']",
        &[
            "s.toml:3: the key `seed` sets the seed, and so does `set`",
            "s.toml:6: the axis `policy.die_order` is also fixed by `set`",
        ],
    ),
    (
        "[axis]\nseed = [9_007_199_254_740_993]",
        &["`seed`: 9007199254740993 is outside 0 to 9007199254740992"],
    ),
    ("", &["s.toml: the design has no axes"]),
    ("design = 'list'\npoints = 4", &["s.toml:4: `points` applies only to the designs"]),
    ("design = 'list'\n", &["s.toml:3: the list has no points"]),
    (
        "points = 1_000_001\nrequest = true\nspeed = 1.0\nidle = 0.5\nformat = 'spc'",
        &[
            "s.toml:3: `points`: 1000001 is outside 1 to 1000000",
            "s.toml:4: unknown key `request`",
            "did you mean `requests`?",
        ],
    ),
    (
        "speed = 1.0\nidle = 0.5\nformat = 'spc'\nset = ['buffer.size=3', 'limit=4', 5]\n[[point]]\nseed = 1",
        &[
            "`speed` and `idle` are both given",
            "s.toml:5: `format` applies only to traces, and none is given",
            "s.toml:6: `buffer.size`: `3` has no unit",
            "unknown key `limit`",
            "an item is a whole number",
            "s.toml:8: `[[point]]` applies only to sweeps whose `design` is \"list\"",
        ],
    ),
];

#[test]
fn everything_that_is_wrong_is_said_at_once_and_where() {
    for (lines, reported) in WRONG {
        let diagnostics = diagnostics(&with(lines));
        for part in reported {
            assert!(diagnostics.contains(part), "{lines}\n--- lacks: {part}\n{diagnostics}");
        }
    }
    let none = diagnostics("device = \"pes-mlc\"\n[axis]\nseed = [1]\n");
    assert!(none.contains("neither `workload` nor `trace`"), "{none}");
    let both = diagnostics(&with("trace = 'absent.csv'\n[axis]\nseed = [1]\n"));
    assert!(both.contains("`workload` and `trace` are both given"), "{both}");
    let absent = diagnostics("trace = 'absent.csv'\n[axis]\nseed = [1]\n");
    assert!(absent.contains("s.toml:1: absent.csv: cannot be read"), "{absent}");
    let syntax = diagnostics(&with("[axis]\nseed = [1\nlimit = 4\n"));
    assert!(syntax.contains("s.toml:"), "{syntax}");
}

#[test]
fn too_many_points_are_refused_with_the_numbers() {
    let text = with(
        "[axis]\nseed = { from = 1, to = 100_000, steps = 2_000 }\nlimit = { from = 1, to = 10_000, steps = 501 }\n",
    );
    let diagnostics = diagnostics(&text);
    assert!(diagnostics.contains("the design has 1,002,000 points"), "{diagnostics}");
    assert!(diagnostics.contains("2,000 seed x 501 limit"), "{diagnostics}");
}

/// Whatever the text, it is refused or read; never a panic.
#[test]
fn no_text_breaks_the_reader() {
    let text = with(
        "set = ['buffer.size=1MiB']\ndesign = 'grid'\n[axis]\nscheme = ['fifo']\n'buffer.size' = { from = '1MiB', to = '2MiB', steps = 2 }\n",
    );
    let mut rng = fowler_units::Rng::stream(1, "mutations");
    for _ in 0..400 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(3) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = b"[]{}='\".,\n 09ax"[rng.below(15) as usize],
                _ => bytes.insert(at, b"[]{}='\".,\n 09ax"[rng.below(15) as usize]),
            }
        }
        let _either = Plan::read(&String::from_utf8_lossy(&bytes), "s.toml");
    }
}
