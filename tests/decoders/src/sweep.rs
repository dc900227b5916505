//! Decoder of sweep specifications.

use crate::refused_in_words;
use fowler_experiment::presets::Folder;
use fowler_experiment::sweep::{self, Plan};

/// Most points of a design that are planned; larger ones would only take longer.
const POINTS: u128 = 24;

/// The points of an accepted specification are numbered, have their values on all axes and a hash
/// each, and are the same when it is read again.
pub fn check(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    match sweep::points(text, "fuzz.toml") {
        Err(diagnostics) => return refused_in_words(&diagnostics),
        Ok(points) if points > POINTS => return false,
        Ok(_) => {}
    }
    let plan = match Plan::read(text, "fuzz.toml") {
        Err(diagnostics) => return refused_in_words(&diagnostics),
        Ok(plan) => plan,
    };
    assert_eq!(plan.text(), text);
    for (number, point) in plan.points().iter().enumerate() {
        assert_eq!((point.number, point.levels.len()), (number, plan.axes().len()));
        assert!(point.hash.len() == 32 && point.hash.bytes().all(|it| it.is_ascii_hexdigit()));
        if let Some(refusal) = &point.refusal {
            refused_in_words(refusal);
        }
    }
    assert!(plan.runs().len() <= plan.points().len() && !plan.runs().is_empty());
    let again = Plan::read(text, "fuzz.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert_eq!(again.points(), plan.points());
    true
}

pub fn seeds() -> Vec<Vec<u8>> {
    let example = include_str!("../../../examples/sweep.toml");
    let mut seeds = vec![example.to_string()];
    seeds.extend(
        [
            "title = 'a test'\ndevice = 'tlc'\nworkload = 'demo'\nlimit = 300\nrequests = true\n[axis]\n\
             scheme = ['fifo', 'noop']\n'geometry.over_provisioning' = [0.0, 0.25]\n",
            "device = 'pes-mlc'\nworkload = 'demo'\ndesign = 'list'\nset = ['queue.depth=8']\n\
             [[point]]\nscheme = 'fifo'\nseed = 3\n[[point]]\nspeed = 2.0\n",
            "device = 'pes-mlc'\ndesign = 'latin_hypercube'\npoints = 5\ndesign_seed = 7\nidle = 0.5\n\
             [axis]\nworkload = ['demo', 'dap']\n'timing.read' = { from = '10us', to = '90us', scale = 'log' }\n",
            "device = 'pes-mlc'\ndesign = 'random'\npoints = 3\nworkload = 'demo'\n[axis]\n\
             queue_depth = { from = 1, to = 64 }\n'geometry.channels' = [1, 2]\n",
            "workload = 'demo'\n[axis]\nseed = { from = 1, to = 4, steps = 4 }\nlimit = [10, 20]\n",
            "trace = 'no.csv'\nformat = 'native'\nlenient = 1\nremap = 'wrap'\ndevice_id = '0'\n[axis]\nspeed = [1, 2]\n",
        ]
        .map(String::from),
    );
    seeds.extend(Folder::Devices.presets().iter().map(|it| {
        format!("device = '{}'\nworkload = 'demo'\n[axis]\nscheme = ['fifo', 'all']\n", it.name)
    }));
    seeds.into_iter().map(String::into_bytes).collect()
}
