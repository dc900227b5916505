//! The inner loop allocates nothing once it is warm, and the memory that a drive takes is known
//! before the drive is made.

#[path = "all/support/mod.rs"]
mod support;

use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use support::random::{self, Choice};
use support::{scheme, small};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Bytes in use, and the most so far.
static IN_USE: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);
/// Held by the test that counts.
static COUNTING: Mutex<()> = Mutex::new(());

fn taken(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    let now = IN_USE.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
    MOST.fetch_max(now, Ordering::Relaxed);
}

fn given_back(bytes: usize) {
    IN_USE.fetch_sub(bytes as u64, Ordering::Relaxed);
}

#[allow(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is handed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        given_back(layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both allocations exist while the contents are copied.
        taken(size);
        given_back(layout.size());
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
    let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    for ack in [Ack::OnInsert, Ack::OnProgram] {
        for name in ["FIFO", "RPS", "PES_IPS", "PES_IPC"] {
            let mut config = small();
            config.buffer.ack = ack;
            if ack == Ack::OnInsert {
                config.scrub.name = policy::scrub::ScrubKind::Patrol;
                config.scrub.period = Span::ms(100);
            }
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

/// The predicted memory must not be less than the memory taken. A drive that the machine has no
/// room for is refused, so the prediction must not be much more either: at most a quarter, because
/// lists that grow are counted at their longest, and 8 MiB for tables that do not grow with the
/// drive.
#[test]
fn the_memory_of_a_drive_is_known_before_it_is_made() {
    const TIMES: u32 = 16;
    const MUCH: f64 = 0.25;
    const FIXED: f64 = (8 << 20) as f64;
    let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut made = 0;
    for seed in 0..60 {
        let mut config = random::drive(&mut Rng::stream(seed, "memory"), seed, &Choice::all());
        config.geometry.blocks_per_plane *= TIMES;
        config.geometry.pages_per_block *= TIMES * TIMES;
        config.scrub.period = policy::scrub::Params::default().period;
        let Ok(layout) = config.layout() else { continue };
        let known = Memory::of(&config, &layout).most().0;
        let before = IN_USE.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let device = Device::new(&config);
        let taken = MOST.load(Ordering::Relaxed) - before;
        let Ok(_device) = device else { continue };
        made += 1;
        assert!(known >= taken, "seed {seed}: {known} bytes known, {taken} taken");
        let most = taken as f64 * (1.0 + MUCH) + FIXED;
        assert!(known as f64 <= most, "seed {seed}: {known} bytes known, {taken} taken");
    }
    assert!(made >= 30, "{made} drives could be made");
}
