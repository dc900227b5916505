//! Writes a timeline in the Chrome trace event format, for Perfetto (ui.perfetto.dev) and Chrome.
//!
//! The trace has three processes: the host, with as many lanes as requests overlap; the dies, each
//! with a second lane if its reads overlap; and the channels. Slices on one thread are nested or
//! disjoint. A flow leads from each request to each of its flash operations. Times are in
//! microseconds since the first request, exact to the nanosecond.

use super::recorder::{Asked, Operated, Timeline, Track};
use crate::atomic_file::{AtomicFile, unwritable};
use crate::diagnostic::Diagnostics;
use fowler_device::Op;
use fowler_device::blame::Part;
use fowler_units::{Id, Nanos};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::Path;

const HOST: u32 = 1;
const DIES: u32 = 2;
const CHANNELS: u32 = 3;

/// An event of the trace format that timeline viewers read.
#[derive(Clone, Debug, Serialize)]
struct Event {
    ph: &'static str,
    pid: u32,
    tid: u32,
    /// Time of the event in microseconds since the first request.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    name: String,
    cat: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    args: Value,
    /// Order of the events of a timeline file at equal times: time slices before flow arrows (from
    /// requests to operations), and outer slices before inner ones.
    #[serde(skip)]
    order: (u64, u8, std::cmp::Reverse<u64>, usize),
}

impl Timeline {
    /// Writes the recorded timeline of a run as a JSON file for trace viewers, such as Perfetto.
    /// The file appears at `path` only when it is complete.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostics> {
        let mut file = AtomicFile::create(path)?;
        self.trace(&mut file).map_err(|error| unwritable(path, &error))?;
        file.finish()
    }

    fn trace(&self, out: &mut impl Write) -> io::Result<()> {
        let (lanes, count) = self.lanes();
        let threads = self.threads();
        let mut events = Vec::new();
        for (request, &lane) in self.requests.iter().zip(&lanes) {
            self.request(request, lane, &threads, &mut events);
        }
        for (operated, &thread) in self.operations.iter().zip(&threads) {
            self.operation(operated, thread, &mut events);
        }
        for (index, event) in events.iter_mut().enumerate() {
            event.order.3 = index;
        }
        events.sort_by_key(|event| event.order);
        writeln!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut first = true;
        let dies = threads.iter().copied().fold(self.die_count(), u32::max);
        for name in self.names(count, dies) {
            line(out, &mut first, &name)?;
        }
        for event in &events {
            line(out, &mut first, event)?;
        }
        writeln!(out, "\n]}}")
    }

    /// Returns the lane of each request in the trace, and the number of lanes. Overlapping requests
    /// need separate lanes: each takes the first free one.
    fn lanes(&self) -> (Vec<u32>, u32) {
        let mut order: Vec<usize> = (0..self.requests.len()).collect();
        order.sort_by_key(|&index| {
            let request = &self.requests[index];
            (request.completion.io.at, request.number)
        });
        let mut free: Vec<Nanos> = Vec::new();
        let mut lanes = vec![0; order.len()];
        for index in order {
            let completion = &self.requests[index].completion;
            let lane = free.iter().position(|&until| until <= completion.io.at);
            let lane = lane.unwrap_or_else(|| {
                free.push(Nanos::ZERO);
                free.len() - 1
            });
            free[lane] = completion.done;
            lanes[index] = lane as u32 + 1;
        }
        (lanes, free.len() as u32)
    }

    /// Returns the track (a thread of the trace format) on which each flash operation is shown. A
    /// die has one track, and a second one for reads that begin while the data of the die's
    /// previous read are still in the cache register.
    fn threads(&self) -> Vec<u32> {
        let dies = self.die_count();
        let mut until = vec![Nanos::ZERO; 2 * dies as usize];
        // Reads of a die end in the order in which they begin.
        let thread = |operated: &Operated| {
            let first = operated.die as usize;
            if operated.operation.op != Op::Read {
                return operated.die + 1;
            }
            let second = until[first] > operated.operation.dispatched;
            until[first + if second { dies as usize } else { 0 }] = operated.until;
            operated.die + 1 + if second { dies } else { 0 }
        };
        self.operations.iter().map(thread).collect()
    }

    /// Returns the events that name the processes and threads of the trace; `threads` of the
    /// threads are of dies.
    fn names(&self, lanes: u32, threads: u32) -> Vec<Value> {
        let mut names = Vec::new();
        let mut add = |pid: u32, process: &str, threads: u32, thread: &dyn Fn(u32) -> String| {
            let meta = |name: &str, tid: u32, args: Value| json!({ "ph": "M", "pid": pid, "tid": tid, "name": name, "args": args });
            names.push(meta("process_name", 0, json!({ "name": process })));
            names.push(meta("process_sort_index", 0, json!({ "sort_index": pid })));
            for tid in 1..=threads {
                names.push(meta("thread_name", tid, json!({ "name": thread(tid - 1) })));
                names.push(meta("thread_sort_index", tid, json!({ "sort_index": tid })));
            }
        };
        let dies = self.die_count();
        add(HOST, "host", lanes, &|lane| format!("requests {lane}"));
        add(DIES, "dies", threads, &|thread| match thread.checked_sub(dies) {
            None => format!("die {thread}"),
            Some(die) => format!("die {die}, overlapping reads"),
        });
        add(CHANNELS, "channels", self.channel_of(dies - 1) + 1, &|it| format!("channel {it}"));
        names
    }

    fn slice(&self, pid: u32, tid: u32, from: Nanos, until: Nanos, name: String) -> Event {
        // The longer slice is the outer one; of two of the same length, the first.
        let order = (from.0, 0, std::cmp::Reverse((until - from).0), 0);
        let (ts, dur) = (self.us(from), Some((until - from).as_us()));
        let (ph, cat, args) = ("X", "flash", Value::Null);
        Event { ph, pid, tid, ts, dur, name, cat, id: None, bp: None, args, order }
    }

    fn us(&self, at: Nanos) -> f64 {
        // Operations may have started before the first request.
        (at.0 as i128 - self.origin().0 as i128) as f64 / 1e3
    }

    fn request(&self, asked: &Asked, lane: u32, threads: &[u32], events: &mut Vec<Event>) {
        let Asked { number, completion, operations } = asked;
        let (at, done) = (completion.io.at, completion.done);
        let mut slice = self.slice(HOST, lane, at, done, completion.io.op.word().into());
        let parts = Part::ALL.into_iter().filter(|&part| completion.blame[part].0 > 0);
        let blame: Map<String, Value> = parts
            .map(|part| (format!("{}_us", part.name()), json!(completion.blame[part].as_us())))
            .collect();
        slice.cat = "host";
        slice.args = json!({
            "id": number,
            "offset": completion.io.offset,
            "size": completion.io.size,
            "latency_us": completion.latency().as_us(),
            "blame": blame,
        });
        events.push(slice);
        for (own, nth) in operations.iter().zip(0u64..) {
            let operated = &self.operations[own.place];
            // No request has 2^20 pages: its size is 32 bits wide and a page has 512 bytes or more.
            let id = Some((number << 24) + nth);
            let flow = |ph, pid, tid, at: Nanos, bp| Event {
                id,
                bp,
                ph,
                name: "served by".into(),
                cat: "flow",
                dur: None,
                order: (at.0, 1, std::cmp::Reverse(0), 0),
                ..self.slice(pid, tid, at, at, String::new())
            };
            events.push(flow("s", HOST, lane, at, None));
            // The operation may have started before the request waited for it.
            let taken = operated.operation.dispatched.max(at);
            events.push(flow("f", DIES, threads[own.place], taken, Some("e")));
        }
    }

    fn operation(&self, operated: &Operated, thread: u32, events: &mut Vec<Event>) {
        let Operated { operation, die, until, .. } = operated;
        let mut outer = self.slice(DIES, thread, operation.dispatched, *until, operated.name());
        let number = |id: u32, known: bool| if known { json!(id) } else { Value::Null };
        outer.cat = operated.source();
        outer.args = json!({
            "operation": operation.order,
            "waited_us": (operation.dispatched - operation.submitted).as_us(),
            "physical_page": number(operation.ppn.0, operation.ppn.is_some()),
            "logical_page": number(operation.lpn.0, operation.lpn.is_some()),
            "pages": operated.beside + 1,
            "suspensions": operated.suspensions,
            "done": operated.done,
        });
        events.push(outer);
        for slice in &operated.slices {
            let (pid, tid) = match slice.track {
                Track::Die(_) => (DIES, thread),
                Track::Channel(channel) => (CHANNELS, channel + 1),
            };
            let mut event = self.slice(pid, tid, slice.from, slice.until, slice.what.name().into());
            event.cat = operated.source();
            if pid == CHANNELS {
                event.args = json!({ "die": die, "operation": operation.order });
            }
            events.push(event);
        }
    }
}

fn line(out: &mut impl Write, first: &mut bool, event: &impl Serialize) -> io::Result<()> {
    if !std::mem::take(first) {
        out.write_all(b",\n")?;
    }
    serde_json::to_writer(&mut *out, event).map_err(io::Error::from)
}
