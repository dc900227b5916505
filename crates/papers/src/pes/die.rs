//! The paper's numbers for a single die, measured with raw commands. They need no workload, so they
//! must agree to the last digit.

use super::paper::Flash;
use fowler_device::{ChipCommand, ChipOp, ChipResult, Config, run_chip};
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_units::{Nanos, Span};

/// Returns the paper's drive with a kind of flash under a scheme.
pub(super) fn config(flash: Flash, scheme: &str) -> Result<Config, Diagnostics> {
    let spec = DeviceSpec { device: flash.preset().into(), ..DeviceSpec::default() };
    Ok(device_spec::resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)?.config)
}

/// A die with an operation to interrupt.
pub(super) struct Die {
    config: Config,
    op: ChipOp,
    /// The duration of the operation when undisturbed.
    pub alone: Span,
}

/// A read that arrived while a program or an erase was running.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interruption {
    /// Begin of the read's service, relative to the start of the operation.
    pub served: Span,
    /// Time that the read waited.
    pub wait: Span,
    /// Extra time of the operation, compared with an undisturbed one.
    pub extra: Span,
    /// Number of times that the operation was suspended.
    pub suspensions: u32,
}

/// The grid of arrivals. Waits are linear between the edges of phases, and all edges of the paper's
/// timing are whole microseconds, so the centers of 0.1 us cells give exact means.
const CELL: Span = Span::ns(100);

impl Die {
    /// The paper's die under a scheme.
    pub fn new(flash: Flash, scheme: &str, op: ChipOp) -> Result<Die, Diagnostics> {
        let config = config(flash, scheme)?;
        let done = run_chip(&config, &[ChipCommand { at: Nanos::ZERO, op }]);
        Ok(Die { alone: done[0].done - done[0].start, config, op })
    }

    /// Runs one read, `offset` after the start of the operation.
    pub fn interrupt(&self, offset: Span) -> Interruption {
        let commands = [
            ChipCommand { at: Nanos::ZERO, op: self.op },
            ChipCommand { at: Nanos::ZERO + offset, op: ChipOp::Read },
        ];
        let [operation, read]: [ChipResult; 2] =
            run_chip(&self.config, &commands).try_into().expect("two results of two commands");
        Interruption {
            served: read.start - operation.start,
            wait: read.start - commands[1].at,
            extra: (operation.done - operation.start).saturating_sub(self.alone),
            suspensions: operation.suspensions,
        }
    }

    /// Runs one read at a time at every point of the grid.
    pub fn sweep(&self) -> Vec<Interruption> {
        let cells = self.alone.0 / CELL.0;
        (0..cells).map(|cell| self.interrupt(Span::ns(cell * CELL.0 + CELL.0 / 2))).collect()
    }
}
