//! Errors of an input, re-exported for the crates that use this one.

pub use fowler_units::{
    Diagnostic, Diagnostics, PROBLEMS_SHOWN, escaped, escaped_json, escaped_lines, printable,
};
