//! The tests of the command as one program, which is linked once.

mod cells;
mod columns;
mod command;
mod lifetime;
mod package;
mod physics;
mod processes;
mod profiles;
mod report;
mod reproduce;
mod stopping;
mod sweep;
mod validation;
