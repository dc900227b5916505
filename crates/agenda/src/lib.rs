//! agenda
