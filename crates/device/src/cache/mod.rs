//! The write buffer: page frames, and how the pages in them are used.
//!
//! **Owns** the frames, their lists (dirty, clean, to be rewritten) and flush epochs, and the
//! access class of every page in a frame. **May touch** nothing else: frames are found through the
//! mapping, and whoever moves a page in or out sets that. **Is asked** for a frame, for what leaves
//! next ([`buffer::Buffer::due`]), and whether a flush is done.
//!
//! - `buffer.rs`: the frames. Dirty and clean pages leave in LRU order each; whether a clean or a
//!   dirty one goes next is the policy's (`policy/replacement`), but for flushes and room made
//!   ahead, which take the oldest dirty one.
//! - `access_class.rs`: read-hot, write-hot or mixed.
//!
//! The way of what leaves is in `host/eviction.rs`; by stripes, in `raid/stripe_eviction.rs`.

pub mod access_class;
pub mod buffer;
