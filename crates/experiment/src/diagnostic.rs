//! Diagnostics: the errors of an input, as the crates above this one see them.

pub use fowler_units::{
    Diagnostic, Diagnostics, PROBLEMS_SHOWN, escaped, escaped_json, escaped_lines, printable,
};
