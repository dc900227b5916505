//! Validates write amplification in steady state, on one plane.
//!
//! **Reserved pages.** The closed forms assume that every block is full of valid and invalid pages.
//! A real plane also has open and erased blocks and one being emptied, which hold no data to
//! collect, so the load of the theory is that of the remaining blocks. The size of this reserve
//! follows from the configuration: GC begins when fewer than two blocks are erased
//! (`gc.foreground_below = 2`, the minimum), and a host that always has a write to do proceeds in
//! step with the moves (docs/decisions/gc.md, "How does foreground GC keep pace with the host?").
//! Just before an erase, the only pages left to write are the `v` that the valid pages of the next
//! victim need. The erase adds a block of `b` pages, and by the next erase they are used up again.
//! So `b + v` pages are free when a victim is chosen, and `b + v - j` once `j` of its pages have
//! been processed. Together with those `j` pages, `b + v` pages never hold data that waits to be
//! collected, whatever `j` is: a page is moved `N b - b - v` programs after it was written. Since
//! GC gains `b / A` pages, `v = b (1 - 1 / A)`: the reserve is between one and two blocks. The
//! drive is laid out so that the remaining blocks have the requested load. The error of this model
//! (pages that become invalid while their block is open, writes in flight) is a fraction of one
//! block among thousands.

use super::bounds::ready;
use super::drives::{Drive, set};
use super::expectation::{Allowed, Group, Point, Row};
use super::spec::ValidateSpec;
use fowler_device::{Config, Pacing, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::sample::interval;
use fowler_experiment::workload::Control;
use fowler_theory::gc::{self, Part};
use fowler_units::{HostIo, Nanos, Rng};

/// Length of a measurement of write amplification: the host overwrites the simulated plane this
/// often before it, and again during it, and the measurement is split into batches for its
/// confidence interval.
const TURNS: u32 = 6;
const BATCHES: u32 = 10;

/// Amount of simulation for the validation of write amplification: sizes of the planes, shares of
/// valid pages, length, and allowed deviation.
struct Effort {
    /// Two sizes of a plane: pages per block, and number of blocks.
    blocks: [(u32, u32); 2],
    loads: &'static [f64],
    turns: u32,
    tolerance: f64,
}

impl Effort {
    fn of(spec: &ValidateSpec) -> Effort {
        if spec.quick {
            let blocks = [(16, 2000), (64, 500)];
            return Effort { blocks, loads: &[0.85], turns: TURNS / 2, tolerance: 0.02 };
        }
        let blocks = [(16, 10_000), (64, 4000)];
        Effort { blocks, loads: &[0.75, 0.85, 0.92], turns: TURNS, tolerance: 0.01 }
    }
}

/// One plane of a drive under one-page writes, whose write amplification is measured.
#[derive(Clone, Debug)]
struct Plane {
    config: Config,
    parts: [Part; 2],
    stream: String,
    turns: u32,
}

/// Victim policies of GC: name in the report, name in the configuration, and number of choices `d`.
const VICTIMS: [(&str, &str, u32); 6] = [
    ("greedy", "greedy", 1),
    ("fifo", "fifo", 1),
    ("random (d = 1)", "d_choices", 1),
    ("d = 2", "d_choices", 2),
    ("d = 5", "d_choices", 5),
    ("d = 10", "d_choices", 10),
];

/// Workload that writes all logical pages equally often. It has two equal halves, because workloads
/// are described as two parts, such as hot and cold data.
const UNIFORM: [Part; 2] = [Part { writes: 0.5, pages: 0.5 }; 2];

fn limit(name: &str, load: f64, pages: u32) -> Option<f64> {
    match name {
        "greedy" => gc::greedy(load, pages),
        "fifo" => gc::fifo(load),
        "random (d = 1)" => gc::random(load),
        _ => {
            let (.., d) = VICTIMS.iter().find(|(known, ..)| *known == name)?;
            gc::d_choices(load, pages, *d)
        }
    }
}

pub(super) fn points(spec: &ValidateSpec) -> Result<Vec<Point>, Diagnostics> {
    let effort = Effort::of(spec);
    let tolerance = effort.tolerance;
    let mut points = Vec::new();
    for (pages, blocks) in effort.blocks {
        for &load in effort.loads {
            for (name, rule, d) in VICTIMS {
                let waf = limit(name, load, pages).expect("a load between 0 and 1");
                let shape = Shape { pages, blocks, load, waf };
                let plane = shape.plane((rule, d), UNIFORM, effort.turns, spec)?;
                let title = format!("{name}, {pages} pages per block, load {load}");
                points.push(point(title, waf, vec![(1.0, plane)], tolerance));
            }
        }
    }
    let (pages, blocks) = effort.blocks[0];
    let load = 0.85;
    for (writes, share) in [(0.8, 0.2), (0.9, 0.1)] {
        let parts = Part::hot_and_cold(writes, share);
        let waf = gc::fifo_one_pool(load, &parts).expect("a load between 0 and 1");
        let shape = Shape { pages, blocks, load, waf };
        let plane = shape.plane(("fifo", 1), parts, effort.turns, spec)?;
        let what = format!("hot and cold {writes}/{share}, load {load}");
        points.push(point(format!("fifo, one pool, {what}"), waf, vec![(1.0, plane)], tolerance));
        let pools = gc::fifo_two_pools(load, &parts).expect("a load between 0 and 1");
        let mut planes = Vec::new();
        for (part, load) in parts.iter().zip(pools.loads) {
            let waf = gc::fifo(load).expect("a load between 0 and 1");
            let shape = Shape { pages, blocks, load, waf };
            planes.push((part.writes, shape.plane(("fifo", 1), UNIFORM, effort.turns, spec)?));
        }
        // The closed form is for pools that share no blocks, so each pool is a drive of its own.
        let spare = pools.spare_hot;
        let title = format!(
            "fifo, a hot and a cold pool of blocks simulated as two drives, {spare:.3} of the spare \
             space for hot data, {what}"
        );
        points.push(point(title, pools.waf, planes, tolerance));
    }
    Ok(points)
}

/// Size of a plane, and the write amplification that theory expects of it.
struct Shape {
    pages: u32,
    blocks: u32,
    load: f64,
    waf: f64,
}

impl Shape {
    /// Returns the number of logical pages of the simulated plane: the share `load` of its physical
    /// pages, without a reserve of one to two blocks that are erased, open or being emptied, and so
    /// never hold data for GC to collect.
    fn logical_pages(&self) -> u32 {
        let held_back = 2.0 - 1.0 / self.waf;
        (self.load * (f64::from(self.blocks) - held_back) * f64::from(self.pages)).round() as u32
    }

    fn plane(
        &self,
        (rule, d): (&str, u32),
        parts: [Part; 2],
        turns: u32,
        spec: &ValidateSpec,
    ) -> Result<Plane, Diagnostics> {
        let all = self.blocks * self.pages;
        // Add half a page, because the drive rounds down.
        let spare = 1.0 - (f64::from(self.logical_pages()) + 0.5) / f64::from(all);
        let mut keys = vec![
            set("geometry.channels", 1),
            set("geometry.planes_per_die", 1),
            set("geometry.blocks_per_plane", self.blocks),
            set("geometry.pages_per_block", self.pages),
            set("buffer.size", "\"64KiB\""), // smaller than the plane; requests come one by one
            set("geometry.over_provisioning", spare),
            set("gc.foreground_below", 2),
            set("gc.background_below", 2),
            set("policy.victim", format!("\"{rule}\"")),
            set("precondition.pattern", "\"steady\""),
        ];
        if rule == "d_choices" {
            keys.push(set("policy.victim.d", d));
        }
        let config = Drive::new("pes-slc", "fifo", &keys, spec)?.simulated;
        let stream = format!("validate/collection/{rule}/{d}/{}/{}", self.pages, self.load);
        Ok(Plane { config, parts, stream, turns })
    }
}

impl Plane {
    /// Returns the write amplification (pages programmed per page that the host writes) of a
    /// simulated drive with one plane, for each batch of writes after a warm-up; `None` if stopped.
    fn measure(&self, control: Control<'_>) -> Option<Vec<f64>> {
        let mut device = ready(&self.config, control)?;
        let layout = device.layout();
        let (pages, page) = (u64::from(layout.logical_pages), layout.geometry.page_size.0);
        let hot = (self.parts[0].pages * pages as f64).round() as u64;
        let mut rng = Rng::stream(1, &self.stream);
        let batch = u64::from(self.turns) * pages / u64::from(BATCHES);
        let mut sample = Vec::new();
        for number in 0..2 * BATCHES {
            if control.stopped() {
                return None;
            }
            let before = device.counters().programs;
            let writes = (0..batch).map(|_| {
                let at = if rng.chance(self.parts[0].writes) {
                    rng.below(hot)
                } else {
                    hot + rng.below(pages - hot)
                };
                HostIo::write(Nanos::ZERO, at * page, page as u32)
            });
            device.run(writes, Pacing::Closed { depth: 1 }, &mut ());
            control.served(batch);
            let after = device.counters().programs;
            if number >= BATCHES {
                let (host, moved) = (
                    after[Source::Host] - before[Source::Host],
                    after[Source::Gc] - before[Source::Gc],
                );
                sample.push(1.0 + moved as f64 / host as f64);
            }
        }
        Some(sample)
    }

    fn requests(&self) -> u64 {
        let pages = self.config.layout().map_or(0, |layout| layout.logical_pages);
        2 * u64::from(BATCHES) * (u64::from(self.turns) * u64::from(pages) / u64::from(BATCHES))
    }
}

/// Returns an expectation for the write amplification of several planes together, each with its
/// share of the writes.
fn point(title: String, theory: f64, planes: Vec<(f64, Plane)>, tolerance: f64) -> Point {
    let name = title.clone();
    Point::new(Group::Gc, title, move |control| {
        let (mut measured, mut variance) = (0.0, 0.0);
        for (share, plane) in &planes {
            let sample = plane.measure(control)?;
            let estimate = interval(&sample)?;
            measured += share * estimate.mean;
            variance += (share * estimate.half_width) * (share * estimate.half_width);
        }
        Some(vec![Row {
            group: Group::Gc,
            what: name.clone(),
            unit: "",
            theory,
            measured,
            half_width: Some(libm::sqrt(variance)),
            allowed: Allowed::within(tolerance),
            requests: planes.iter().map(|(_, plane)| plane.requests()).sum(),
        }])
    })
}
