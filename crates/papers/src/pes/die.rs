//! Numbers of the P/E suspension paper for a single die, measured with raw chip commands. No
//! workload is involved, so they must agree to the last digit.

use super::paper::Flash;
use fowler_device::{ChipCommand, ChipOp, ChipResult, Config, run_chip};
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_units::{Nanos, Span};

/// Returns the configuration of the P/E suspension paper's drive with a kind of flash under a
/// scheme.
pub(super) fn config(flash: Flash, scheme: &str) -> Result<Config, Diagnostics> {
    let spec = DeviceSpec { device: flash.preset().into(), ..DeviceSpec::default() };
    Ok(device_spec::resolve(&spec.source()?, &Scheme::load(scheme)?, &spec)?.config)
}

/// A single die with a program or erase that reads interrupt.
pub(super) struct Die {
    config: Config,
    op: ChipOp,
    /// Duration of the program or erase when no read interrupts it.
    pub alone: Span,
}

/// A read that arrived while a program or an erase was running, and its effect on that operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interruption {
    /// Time from the start of the program or erase to the start of the read's service.
    pub served: Span,
    /// Time from the arrival of the read, which comes during a program or erase, until the die
    /// begins to serve it.
    pub wait: Span,
    /// Time by which the program or erase took longer than an undisturbed one.
    pub extra: Span,
    /// Number of times that the program or erase was suspended.
    pub suspensions: u32,
}

/// Distance between the simulated arrival times of a read during a program or erase. Waits are
/// linear between the edges of phases, which are whole microseconds in the P/E suspension paper;
/// reads that arrive in the middle of intervals of 0.1 us therefore have the exact mean wait.
const CELL: Span = Span::ns(100);

impl Die {
    /// Returns the P/E suspension paper's die with a kind of flash under a scheme, and the
    /// operation `op` to interrupt.
    pub fn new(flash: Flash, scheme: &str, op: ChipOp) -> Result<Die, Diagnostics> {
        let config = config(flash, scheme)?;
        let done = run_chip(&config, &[ChipCommand { at: Nanos::ZERO, op }]);
        Ok(Die { alone: done[0].done - done[0].start, config, op })
    }

    /// Simulates one read that arrives at a busy die: `offset` (in nanoseconds) after the start of
    /// the program or erase that the read may suspend.
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

    /// Simulates one read at every point of the grid of arrival times during the program or erase,
    /// each in a run of its own.
    pub fn sweep(&self) -> Vec<Interruption> {
        let cells = self.alone.0 / CELL.0;
        (0..cells).map(|cell| self.interrupt(Span::ns(cell * CELL.0 + CELL.0 / 2))).collect()
    }
}
