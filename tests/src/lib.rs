//! What the tests of the house as a whole share; the tests themselves are in `tests/`.

pub mod rooms;
pub mod times;
