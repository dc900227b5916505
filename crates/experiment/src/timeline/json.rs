//! The explanation of slow requests as JSON: the summary of the run, and what each request waited
//! for.

use super::explain::Explanation;
use super::recorder::{Asked, Operated, Timeline};
use crate::json_schema::output::{Fact, list_of, map_of, schema, written};
use crate::json_schema::{document, object};
use crate::outcome::Outcome;
use crate::summary;
use fowler_device::blame::Part;
use fowler_metrics::Kind;
use fowler_units::{HostOp, Nanos};
use serde_json::{Map, Value, json};

/// A recorded request and the timeline of the run it belongs to, to be written as JSON.
struct Told<'a> {
    timeline: &'a Timeline,
    asked: &'a Asked,
    text: String,
}

/// A flash operation, to be written as JSON. For an operation of the explained request itself,
/// `waited_since` is the time from which on the request waited for the operation.
struct Step<'a> {
    timeline: &'a Timeline,
    operated: &'a Operated,
    waited_since: Option<Nanos>,
}

impl Timeline {
    /// Returns the explanation of the recorded requests as one JSON object.
    pub fn explained_json(&self, outcome: &Outcome) -> Value {
        let texts = self.explain(outcome).into_iter().map(|Explanation { text, .. }| text);
        let told = self.requests.iter().zip(texts);
        let told = told.map(|(asked, text)| Told { timeline: self, asked, text });
        let slowest: Vec<Value> = told.map(|it| written(&of_request(), &it)).collect();
        json!({ "run": outcome.json(), "slowest": slowest })
    }

    fn since_first(&self, at: Nanos) -> u64 {
        super::since(at, self.origin()).0
    }
}

/// Returns the JSON Schema of the output of `fowler explain --json`.
pub fn schema_of_explained() -> Value {
    let run = summary::schema();
    let slowest = list_of(schema(&of_request()));
    let fields = [("run".to_string(), run), ("slowest".to_string(), slowest)];
    let about = "The slowest requests of a run, the slowest first, and what each waited for. Times \
                 are in nanoseconds since the first request was issued.";
    let body = object(fields.into_iter().collect(), &["run", "slowest"]);
    document("Fowler: why the slowest requests were slow", about, body)
}

fn of_request<'a>() -> Vec<Fact<Told<'a>>> {
    type It<'a> = Told<'a>;
    let own = |it: &It| -> Vec<Value> {
        let step = |own: &super::Own| {
            let operated = &it.timeline.operations[own.place];
            let waited_since = Some(own.submitted);
            written(&of_step(), &Step { timeline: it.timeline, operated, waited_since })
        };
        it.asked.operations.iter().map(step).collect()
    };
    let behind = |it: &It| -> Vec<Value> {
        let step = |operated: &&Operated| {
            let step = Step { timeline: it.timeline, operated, waited_since: None };
            written(&of_step(), &step)
        };
        it.timeline.behind(it.asked).iter().map(step).collect()
    };
    let causes = |it: &It| -> Map<String, Value> {
        let blame = &it.asked.completion.blame;
        let parts = Part::ALL.into_iter().filter(|&part| blame[part].0 > 0);
        parts.map(|part| (part.name().to_string(), json!(blame[part].0))).collect()
    };
    vec![
        Fact::new("number", "Number of the request in order of completion, from 0.", |it: &It| {
            it.asked.number
        }),
        Fact::new("kind", "`read` or `write`.", |it: &It| {
            let read = it.asked.completion.io.op == HostOp::Read;
            if read { Kind::Read.name() } else { Kind::Write.name() }
        }),
        Fact::new("offset", "First byte of the request.", |it: &It| it.asked.completion.io.offset),
        Fact::new("size", "Size of the request in bytes.", |it: &It| it.asked.completion.io.size),
        Fact::new("at_ns", "Time at which the request was issued.", |it: &It| {
            it.timeline.since_first(it.asked.completion.io.at)
        }),
        Fact::new("done_ns", "Time at which the request completed.", |it: &It| {
            it.timeline.since_first(it.asked.completion.done)
        }),
        Fact::new("latency_ns", "Latency of the request.", |it: &It| {
            it.asked.completion.latency().0
        }),
        Fact::new("causes_ns", "Time by cause; the sum is the latency of the request.", causes)
            .like(map_of(json!({ "type": "integer", "minimum": 0 }))),
        Fact::new(
            "operations",
            "Flash operations of the request, in the order in which they ended.",
            own,
        )
        .like(list_of(schema(&of_step()))),
        Fact::new(
            "behind",
            "Activity of the die while the request's last flash operation waited for it.",
            behind,
        )
        .like(list_of(schema(&of_step()))),
        Fact::new("text", "The explanation in words.", |it: &It| it.text.clone()),
    ]
}

fn of_step<'a>() -> Vec<Fact<Step<'a>>> {
    type It<'a> = Step<'a>;
    vec![
        Fact::new(
            "operation",
            "Kind of the flash operation, and its source: host, GC and so on.",
            |it: &It| it.operated.name(),
        ),
        Fact::new("die", "Die of the operation.", |it: &It| it.operated.die),
        Fact::new("channel", "Channel of the operation's die.", |it: &It| {
            it.timeline.channel_of(it.operated.die)
        }),
        Fact::new(
            "pages",
            "Pages of the operation; more than 1 if it works on several planes.",
            |it: &It| it.operated.beside + 1,
        ),
        Fact::optional(
            "waited_since_ns",
            "Time since which the request waited for the operation.",
            |it: &It| it.waited_since.map(|at| it.timeline.since_first(at)),
        ),
        Fact::new("began_ns", "Time at which the die started the operation.", |it: &It| {
            it.timeline.since_first(it.operated.operation.dispatched)
        }),
        Fact::new(
            "ended_ns",
            "Time at which the operation ended, or the run if earlier.",
            |it: &It| it.timeline.since_first(it.operated.until),
        ),
        Fact::new("suspensions", "Number of times the operation was suspended.", |it: &It| {
            it.operated.suspensions
        }),
    ]
}
