//! `fowler validate` at quick length: the simulator agrees with theory, and a wrong simulator does
//! not.

use fowler_experiment::workload::Control;
use fowler_validate::{Group, ValidateSpec, Validation, validate};
use std::sync::atomic::AtomicBool;

fn quick(only: Option<&str>, spoil: &[&str]) -> Result<Validation, String> {
    let stop = AtomicBool::new(false);
    let spec = ValidateSpec {
        quick: true,
        only: only.map(String::from),
        spoil: spoil.iter().map(|key| key.to_string()).collect(),
    };
    validate(&spec, Control { stop: &stop, progress: &|_| () }).map_err(|it| it.to_string())
}

// Slow: whole runs, long enough that theory and simulation differ by less than the tolerance.
#[test]
fn the_simulator_agrees_with_theory() {
    let validation = quick(None, &[]).unwrap();
    let failed: Vec<String> = validation
        .rows
        .iter()
        .filter(|row| !row.agrees())
        .map(|row| format!("{}: {}, theory {}", row.what, row.measured, row.theory))
        .collect();
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
    assert!(validation.complete);
    for group in Group::ALL {
        assert!(
            validation.rows.iter().any(|row| row.group == group),
            "nothing of {}",
            group.name()
        );
    }
    let mut names: Vec<&str> = validation.rows.iter().map(|row| row.what.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), validation.rows.len(), "every expectation has a name of its own");
}

/// Each kind of expectation can fail: a drive that differs by little from what theory is given is
/// found out.
// Slow: a long run for every kind of expectation.
#[test]
fn a_wrong_drive_is_found_out() {
    for (only, spoil) in [
        ("pes-slc fifo, load 0.5, reads 20 %", "timing.program_iterations=6"),
        ("pes-slc rps, load 0.5, reads 50 %", "policy.die_order=\"fifo\""),
        ("pes-slc pes_ips, load 0.5, reads 80 %", "policy.suspension=\"ipc\""),
        (
            "pes-slc pes_ipc, load 0.5, reads 80 %",
            "policy.suspension.cancelled_program=\"reached\"",
        ),
        ("pes-slc pes_ips, saturated with writes", "timing.buffer_load=30us"),
        ("extra wait", "timing.verify_phase=24008ns"),
        ("extra wait", "timing.voltage_reset=4008ns"),
        ("pes-slc, 16 dies on 16 channels, single reads", "timing.read=10001ns"),
        ("pes-slc, 32 dies on 2 channels, saturated with reads", "timing.bus_transfer=20300ns"),
        ("pes-slc, 16 dies on 16 channels, saturated with writes", "geometry.planes_per_die=2"),
        ("greedy, 16 pages", "policy.victim=\"fifo\""),
        ("fifo, 16 pages", "policy.victim=\"greedy\""),
        ("d = 2, 16 pages", "policy.victim.d=3"),
    ] {
        let validation = quick(Some(only), &[spoil]).unwrap();
        assert!(validation.failed() > 0, "{only} does not notice {spoil}: {:#?}", validation.rows);
        assert_eq!(validation.json()["failed"], validation.failed());
    }
}

#[test]
fn what_cannot_be_looked_at_is_said() {
    let unknown = quick(Some("no such thing"), &[]).unwrap_err();
    assert!(unknown.contains("no expectation matches `no such thing`"), "{unknown}");
    assert!(unknown.contains("die, extra wait, bounds, gc, laws"), "{unknown}");
    let wrong = quick(None, &["timing.raed=1us", "gc.idle_after=7"]).unwrap_err();
    assert_eq!(wrong.matches("--spoil: ").count(), 2, "each is said once: {wrong}");
    assert!(wrong.contains("timing.raed") && wrong.contains("gc.idle_after"), "{wrong}");
}

#[test]
fn who_stops_it_gets_what_was_done() {
    let stop = AtomicBool::new(true);
    let spec = ValidateSpec { quick: true, ..ValidateSpec::default() };
    let validation = validate(&spec, Control { stop: &stop, progress: &|_| () }).unwrap();
    assert!(!validation.complete && validation.rows.is_empty());
}
