//! What is wrong with an input, as the crates above this one see it.

pub use fowler_units::{
    Diagnostic, Diagnostics, PROBLEMS_SHOWN, escaped, escaped_json, escaped_lines, printable,
};
