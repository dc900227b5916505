//! The dies of the PES paper, Table 1.
#![allow(dead_code, reason = "every test file uses its own share of these")]

use fowler_theory::die::DieTimes;

pub const SLC: DieTimes = DieTimes {
    read: 30.0,
    transfer: 20.0,
    program_phase: 20.0,
    verify_phase: 8.0,
    iterations: 5,
    voltage_reset: 4.0,
    buffer_load: 3.0,
};
pub const MLC: DieTimes = DieTimes {
    read: 65.0,
    transfer: 40.0,
    program_phase: 20.0,
    verify_phase: 24.0,
    iterations: 15,
    voltage_reset: 4.0,
    buffer_load: 3.0,
};
