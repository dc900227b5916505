//! The JSON of a life and its schema, from the same lists.

use super::report::{ROWS, Row, cdf, difference};
use super::{EndOfLife, Lifetime, Series, fleet};
use fowler_device::ThrottleTime;
use fowler_experiment::json_schema;
use fowler_experiment::json_schema::output::{self, Fact, Typed, list_of, map_of, written};
use fowler_experiment::json_schema::{described, nullable};
use fowler_experiment::summary::by_source;
use fowler_metrics::Latencies;
use serde_json::{Value, json};

/// One simulated life for JSON, with the lifetime that it belongs to.
struct One<'a> {
    all: &'a Lifetime,
    lived: &'a EndOfLife,
}

/// Points of a time series for JSON, and the length of the part of the life that each point sums,
/// in seconds.
struct Points {
    points: Vec<(f64, f64, f64, f64)>,
    seconds: f64,
}

impl Lifetime {
    /// Returns the result of a lifetime as one JSON object. Unknown numbers are null; there are no
    /// infinities.
    pub fn json(&self) -> Value {
        written(&facts(), self)
    }

    /// Returns the relative difference of each number of the lifetime when twice as many real
    /// repetitions of the workload are covered by each simulated one; null where it is unknown.
    fn changes(&self) -> Value {
        let [first, second] = &self.lived[..] else { return Value::Null };
        let change = |row: &Row| {
            let values = [first, second].map(|one| (row.value)(self, one));
            (row.key.to_string(), json!(difference(values[0], values[1])))
        };
        Value::Object(ROWS.iter().map(change).collect())
    }

    fn intervals(&self) -> Value {
        let interval = |row: &Row| {
            let bounds = self.dilated(row);
            let bounds = bounds.map(|bounds| json!([bounds.low, bounds.extrapolated, bounds.high]));
            (row.key.to_string(), bounds.unwrap_or(Value::Null))
        };
        Value::Object(ROWS.iter().map(interval).collect())
    }

    fn series_json(&self, series: &Series, dilation: u32) -> Value {
        let seconds = series.step.0 as f64 / 1e9;
        written(&of_series(), &Points { points: self.points(series, dilation), seconds })
    }
}

/// Returns the JSON Schema of the summary that `fowler lifetime` writes into `summary.json` and
/// prints with `--json`.
pub fn schema() -> Value {
    let about = "The simulated life of a drive. Unknown values are null; there are no infinities.";
    json_schema::document("Fowler: the summary of a life", about, output::schema(&facts()))
}

fn facts() -> Vec<Fact<Lifetime>> {
    type It = Lifetime;
    let row = |row: &Row| (row.key.to_string(), described(Option::<f64>::schema(), &row.about()));
    let keys: Vec<&str> = ROWS.iter().map(|row| row.key).collect();
    let changes = json_schema::object(ROWS.iter().map(row).collect(), &keys);
    vec![
        Fact::new("scheme", "The scheme on the drive.", |it: &It| it.drive.scheme.clone()),
        Fact::new("device", "The drive: a preset or a file.", |it: &It| it.drive.device.clone()),
        Fact::new("workload", "The generator or the trace file.", |it: &It| {
            it.workload.name.clone()
        }),
        Fact::new("workload_hash", "Hash of the workload.", |it: &It| it.workload.hash.clone()),
        Fact::new("target_s", "The target life in seconds.", |it: &It| it.target().as_s()),
        Fact::new(
            "repetition_s",
            "Length of one repetition of the workload, in seconds.",
            |it: &It| it.survey.span.as_s(),
        ),
        Fact::new("repetition_writes", "Number of writes in one repetition.", |it: &It| {
            it.survey.writes
        }),
        Fact::new(
            "repetition_pages",
            "Number of pages that the writes of a repetition touch.",
            |it: &It| it.survey.pages,
        ),
        Fact::new("precondition", "State of the drive before the life.", |it: &It| {
            it.precondition.clone()
        }),
        Fact::new("left_out", "Effects that the lifetime model does not simulate.", |it: &It| {
            it.left_out.clone()
        }),
        Fact::new(
            "lives",
            "The life at the chosen dilation, and the check at twice that dilation.",
            |it: &It| {
                let facts = of_life();
                let one = |lived| written(&facts, &One { all: it, lived });
                it.lived.iter().map(one).collect::<Vec<_>>()
            },
        )
        .like(list_of(output::schema(&of_life()))),
        Fact::new(
            "change",
            "Share by which each number differs at twice the dilation; null without the check.",
            It::changes,
        )
        .like(nullable(changes)),
        Fact::new(
            "dilation_interval",
            "Bounds of each number for the undilated life, and its extrapolated value; null where \
                unknown.",
            It::intervals,
        )
        .like(intervals()),
        fleet::fact(),
        Fact::new("config_hash", "A hash of the drive's complete description.", |it: &It| {
            it.drive.hash.clone()
        }),
        Fact::new("config", "The drive as TOML, with every key.", |it: &It| it.drive.text.clone()),
        Fact::new("generator", "The generator as TOML; null for traces.", |it: &It| {
            it.workload.generator.clone()
        }),
        Fact::new("version", "The version of Fowler.", |_: &It| {
            fowler_experiment::provenance::VERSION
        }),
    ]
}

fn intervals() -> Value {
    let of =
        |row: &Row| (row.key.to_string(), described(Option::<[f64; 3]>::schema(), &row.about()));
    let keys: Vec<&str> = ROWS.iter().map(|row| row.key).collect();
    json_schema::object(ROWS.iter().map(of).collect(), &keys)
}

fn of_life<'a>() -> Vec<Fact<One<'a>>> {
    type It<'a> = One<'a>;
    let mut facts = vec![Fact::new(
        "dilation",
        "Dilation: number of real repetitions that each simulated one stands for.",
        |it: &It| it.lived.dilation,
    )];
    let number = |row: &'static Row| {
        Fact::new(row.key, row.about(), |it: &It| (row.value)(it.all, it.lived))
    };
    facts.extend(ROWS.iter().map(number));
    let series = output::schema(&of_series());
    facts.extend([
        Fact::new("throttled_s", "Total time by which page writes were throttled.", |it: &It| {
            let ThrottleTime { delayed, stopped } = it.lived.counters.throttled;
            json!({ "spread": delayed.as_s(), "stopped": stopped.as_s() })
        })
        .like(map_of(f64::schema())),
        Fact::new("stops", "Writes that the throttle stopped.", |it: &It| it.lived.counters.stops),
        Fact::new("pages_written", "Pages that the host wrote.", |it: &It| {
            it.lived.counters.pages_written
        }),
        Fact::new("programs", "Pages programmed, by source.", |it: &It| {
            by_source(it.lived.counters.programs)
        })
        .like(map_of(u64::schema())),
        Fact::new(
            "epochs_predicted",
            "Number of epochs predicted, and number predicted well.",
            |it: &It| {
                let predicted = it.lived.throttle.predicted;
                [predicted.epochs, predicted.right]
            },
        ),
        Fact::new(
            "response_cdf_us",
            "Distribution of response times of page writes: microseconds, and the share that took \
                no longer.",
            |it: &It| pairs(&it.lived.record.responses),
        ),
        Fact::new(
            "delay_cdf_us",
            "Distribution of throttling delays: microseconds, and the share that took no longer.",
            |it: &It| pairs(&it.lived.record.delays),
        ),
        Fact::new("series", "Numbers of the life, sampled over its years.", |it: &It| {
            it.all.series_json(&it.lived.record.life, it.lived.dilation)
        })
        .like(series.clone()),
        Fact::optional(
            "close_up",
            "A part of the life second by second, if requested; null if the life ended before it.",
            |it: &It| {
                let record = &it.lived.record;
                let close_up = || it.all.series_json(&record.close_up, 1);
                record.close_up_came().map(|came| if came { close_up() } else { Value::Null })
            },
        )
        .like(nullable(series)),
    ]);
    facts
}

fn pairs(latencies: &Latencies) -> Vec<[f64; 2]> {
    cdf(latencies).into_iter().map(|(us, share)| [us, share]).collect()
}

fn of_series() -> Vec<Fact<Points>> {
    type It = Points;
    fn all(it: &It, value: impl Fn(&(f64, f64, f64, f64)) -> f64) -> Vec<f64> {
        it.points.iter().map(value).collect()
    }
    vec![
        Fact::new("years", "Years since the life began.", |it: &It| all(it, |it| it.0)),
        Fact::new("host_mb_s", "Written by the host, in MiB/s.", |it: &It| {
            all(it, |point| point.1 / it.seconds)
        }),
        Fact::new("flash_mb_s", "Programmed, in MiB/s.", |it: &It| {
            all(it, |point| point.2 / it.seconds)
        }),
        Fact::new("delay_us", "Mean throttling delay of a page.", |it: &It| all(it, |it| it.3)),
    ]
}
