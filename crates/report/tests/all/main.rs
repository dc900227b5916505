//! The tests of report pages as one program, which is linked once.
#![cfg(feature = "pages")]

mod pages;
