//! The palette can be seen on its paper and distinguished with every kind of color vision.

use fowler_figures::palette::{
    CAUSES, DARK_PAPER, GRAY, HUES, Hue, Ink, OTHER, Pattern, cause, hex, scheme,
};
use std::collections::BTreeSet;

/// Linear red, green and blue, each from 0 to 1, before the encoding of IEC 61966-2-1.
type Light = [f64; 3];

/// Transformations of each color as people see it who lack one kind of cone: Machado, Oliveira and
/// Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009),
/// severity 1.
const EYES: [(&str, [Light; 3]); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "no red (protanopia)",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "no green (deuteranopia)",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "no blue (tritanopia)",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// The least distance in CIELAB (CIE76) of two hues, for every kind of vision. A difference of 2.3
/// is just noticeable side by side (Mahy, Van Eycken and Oosterlinck, 1994); thin lines and small
/// swatches apart from each other need several times that. 16 is what the published palette, which
/// the dark theme uses as it is, attains; the light theme must be no worse.
const APART: f64 = 16.0;

/// The least contrast of a line with its paper: WCAG 2.2, 1.4.11.
const CONTRAST: f64 = 3.0;

fn light(colour: [u8; 3]) -> Light {
    colour.map(|coded| {
        let coded = f64::from(coded) / 255.0;
        if coded <= 0.040_45 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) }
    })
}

fn luminance([red, green, blue]: Light) -> f64 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Contrast as WCAG 2.2 defines it, from 1 to 21.
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(light(one)), luminance(light(other)));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Converts to CIELAB under D65, where distances are roughly perceptually uniform.
fn lab(colour: [u8; 3], eyes: &[Light; 3]) -> Light {
    let linear = light(colour);
    let seen =
        eyes.map(|row| row.iter().zip(linear).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0));
    let [red, green, blue] = seen;
    let even = |share: f64| {
        if share > 216.0 / 24_389.0 {
            share.cbrt()
        } else {
            (24_389.0 / 27.0 * share + 16.0) / 116.0
        }
    };
    let x = even((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.950_47);
    let y = even(luminance(seen));
    let z = even((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(one: [u8; 3], other: [u8; 3], eyes: &[Light; 3]) -> f64 {
    let (a, b) = (lab(one, eyes), lab(other, eyes));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// A theme: its paper, and the function that picks the color of a hue.
type Theme = ([u8; 3], fn(&Hue) -> [u8; 3]);
const THEMES: [Theme; 2] = [([0xFF; 3], |hue| hue.light), (DARK_PAPER, |hue| hue.dark)];

#[test]
fn every_hue_is_seen_on_its_paper() {
    for (paper, of) in THEMES {
        for hue in HUES.iter().chain([&GRAY]) {
            let contrast = contrast(of(hue), paper);
            assert!(contrast >= CONTRAST, "{} on {}: {contrast:.2}", hue.name, hex(paper));
        }
    }
}

#[test]
fn every_two_hues_are_told_apart_by_every_eye() {
    for (paper, of) in THEMES {
        for (index, one) in HUES.iter().enumerate() {
            for other in &HUES[index + 1..] {
                for (name, eyes) in &EYES {
                    let apart = distance(of(one), of(other), eyes);
                    let pair = format!("{} and {}", one.name, other.name);
                    assert!(apart >= APART, "{pair} on {}, {name}: {apart:.1}", hex(paper));
                }
            }
        }
    }
}

/// Causes of one hue differ in pattern, and those of one pattern in hue: no two look the same.
#[test]
fn every_cause_and_every_scheme_has_an_ink_of_its_own() {
    let look = |ink: Ink| (ink.hue, ink.pattern.name());
    let causes: BTreeSet<_> = CAUSES.iter().map(|&(_, ink)| look(ink)).collect();
    assert_eq!(causes.len(), CAUSES.len());
    assert!(!causes.contains(&look(OTHER)));
    let count = HUES.len() * Pattern::ALL.len();
    let schemes: BTreeSet<_> = (0..count).map(|place| look(scheme(place))).collect();
    assert_eq!(schemes.len(), count);
    assert_eq!(cause("suspend").map(Ink::hue).map(|hue| hue.name), Some("ink"));
    assert_eq!(cause("suspended"), None);
}
