//! A chart of latencies in characters: how slow requests are at most, from the fastest to those at
//! p99.99. Time is to the right, on a logarithmic axis; upwards are percentiles, each step of which
//! leaves a tenth of the requests above it. A curve further left is faster.
//!
//! Curves consist of dots, two by four in a cell (Braille patterns of Unicode). One is solid and
//! the other dotted, so that they differ without color.
//! See docs/decisions/reports.md, "Which library draws the chart on the terminal?".

use crate::wrap::columns;
use fowler_experiment::{Latencies, Span};
use std::fmt::Write;

/// Largest width of a chart in characters, which is also the width where standard output is no
/// terminal.
const WIDEST: usize = 80;
/// The fewest requests of a kind whose latencies have a curve in a chart: one of them is slower
/// than p90.
const FEWEST: u64 = 10;
/// Columns of characters before the left axis of a chart.
const MARGIN: usize = 8;
/// Columns of dots in a braille character, of which charts are drawn.
const ACROSS: usize = 2;
/// Rows of dots in a braille character, of which charts are drawn.
const UPWARDS: usize = 4;
/// Height of a latency chart, in rows of characters per labelled percentile step of its vertical
/// axis. Index: number of steps, 1 to 4; the more steps, the lower each is.
const ROWS: [usize; 5] = [0, 6, 4, 3, 2];
/// Percentiles that label the vertical axis of a latency chart, from the bottom up. From each label
/// to the next, the share of slower requests falls to a tenth.
const STEPS: [&str; 5] = ["min", "p90", "p99", "p99.9", "p99.99"];
/// Spacing of the dots in a dotted curve of a latency chart: a dotted curve has every third dot
/// that a solid curve would have.
const DOTTED: usize = 3;

/// A curve of a chart: the latency distribution of reads or writes.
pub(crate) struct Curve<'a> {
    /// Plural name of the kind of requests, such as `reads`, whose latencies a curve of the chart
    /// shows.
    pub name: &'a str,
    /// Latencies of all requests of the kind that a curve of the chart shows.
    pub latencies: &'a Latencies,
}

/// Draws a chart of at most two latency distributions, the first solid and the second dotted, at
/// most `width` columns wide. Draws nothing if no request took any time, or fewer than [`FEWEST`]
/// of a kind were served.
pub(crate) fn draw(curves: &[Curve<'_>], width: Option<usize>) -> String {
    let most = curves.iter().map(|it| it.latencies.count()).max().unwrap_or(0);
    if most < FEWEST {
        return String::new();
    }
    let steps = (most.ilog10() as usize).clamp(1, ROWS.len() - 1);
    let drawn: Vec<Vec<Point>> = curves.iter().map(|it| points(it.latencies, steps)).collect();
    let Some(range) = Range::of(drawn.iter().flatten().map(|it| it.ns)) else {
        return String::new();
    };
    let width = width.unwrap_or(WIDEST).min(WIDEST) - MARGIN - 1;
    let mut canvas = Canvas::new(width, steps * ROWS[steps]);
    for (place, points) in drawn.iter().enumerate() {
        let every = if place == 0 { 1 } else { DOTTED };
        let dots = points.iter().map(|it| {
            let up = it.slower_than * (canvas.dots_upwards() - 1) as f64 / steps as f64;
            ((range.share(it.ns) * (canvas.dots_across() - 1) as f64) as usize, up as usize)
        });
        canvas.path(&dots.collect::<Vec<_>>(), every);
    }
    let mut text = title(curves);
    for (row, cells) in canvas.rows().enumerate() {
        let label = (0..=steps).find(|&step| {
            let dot = step * (canvas.dots_upwards() - 1) / steps;
            canvas.height - 1 - dot / UPWARDS == row
        });
        let (label, edge) = label.map_or(("", '\u{2502}'), |step| (STEPS[step], '\u{2524}'));
        let _grows = writeln!(text, "{label:>MARGIN$}{edge}{}", cells.trim_end());
    }
    text + &axis(range, width)
}

/// Returns the title line of a chart: its contents, and a legend of the curves.
fn title(curves: &[Curve<'_>]) -> String {
    let samples = ["\u{2812}\u{2812}\u{2812}\u{2812}", "\u{2802}\u{2810} \u{2802}"];
    let drawn = curves.iter().zip(samples).filter(|(it, _)| it.latencies.count() > 0);
    let names: Vec<String> = drawn.map(|(it, sample)| format!("{sample} {}", it.name)).collect();
    format!("latency at each percentile   {}\n", names.join("   "))
}

/// A point of a latency distribution in a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// Latency at a corner of a curve of the chart, in nanoseconds; never 0.
    ns: f64,
    /// Negative decimal logarithm of the share of requests that are slower: 2 at p99.
    slower_than: f64,
}

/// Returns the corners of a curve, from the bottom of the chart to its top: a curve with too few
/// requests to reach the top ends at its slowest request.
fn points(latencies: &Latencies, steps: usize) -> Vec<Point> {
    let (all, top) = (latencies.count() as f64, steps as f64);
    let mut points = Vec::new();
    let mut below = 0.0;
    for (latency, slower) in latencies.later_than() {
        let above = if slower == 0 { all.log10() } else { (all / slower as f64).log10() };
        let above = above.min(top);
        if latency > Span::ZERO {
            let ns = latency.0 as f64;
            points.extend([below, above].map(|slower_than| Point { ns, slower_than }));
        }
        below = above;
        if above >= top {
            break;
        }
    }
    points
}

/// Range of a chart's time axis, in nanoseconds, from one round value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    from: f64,
    until: f64,
}

/// Factors of round values on a time axis: a round value is one of these times a power of ten.
const ROUND: [f64; 3] = [1.0, 2.0, 5.0];

impl Range {
    /// Returns the smallest range of the time axis between round values that contains all times;
    /// `None` without times.
    fn of(times: impl Iterator<Item = f64> + Clone) -> Option<Range> {
        let least = times.clone().min_by(f64::total_cmp)?;
        let most = times.max_by(f64::total_cmp)?;
        let from = round_values().take_while(|&it| it <= least).last()?;
        let until = round_values().find(|&it| it >= most && it > from)?;
        Some(Range { from, until })
    }

    /// Returns the position of a time between the ends of the axis, from 0 to 1.
    fn share(self, ns: f64) -> f64 {
        ((ns / self.from).ln() / (self.until / self.from).ln()).clamp(0.0, 1.0)
    }

    /// Returns the round values on the time axis, in nanoseconds.
    fn values(self) -> impl Iterator<Item = f64> {
        round_values().skip_while(move |&it| it < self.from).take_while(move |&it| it <= self.until)
    }
}

/// Returns round times in nanoseconds, ascending, beyond the longest latency that is counted.
fn round_values() -> impl Iterator<Item = f64> {
    (0..=20).flat_map(|power| ROUND.map(|it| it * 10f64.powi(power)))
}

/// Formats a round time with its unit.
fn label(ns: f64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
    let (unit, one) = units.into_iter().find(|(_, one)| ns >= *one).unwrap_or(units[3]);
    format!("{} {unit}", ns / one)
}

/// Returns the time axis with its ticks, and a line of labels: first those of the powers of ten,
/// then the others that have room.
fn axis(range: Range, width: usize) -> String {
    let is_power = |ns: f64| ns.log10().fract().abs() < 1e-9;
    let mut values: Vec<f64> = range.values().collect();
    values.sort_by_key(|&ns| !is_power(ns));
    let mut ticks: Vec<(usize, usize, String)> = Vec::new();
    for ns in values {
        let (text, tick) = (label(ns), (range.share(ns) * (width - 1) as f64).round() as usize);
        let first = tick.saturating_sub(text.len() / 2).min(width - text.len());
        let last = first + text.len();
        if ticks.iter().all(|(_, at, other)| at + other.len() + 2 <= first || last + 2 <= *at) {
            ticks.push((tick, first, text));
        }
    }
    ticks.sort();
    let mut line: Vec<char> = vec!['\u{2500}'; width];
    let mut labels = String::new();
    for (tick, first, text) in ticks {
        line[tick] = '\u{252c}';
        labels += &" ".repeat(first - columns(&labels));
        labels += &text;
    }
    let line: String = line.into_iter().collect();
    format!("{:>MARGIN$}\u{2514}{line}\n{:>MARGIN$} {labels}\n", "", "")
}

/// A character cell without dots. The Braille pattern without dots is no blank in every font.
const EMPTY: char = ' ';

/// A grid of Braille dots, two by four per character cell.
struct Canvas {
    width: usize,
    height: usize,
    /// Dots of each character cell, row by row from the top, as bits of a Braille pattern.
    cells: Vec<u8>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Canvas {
        Canvas { width, height, cells: vec![0; width * height] }
    }

    fn dots_across(&self) -> usize {
        self.width * ACROSS
    }

    fn dots_upwards(&self) -> usize {
        self.height * UPWARDS
    }

    /// Sets one braille dot of the chart's canvas, at `x` dots from the left and `up` dots from the
    /// bottom.
    fn dot(&mut self, (x, up): (usize, usize)) {
        /// Bits of a Braille pattern for the dots of a cell: for each column, from the top.
        const BITS: [[u8; UPWARDS]; ACROSS] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let y = self.dots_upwards() - 1 - up;
        let cell = y / UPWARDS * self.width + x / ACROSS;
        self.cells[cell] |= BITS[x % ACROSS][y % UPWARDS];
    }

    /// Draws a curve of the latency chart: connects the positions `dots` (from the left, from the
    /// bottom) by horizontal and vertical lines, of which every `every`-th dot is drawn.
    fn path(&mut self, dots: &[(usize, usize)], every: usize) {
        let mut step = 0;
        let mut last = None;
        for &(x, up) in dots {
            let (mut at_x, mut at_up) = *last.get_or_insert((x, up));
            loop {
                if step % every == 0 {
                    self.dot((at_x, at_up));
                }
                if (at_x, at_up) == (x, up) {
                    break;
                }
                step += 1;
                // To the right first, then upwards.
                match at_x < x {
                    true => at_x += 1,
                    false => at_up += 1,
                }
            }
            last = Some((x, up));
        }
    }

    /// Returns the chart's grid of dots as lines of braille characters, from the top.
    fn rows(&self) -> impl Iterator<Item = String> {
        let pattern = |bits: u8| char::from_u32(0x2800 + u32::from(bits)).unwrap_or(EMPTY);
        let character = move |&bits: &u8| if bits == 0 { EMPTY } else { pattern(bits) };
        self.cells.chunks(self.width).map(move |row| row.iter().map(character).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(all: impl IntoIterator<Item = (u64, u64)>) -> Latencies {
        let mut latencies = Latencies::new();
        all.into_iter().for_each(|(ns, count)| latencies.record_many(Span(ns), count));
        latencies
    }

    fn drawn(first: &Latencies, second: &Latencies, width: usize) -> String {
        let curve = |name, latencies| Curve { name, latencies };
        draw(&[curve("reads", first), curve("writes", second)], Some(width))
    }

    /// Returns the column of a row's label, and the columns that have dots, counted from the left
    /// axis.
    fn dots(row: &str) -> Vec<usize> {
        let (_, cells) = row.split_once(['\u{2502}', '\u{2524}']).unwrap();
        cells.chars().enumerate().filter(|(_, it)| *it != EMPTY).map(|(at, _)| at).collect()
    }

    #[test]
    fn a_curve_is_at_the_latency_of_each_percentile() {
        // 90 % take 10 us, 9 % 100 us, 0.9 % 1 ms, and the rest 10 ms.
        let reads = latencies([(10_000, 9_000), (100_000, 900), (1_000_000, 90), (10_000_000, 10)]);
        let text = drawn(&reads, &Latencies::new(), 70);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("reads") && !lines[0].contains("writes"), "{text}");
        let labels = lines.last().unwrap();
        let of_label = |name: &str| {
            labels.find(name).unwrap_or_else(|| panic!("{name}:\n{text}")) - MARGIN - 1
        };
        for (row, time) in [("p90", "10 us"), ("p99", "100 us"), ("p99.9", "1 ms")] {
            // The row below a label has the vertical line of its step.
            let is_row = |it: &str| it.trim_start().split('\u{2524}').next() == Some(row);
            let at = lines.iter().copied().position(is_row).unwrap() + 1;
            let (dots, label) = (dots(lines[at]), of_label(time));
            let near = |at: &usize| at.abs_diff(label + time.len() / 2) <= 3;
            assert!(dots.iter().any(near), "{row} at {time}: {dots:?} {label}\n{text}");
        }
    }

    #[test]
    fn no_line_is_wider_than_the_chart_may_be() {
        for seed in 0..200u64 {
            let mut state = seed;
            let mut below = |most: u64| {
                // A linear congruential generator (Knuth's MMIX).
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) % most
            };
            let mut any = || {
                let (count, octaves) = (below(2_000), 1 + below(63));
                let of_octave = |octave: u64| (1u64 << octave, 1 + octave % 7);
                latencies((0..count).map(|_| of_octave(below(octaves))))
            };
            let (reads, writes) = (any(), any());
            for width in [60, 61, 80, 200] {
                let text = drawn(&reads, &writes, width);
                let widest = text.lines().map(columns).max().unwrap_or(0);
                assert!(widest <= width.min(WIDEST), "seed {seed}, {width}: {widest}\n{text}");
                assert!(text.lines().count() <= 12, "seed {seed}:\n{text}");
            }
        }
    }

    #[test]
    fn times_without_a_range_have_a_chart_and_no_times_have_none() {
        assert_eq!(drawn(&Latencies::new(), &Latencies::new(), 60), "");
        assert_eq!(drawn(&latencies([(0, 50)]), &Latencies::new(), 60), "");
        let one = drawn(&latencies([(10_000, 50)]), &Latencies::new(), 60);
        assert!(one.contains("10 us") && one.contains("20 us"), "{one}");
        let widest = drawn(&latencies([(1, 9), (u64::MAX, 9)]), &Latencies::new(), 60);
        assert!(widest.contains("1 ns") && widest.contains(" s"), "{widest}");
    }

    #[test]
    fn a_handful_of_requests_has_no_chart() {
        for (count, lines) in [(9, 0), (10, 9), (100, 11), (1_000, 12), (10_000, 11)] {
            let text = drawn(&latencies([(10_000, count)]), &Latencies::new(), 60);
            assert_eq!(text.lines().count(), lines, "{count}:\n{text}");
        }
    }

    /// Where two curves share cells, the dotted curve has fewer dots.
    #[test]
    fn the_second_curve_has_a_third_of_the_dots() {
        let same = latencies((1..=1_000u64).map(|it| (it * 1_000, 1)));
        let count = |text: &str| -> u32 {
            let cells = text.lines().skip(1).flat_map(str::chars);
            cells
                .map(|it| u32::from(it).wrapping_sub(0x2800))
                .filter(|it| *it < 256)
                .map(u32::count_ones)
                .sum()
        };
        let (solid, dotted) =
            (drawn(&same, &Latencies::new(), 80), drawn(&Latencies::new(), &same, 80));
        assert!(count(&solid) > 2 * count(&dotted) && count(&dotted) > 30, "{solid}\n{dotted}");
    }
}
