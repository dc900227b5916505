//! The distance between simulated drives and real ones: files of measurements, the protocols that
//! measured them, drives fitted to them, and the distance that remains.
//!
//! **Owns** everything that knows a measured row. **May touch** the files that it is given, drives
//! that it makes itself, the folder or the drive file that it is asked to write, and what the
//! kernel says about block devices.
//!
//! - [`measurements`]: the files and their rows.
//! - `streams`: streams of requests that feed one drive, as the threads of a benchmark do.
//! - [`protocol`]: what a row asks of a drive, and its simulation.
//! - [`fitting`]: parameters fitted to rows, which is what *calibrate* means (`fowler calibrate`).
//! - [`datasheet`]: a drive from a data sheet.
//! - [`measure`]: jobs of fio that measure a drive of your own.
//! - [`block_device`]: that drive on this machine, and everything on it that is in use.
//! - [`score`]: measured and simulated, row by row.
//! - [`smart`]: the counters of a real drive, and the years that they leave (`fowler endurance
//!   --smart`).

pub mod block_device;
pub mod datasheet;
pub mod fitting;
pub mod measure;
pub mod measurements;
pub mod protocol;
pub mod score;
pub mod smart;
pub mod streams;
