//! The commands that are disturbed: small ones that write every kind of file there is, drawn from a
//! seed.

use fowler_units::Rng;
use std::fs;
use std::io::Result;
use std::path::Path;

/// A command without its folder of results.
pub struct Job {
    pub name: &'static str,
    pub arguments: Vec<String>,
}

/// The head of the description of a drive of 10 MiB, on which stripes of four chips work.
const DRIVE: &str = r#"# A tiny drive
[geometry]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 40
pages_per_block = 16
page_size = "4KiB"
over_provisioning = 0.4

[timing]
bus_transfer = "10us"
read = "25us"
program_phase = "20us"
verify_phase = "24us"
program_iterations = 5
erase_pulse = "1500us"
erase_verify = "24us"
voltage_reset = "4us"
buffer_load = "3us"

[buffer]
size = "128KiB"
ack = "on_insert"

[policy.redundancy]
worn_above = 2000
"#;

/// The rest of it, for a drive that maps pages.
const PAGES: &str = r#"stripe = 3
parity_cache = "64KiB"

[queue]
depth = 64
max_reads = 64
max_writes = 64
"#;

/// The rest of it, for a drive with superblocks.
const SUPERBLOCKS: &str = r#"
[queue]
depth = 64
max_reads = 64

[ftl]
reclaim_unit = "superblock"
program_unit = "word_line"

[gc]
foreground_below = 2
background_below = 2

[precondition]
pattern = "steady"
"#;

/// Parity of superblocks, one command of four.
const PARITY: &str = "
[superblocks]
parity = 4
";

/// An hour of writes, of which a life of nine hours is made.
const LOAD: &str = "duration = '1h'
arrivals = { kind = 'poisson', rate = 20.0 }
mix.reads = 0.0
space.share = 0.8
writes.sizes = '4KiB 3, 16KiB 1'
";

const LIFE: &str = "--years 0.001 --dilation 2 --no-check";
const READY: &str = "--device ready-32 --set geometry.channels=1 --set geometry.chips_per_channel=1 \
    --set geometry.dies_per_chip=1 --set geometry.blocks_per_plane=32 --set lifetime.cycles=400";

/// Runs so short that a study of hundreds takes seconds.
const STUDY: &str = "pes --brief --limit 20";

/// Schemes under which stripes have parity, and schemes that protect nothing.
const PROTECTED: [&str; 7] =
    ["raid5", "ppc", "hc", "da_raid5", "pe_aware", "raid5+pes_ipc", "hc+pes_ips"];
const PLAIN: [&str; 5] = ["fifo", "rps", "pes_ips", "pes_ipc", "udl"];
/// Schemes under which superblocks have parity.
const PROTECTED_SUPERBLOCKS: [&str; 5] =
    ["raid5", "da_raid5", "pe_aware", "raid5+pes_ipc", "raid5+pes_ips"];

/// Most faults of a command.
const FAULTS: u64 = 6;

/// Draws a command, and writes the files that it reads.
pub fn draw(rng: &mut Rng, inputs: &Path) -> Result<Job> {
    fs::create_dir_all(inputs)?;
    let file = |name: &str, text: &str| {
        let path = inputs.join(name);
        fs::write(&path, text).map(|()| path.display().to_string())
    };
    let (superblocks, protected) = (rng.chance(0.4), rng.chance(0.6));
    let rest = if superblocks { SUPERBLOCKS } else { PAGES };
    let parity = if superblocks && protected { PARITY } else { "" };
    let device = file("drive.toml", &[DRIVE, rest, parity].concat())?;
    let workload = file("workload.toml", &workload(rng, protected))?;
    let schemes: &[&str] = match (protected, superblocks) {
        (true, false) => &PROTECTED,
        (true, true) => &PROTECTED_SUPERBLOCKS,
        (false, _) => &PLAIN,
    };
    let scheme = schemes[rng.below(schemes.len() as u64) as usize];
    let others: Vec<&str> = schemes.iter().copied().filter(|it| *it != scheme).collect();
    let other = others[rng.below(others.len() as u64) as usize];
    let seed = 1 + rng.below(1000);
    let common = format!("--device {device} --workload {workload} --seed {seed}");
    let log = ["", "--requests", "--requests=FOLDER/log.csv"][rng.below(3) as usize];
    let (name, text) = match rng.below(24) {
        0..5 => {
            let timeline = ["", "--timeline slowest:3"][rng.below(2) as usize];
            ("run", format!("{common} --scheme {scheme} {log} {timeline}"))
        }
        5..9 => ("compare", format!("{common} --schemes {scheme},{other} {log}")),
        9..17 => {
            let (seeds, requests) = (1 + rng.below(3), rng.chance(0.5));
            let seeds: Vec<u64> = (seed..=seed + seeds).collect();
            let text = format!(
                "device = '{device}'\nworkload = '{workload}'\nrequests = {requests}\n[axis]\n\
                 scheme = ['{scheme}', '{other}']\nseed = {seeds:?}\n{FAILING}"
            );
            ("sweep", format!("{} --threads 1", file("points.toml", &text)?))
        }
        17..23 => {
            let every = 5_000 + rng.below(60_000);
            let load = file("load.toml", LOAD)?;
            let drives = 1 + rng.below(5_000);
            let fleet = match rng.below(4) {
                0 => format!(" --drives {drives}"),
                1 => format!(" --drives {drives} --shard {}/3", 1 + rng.below(3)),
                _ => String::new(),
            };
            // With parity, a life is that of a scheme that has it.
            let drive = match (superblocks, protected) {
                (false, _) => READY.into(),
                (true, true) => format!("--device {device} --scheme {scheme}"),
                (true, false) => format!("--device {device}"),
            };
            ("lifetime", format!("{drive} {LIFE} --save-every {every} --workload {load}{fleet}"))
        }
        _ => ("reproduce", STUDY.into()),
    };
    let words = text.split_whitespace().map(String::from);
    let arguments = [name.to_string(), "--quiet".into()].into_iter().chain(words).collect();
    Ok(Job { name, arguments })
}

/// An axis on which some drives cannot work, so that some points fail.
const FAILING: &str = "'geometry.over_provisioning' = [0.4, 0.0]\n";

/// A few hundred requests, with faults among them.
fn workload(rng: &mut Rng, protected: bool) -> String {
    let (requests, reads) = (50 + rng.below(600), rng.unit());
    let mut times: Vec<u64> = (0..rng.below(FAULTS + 1)).map(|_| rng.below(150)).collect();
    times.sort_unstable();
    let (mut faults, mut on) = (Vec::new(), 0);
    for at in times {
        let what = match rng.below(if protected { 8 } else { 7 }) {
            0 => format!("page {} uncorrectable", rng.below(1000)),
            1 => format!("block {}", rng.below(160)),
            2 => format!("plane {}", rng.below(4)),
            3 => format!("chip {}", rng.below(4)),
            4 => format!("channel {}", rng.below(2)),
            5 => format!("die {}", rng.below(4)),
            // The power fails at most once in a millisecond.
            6 if at >= on => {
                on = at + 1;
                "power 2s".into()
            }
            6 => continue,
            _ => format!("parity {}", rng.below(300)),
        };
        faults.push(format!("{at}ms {what}"));
    }
    if rng.chance(0.3) {
        let unit = ["page", "block", "die", "chip"][rng.below(4) as usize];
        faults.push(format!("every {}ms {unit}", 5 + rng.below(100)));
    }
    format!(
        "faults = {faults:?}\nrequests = {requests}\n\
         arrivals = {{ kind = 'poisson', rate = 3000 }}\nmix.reads = {reads:.2}\n"
    )
}
