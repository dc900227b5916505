//! The write buffer: page frames, and how the pages in them are used.
//!
//! **Owns** the frames, their lists (dirty, clean, to be rewritten) and flush epochs, and the
//! access class of every page in a frame. **May touch** nothing else: frames are found through the
//! mapping, and whoever moves a page in or out sets that. **Is asked** for a frame, for what leaves
//! next ([`buffer::Buffer::due`]), and whether a flush is done. The way of what leaves is in
//! `host/eviction.rs`.

pub mod access_class;
pub mod buffer;
