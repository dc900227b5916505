//! The tests of the drive as one program: each of them alone would compile the whole loop again.

mod access_class;
mod admission;
mod buffer;
mod cells;
mod census;
mod custom_order;
mod digests;
mod fault_schedule;
mod faults;
mod golden_die;
mod lifetime;
mod pacing;
mod power;
mod preconditioned_image;
mod redundancy;
mod rhio;
mod scrub;
mod stripe_loss;
mod support;
mod suspension_options;
mod swarm;
mod tabled;
mod tables;
mod ties;
mod update_orders;
mod write_amplification;
