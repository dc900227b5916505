//! A host that decides when to issue each request: one stream is served as `Device::run` serves it,
//! and several share the drive without one holding up another.

use crate::support::small;
use fowler_device::*;
use fowler_units::{HostIo, HostOp, Nanos, QueueId, Rng, Span};
use std::collections::VecDeque;

fn mixed(count: u64, gap: Span, pages: u64) -> Vec<HostIo> {
    let mut rng = Rng::stream(7, "fed");
    let io = |number| {
        let op = if rng.chance(0.5) { HostOp::Read } else { HostOp::Write };
        HostIo::new(op, Nanos::ZERO + gap * number, rng.below(pages) * 4096, 4096)
    };
    (0..count).map(io).collect()
}

/// Streams that each have up to a number of requests in flight, from some time on.
struct Host {
    streams: Vec<(VecDeque<HostIo>, u32, Nanos)>,
    in_flight: Vec<u32>,
    seen: Vec<(Nanos, u16)>,
}

impl Host {
    fn of(streams: Vec<(Vec<HostIo>, u32, Nanos)>) -> Host {
        let in_flight = vec![0; streams.len()];
        let streams = streams.into_iter().map(|(all, depth, at)| (all.into(), depth, at));
        Host { streams: streams.collect(), in_flight, seen: Vec::new() }
    }

    fn ready(&self) -> Option<(Nanos, usize)> {
        let free = |&at: &usize| {
            let (requests, depth, _) = &self.streams[at];
            !requests.is_empty() && self.in_flight[at] < *depth
        };
        (0..self.streams.len()).filter(free).map(|at| (self.streams[at].2, at)).min()
    }
}

impl Feed for Host {
    fn due(&mut self) -> Option<Nanos> {
        self.ready().map(|(at, _)| at)
    }

    fn take(&mut self, _: &Device, _: Nanos) -> Option<HostIo> {
        let (_, stream) = self.ready().expect("one is due");
        self.in_flight[stream] += 1;
        let io = self.streams[stream].0.pop_front().expect("one is due");
        Some(io.with_queue(QueueId(stream as u16)))
    }

    fn answered(&mut self, device: &Device, completion: &Completion) {
        assert_eq!(device.now(), completion.done);
        self.in_flight[usize::from(completion.io.queue.0)] -= 1;
        self.seen.push((completion.done, completion.io.queue.0));
    }
}

#[test]
fn one_closed_stream_is_served_as_a_closed_run_is() {
    for (depth, places, link) in [(1, 64, 0), (16, 64, 50_000_000), (40, 4, 0)] {
        let mut config = small();
        config.queue.depth = places;
        config.host.bandwidth = fowler_units::ByteRate(link);
        config.precondition.pattern = Pattern::Steady;
        let device = Device::new(&config).expect("a sound drive");
        let requests = mixed(4_000, Span::ZERO, u64::from(device.layout().logical_pages));
        let (mut one, mut other) = (device.clone(), device);
        let (mut run, mut fed) = (Vec::<Completion>::new(), Vec::<Completion>::new());
        one.run(requests.clone(), Pacing::Closed { depth }, &mut run);
        let mut host = Host::of(vec![(requests, depth, Nanos::ZERO)]);
        other.run_feed(&mut host, &mut fed);
        assert!(run == fed, "depth {depth}");
        assert_eq!((one.counters(), one.now()), (other.counters(), other.now()));
        let seen: Vec<Nanos> = host.seen.iter().map(|&(at, _)| at).collect();
        assert!(seen.iter().eq(run.iter().map(|it| &it.done)));
        other.check().expect("every law holds");
    }
}

#[test]
fn streams_with_their_own_times_and_depths_share_a_drive() {
    let device = Device::new(&small()).expect("a sound drive");
    let pages = u64::from(device.layout().logical_pages);
    let mut device = device;
    let late = Nanos::ZERO + Span::ms(3);
    let mut host = Host::of(vec![
        (mixed(300, Span::ZERO, pages), 1, Nanos::ZERO),
        (mixed(300, Span::ZERO, pages), 8, late),
    ]);
    let mut all = Vec::<Completion>::new();
    device.run_feed(&mut host, &mut all);
    assert_eq!((all.len(), host.in_flight), (600, vec![0, 0]));
    let of = |queue: u16| all.iter().filter(move |it| it.io.queue.0 == queue);
    assert!(of(1).all(|it| it.io.at >= late) && of(0).next().unwrap().io.at == Nanos::ZERO);
    // The shallow stream issues its next request when its previous one is answered.
    let (mut done, mut deepest) = (Nanos::ZERO, 0);
    for it in of(0) {
        assert!(it.io.at == done || done == Nanos::ZERO);
        done = it.done;
        deepest = deepest.max(of(1).filter(|of| of.io.at < it.done && of.done > it.io.at).count());
    }
    assert!(deepest >= 8, "the deep stream goes on meanwhile: {deepest}");
    device.check().expect("every law holds");
}

#[test]
fn a_host_without_requests_leaves_the_drive_as_it_is() {
    let mut device = Device::new(&small()).expect("a sound drive");
    device.run_feed(&mut Host::of(vec![]), &mut ());
    assert_eq!(device.now(), Nanos::ZERO);
}
