//! Validates equation (1) of the P/E suspension paper: how long a read waits for a program to be
//! suspended, averaged over all moments of the program.

use super::drives::{Drive, FLASHES, SUSPENSIONS, die_times};
use super::expectation::{Allowed, Group, Point, Row};
use super::spec::ValidateSpec;
use fowler_device::{ChipCommand, ChipOp, run_chip};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_theory::die::Suspension;
use fowler_units::{Nanos, Span};

/// Distance in nanoseconds between the moments of a program at which reads arrive. All ends of
/// program phases and starts of voltage resets are multiples of it, and a read's wait falls
/// linearly in between, so the midpoints of the intervals give the mean wait exactly.
const INTERVAL: u64 = 8;

pub(super) fn points(spec: &ValidateSpec) -> Result<Vec<Point>, Diagnostics> {
    let mut points = Vec::new();
    for flash in FLASHES {
        for (scheme, suspension) in SUSPENSIONS {
            let drive = Drive::new(flash, scheme, &[], spec)?;
            points.push(point(format!("{flash} {scheme}"), drive, suspension));
        }
    }
    Ok(points)
}

fn point(title: String, drive: Drive, suspension: Suspension) -> Point {
    let name = title.clone();
    Point::new(Group::ExtraWait, title, move |control| {
        let timing = drive.stated.effective_timing();
        let (transfer, program) = (timing.bus_transfer, timing.program(0));
        // One write for each moment, far enough apart that each finds the die idle.
        let apart = 4 * (transfer + program + timing.read.at(0) + timing.bus_transfer).0;
        let moments = program.0 / INTERVAL;
        let commands: Vec<ChipCommand> = (0..moments)
            .flat_map(|moment| {
                let write = Nanos(moment * apart);
                let read = write + transfer + Span(INTERVAL * moment + INTERVAL / 2);
                [(write, ChipOp::Write), (read, ChipOp::Read)]
            })
            .map(|(at, op)| ChipCommand { at, op })
            .collect();
        let results = run_chip(&drive.simulated, &commands);
        control.served(commands.len() as u64);
        let reads = commands.iter().zip(&results).filter(|(it, _)| it.op == ChipOp::Read);
        let waited: u64 = reads.map(|(command, result)| (result.start - command.at).0).sum();
        Some(vec![Row {
            group: Group::ExtraWait,
            what: format!("{name}: mean extra wait"),
            unit: "us",
            theory: suspension.mean_extra_wait(&die_times(&drive.stated)),
            measured: waited as f64 / moments as f64 / 1e3,
            half_width: None,
            allowed: Allowed::exactly(),
            requests: commands.len() as u64,
        }])
    })
}
