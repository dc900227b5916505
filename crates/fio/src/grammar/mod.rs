//! The grammar of a job file: sections, lines, comments, included files, variables, and the values
//! of options.

mod arithmetic;
mod lines;
mod value;

pub(crate) use lines::{Given, Section, read};
pub(crate) use value::{Value, Wrong, is_misleading};
