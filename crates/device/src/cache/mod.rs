//! The write buffer: page frames, and the use of the pages in them.
//!
//! **Owns** the frames, their lists (dirty, clean, to be rewritten) and flush epochs, and the
//! access class of every page in a frame. **May touch** nothing else: frames are found through the
//! mapping, and the code that moves a page in or out updates the mapping. **Called for** a frame,
//! the next frame to leave ([`buffer::Buffer::due`]), and the end of a flush.
//!
//! - `buffer.rs`: the frames. Dirty and clean pages each leave in LRU order. The policy
//!   (`policy/replacement`) decides whether a clean or a dirty page goes next; only flushes and
//!   room made ahead of need take the oldest dirty page.
//! - `access_class.rs`: read-hot, write-hot or mixed.
//!
//! Eviction is in `host/eviction.rs`; eviction by stripes, in `raid/stripe_eviction.rs`.

pub mod access_class;
pub mod buffer;
