//! Bouts of random drives under random faults. The models are those of the tests of the drive,
//! which panic where a drive is not as they say.

use crate::children::Failure;
use crate::support::fault_tally::{KINDS, Tally as Faults};
use crate::tally::{BOUTS, DRIVES, FAULTS, Tally};
use crate::{children, fault_schedule, faults, power, superblock_dead_dies, superblock_faults};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_units::Rng;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Drives of a bout, some of which cannot work.
const CASES: u32 = 100;

/// Disturbances of a drive: faults or power losses.
#[derive(Clone, Copy, Debug)]
enum Case {
    /// Faults of all kinds strike at any moment.
    Faults(RedundancyKind),
    /// Faults strike at times known in advance.
    Scheduled(RedundancyKind),
    /// Faults strike a drive without redundancy.
    Unprotected,
    /// A power loss between requests.
    Power,
    /// Faults of all kinds strike a drive with superblocks, of the kind of this number.
    Superblocks(usize),
    /// Dies of a drive with superblocks, of the kind of this number, fail for good.
    DeadDies(usize),
}

/// Lets a child run the drives of a seed.
pub fn bout(seed: u64, spoilt: bool, tally: &mut Tally) -> Result<String, Failure> {
    tally.add(BOUTS, "drives", 1);
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["drives", &seed.to_string()]).args(spoilt.then_some("spoil"));
    let ended = children::run(&mut command, None)?;
    if ended.code() != Some(0) {
        return Err(ended.said());
    }
    let counts = ended.out.lines().filter_map(|line| {
        let (subject, rest) = line.split_once('\t')?;
        let (name, count) = rest.split_once('\t')?;
        Some((subject, name, count.parse::<u64>().ok()?))
    });
    let mut sum = 0;
    for (subject, name, count) in counts {
        let subject = if subject == FAULTS { FAULTS } else { DRIVES };
        tally.add(subject, name, count);
        sum += if subject == FAULTS { count } else { 0 };
    }
    Ok(format!("drives, {sum} faults"))
}

/// Runs the drives of a seed, and prints the counts of their faults.
pub fn child(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let seed = arguments.next().and_then(|it| it.to_str()?.parse().ok());
    let Some(seed) = seed else { return ExitCode::from(2) };
    let spoilt = arguments.next().is_some();
    let mut rng = Rng::stream(seed, "soak/drives");
    let (mut tally, mut power_losses) = (Faults::default(), 0);
    for number in 0..CASES {
        let (case, seed) = (drawn(&mut rng), rng.below(1 << 32));
        // The last of these lines names the case that hangs or aborts.
        eprintln!("{case:?}, seed {seed} of the tests in crates/device/tests/all");
        let run = || {
            assert!(!spoilt || number + 1 < CASES, "spoilt, to see that it is found");
            done(case, seed, &mut tally)
        };
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
            Ok(losses) => power_losses += losses,
            Err(_) => return ExitCode::from(1),
        }
    }
    for (kind, count) in KINDS.iter().zip(tally.faults) {
        println!("{FAULTS}\t{kind}\t{count}");
    }
    println!("{FAULTS}\tpower off between requests\t{power_losses}");
    let Faults { drives, took, unreadable, rebuilt, rewritten, lost, .. } = tally;
    for (name, count) in [
        ("drives that worked", drives),
        ("faults that took something", took),
        ("pages unreadable", unreadable),
        ("pages rebuilt", rebuilt),
        ("pages written anew", rewritten),
        ("pages lost, as the algebra says", lost),
    ] {
        println!("{DRIVES}\t{name}\t{count}");
    }
    ExitCode::SUCCESS
}

/// Mostly faults at any moment: these are the hardest.
fn drawn(rng: &mut Rng) -> Case {
    let kinds = faults::kinds();
    let kind = kinds[rng.below(kinds.len() as u64) as usize];
    let number =
        |rng: &mut Rng, kinds: &[superblock_faults::Kind]| rng.below(kinds.len() as u64) as usize;
    match rng.below(30) {
        0..14 => Case::Faults(kind),
        14..17 => Case::Scheduled(kind),
        17..19 => Case::Unprotected,
        19 => Case::Power,
        20..26 => Case::Superblocks(number(rng, superblock_faults::KINDS)),
        _ => Case::DeadDies(number(rng, superblock_dead_dies::KINDS)),
    }
}

/// Runs a drive; returns how often its power was off between requests.
fn done(case: Case, seed: u64, tally: &mut Faults) -> u64 {
    match case {
        Case::Faults(kind) => faults::case(seed, kind, tally),
        Case::Scheduled(kind) => fault_schedule::scheduled(seed, kind, tally),
        Case::Unprotected => fault_schedule::unprotected(seed, tally),
        Case::Power => return power::case(seed).map_or(0, |_| power::OFF),
        Case::Superblocks(kind) => {
            superblock_faults::case(seed, superblock_faults::KINDS[kind], tally);
        }
        Case::DeadDies(kind) => {
            superblock_dead_dies::case(seed, superblock_dead_dies::KINDS[kind], tally);
        }
    }
    0
}
