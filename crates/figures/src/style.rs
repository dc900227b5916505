//! The colors of paper and text, sizes, and estimated text widths without font metrics.

use plotters::style::RGBColor;

use crate::palette::HUES;

/// Number of canvas units per pixel: the backend counts in whole units, and marks should be placed
/// precisely.
pub const UNIT: f64 = 10.0;

/// Converts pixels to canvas units.
pub fn px(pixels: f64) -> i32 {
    (pixels * UNIT).round() as i32
}

pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub const BLACK: RGBColor = RGBColor(0, 0, 0);
pub const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
pub const MESH: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);
pub const FAINT: RGBColor = RGBColor(0x77, 0x77, 0x77);

/// Returns the color of a series by its position in the legend. Schemes are series in the order of
/// the comparison, so that they have the same colors here as on report pages.
pub fn colour(index: usize) -> RGBColor {
    let [red, green, blue] = HUES[index % HUES.len()].light;
    RGBColor(red, green, blue)
}

/// Heights of the texts in a figure, in pixels.
pub const TITLE: f64 = 17.0;
pub const HEADING: f64 = 14.5;
pub const AXIS: f64 = 13.0;
pub const LABEL: f64 = 12.0;

/// Estimates the width of a text at a height, in pixels, erring on the wide side: the reader's font
/// is unknown.
pub fn width(text: &str, height: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.33,
            'f' | 't' | 'r' | '(' | ')' | '-' | '/' | '[' | ']' => 0.42,
            'm' | 'w' | 'M' | 'W' | '%' | '@' | '×' => 0.95,
            '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.42,
            'A'..='Z' => 0.71,
            c if c.is_ascii() => 0.62,
            c if (c as u32) < 0x2E80 => 0.68,
            _ => 1.0,
        })
        .sum();
    ems * height
}

/// Returns a text without characters that are illegal in XML, and without those that make text read
/// as something else than it is: the list of `fowler_units::escaped`, which this crate cannot
/// import.
pub fn printable(text: &str) -> String {
    let bidirectional = |c: char| {
        matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
    };
    text.chars().map(|c| if c.is_control() || bidirectional(c) { ' ' } else { c }).collect()
}

/// Breaks a text into lines of at most `room` pixels, at blanks and after hyphens; a single piece
/// that is too long stays whole.
pub fn wrap(text: &str, height: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        for (number, piece) in word.split_inclusive(['-', '_', '/']).enumerate() {
            let blank = if number == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if width(&format!("{line}{blank}{piece}"), height) <= room => {
                    line.push_str(blank);
                    line.push_str(piece);
                }
                _ => lines.push(piece.to_owned()),
            }
        }
    }
    lines
}
