//! The tests of standards as one program, which is linked once.

mod pts;
mod steady;
