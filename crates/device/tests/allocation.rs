//! The inner loop allocates nothing once it is warm.

#[path = "all/support/mod.rs"]
mod support;

use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, Rng};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use support::{scheme, small};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[allow(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is handed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn requests(seed: u64, count: usize, pages: u32) -> Vec<HostIo> {
    let mut rng = Rng::stream(seed, "allocation");
    let ops =
        [HostOp::Read, HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Trim, HostOp::Flush];
    let io = |_| {
        let op = ops[rng.below(6) as usize];
        let pages_asked = if op == HostOp::Flush { 0 } else { 1 + rng.below(4) };
        let first = rng.below(u64::from(pages) - 4);
        HostIo::new(
            op,
            Nanos::ZERO,
            if op == HostOp::Flush { 0 } else { first * 4096 },
            (pages_asked * 4096) as u32,
        )
    };
    (0..count).map(io).collect()
}

#[test]
fn a_warm_device_allocates_nothing() {
    for ack in [Ack::OnInsert, Ack::OnProgram] {
        for name in ["FIFO", "RPS", "PES_IPS", "PES_IPC"] {
            let mut config = small();
            config.buffer.ack = ack;
            config.precondition.pattern = Pattern::Steady;
            scheme(&mut config, name);
            let mut device = Device::new(&config).expect("a sound drive");
            let pages = device.layout().logical_pages;
            let (warm_up, measured) = (requests(1, 20_000, pages), requests(2, 20_000, pages));
            device.run(warm_up, Pacing::Closed { depth: 16 }, &mut ());
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            device.run(measured, Pacing::Closed { depth: 16 }, &mut ());
            let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
            assert!(device.counters().erases[Source::Gc] > 100, "GC ran");
            assert_eq!(allocations, 0, "{name} {ack:?}");
        }
    }
}
