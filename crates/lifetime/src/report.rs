//! The table of a lifetime, and the numbers behind its JSON and its figures.

use super::{EndOfLife, Lifetime, Series};
use fowler_device::ThrottleTime;
use fowler_experiment::life_estimate::{YEAR_S, in_words};
use fowler_experiment::numbers::real;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::{Latencies, Percentile};
use fowler_units::Span;

/// Bytes in a binary terabyte (2^40).
const TB: f64 = (1u64 << 40) as f64;
/// Bytes in a binary megabyte (2^20).
const MB: f64 = (1u64 << 20) as f64;

/// A row of the table of a lifetime: one number of the drive's life.
pub(super) struct Row {
    name: &'static str,
    pub(super) key: &'static str,
    pub(super) value: fn(&Lifetime, &EndOfLife) -> Option<f64>,
}

impl Row {
    /// Returns the description of a lifetime result (such as WAF) for the JSON Schema: its name in
    /// the table of results, as a sentence.
    pub(super) fn about(&self) -> String {
        let mut letters = self.name.chars();
        let first = letters.next().map(|it| it.to_uppercase().to_string());
        format!("{}{}.", first.unwrap_or_default(), letters.as_str())
    }
}

macro_rules! rows {
    ($($key:literal, $name:literal => $value:expr;)+) => {
        &[$(Row { key: $key, name: $name, value: $value }),+]
    };
}

/// Rows of the table that `fowler lifetime` prints, from top to bottom: JSON key, title and value.
pub(super) const ROWS: &[Row] = rows! {
    "effective_lifetime_years", "effective lifetime (years)" => |all, one| {
        Some(one.lives()? * all.target().as_s() / YEAR_S)
    };
    "c_ssd_tb", "C_ssd (TB)" => |all, one| Some(one.totals.rated * all.page() / TB);
    "c_ssd_recovered_tb", "C'_ssd (TB)" => |all, one| Some(one.totals.achievable * all.page() / TB);
    "w_work_tb", "W_work (TB)" => |all, one| Some(one.totals.programmed * all.page() / TB);
    "waf", "WAF" => |_, one| one.waf();
    "wearing_weight", "wear of a program (nominal: 1)" => |_, one| one.wearing_weight();
    "idle_hours", "mean idle time of a block (h)" => |_, one| Some(one.totals.idle?.as_s() / 3600.0);
    "cycles_least", "cycles of the least worn block" => |_, one| Some(one.wear.least);
    "cycles_mean", "cycles, mean" => |_, one| Some(one.wear.mean);
    "cycles_most", "cycles of the most worn block" => |_, one| Some(one.wear.most);
    "first_worn_years", "until the first block passes its rated cycles (years)" => |all, one| {
        one.is_worn_unevenly().then(|| all.first_worn_years(one))
    };
    "retired_blocks", "blocks retired" => |_, one| Some(one.bad_blocks?.retired as f64);
    "spare_used_up_years", "spare blocks used up after (years)" => |_, one| {
        Some(one.bad_blocks?.worn_out?.0 as f64 / 1e9 * f64::from(one.dilation) / YEAR_S)
    };
    "response_mean_us", "page write, mean (us)" => |_, one| one.record.responses.mean_us();
    "response_deviation_us", "page write, standard deviation (us)" => |_, one| one.record.deviation_us();
    "response_p50_us", "page write, p50 (us)" => |_, one| at(&one.record.responses, Percentile::P50);
    "response_p99_us", "page write, p99 (us)" => |_, one| at(&one.record.responses, Percentile::P99);
    "response_p9999_us", "page write, p99.99 (us)" => |_, one| at(&one.record.responses, Percentile::P9999);
    "response_max_us", "page write, max (us)" => |_, one| one.record.responses.max().map(Span::as_us);
    "delay_mean_us", "throttling delay, mean (us)" => |_, one| one.record.delays.mean_us();
    "delay_p50_us", "throttling delay, p50 (us)" => |_, one| at(&one.record.delays, Percentile::P50);
    "delay_p99_us", "throttling delay, p99 (us)" => |_, one| at(&one.record.delays, Percentile::P99);
    "delay_p9999_us", "throttling delay, p99.99 (us)" => |_, one| at(&one.record.delays, Percentile::P9999);
    "spread_share", "of which spread over page writes (share)" => |_, one| {
        let ThrottleTime { delayed, stopped } = one.counters.throttled;
        let (delayed, stopped) = (delayed.as_s(), stopped.as_s());
        (delayed + stopped > 0.0).then(|| delayed / (delayed + stopped))
    };
    "stops_per_million", "forced stops per million page writes" => |_, one| {
        let pages = one.counters.pages_written;
        (pages > 0).then(|| one.counters.stops as f64 / pages as f64 * 1e6)
    };
    "blocked_at_end_s", "wait of the write pending at the end (s, simulated)" => |_, one| {
        Some(one.blocked_at_end.as_s()).filter(|&seconds| seconds > 0.0)
    };
    "host_mb_s", "written by the host (MB/s)" => |all, one| {
        let seconds = all.target().as_s() / f64::from(one.dilation);
        Some(one.counters.pages_written as f64 * all.page() / MB / seconds)
    };
    "accuracy", "epochs predicted well (share)" => |_, one| one.accuracy();
    "epoch_s", "epoch at the end (s)" => |_, one| Some(one.throttle.epoch?.as_s());
    "repetitions", "repetitions simulated" => |_, one| Some(one.repetitions as f64);
};

fn at(all: &Latencies, percentile: Percentile) -> Option<f64> {
    all.percentile(percentile).map(Span::as_us)
}

impl Lifetime {
    /// Returns the table of a lifetime: each number with K and 2 K real repetitions of the workload
    /// per simulated one (dilation), the relative difference, and the bounds for a life in which
    /// every repetition is simulated.
    pub fn sheet(&self) -> Sheet {
        let title = format!(
            "{} under {}, {} days with {} repeated",
            self.drive.device,
            self.drive.scheme,
            // Round to a quarter of an hour: a lifetime given in years is not a whole number of
            // days.
            (self.target().as_s() / 864.0).round() / 100.0,
            self.workload.name
        );
        let compared = self.lived.len() > 1;
        let heads: Vec<String> = std::iter::once("quantity".to_string())
            .chain(self.lived.iter().map(|one| format!("K = {}", one.dilation)))
            .chain(compared.then(|| "difference".to_string()))
            .chain(compared.then(|| "undilated, from".to_string()))
            .chain(compared.then(|| "to".to_string()))
            .collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut sheet = Sheet::new("lifetime", title, &heads);
        for row in ROWS {
            let values: Vec<Option<f64>> =
                self.lived.iter().map(|one| (row.value)(self, one)).collect();
            if values.iter().all(Option::is_none) {
                continue;
            }
            let mut cells = vec![Cell::from(row.name)];
            cells.extend(values.iter().map(|&value| Cell::number(value)));
            if let [first, second] = values[..] {
                cells.push(Cell::share(difference(first, second)));
                let bounds = self.dilated(row);
                cells.push(Cell::number(bounds.map(|it| it.low)));
                cells.push(Cell::number(bounds.map(|it| it.high)));
            }
            sheet.row(cells);
        }
        sheet
    }

    /// Returns a sentence on how long the drive lives, and on the cause of wear. If a simulated
    /// repetition of the workload stands for several real ones, the sentence includes the bounds of
    /// that error.
    pub fn verdict(&self) -> String {
        let of = |key: &str| ROWS.iter().find(|row| row.key == key);
        let Some((first, row)) = self.lived.first().zip(of("effective_lifetime_years")) else {
            return String::new();
        };
        let Some(years) = (row.value)(self, first) else {
            return "The host wrote nothing that reached the flash, so nothing wears the drive."
                .into();
        };
        let bounds = self.dilated(row).filter(|it| it.low < it.high);
        let bounds = bounds.map_or(String::new(), |it| {
            format!(" ({} to {} undilated)", how_long(it.low), how_long(it.high))
        });
        let waf = first.waf().map_or(String::new(), |waf| {
            format!(", at {} pages programmed for each page of the host (WAF)", real(waf))
        });
        let uneven = first.is_worn_unevenly().then(|| {
            format!(
                " That is the life of its mean block: wear is far from even, and the first block passes \
                 the {} cycles that it is rated for after {}; policy.wear levels wear.",
                real(self.drive.config.life.cycles),
                how_long(self.first_worn_years(first))
            )
        });
        format!(
            "{} lives {}{bounds} with {} repeated{waf}; its blocks have {} cycles on average, {} at \
             most.{}",
            self.drive.device,
            how_long(years),
            self.workload.name,
            real(first.wear.mean),
            real(first.wear.most),
            uneven.unwrap_or_default(),
        )
    }

    /// Returns the years until the most worn block passes its rated P/E cycles (configuration key
    /// `lifetime.cycles`), at that block's rate of wear and without recovery of the cells.
    fn first_worn_years(&self, one: &EndOfLife) -> f64 {
        let worn = one.wear.most * one.wearing_weight().unwrap_or(1.0);
        self.target().as_s() / YEAR_S * self.drive.config.life.cycles / worn
    }

    /// Returns for each part of a lifetime: years since the start, megabytes written by the host
    /// and to flash, and the mean delay of a page in microseconds.
    pub(super) fn points(&self, series: &Series, dilation: u32) -> Vec<(f64, f64, f64, f64)> {
        let year = |part: usize| {
            (part as f64 + 0.5) * series.step.0 as f64 / 1e9 * f64::from(dilation) / YEAR_S
        };
        let mb = |pages: u64| pages as f64 * self.page() / MB;
        let point = |part: usize| {
            let pages = series.pages[part];
            let throttled = series.spread[part] + series.stopped[part];
            let delay = if pages > 0 { throttled.0 as f64 / pages as f64 / 1e3 } else { 0.0 };
            (year(part), mb(pages), mb(series.programmed[part]), delay)
        };
        (0..series.pages.len()).map(point).collect()
    }
}

/// Formats a time in years, or in days if it is less than one.
fn how_long(years: f64) -> String {
    match years < 1.0 {
        true => format!("{} days", real(years * 365.0)),
        false => format!("{} years", in_words(years)),
    }
}

/// Returns the relative difference `second / first - 1` of a result between two simulated lives;
/// `None` if a value is missing or only `first` is zero.
pub(super) fn difference(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    let (first, second) = (first?, second?);
    if first == second { Some(0.0) } else { (first != 0.0).then(|| second / first - 1.0) }
}

/// The most points of a distribution of latencies in a chart.
const POINTS: usize = 200;

/// Returns the cumulative distribution of latencies: latency in microseconds, and the share of
/// pages at or below it.
pub(crate) fn cdf(all: &Latencies) -> Vec<(f64, f64)> {
    let (values, count) = (all.values(), all.count() as f64);
    let (mut points, mut below) = (Vec::new(), 0u64);
    let mut next = 0.0;
    for (number, &(value, here)) in values.iter().enumerate() {
        below += here;
        let share = below as f64 / count;
        if share >= next || number + 1 == values.len() {
            let most = all.max().map_or(value, |max| value.min(max.0));
            points.push((most as f64 / 1e3, share.min(1.0)));
            next = share + 1.0 / POINTS as f64;
        }
    }
    points
}
