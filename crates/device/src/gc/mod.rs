//! Jobs in the background and foreground.

pub mod collection;
pub mod refresh;
pub mod strength_measurement;
