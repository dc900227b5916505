//! Overlaps the drawing of random numbers on one core with writing on another, for preconditioning.
//!
//! The placement of data is drawn from random streams in a fixed order, and the mapping is written
//! in the same order. Neither can be parallelized, but drawing does not depend on writing: on a
//! large drive they run on two cores, a few batches apart. The result does not depend on that
//! distance, nor on the number of cores.

use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread::{self, Builder};

/// Smallest number of pages of a drive for which a second core draws random page placements while
/// the first writes them to the mapping; for less, starting a thread costs more than it saves.
const PAGES_LEAST: u32 = 1 << 20;
/// Maximum number of batches of pages whose placement has been drawn and is not yet written to the
/// mapping.
const BATCHES: usize = 4;
/// Number of randomly drawn page placements after which a batch is handed over to be written to the
/// mapping. A batch takes some hundred microseconds of work and fits the second-level cache.
pub(super) const BATCH: usize = 1 << 14;

/// Calls `write` for every batch of randomly drawn page placements that `draw` produces, in order,
/// for a drive with the given number of pages. `draw` gets back an empty batch to fill next;
/// `write` must leave its batch empty.
pub(super) fn draw_pipeline<B: Default + Send>(
    pages: u32,
    draw: impl FnOnce(&mut dyn FnMut(B) -> B) + Send,
    mut write: impl FnMut(&mut B),
) {
    let mut draw = Some(draw);
    if pages >= PAGES_LEAST {
        on_two_cores(Builder::new(), &mut draw, &mut write);
    }
    // `draw` is still here if there was no second thread to take it.
    if let Some(draw) = draw {
        draw(&mut |mut batch| {
            write(&mut batch);
            batch
        });
    }
}

/// Runs `draw`, which draws batches of random page placements, on a thread of its own, and `write`,
/// which writes them to the mapping, on this one, unless the operating system refuses a thread.
fn on_two_cores<B: Default + Send, D: FnOnce(&mut dyn FnMut(B) -> B) + Send>(
    second: Builder,
    draw: &mut Option<D>,
    write: &mut impl FnMut(&mut B),
) {
    let (full, filled) = sync_channel(BATCHES);
    let (empty, emptied) = channel();
    for _ in 0..BATCHES {
        empty.send(B::default()).expect("the receiver exists");
    }
    thread::scope(|threads| {
        let drawing = second.spawn_scoped(threads, move || {
            let draw = draw.take().expect("taken only here");
            draw(&mut |batch| {
                // If the other end is gone, its thread panics, and so does this one.
                full.send(batch).expect("the writer is running");
                emptied.recv().expect("the writer is running")
            });
        });
        let Ok(drawing) = drawing else { return };
        // `empty` is dropped here if `write` panics: the other thread may be waiting for a batch.
        let empty = empty;
        for mut batch in filled {
            write(&mut batch);
            // At the end nobody receives the empty batch.
            let _last = empty.send(batch);
        }
        if let Err(panic) = drawing.join() {
            resume_unwind(panic);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn a_panic_of_the_writer_ends_the_other_thread() {
        let drawn = AtomicUsize::new(0);
        let draw = |hand_over: &mut dyn FnMut(Vec<u32>) -> Vec<u32>| {
            loop {
                drawn.fetch_add(1, Relaxed);
                hand_over(Vec::new());
            }
        };
        let ended = catch_unwind(AssertUnwindSafe(|| {
            draw_pipeline(PAGES_LEAST, draw, |_| {
                // Waits until all empty batches are used up, and the other thread waits for one.
                while drawn.load(Relaxed) <= BATCHES {
                    thread::yield_now();
                }
                (0..10_000).for_each(|_| thread::yield_now());
                panic!("as a fault would be");
            });
        }));
        assert!(ended.is_err());
    }

    #[test]
    fn batches_are_written_in_the_order_in_which_they_are_drawn() {
        for pages in [1, PAGES_LEAST] {
            let mut written = Vec::new();
            let draw = |hand_over: &mut dyn FnMut(Vec<u32>) -> Vec<u32>| {
                let mut batch = Vec::new();
                for number in 0..100 {
                    assert!(batch.is_empty());
                    batch.extend([number, number]);
                    batch = hand_over(batch);
                }
            };
            draw_pipeline(pages, draw, |batch| written.append(batch));
            assert!(written.into_iter().eq((0..100).flat_map(|number| [number, number])));
        }
    }

    #[test]
    fn who_draws_is_left_where_the_system_refuses_a_thread() {
        let mut draw = Some(|hand: &mut dyn FnMut(Vec<u8>) -> Vec<u8>| drop(hand(Vec::new())));
        let refused = Builder::new().stack_size(1 << (usize::BITS - 2));
        on_two_cores(refused, &mut draw, &mut |_: &mut Vec<u8>| panic!("nothing is drawn"));
        assert!(draw.is_some());
    }

    #[test]
    #[should_panic(expected = "cannot be drawn")]
    fn a_panic_on_the_second_core_comes_through() {
        let draw = |_: &mut dyn FnMut(u32) -> u32| panic!("cannot be drawn");
        draw_pipeline(PAGES_LEAST, draw, |_| ());
    }
}
