//! Tests properties of the closed forms that need no oracle: limits, conservation, loads without a
//! steady state.

use crate::support::SLC;
use fowler_theory::die::{self, DieTimes, Load, Suspension};
use fowler_theory::gc::{self, Part};

const BOTH: [Suspension; 2] = [Suspension::InterPhase, Suspension::IntraPhase];

fn near(one: f64, other: f64) {
    assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
}

#[test]
fn equation_1_of_the_paper() {
    let mlc = DieTimes { verify_phase: 24.0, ..SLC };
    let extra = |times: &DieTimes| BOTH.map(|it| it.mean_extra_wait(times));
    let (slc, mlc) = (extra(&SLC), extra(&mlc));
    near(slc[0], 464.0 / 56.0);
    near(slc[1], 4.0 - 16.0 / 28.0);
    near(mlc[0], 976.0 / 88.0);
    near(mlc[1], 4.0 - 16.0 / 44.0);
}

#[test]
fn without_reads_a_write_is_undisturbed() {
    for suspension in BOTH {
        let none = suspension.means(&SLC, &Load { reads: 0.0, writes: 0.001 }).unwrap();
        near(none.completion, 160.0);
        assert_eq!(none.suspensions, 0.0);
        near(suspension.write_capacity(&SLC, 0.0).unwrap(), 1.0 / 160.0);
        // The limit is reached without a jump.
        let few = suspension.means(&SLC, &Load { reads: 1e-12, writes: 0.001 }).unwrap();
        near(few.completion, none.completion);
        near(few.read, none.read);
    }
}

#[test]
fn without_overhead_work_is_conserved() {
    // Without reloads or repeated phases, writes get all the time that reads leave.
    let free = DieTimes { buffer_load: 0.0, ..SLC };
    let capacity = Suspension::InterPhase.write_capacity(&free, 0.01).unwrap();
    near(capacity, (1.0 - 0.3) / 160.0);
    // A phase that is all reset cannot be cancelled, so the capacity is equal.
    let stiff = DieTimes { voltage_reset: 1e3, ..free };
    near(Suspension::IntraPhase.write_capacity(&stiff, 0.01).unwrap(), capacity);
    // Short phases without overhead approach preemptive resume.
    let load = Load { reads: 0.01, writes: 0.002 };
    let short = DieTimes { transfer: 0.0, ..free };
    let fine =
        DieTimes { iterations: 5_000_000, program_phase: 20e-6, verify_phase: 8e-6, ..short };
    let read = Suspension::InterPhase.means(&fine, &load).unwrap().read;
    let resume = die::preemptive_resume(&short, &load).unwrap().read;
    assert!((read / resume - 1.0).abs() < 1e-6, "{read} {resume}");
}

#[test]
fn cancelling_helps_reads_and_costs_writes() {
    for (utilisation, share) in [(0.3, 0.2), (0.5, 0.5), (0.7, 0.8)] {
        let load = Load::offered(&SLC, utilisation, share);
        let [ips, ipc] = BOTH.map(|it| it.means(&SLC, &load).unwrap());
        let bound = die::preemptive_resume(&SLC, &load).unwrap().read;
        let without = die::read_first(&SLC, &load).unwrap().read;
        assert!(bound < ipc.read && ipc.read < ips.read && ips.read < without);
        assert!(160.0 < ips.completion && ips.completion < ipc.completion);
    }
}

#[test]
fn a_load_without_a_steady_state_has_no_mean() {
    let over = Load::offered(&SLC, 1.0, 0.5);
    assert_eq!(die::fifo(&SLC, &over), None);
    assert_eq!(die::read_first(&SLC, &over), None);
    assert_eq!(die::preemptive_resume(&SLC, &over), None);
    assert_eq!((die::md1(30.0, 1.0 / 30.0), die::md1(30.0, 0.0)), (None, Some(30.0)));
    for suspension in BOTH {
        assert_eq!(suspension.write_capacity(&SLC, 1.0 / 30.0), None);
        let capacity = suspension.write_capacity(&SLC, 0.01).unwrap();
        let means = |writes| suspension.means(&SLC, &Load { reads: 0.01, writes });
        assert!(means(capacity).is_none() && means(capacity * 0.999).is_some());
    }
    for load in [0.0, 1.0, -1.0, f64::NAN] {
        assert_eq!(gc::fifo(load), None);
        assert_eq!(gc::random(load), None);
        assert_eq!(gc::greedy(load, 16), None);
        assert_eq!(gc::d_choices(load, 16, 2), None);
        let parts = Part::hot_and_cold(0.8, 0.2);
        assert_eq!(gc::fifo_one_pool(load, &parts), None);
        assert_eq!(gc::fifo_two_pools(load, &parts), None);
    }
    assert_eq!(gc::greedy(0.8, 0), None);
    assert_eq!(gc::d_choices(0.8, 16, 0), None);
    assert_eq!(gc::fifo_one_pool(0.8, &Part::hot_and_cold(1.0, 0.2)), None);
}

#[test]
fn gc_has_the_limits_it_must_have() {
    for load in [0.05, 0.5, 0.75, 0.85, 0.92, 0.99] {
        let fifo = gc::fifo(load).unwrap();
        let random = gc::random(load).unwrap();
        near(gc::d_choices(load, 64, 1).unwrap(), random);
        // Many choices equal greedy, large blocks turn greedy into FIFO, and blocks of one page
        // need no moves.
        let greedy = gc::greedy(load, 16).unwrap();
        let many = gc::d_choices(load, 16, 100_000).unwrap();
        assert!((many / greedy - 1.0).abs() < 1e-4, "{load}: {many} {greedy}");
        assert!((gc::greedy(load, 65_536).unwrap() / fifo - 1.0).abs() < 2e-3);
        near(gc::greedy(load, 1).unwrap(), 1.0);
        assert!(greedy <= fifo && fifo <= random);
        // Parts of the same temperature act as one part.
        near(gc::fifo_one_pool(load, &Part::hot_and_cold(0.3, 0.3)).unwrap(), fifo);
        let alike = gc::fifo_two_pools(load, &Part::hot_and_cold(0.5, 0.5)).unwrap();
        near(alike.waf, fifo);
        // The position of a flat minimum is less exact than its value.
        assert!((alike.spare_hot - 0.5).abs() < 1e-4, "{alike:?}");
    }
}
