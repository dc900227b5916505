//! Source readers for the tests of the whole repository, which are in `tests/`.

pub mod circles;
pub mod rooms;
pub mod shared_folder;
pub mod times;
