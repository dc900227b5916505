//! Every kind of panel with data made up to be awkward, as files in a folder given as argument.

use std::path::PathBuf;

use fowler_figures::{
    Axis, BarSeries, Bars, Figure, LineSeries, Lines, Panel, Reference, StepSeries, Steps, Stroke,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for (name, figure) in [
        ("bars", bars()),
        ("lines", lines()),
        ("steps", steps()),
        ("wide", wide()),
        ("towers", towers()),
        ("mixed", mixed()),
    ] {
        std::fs::write(folder.join(name).with_extension("svg"), figure.svg()?)?;
    }
    Ok(())
}

/// Numbers that look measured: between 0 and 1, from where they stand.
fn made_up(series: usize, group: usize) -> f64 {
    ((series * 7 + group * 13 + series * group * 3) % 17) as f64 / 17.0
}

/// A table in space, with a missing value.
fn towers() -> Figure {
    let row = |index: usize| BarSeries {
        name: format!("{} KiB", 1 << index),
        values: (0..7)
            .map(|group| (index != 2 || group != 4).then(|| 90_000.0 * made_up(index, group)))
            .collect(),
        ..BarSeries::default()
    };
    let bars = Bars {
        y: "IOPS".into(),
        groups: ["100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100"]
            .map(String::from)
            .to_vec(),
        series: (0..8).map(row).collect(),
        reference: None,
    };
    Figure { panels: vec![Panel::towers("", bars)], ..Figure::new("IOPS by size and mix") }
}

/// Two panels side by side, published numbers on top, a reference line, a missing value.
fn bars() -> Figure {
    let groups = ["F1", "F2", "DAP", "MSN", "C3", "C8", "mean"];
    let panel = |title: &str, shift: f64| {
        let series = ["RPS", "PES_IPC", "PES_IPS", "PER, PE0"].iter().enumerate();
        let series = series.map(|(index, name)| {
            let value = |group: usize| 1.0 - 0.13 * index as f64 - shift * made_up(index, group);
            BarSeries {
                name: (*name).into(),
                values: (0..7).map(|g| (index != 2 || g != 4).then(|| value(g))).collect(),
                published: (0..7).map(|g| Some(value(g) * (0.94 + 0.01 * g as f64))).collect(),
                spread: Vec::new(),
            }
        });
        let reference = Reference { at: 1.0, name: "FIFO".into() };
        let bars = Bars {
            y: "read latency, normalised to FIFO".into(),
            groups: groups.map(String::from).to_vec(),
            series: series.collect(),
            reference: Some(reference),
        };
        Panel::bars(title, bars)
    };
    Figure {
        title: "Fig. 9: read latency with program and erase suspension".into(),
        caption: Some(
            "Bars are simulated, diamonds are read off the paper. Lower is better. A caption may be longer than a \
             line, and is then broken at blanks."
                .into(),
        ),
        columns: None,
        same_y: true,
        panels: vec![panel("SLC", 0.3), panel("MLC", 0.2)],
    }
}

/// Powers of two along x, whiskers, a theory, and published points.
fn lines() -> Figure {
    let sizes = [16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
    let waf = |size: f64, tilt: f64| 1.0 + tilt / (1.0 + 0.02 * size);
    let measured = |name: &str, tilt: f64| LineSeries {
        name: name.into(),
        points: sizes.iter().map(|size| (*size, waf(*size, tilt))).collect(),
        spread: sizes
            .iter()
            .map(|size| Some((waf(*size, tilt) - 0.1, waf(*size, tilt) + 0.1)))
            .collect(),
        ..LineSeries::default()
    };
    let theory = LineSeries {
        name: "mean field, N → ∞".into(),
        points: (0..=100)
            .map(|i| 16.0 * 2f64.powf(f64::from(i) / 20.0))
            .map(|x| (x, waf(x, 2.8)))
            .collect(),
        stroke: Stroke::Theory,
        ..LineSeries::default()
    };
    let published = (0..6).map(|i| (sizes[i], waf(sizes[i], 2.7))).collect();
    let series =
        vec![LineSeries { published, ..measured("greedy", 3.0) }, measured("FIFO", 4.4), theory];
    let lines = Lines {
        x: Axis::log2("pages per block"),
        y: Axis::linear("write amplification"),
        series,
        reference: None,
    };
    let mut figure = Figure::new("Write amplification by block size");
    figure.panels.push(Panel::lines("", lines));
    figure
}

/// Two distributions over four decades, the second of many samples.
fn steps() -> Figure {
    let sample = |from: u32, count: u32, scale: f64| -> Vec<f64> {
        (0..count)
            .map(|i| (from + i * 7919) % 9973)
            .map(|i| scale / (1.0 - f64::from(i) / 9974.0))
            .collect()
    };
    let series = vec![
        StepSeries::of_values("FIFO", &sample(3, 40, 90.0)),
        StepSeries::of_values("with suspension", &sample(0, 9973, 25.0)),
    ];
    let steps =
        Steps { x: Axis::log10("read latency (µs)"), y: "fraction of reads".into(), series };
    let mut figure = Figure::new("How long reads wait");
    figure.caption = Some("Reads of DAP & MSN, latency < 1 s.".into());
    figure.panels.push(Panel::steps("", steps));
    figure
}

/// Twelve series with values from nearly 0 to well above 1, and long names.
fn wide() -> Figure {
    let series = (0..12).map(|index| BarSeries {
        name: format!("scheme {index}{}", if index == 5 { " with a longer name" } else { "" }),
        values: (0..6)
            .map(|g| Some(3.1 * made_up(index, g) * made_up(index + 1, g) + 0.002))
            .collect(),
        published: if index % 3 == 0 {
            (0..6).map(|g| Some(made_up(index, g))).collect()
        } else {
            Vec::new()
        },
        spread: if index == 1 {
            (0..6).map(|g| Some((0.2, 0.4 + made_up(1, g)))).collect()
        } else {
            Vec::new()
        },
    });
    let groups = [
        "financial 1",
        "financial 2",
        "DAP payload",
        "MSN CFS",
        "a-name-without-any-blanks",
        "mean",
    ];
    let bars = Bars {
        y: "energy (J)".into(),
        groups: groups.map(String::from).to_vec(),
        series: series.collect(),
        reference: None,
    };
    let mut figure = Figure::new("Twelve schemes");
    figure.panels.push(Panel::bars("all of them", bars));
    figure
}

/// Panels whose legends do not agree, small and large numbers, a logarithmic y.
fn mixed() -> Figure {
    let line = |name: &str, points: Vec<(f64, f64)>| LineSeries {
        name: name.into(),
        points,
        ..LineSeries::default()
    };
    let rate = |cycles: f64| 2e-7 * (cycles / 1000.0).powf(1.9) + 1e-7;
    let errors = Lines {
        x: Axis::linear("program/erase cycles"),
        y: Axis::log10("raw bit error rate"),
        series: vec![
            line("fresh", (0..=10).map(|i| f64::from(i) * 2e3).map(|c| (c, rate(c))).collect()),
            line(
                "after a year",
                (0..=10).map(|i| f64::from(i) * 2e3).map(|c| (c, 40.0 * rate(c))).collect(),
            ),
        ],
        reference: Some(Reference { at: 1e-4, name: "correctable".into() }),
    };
    let small = Lines {
        x: Axis::linear("time (s)"),
        y: Axis::linear("current (A)"),
        series: vec![line("read", vec![(0.0, 2e-6), (1.0, 3.5e-6), (2.0, 2.5e-6)])],
        reference: None,
    };
    let signed = Bars {
        y: "change (requests/s)".into(),
        groups: ["a quite long name", "another long name", "short", "and a fourth long one"]
            .map(String::from)
            .to_vec(),
        series: vec![BarSeries {
            name: "against before".into(),
            values: vec![Some(-120_000.0), Some(340_000.0), Some(0.0), Some(90_000.0)],
            ..BarSeries::default()
        }],
        reference: None,
    };
    let samples: Vec<f64> = (0..30).map(|i| 50.0 + f64::from(i * i % 31)).collect();
    let linear = Steps {
        x: Axis::linear("latency (µs)"),
        y: "fraction of reads".into(),
        series: (0u32..5)
            .map(|k| {
                let shifted: Vec<f64> = samples.iter().map(|s| s + 4.0 * f64::from(k)).collect();
                StepSeries::of_values(format!("queue depth {}", 1 << k), &shifted)
            })
            .collect(),
    };
    let mut figure = Figure::new("Panels of all kinds");
    figure.panels = vec![
        Panel::lines("errors", errors),
        Panel::lines("current", small),
        Panel::bars("change", signed),
        Panel::steps("latency", linear),
    ];
    figure
}
