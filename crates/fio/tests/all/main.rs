//! Job files against real ones.

mod cases;
mod public_jobs;
mod random_jobs;
mod reading;
mod sequences;
mod skewed_offsets;
