//! Every kind of panel with data made up to be awkward, as files in a folder given as argument.

use std::path::PathBuf;

use fowler_figures::{Axis, Figure, Panel, Series};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for figure in [bars(), lines(), steps(), wide(), towers(), mixed()] {
        std::fs::write(folder.join(&figure.id).with_extension("svg"), figure.svg()?)?;
    }
    Ok(())
}

/// Numbers that look measured: between 0 and 1, a function of the series and the group.
fn made_up(series: usize, group: usize) -> f64 {
    ((series * 7 + group * 13 + series * group * 3) % 17) as f64 / 17.0
}

/// A table in space, with a missing value.
fn towers() -> Figure {
    let row = |index: usize| {
        let value = |group| (index != 2 || group != 4).then(|| 90_000.0 * made_up(index, group));
        Series::values(format!("{} KiB", 1 << index), (0..7).map(value))
    };
    let groups = ["100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100"];
    let panel = Panel::columns("", "IOPS", groups, (0..8).map(row)).in_space();
    Figure::new("towers", "IOPS by size and mix", [panel])
}

/// Two panels side by side, published numbers on top, a reference line, a missing value.
fn bars() -> Figure {
    let panel = |title: &str, shift: f64| {
        let series = ["RPS", "PES_IPC", "PES_IPS", "PER, PE0"].iter().enumerate();
        let series = series.map(|(index, name)| {
            let value = |group: usize| 1.0 - 0.13 * index as f64 - shift * made_up(index, group);
            let values = (0..7).map(|g| (index != 2 || g != 4).then(|| value(g)));
            let published = (0..7).map(|g| Some(value(g) * (0.94 + 0.01 * g as f64)));
            Series::values(*name, values).published(published)
        });
        let groups = ["F1", "F2", "DAP", "MSN", "C3", "C8", "mean"];
        Panel::columns(title, "read latency, normalised to FIFO", groups, series)
            .reference(1.0, "FIFO")
    };
    let title = "Fig. 9: read latency with program and erase suspension";
    let caption = "Bars are simulated, diamonds are read off the paper. Lower is better. A caption may be longer than a \
                   line, and is then broken at blanks.";
    Figure::new("bars", title, [panel("SLC", 0.3), panel("MLC", 0.2)]).caption(caption).same_y()
}

/// Powers of two along x, whiskers, a theory, and published points.
fn lines() -> Figure {
    let sizes = [16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
    let waf = |size: f64, tilt: f64| 1.0 + tilt / (1.0 + 0.02 * size);
    let measured = |name: &str, tilt: f64| {
        let around = |size: f64| Some((waf(size, tilt) - 0.1, waf(size, tilt) + 0.1));
        let line = Series::line(name, sizes.map(|size| (size, waf(size, tilt))));
        Series { spread: sizes.map(around).into(), ..line }
    };
    let theory = (0..=100).map(|i| 16.0 * 2f64.powf(f64::from(i) / 20.0));
    let theory = Series::line("mean field, N → ∞", theory.map(|x| (x, waf(x, 2.8)))).theory();
    let greedy = measured("greedy", 3.0).published_at(sizes.map(|size| (size, waf(size, 2.7))));
    let (x, y) = (Axis::log2("pages per block"), Axis::linear("write amplification"));
    let panel = Panel::lines("", x, y, [greedy, measured("FIFO", 4.4), theory]);
    Figure::new("lines", "Write amplification by block size", [panel])
}

/// Two distributions over four decades, the second of many samples.
fn steps() -> Figure {
    let sample = |from: u32, count: u32, scale: f64| -> Vec<f64> {
        (0..count)
            .map(|i| (from + i * 7919) % 9973)
            .map(|i| scale / (1.0 - f64::from(i) / 9974.0))
            .collect()
    };
    let series = [
        Series::distribution("FIFO", &sample(3, 40, 90.0)),
        Series::distribution("with suspension", &sample(0, 9973, 25.0)),
    ];
    let x = Axis::log10("read latency (µs)");
    let panel = Panel::distributions("", x, "fraction of reads", series);
    Figure::new("steps", "How long reads wait", [panel])
        .caption("Reads of DAP & MSN, latency < 1 s.")
}

/// Twelve series with values from nearly 0 to well above 1, and long names.
fn wide() -> Figure {
    let series = (0..12).map(|index| {
        let name = format!("scheme {index}{}", if index == 5 { " with a longer name" } else { "" });
        let value = |g| 3.1 * made_up(index, g) * made_up(index + 1, g) + 0.002;
        let published = (0..6).filter(|_| index % 3 == 0).map(|g| Some(made_up(index, g)));
        let spread = (0..6).filter(|_| index == 1).map(|g| Some((0.2, 0.4 + made_up(1, g))));
        let series = Series::values(name, (0..6).map(value)).published(published);
        Series { spread: spread.collect(), ..series }
    });
    let groups = [
        "financial 1",
        "financial 2",
        "DAP payload",
        "MSN CFS",
        "a-name-without-any-blanks",
        "mean",
    ];
    let panel = Panel::columns("all of them", "energy (J)", groups, series);
    Figure::new("wide", "Twelve schemes", [panel])
}

/// Panels whose legends do not agree, small and large numbers, a logarithmic y.
fn mixed() -> Figure {
    let rate = |cycles: f64| 2e-7 * (cycles / 1000.0).powf(1.9) + 1e-7;
    let by_cycles = |name, factor: f64| {
        let cycles = (0..=10).map(|i| f64::from(i) * 2e3);
        Series::line(name, cycles.map(|c| (c, factor * rate(c))))
    };
    let errors = Panel::lines(
        "errors",
        Axis::linear("program/erase cycles"),
        Axis::log10("raw bit error rate"),
        [by_cycles("fresh", 1.0), by_cycles("after a year", 40.0)],
    )
    .reference(1e-4, "correctable");
    let small = Series::line("read", [(0.0, 2e-6), (1.0, 3.5e-6), (2.0, 2.5e-6)]);
    let (x, y) = (Axis::linear("time (s)"), Axis::linear("current (A)"));
    let small = Panel::lines("current", x, y, [small]);
    let groups = ["a quite long name", "another long name", "short", "and a fourth long one"];
    let signed = Series::values("against before", [-120_000.0, 340_000.0, 0.0, 90_000.0]);
    let signed = Panel::columns("change", "change (requests/s)", groups, [signed]);
    let samples: Vec<f64> = (0..30).map(|i| 50.0 + f64::from(i * i % 31)).collect();
    let depths = (0u32..5).map(|k| {
        let shifted: Vec<f64> = samples.iter().map(|s| s + 4.0 * f64::from(k)).collect();
        Series::distribution(format!("queue depth {}", 1 << k), &shifted)
    });
    let x = Axis::linear("latency (µs)");
    let linear = Panel::distributions("latency", x, "fraction of reads", depths);
    Figure::new("mixed", "Panels of all kinds", [errors, small, signed, linear])
}
