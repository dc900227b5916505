//! Text of a page as its reader sees it.

use askama::filters::{Escaper, Html};
use fowler_units::escaped_lines;
use std::fmt::{self, Write};

/// Escaper for templates: quoted text never acts as HTML, and invisible characters with an effect
/// are shown escaped. `askama.toml` names this type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Visible;

impl Escaper for Visible {
    fn write_escaped_str<W: Write>(&self, to: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(to, &escaped_lines(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_seen_and_does_nothing() {
        let mut page = String::new();
        Visible.write_escaped_str(&mut page, "a\u{202e}<b>\u{1b}[31m\n\u{5d0}").unwrap();
        assert_eq!(page, "a\\u{202e}&#60;b&#62;\\u{1b}[31m\n\u{5d0}");
    }
}
