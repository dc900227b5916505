//! The program `fowler`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::process::ExitCode;

/// The system's allocator. An allocation that fails ends the program with a message and exit code
/// 2, not with an abort.
struct OrExit;

#[allow(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        or_exit(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        or_exit(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        or_exit(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[inline]
fn or_exit(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        out_of_memory(bytes);
    }
    pointer
}

#[cold]
fn out_of_memory(bytes: usize) -> ! {
    let hint = "  hint: `--dry-run` of run, compare and sweep says how much memory they take";
    // Nothing in this function may allocate.
    let text = "error: out of memory: the system refused";
    let _nobody_reads = writeln!(std::io::stderr(), "{text} {bytes} bytes\n{hint}");
    fowler_experiment::atomic_file::abandon_at_once();
    std::process::exit(2)
}

#[global_allocator]
static ALLOCATOR: OrExit = OrExit;

/// Sets the options of glibc's allocator, by whether the address space is limited (`ulimit -v`).
///
/// With a limit all threads share one arena. glibc otherwise reserves 64 MiB or more for each
/// thread, if the limit leaves as much: then less was available under a limit of 200 MB than under
/// one of 160 MB. Simulations allocate nothing while they serve requests, so that threads do not
/// wait for each other.
///
/// Without a limit the allocator keeps 64 MiB of free memory. glibc otherwise keeps 128 KiB: of
/// many small drives made one after the other, each returned its memory to the system, which
/// cleared it again for the next one, page by page.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "the allocator has no other interface")]
fn set_allocator_options() {
    const KEPT_BYTES: i32 = 64 << 20;
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` outlives the call, and no other thread runs yet.
    unsafe {
        let is_known = libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) == 0;
        if is_known && limit.rlim_cur != libc::RLIM_INFINITY {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        } else {
            libc::mallopt(libc::M_TOP_PAD, KEPT_BYTES);
        }
    }
}

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    set_allocator_options();
    ExitCode::from(fowler_cli::main(std::env::args_os()))
}
