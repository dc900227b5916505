//! The results as JSON, and their schema, from the same lists.

use super::element::Element;
use super::rounds::{Point, Rounds};
use super::series::verdict;
use super::{Found, Preconditioned, Pts, Saturation, Setting, Tested};
use fowler_device::Doing;
use fowler_experiment::Percentile;
use fowler_experiment::json_schema::output::{
    self, Fact, Typed, all_written, list_of, map_of, written,
};
use fowler_experiment::json_schema::{self, nullable};
use fowler_experiment::outcome::write_amplification::Withheld;
use serde_json::{Map, Value, json};

/// Method of the tests of `fowler pts`, in words, for the HTML page and the JSON.
pub(super) const MANNER: &str = "in the manner of SNIA's Solid State Storage Performance Test Specification (PTS), on a simulated drive";

impl Pts {
    /// Returns the results of all tests as one JSON object. Unknown numbers are null; there are no
    /// infinities.
    pub fn json(&self) -> Value {
        written(&facts(), self)
    }
}

/// Returns the JSON Schema of the summary that `fowler pts` writes into `summary.json` and prints
/// with `--json`.
pub fn schema() -> Value {
    let about = "Results of standard tests of a drive. Unknown values are null; there are no \
        infinities.";
    json_schema::document("Fowler: the summary of tests", about, output::schema(&facts()))
}

fn facts() -> Vec<Fact<Pts>> {
    type It = Pts;
    vec![
        Fact::new("about", "Method of the tests.", |_: &It| format!("Tests {MANNER}")),
        Fact::new("conforms", "True if the tests conform to PTS: always false.", |_: &It| false),
        Fact::new("device", "The drive: a preset or a file.", |it: &It| {
            it.setup.drive.device.clone()
        }),
        Fact::new("scheme", "The scheme on the drive.", |it: &It| it.setup.drive.scheme.clone()),
        Fact::new("capacity", "Bytes that the host sees.", |it: &It| {
            it.setup.drive.layout.logical.0
        }),
        Fact::new(
            "minute_s",
            "Seconds of simulated time in a minute of the test; 60 in PTS.",
            |it: &It| it.spec.minute.as_s(),
        ),
        Fact::list(
            "settings",
            "Settings of the tests, each with the source of its value.",
            of_setting,
            |it: &It| &it.setup.settings,
        ),
        Fact::list("tests", "The tests that were finished.", of_test, |it: &It| &it.tested),
        Fact::new("stopped", "The tests that were stopped.", |it: &It| {
            it.stopped.iter().map(|test| test.name().to_string()).collect::<Vec<_>>()
        }),
        Fact::new("config_hash", "A hash of the drive's complete description.", |it: &It| {
            it.setup.drive.hash.clone()
        }),
        Fact::new("config", "The purged drive as TOML, with every key.", |it: &It| {
            it.setup.drive.text.clone()
        }),
        Fact::new("version", "The version of Fowler.", |_: &It| {
            fowler_experiment::provenance::VERSION
        }),
    ]
}

fn of_setting() -> Vec<Fact<Setting>> {
    type It = Setting;
    vec![
        Fact::new("name", "Name of the setting.", |it: &It| it.name),
        Fact::new("value", "Value of the setting.", |it: &It| it.value.clone()),
        Fact::new("source", "Source of the setting's value.", |it: &It| it.source),
    ]
}

fn of_test() -> Vec<Fact<Tested>> {
    type It = Tested;
    let elements = list_of(output::schema(&of_element()));
    let mut facts = vec![
        Fact::new("test", "Name of the test.", |it: &It| it.test.name()),
        Fact::new("title", "Title of the test.", |it: &It| it.test.title()),
        Fact::new("ended", "How the test ended.", Tested::ended),
        Fact::new("simulated_s", "Simulated seconds since the purge.", |it: &It| {
            it.simulated.as_s()
        }),
        Fact::new("threads", "Number of threads; null if the test varies it.", |it: &It| it.load.0),
        Fact::new(
            "queue_depth",
            "Outstanding requests per thread; null if the test varies them.",
            |it: &It| it.load.1,
        ),
        Fact::list(
            "preconditioned",
            "Preconditioning writes after each purge.",
            of_preconditioned,
            |it: &It| &it.preconditioned,
        ),
        Fact::new("parts", "Rounds of elements, and their steady state.", |it: &It| {
            all_written(&of_rounds(), &parts(&it.found))
        })
        .like(list_of(output::schema(&of_rounds()))),
        Fact::new("series", "Loads minute by minute or burst by burst, by name.", |it: &It| {
            let facts = of_element();
            let one = |(name, all): (String, &[Element])| (name, all_written(&facts, all).into());
            series(&it.found).into_iter().map(one).collect::<Map<_, _>>()
        })
        .like(map_of(elements)),
    ];
    facts.extend(of_one_kind());
    facts
}

/// Returns the JSON fields that only some of the PTS tests have, such as the fall of throughput in
/// the write saturation test; null or empty for all others.
fn of_one_kind() -> Vec<Fact<Tested>> {
    type It = Tested;
    fn saturation(it: &It) -> Option<&Saturation> {
        match &it.found {
            Found::Saturation(all) => Some(all),
            _ => None,
        }
    }
    vec![
        Fact::new(
            "cliff",
            "Minute in which throughput fell in write saturation, and the causes.",
            |it: &It| saturation(it)?.cliff().map(|cliff| cliff.sentence()),
        ),
        Fact::new(
            "waf_theory",
            "Write amplification of saturated random writes in theory.",
            |it: &It| saturation(it)?.theory,
        ),
        Fact::new("recovery_minute", "The minute of recovery of a cross stimulus.", |it: &It| {
            match &it.found {
                Found::CrossStimulus(all) => all.recovery(),
                _ => None,
            }
        }),
        Fact::list(
            "histograms",
            "Response times at three points of demand.",
            of_histogram,
            |it: &It| match &it.found {
                Found::Demand(all) => &all.histograms,
                _ => &[],
            },
        ),
    ]
}

/// Rounds of a test with their name.
type Part<'a> = (String, &'a Rounds);

fn parts(found: &Found) -> Vec<Part<'_>> {
    match found {
        Found::Matrix(matrix) => vec![("rounds".into(), &matrix.rounds)],
        Found::Throughput(sizes) => {
            sizes.iter().map(|(size, rounds)| (format!("{} KiB", size >> 10), rounds)).collect()
        }
        Found::HostIdle(all) => vec![("baseline".into(), &all.base)],
        Found::Demand(all) => vec![("writes".into(), &all.base), ("rounds".into(), &all.rounds)],
        Found::Saturation(_) | Found::CrossStimulus(_) => Vec::new(),
    }
}

fn series(found: &Found) -> Vec<(String, &[Element])> {
    match found {
        Found::Saturation(all) => vec![("minutes".into(), &all.minutes)],
        Found::CrossStimulus(all) => {
            let groups = all.groups.iter().enumerate();
            groups.map(|(n, group)| (format!("group {}", n + 1), &group.minutes[..])).collect()
        }
        Found::HostIdle(all) => all
            .waits
            .iter()
            .flat_map(|waited| {
                let wait = waited.seconds;
                [
                    (format!("bursts, wait {wait} s"), &waited.bursts[..]),
                    (format!("return after wait {wait} s"), &waited.back[..]),
                ]
            })
            .collect(),
        Found::Matrix(_) | Found::Throughput(_) | Found::Demand(_) => Vec::new(),
    }
}

fn of_preconditioned() -> Vec<Fact<Preconditioned>> {
    type It = Preconditioned;
    vec![
        Fact::new("size", "Size of a write in bytes.", |it: &It| it.size),
        Fact::new("bytes", "Bytes written.", |it: &It| it.bytes),
        Fact::new("simulated_s", "Duration of the load, in seconds.", |it: &It| {
            it.simulated.as_s()
        }),
        Fact::new("waf", "Write amplification; null if hardly anything was erased.", |it: &It| {
            it.waf
        }),
    ]
}

fn of_rounds<'a>() -> Vec<Fact<Part<'a>>> {
    type It<'a> = Part<'a>;
    let verdicts = ["average", "data_excursion", "slope", "slope_excursion", "intercept"];
    let number = |name: &'static str| {
        Fact::new(
            name,
            "Steady-state values of the first steady window; null if there is none.",
            move |it: &It| steady(it.1)[name].as_f64(),
        )
    };
    let mut facts = vec![
        Fact::new("name", "Name of these rounds of elements.", |it: &It| it.0.clone()),
        Fact::new("variable", "The tracking variable.", |it: &It| it.1.variable.name()),
        Fact::new("tracked", "The tracked element, counted from 0.", |it: &It| it.1.tracked),
        Fact::new("values", "The tracking variable of each round.", |it: &It| it.1.tracking()),
        Fact::new(
            "steady_round",
            "Round in which steady state was reached; null if it was not.",
            |it: &It| steady(it.1)["steady_round"].as_u64(),
        ),
        Fact::new("window", "First and last round of the tracking variable.", |it: &It| {
            steady(it.1)["window"].clone()
        })
        .like(nullable(<[u64; 2]>::schema())),
    ];
    facts.extend(verdicts.map(number));
    facts.extend([
        Fact::new("measured", "First and last round of the measurement window.", |it: &It| {
            json!([it.1.window.first, it.1.window.last])
        })
        .like(<[u64; 2]>::schema()),
        Fact::new("points", "The elements of a round.", |it: &It| {
            all_written(&of_point(), &it.1.points)
        })
        .like(list_of(output::schema(&of_point()))),
        Fact::new("rounds", "Measurements, by round and element.", |it: &It| {
            let facts = of_element();
            it.1.rounds
                .iter()
                .map(|round| all_written(&facts, round).into())
                .collect::<Vec<Value>>()
        })
        .like(list_of(list_of(output::schema(&of_element())))),
    ]);
    facts
}

fn steady(rounds: &Rounds) -> Map<String, Value> {
    verdict(Some(&rounds.window).filter(|window| window.is_steady()))
}

fn of_point() -> Vec<Fact<Point>> {
    type It = Point;
    vec![
        Fact::new("reads", "Share of reads among the requests.", |it: &It| it.stimulus.reads),
        Fact::new("sizes", "Request sizes in bytes, and their shares.", |it: &It| {
            let one = |&(size, share): &(u32, f64)| [f64::from(size), share];
            it.stimulus.sizes.iter().map(one).map(|pair| json!(pair)).collect::<Vec<_>>()
        })
        .like(list_of(<[f64; 2]>::schema())),
        Fact::new("threads", "Threads.", |it: &It| it.threads),
        Fact::new("queue_depth", "Outstanding requests of each thread.", |it: &It| it.depth),
        Fact::new("minutes", "Duration of the element, in seconds.", |it: &It| it.minutes),
    ]
}

fn of_element() -> Vec<Fact<Element>> {
    type It = Element;
    vec![
        Fact::new("iops", "Requests per second.", Element::iops),
        Fact::new("mb_s", "Megabytes, of 10^6 bytes, per second.", Element::mb_s),
        Fact::new("requests", "Requests answered.", |it: &It| it.requests),
        Fact::new("bytes", "Their bytes.", |it: &It| it.bytes),
        Fact::new(
            "seconds",
            "Seconds from the first request to the last completion.",
            |it: &It| it.seconds,
        ),
        Fact::new("mean_us", "Mean response time in microseconds.", |it: &It| it.mean_us),
        Fact::new("p99_us", "Response time that 99 % of requests do not exceed.", |it: &It| {
            it.p99_us
        }),
        Fact::new(
            "p99999_us",
            "Response time that 99.999 % of requests do not exceed.",
            |it: &It| it.p99999_us,
        ),
        Fact::new("max_us", "The slowest.", |it: &It| it.max_us),
        Fact::new("waf", "Pages programmed for each page of the host.", Element::waf),
        Fact::new(
            "waf_withheld",
            "The reason why `waf` says little about steady use: hardly anything was erased; null if \
             it does not.",
            |it: &It| it.withheld().map(Withheld::reason),
        ),
        Fact::new("programs", "Pages programmed.", |it: &It| it.programs[0]),
        Fact::new("erases", "Blocks erased.", |it: &It| it.erases),
        Fact::new("buffer_share", "Share of pages served from the buffer.", Element::buffer_share),
        Fact::new("die_time", "Shares of the time of all dies by activity.", |it: &It| {
            let share = |(place, name): (usize, &&str)| {
                let share = it.die_share(place);
                (share > 0.0).then(|| ((*name).to_string(), json!(share)))
            };
            Doing::NAMES.iter().enumerate().filter_map(share).collect::<Map<_, _>>()
        })
        .like(map_of(f64::schema())),
        Fact::new("blame", "Shares of the response times by cause.", |it: &It| {
            let causes = it.causes().into_iter();
            causes
                .map(|(part, share)| (part.name().to_string(), json!(share)))
                .collect::<Map<_, _>>()
        })
        .like(map_of(f64::schema())),
    ]
}

fn of_histogram() -> Vec<Fact<super::demand::Histogram>> {
    type It = super::demand::Histogram;
    let mut facts = vec![
        Fact::new("point", "Name of the load.", |it: &It| it.name),
        Fact::new("place", "The element of a round.", |it: &It| it.place),
    ];
    facts.extend(of_element().into_iter().map(|fact| fact.within(|it: &It| &it.element)));
    facts.extend([
        Fact::new("percentiles_us", "Response times by percentile.", |it: &It| {
            let one = |percentile: Percentile| {
                let us = it.latencies.percentile(percentile).map(fowler_units::Span::as_us);
                (percentile.name().to_string(), json!(us))
            };
            Percentile::ALL.into_iter().map(one).collect::<Map<_, _>>()
        })
        .like(map_of(Option::<f64>::schema())),
        Fact::new(
            "histogram_us",
            "Histogram of response times: time, and number of requests.",
            |it: &It| {
                let one = |(ns, count): (u64, u64)| json!([ns as f64 / 1e3, count as f64]);
                it.latencies.values().into_iter().map(one).collect::<Vec<_>>()
            },
        )
        .like(list_of(<[f64; 2]>::schema())),
    ]);
    facts
}
