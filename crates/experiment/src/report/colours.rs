//! Tests that the colors of series are visible in both themes and can be distinguished with every
//! kind of color vision.

/// Linear red, green and blue, each from 0 to 1, before the encoding of IEC 61966-2-1.
type Light = [f64; 3];

/// How people who lack one kind of cone see each color: Machado, Oliveira and Fernandes, "A
/// Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.
const EYES: [(&str, [Light; 3]); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "no red",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "no green",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "no blue",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

fn light(colour: &str) -> Light {
    [1, 3, 5].map(|at| {
        let coded = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if coded <= 0.040_45 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) }
    })
}

fn luminance([red, green, blue]: Light) -> f64 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Contrast as WCAG 2.2 defines it, from 1 to 21.
fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(light(one)), luminance(light(other)));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Converts to CIELAB under D65, where distances are roughly perceptually uniform.
fn lab(colour: &str, eyes: &[Light; 3]) -> Light {
    let its = light(colour);
    let seen = eyes.map(|row| row.iter().zip(its).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0));
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

/// Reads the colors of each theme from the style sheet: light, dark by choice, dark by system
/// setting.
fn themes() -> Vec<(String, Vec<String>)> {
    let style = include_str!("../../templates/report.css");
    let values = |name: &str| {
        let name = format!("--{name}: ");
        let after = style.split(&name).skip(1);
        after.map(|rest| rest.split(';').next().unwrap().to_string()).collect::<Vec<_>>()
    };
    let series: Vec<Vec<String>> = (1..=7).map(|nth| values(&format!("series-{nth}"))).collect();
    let colours = |theme: usize| series.iter().map(|its| its[theme].clone()).collect();
    values("paper").into_iter().enumerate().map(|(at, paper)| (paper, colours(at))).collect()
}

#[test]
fn every_series_is_seen_on_its_paper() {
    let themes = themes();
    assert_eq!(themes.len(), 3);
    assert_eq!(themes[1], themes[2], "both dark themes have the same colors");
    for (paper, series) in &themes {
        for colour in series {
            let contrast = contrast(colour, paper);
            assert!(contrast >= 3.0, "{colour} on {paper}: {contrast:.2}");
        }
    }
}

/// Okabe and Ito's palette, which is the dark theme's, keeps its colours at least 16 apart; the
/// light theme's are no closer to each other.
#[test]
fn every_two_series_are_told_apart_by_every_eye() {
    for (paper, series) in themes() {
        for (index, one) in series.iter().enumerate() {
            for other in &series[index + 1..] {
                for (name, eyes) in &EYES {
                    let (a, b) = (lab(one, eyes), lab(other, eyes));
                    let apart = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(apart >= 16.0, "{one} and {other} on {paper}, {name}: {apart:.1}");
                }
            }
        }
    }
}
