//! The colors and patterns of series, schemes and causes of latency, defined only here.
//!
//! Report pages, the figures of this crate and Python's plots take them from here. A scheme's ink
//! follows from its place in the comparison. A cause's ink follows from its name: the hue says what
//! the time was spent on, the pattern says for whom or why. So a cause looks the same in every
//! chart of every run.
//!
//! The hues are those of Okabe and Ito, "Color Universal Design" (2008), chosen so that people who
//! lack one kind of cone can distinguish them. On white, three of them are too faint as lines (WCAG
//! 2.2, 1.4.11: contrast of 3 to 1), so light paper has darker ones, in which blue, vermilion and
//! green are shifted to stay apart. `tests/all/palette.rs` measures both claims.

/// A color of the palette, in two shades: for light backgrounds (and print), and for dark ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hue {
    /// Name of the color, by which data series and report pages refer to it.
    pub name: &'static str,
    /// Red, green and blue of this color on light backgrounds (white pages, print), each 0 to 255.
    pub light: [u8; 3],
    /// Red, green and blue of this color on the background of report pages in dark mode, each 0 to
    /// 255.
    pub dark: [u8; 3],
}

/// Red, green and blue of the background of report pages in dark mode.
pub const DARK_PAPER: [u8; 3] = [0x0F, 0x13, 0x18];

/// Hues of the palette, in the order in which schemes take them.
pub const HUES: [Hue; 7] = [
    Hue { name: "blue", light: [0x00, 0x41, 0x66], dark: [0x00, 0x72, 0xB2] },
    Hue { name: "vermilion", light: [0xA8, 0x2C, 0x00], dark: [0xD5, 0x5E, 0x00] },
    Hue { name: "green", light: [0x00, 0x94, 0x51], dark: [0x00, 0x9E, 0x73] },
    Hue { name: "pink", light: [0xC7, 0x6B, 0xA6], dark: [0xCC, 0x79, 0xA7] },
    Hue { name: "orange", light: [0xCB, 0x68, 0x00], dark: [0xE6, 0x9F, 0x00] },
    Hue { name: "sky", light: [0x18, 0x62, 0xB8], dark: [0x56, 0xB4, 0xE9] },
    Hue { name: "ink", light: [0x1B, 0x1F, 0x24], dark: [0xE8, 0xEC, 0xF1] },
];

/// The pattern that fills an area of a chart, on top of its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A plain fill without a pattern.
    Solid,
    /// A hatch of diagonal lines that rise from left to right.
    Rising,
    /// A fill of dots.
    Dots,
    /// A hatch of diagonal lines that fall from left to right.
    Falling,
    /// A fill of horizontal lines.
    Level,
}

impl Pattern {
    /// Every fill pattern, in the order in which schemes take them once each color of the palette
    /// has been used.
    pub const ALL: [Pattern; 5] =
        [Pattern::Solid, Pattern::Rising, Pattern::Dots, Pattern::Falling, Pattern::Level];

    /// Returns the name of the fill pattern (such as `dots`) in the data of report pages and in the
    /// Python package.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solid => "solid",
            Self::Rising => "rising",
            Self::Dots => "dots",
            Self::Falling => "falling",
            Self::Level => "level",
        }
    }
}

/// The appearance of a series, scheme or cause of latency: a hue, as an index into [`HUES`], and a
/// pattern that fills areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink {
    /// Index of the hue in [`HUES`]; `None` for gray, the color of a sum of several causes of
    /// latency.
    pub hue: Option<usize>,
    /// Pattern that fills areas, on top of the hue.
    pub pattern: Pattern,
}

impl Ink {
    const fn new(hue: usize, pattern: Pattern) -> Ink {
        Ink { hue: Some(hue), pattern }
    }

    /// Returns the color of the palette, with its shades for light and for dark backgrounds.
    #[must_use]
    pub fn hue(self) -> &'static Hue {
        self.hue.map_or(&GRAY, |index| &HUES[index])
    }
}

/// The gray of `other`, the sum of several causes of latency, in both of its shades.
pub const GRAY: Hue = Hue { name: "gray", light: [0x8A, 0x91, 0x99], dark: [0x7A, 0x84, 0x8F] };

/// Hue of each cause of latency, by the activity on which the time is spent, as indices into
/// [`HUES`].
const READ: usize = 0;
const PROGRAM: usize = 1;
const CELLS: usize = 2;
const ERASE: usize = 3;
const ADMISSION: usize = 4;
const TRANSFER: usize = 5;
const DRIVE: usize = 6;

/// The causes of latency, by their names in JSON, with their inks.
///
/// Waiting for a die has the hue of what the die does and the pattern of whom it does it for: host
/// solid, garbage collection rising, wear leveling dotted, refresh falling, parity level.
pub const CAUSES: [(&str, Ink); 30] = {
    use Pattern::{Dots, Falling, Level, Rising, Solid};
    [
        ("host_link", Ink::new(TRANSFER, Dots)),
        ("throttled", Ink::new(ADMISSION, Dots)),
        ("queue_full", Ink::new(ADMISSION, Rising)),
        ("buffer_full", Ink::new(ADMISSION, Solid)),
        ("no_space", Ink::new(ADMISSION, Falling)),
        ("behind_host_read", Ink::new(READ, Solid)),
        ("behind_host_program", Ink::new(PROGRAM, Solid)),
        ("behind_host_erase", Ink::new(ERASE, Solid)),
        ("behind_gc_read", Ink::new(READ, Rising)),
        ("behind_gc_program", Ink::new(PROGRAM, Rising)),
        ("behind_gc_erase", Ink::new(ERASE, Rising)),
        ("behind_wear_read", Ink::new(READ, Dots)),
        ("behind_wear_program", Ink::new(PROGRAM, Dots)),
        ("behind_wear_erase", Ink::new(ERASE, Dots)),
        ("behind_refresh_read", Ink::new(READ, Falling)),
        ("behind_refresh_program", Ink::new(PROGRAM, Falling)),
        ("behind_refresh_erase", Ink::new(ERASE, Falling)),
        ("behind_parity_read", Ink::new(READ, Level)),
        ("behind_parity_program", Ink::new(PROGRAM, Level)),
        ("channel", Ink::new(TRANSFER, Rising)),
        ("suspend", Ink::new(DRIVE, Solid)),
        ("merge", Ink::new(DRIVE, Rising)),
        ("sense", Ink::new(CELLS, Solid)),
        ("transfer", Ink::new(TRANSFER, Solid)),
        ("program", Ink::new(CELLS, Falling)),
        ("soft_sensing", Ink::new(CELLS, Rising)),
        ("retry", Ink::new(CELLS, Dots)),
        ("parity", Ink::new(DRIVE, Dots)),
        ("degraded", Ink::new(DRIVE, Falling)),
        ("mapping", Ink::new(TRANSFER, Falling)),
    ]
};

/// Returns the hue and the pattern of a scheme by its place in the comparison, from 0. The eighth
/// scheme has the first hue again, with the next pattern.
#[must_use]
pub fn scheme(place: usize) -> Ink {
    let pattern = Pattern::ALL[place / HUES.len() % Pattern::ALL.len()];
    Ink::new(place % HUES.len(), pattern)
}

/// Returns the hue and the pattern of a cause of latency by its name in JSON; `None` if there is no
/// such cause.
#[must_use]
pub fn cause(name: &str) -> Option<Ink> {
    CAUSES.iter().find(|(known, _)| *known == name).map(|&(_, ink)| ink)
}

/// The gray, solid fill of `other`, the sum of several causes of latency in a chart.
pub const OTHER: Ink = Ink { hue: None, pattern: Pattern::Solid };

/// Returns a color, given as red, green and blue, in the form `#rrggbb` of style sheets and SVG.
#[must_use]
pub fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
