//! Independent pieces of work on all cores, each begun in its turn by whichever core is free.
//!
//! Rayon alone halves a list until it has a few parts for each thread, and does not divide a part
//! any more: of eight runs on two cores the last two may be left to one of them. Here a thread that
//! is free takes the next of all pieces, so that no core is idle before the last one is begun.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does the pieces of work in their order, as threads become free; results are in that order too.
/// Put long pieces first: one that is begun last keeps one core busy when the others have nothing
/// left to do.
pub fn each<T: Sync, R: Send>(pieces: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, R)> = (0..pieces.len())
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let place = next.fetch_add(1, Ordering::Relaxed);
            (place, work(&pieces[place]))
        })
        .collect();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Does both, at the same time if a core is free.
pub fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn pieces_begin_and_results_are_in_their_order() {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let pieces = [3.0, 1.0, 4.0, 1.5, 4.0];
        for threads in [1, 2, 8] {
            let begun = Mutex::new(Vec::new());
            let results = pool(threads).install(|| {
                each(&pieces, |&piece| {
                    begun.lock().unwrap().push(piece);
                    piece * 2.0
                })
            });
            assert_eq!(results, pieces.map(|piece| piece * 2.0));
            if threads == 1 {
                assert_eq!(begun.into_inner().unwrap(), pieces);
            }
        }
        assert!(each(&[] as &[u8], |piece| *piece).is_empty());
    }
}
