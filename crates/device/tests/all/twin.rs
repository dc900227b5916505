//! The drive against its readable twin, `tests/twin/ftl.py`: random small drives of both kinds,
//! with the same writes, reads and trims. Every location, valid count, erase count and the write
//! amplification must be equal. Nothing takes simulated time: page-mapped drives live without dies,
//! and superblocks are written by preconditioning, in the order that its seed draws.

use crate::support::random::one_of;
use crate::support::superblocks;
use crate::support::{mlc, small};
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::{Dies, PlacementKind};
use fowler_device::policy::redundancy::RedundancyKind;
use fowler_device::policy::victim::VictimKind;
use fowler_device::policy::wear::WearKind;
use fowler_device::*;
use fowler_units::{Bytes, DieId, Geometry, HostIo, HostOp, Nanos, Ppn, Rng, Scatter};
use serde_json::{Value, json};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Output};

/// The seeds of drives with superblocks. The drive of seed 18 would empty a superblock that it has
/// just filled.
const SUPERBLOCK_SEEDS: [u64; 20] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];

/// The seeds of drives that map pages. On the drive of seed 29, wear leveling finds no block to
/// spare; on that of seed 74, the age of a candidate is zero.
const PAGE_SEEDS: [u64; 20] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 29, 74];

const TWIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/twin/ftl.py");

#[test]
fn the_readable_twin_places_every_unit_where_the_drive_does() {
    let pages = PAGE_SEEDS.into_iter().map(page_mapped);
    let units = SUPERBLOCK_SEEDS.into_iter().map(superblock);
    let cases: Vec<Value> = pages.chain(units).collect();
    let Some(Output { status, stdout, stderr }) = in_twin(&cases) else { return };
    let said = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(status.success(), "{said}");
    assert_eq!(said, format!("{} drives agree\n", cases.len()));
    // Drives on which nothing happens would agree with anything.
    let moved = |case: &&Value| {
        let waf = &case["expected"]["write_amplification"][0];
        waf.as_f64() > Some(1.1)
    };
    let busy = cases.iter().filter(moved).count();
    assert!(busy > cases.len() / 2, "only {busy} of {} drives collect", cases.len());
}

/// Runs the twin. `None` if there is no Python; then a line on standard error says so.
fn in_twin(cases: &[Value]) -> Option<Output> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("twin.json");
    std::fs::write(&path, serde_json::to_string(cases).expect("JSON")).expect("written");
    match Command::new("python3").arg(TWIN).arg(&path).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let skipped = "SKIPPED: the drive against its readable twin: there is no python3";
            let _ = writeln!(std::io::stderr(), "{skipped}");
            None
        }
        Err(error) => panic!("python3: {error}"),
    }
}

/// Describes the flash array of a drive.
fn flash(config: &Config) -> Value {
    let Geometry { channels, planes_per_die, blocks_per_plane, pages_per_block, .. } =
        config.geometry;
    json!({
        "channels": channels,
        "dies_per_channel": config.geometry.dies_per_channel(),
        "planes_per_die": planes_per_die,
        "blocks_per_plane": blocks_per_plane,
        "pages_per_block": pages_per_block,
        "independent_planes": config.plane_mode == PlaneMode::Independent,
    })
}

/// Returns the order in which preconditioning writes `filled` units once.
fn first_writes(config: &Config, filled: u32) -> Vec<u64> {
    let mut rng = Rng::stream(config.seed, "precondition/order");
    match config.precondition.pattern {
        Pattern::Random if filled > 0 => {
            let order = Scatter::new(filled.into(), &mut rng);
            (0..filled.into()).map(|at| order.at(at)).collect()
        }
        _ => (0..filled.into()).collect(),
    }
}

/// Returns operations of one kind at time zero.
fn operations(kind: &str, units: impl IntoIterator<Item = u64>) -> Vec<Value> {
    units.into_iter().map(|unit| json!([kind, unit, 0])).collect()
}

fn between(rng: &mut Rng, low: u32, high: u32) -> u32 {
    low + rng.below(u64::from(high - low + 1)) as u32
}

/// Draws the shape of a flash array.
fn shape(rng: &mut Rng, pages_per_block: u32) -> Geometry {
    Geometry {
        channels: between(rng, 1, 3),
        chips_per_channel: between(rng, 1, 2),
        dies_per_chip: between(rng, 1, 2),
        planes_per_die: between(rng, 1, 3),
        blocks_per_plane: between(rng, 8, 24),
        pages_per_block,
        page_size: Bytes(4096),
    }
}

// --- Drives that map pages ---

/// Draws a drive that maps pages.
fn page_mapped_config(rng: &mut Rng, seed: u64) -> Config {
    let mut config = small();
    config.seed = seed;
    let pages = between(rng, 3, 20);
    config.geometry = shape(rng, pages);
    config.plane_mode = one_of(rng, &[PlaneMode::Lockstep, PlaneMode::Independent]);
    config.placement.dies = one_of(rng, &[Dies::Rotate, Dies::ByAddress]);
    config.placement.stripe_unit = one_of(rng, &[1, 1, 2, 3]);
    config.gc.foreground_below = between(rng, 2, 4);
    config.gc.background_below = config.gc.foreground_below + between(rng, 0, 3);
    config.gc.frontier = one_of(rng, &[GcFrontier::Own, GcFrontier::Own, GcFrontier::Shared]);
    let victims =
        [VictimKind::Greedy, VictimKind::Greedy, VictimKind::Fifo, VictimKind::CostBenefit];
    config.victim.name = one_of(rng, &victims);
    config.wear.name = one_of(rng, &[WearKind::Off, WearKind::HotColdSwap]);
    config.wear.threshold = between(rng, 0, 5);
    if rng.chance(0.5) {
        config.hotness.detectors = 1 << Detector::BufferHits as u32;
        config.hotness.watermark = one_of(rng, &[0.6, 0.75, 0.95]);
        config.buffer.size = Bytes(4096 * u64::from(between(rng, 4, 60)));
        config.buffer.cache_reads = true;
        config.placement.name = one_of(rng, &[PlacementKind::Streams, PlacementKind::SingleStream]);
    }
    config.precondition.pattern = one_of(rng, &[Pattern::Sequential, Pattern::Random]);
    config.precondition.fill = one_of(rng, &[0.0, 0.6, 1.0]);
    // The data takes up to all of the drive's capacity.
    let share = if rng.chance(0.4) { 1.0 } else { 0.6 + 0.4 * rng.unit() };
    let step = 0.01;
    config.over_provisioning = step;
    while config.layout().is_err() && config.over_provisioning < 0.9 {
        config.over_provisioning += step;
    }
    config.over_provisioning = 1.0 - share * (1.0 - config.over_provisioning);
    config
}

/// Draws the host's requests: more pages than the drive holds, a third of them to a sixteenth of
/// it.
fn requests(rng: &mut Rng, logical: u64) -> Vec<HostIo> {
    let mut at = 0;
    let all = 2 * logical;
    (0..all)
        .map(|_| {
            at += rng.below(100_000);
            let op = match rng.below(10) {
                0 => HostOp::Trim,
                1..4 => HostOp::Read,
                _ => HostOp::Write,
            };
            let pages = 1 + rng.below(4);
            let space = one_of(rng, &[logical / 16, logical / 4, logical]);
            let first = rng.below(space.saturating_sub(pages).max(1));
            HostIo::new(op, Nanos(at), first * 4096, (pages * 4096) as u32)
        })
        .collect()
}

/// Runs a page-mapped drive, and returns the state at the end of its life.
fn page_mapped(seed: u64) -> Value {
    let mut rng = Rng::stream(seed, "twin/pages");
    let (config, layout) = loop {
        let config = page_mapped_config(&mut rng, seed);
        if let Ok(layout) = config.layout() {
            break (config, layout);
        }
    };
    let image = PreconditionedImage::new(&config).expect("a sound drive");
    let mut drive = LifetimeDrive::new(&image, &config).expect("a sound drive");
    let life = requests(&mut rng, layout.logical_pages.into());
    assert!(drive.serve(life.iter().copied(), |_, _| true), "seed {seed}: its life ends");
    let kind = |op: HostOp| match op {
        HostOp::Write => "write",
        HostOp::Trim => "trim",
        _ => "read",
    };
    let pages = |io: &HostIo| io.offset / 4096..(io.offset + u64::from(io.size)) / 4096;
    let lived =
        life.iter().flat_map(|io| pages(io).map(|page| json!([kind(io.op), page, io.at.0])));
    let lived: Vec<Value> = lived.collect();
    // The most erased blocks that a busy host leaves to a plane (docs/decisions/precondition.md).
    let low = config.gc.foreground_below;
    let busy = (low - 2).min(2) + 1;
    let filled = first_writes(&config, image.preconditioned().filled.0);
    let by_class = config.placement.name == PlacementKind::Streams;
    json!({
        "seed": seed,
        "kind": "page_mapped",
        "flash": flash(&config),
        "reclaim_units": layout.geometry.blocks(),
        "logical_units": layout.logical_pages,
        "rules": {
            "victim": config.victim.name.name(),
            "foreground_below": low,
            "survivors_apart": config.gc.frontier == GcFrontier::Own,
            "dies_by_address": config.placement.dies == Dies::ByAddress,
            "stripe_unit": config.placement.stripe_unit,
            "streams_by_class": by_class.then(|| json!({
                "pages": layout.frames,
                "watermark": config.hotness.watermark,
            })),
            "wear_threshold":
                (config.wear.name == WearKind::HotColdSwap).then_some(config.wear.threshold),
        },
        "phases": [
            {
                "is_measured": false,
                "is_preconditioning": true,
                "kept": busy,
                "operations": operations("write", filled),
            },
            {
                "is_measured": true,
                "is_preconditioning": false,
                "kept": low.max(config.gc.background_below),
                "operations": lived,
            },
        ],
        "expected": state_of_pages(&drive),
    })
}

/// Returns the location of all data of a page-mapped drive, from its checkpoint.
fn state_of_pages(drive: &LifetimeDrive) -> Value {
    let saved = serde_json::to_value(drive.checkpoint()).expect("JSON");
    let saved = &saved["translation"]["Pages"];
    let numbers = |list: &Value| -> Vec<u64> {
        list.as_array().expect("a list").iter().map(|it| it.as_u64().expect("a number")).collect()
    };
    let nowhere = u64::from(u32::MAX);
    let locations =
        numbers(&saved["map"]["raw"]).into_iter().map(|at| (at != nowhere).then_some(at));
    let blocks = saved["blocks"]["blocks"]["raw"].as_array().expect("a list");
    let valid: Vec<u64> = blocks.iter().map(|it| it["valid"].as_u64().expect("a count")).collect();
    json!({
        "locations": locations.collect::<Vec<_>>(),
        "valid": valid,
        "erases": drive.erase_counts(),
        "write_amplification": drive.counters().waf().as_slice(),
    })
}

// --- Drives with superblocks ---

/// Draws a drive with superblocks.
fn superblock_config(rng: &mut Rng, seed: u64) -> Config {
    let word_line = one_of(rng, &[1, 2, 3, 4]);
    let pages = word_line * between(rng, 1, 6);
    let mut geometry = shape(rng, pages);
    geometry.page_size = Bytes(4096 * one_of(rng, &[1, 2, 4]));
    geometry.planes_per_die = one_of(rng, &[1, 2, 4]);
    let mut config = Config::new(geometry, mlc());
    config.seed = seed;
    config.plane_mode = one_of(rng, &[PlaneMode::Lockstep, PlaneMode::Independent]);
    // A stream of its own, so that the other choices of a seed stay the same.
    let units = &mut Rng::stream(seed, "twin/units");
    config.ftl = FtlConfig {
        unit: one_of(units, &[Some(Bytes(4096)), Some(Bytes(4096)), None]),
        reclaim_unit: ReclaimUnit::Superblock,
        program_unit: one_of(
            units,
            &[ProgramUnit::WordLine, ProgramUnit::WordLine, ProgramUnit::Page],
        ),
    };
    config.flash.word_line = word_line;
    config.superblocks.parity = one_of(rng, &[0, 2, 3, 5, 8]);
    if config.superblocks.parity > 0 {
        config.redundancy.name = RedundancyKind::Raid5;
    }
    config.unwritten_reads = UnwrittenReads::Zero;
    config.buffer.size = Bytes(1 << 20);
    config.gc.foreground_below = between(rng, 2, 5);
    config.gc.background_below = 0;
    let once = rng.chance(0.25);
    let patterns = if once { [Pattern::Random, Pattern::Sequential] } else { [Pattern::Steady; 2] };
    config.precondition.pattern = one_of(rng, &patterns);
    config.precondition.fill = one_of(rng, &[0.7, 1.0, 1.0]);
    let victims = [VictimKind::Greedy, VictimKind::Fifo, VictimKind::CostBenefit];
    config.victim.name = one_of(&mut Rng::stream(seed, "twin/victims"), &victims);
    // The data takes up to all of the drive's capacity.
    let share = if rng.chance(0.4) { 1.0 } else { 0.7 + 0.3 * rng.unit() };
    let step = 0.01;
    while config.layout().is_err() && config.over_provisioning < 0.95 {
        config.over_provisioning += step;
    }
    config.over_provisioning = 1.0 - share * (1.0 - config.over_provisioning);
    config
}

/// Overwrites that preconditioning of superblocks draws before their turn, so that the last ones of
/// a pass are counted in the next, or not at all.
const AHEAD: u64 = 16;

/// Returns the writes of preconditioning: those before the measured pass, those of that pass, and
/// those after it.
fn writes_of_preconditioning(config: &Config, done: &Preconditioned) -> [Vec<u64>; 3] {
    let filled = u64::from(done.filled.0);
    let mut writes = first_writes(config, done.filled.0);
    if done.overwritten == 0 {
        return [writes, Vec::new(), Vec::new()];
    }
    assert!(filled > AHEAD && done.overwritten.is_multiple_of(filled));
    let mut rng = Rng::stream(config.seed, "precondition/overwrites");
    writes.extend((0..done.overwritten).map(|_| rng.below(filled)));
    let after = writes.split_off(writes.len() - AHEAD as usize);
    let measured = writes.split_off(writes.len() - filled as usize);
    [writes, measured, after]
}

/// A drive with superblocks, after preconditioning and some trims.
fn superblock(seed: u64) -> Value {
    let mut rng = Rng::stream(seed, "twin/superblocks");
    let (config, layout) = loop {
        let config = superblock_config(&mut rng, seed);
        match config.layout() {
            Ok(layout) if u64::from(layout.logical_pages) > 2 * AHEAD => break (config, layout),
            _ => {}
        }
    };
    let mut device = superblocks::built(&config).expect("a sound drive");
    let done = *device.superblocks().preconditioned();
    let logical = u64::from(layout.logical_pages);
    let trimmed: Vec<u64> = (0..logical).filter(|_| rng.chance(0.05)).collect();
    let [before, measured, after] = writes_of_preconditioning(&config, &done);
    let mut last = operations("write", after);
    last.extend(operations("trim", trimmed.iter().copied()));
    let trims = trimmed.into_iter().map(|unit| io(&config, HostOp::Trim, unit));
    device.run(trims, Pacing::Closed { depth: 1 }, &mut ());
    device.check_superblocks().unwrap_or_else(|law| panic!("seed {seed}: {}", law.0));
    json!({
        "seed": seed,
        "kind": "superblocks",
        "flash": flash(&config),
        "reclaim_units": layout.geometry.blocks_per_plane,
        "logical_units": layout.logical_pages,
        "rules": {
            "victim": config.victim.name.name(),
            "foreground_below": config.gc.foreground_below,
            "units_per_page": config.geometry.page_size.0 / config.unit().0,
            "pages_of_program": config.pages_of_program(),
            "parity": config.superblocks.parity,
        },
        "phases": [
            { "is_measured": false, "operations": operations("write", before) },
            { "is_measured": true, "operations": operations("write", measured) },
            { "is_measured": false, "operations": last },
        ],
        "expected": state_of_superblocks(&config, &layout, device, &done),
    })
}

fn io(config: &Config, op: HostOp, unit: u64) -> HostIo {
    let size = config.unit().0;
    HostIo::new(op, Nanos::ZERO, unit * size, size as u32)
}

/// Returns the location of all data of a drive with superblocks: the units from the saved state,
/// and the flash pages as the dies read them.
fn state_of_superblocks(
    config: &Config,
    layout: &Layout,
    mut device: Device<Superblocks>,
    done: &Preconditioned,
) -> Value {
    let mut words = Vec::new();
    let saved = device.superblocks().save_state(&mut |more| {
        words.extend_from_slice(more);
        Ok(())
    });
    saved.expect("a vector takes everything");
    // The map comes last.
    let logical = layout.logical_pages;
    let map = &words[words.len() - logical as usize..];
    let locations: Vec<Option<u32>> =
        map.iter().map(|&at| (at != u32::MAX).then_some(at)).collect();
    let erases = device.superblocks().erase_counts().to_vec();
    // `check_superblocks` has compared the counts of the drive with its map.
    let span = (layout.pages() / u64::from(layout.geometry.blocks_per_plane)) as u32;
    let mut valid = vec![0; erases.len()];
    locations.iter().flatten().for_each(|at| valid[(at / span) as usize] += 1);
    let mut pages = Pages::default();
    let reads = (0..logical).map(|unit| io(config, HostOp::Read, unit.into()));
    device.run(reads, Pacing::Closed { depth: 1 }, &mut pages);
    let mut expected = json!({
        "locations": locations,
        "valid": valid,
        "erases": erases,
        "pages": pages.answered,
    });
    // The twin divides all programmed units by the units written by the host.
    let written = f64::from(done.filled.0);
    let waf = done.waf.map(|waf| {
        let moved = ((waf - 1.0) * written).round();
        assert_eq!(1.0 + moved / written, waf, "seed {}: no whole number was moved", config.seed);
        (written + moved) / written
    });
    expected["write_amplification"] = json!(waf.as_slice());
    expected
}

/// Notes the die and the flash page from which each read is answered.
#[derive(Default)]
struct Pages {
    last: Option<(u32, u32)>,
    answered: Vec<Option<(u32, u32)>>,
}

impl Probe<Superblocks> for Pages {
    fn watches_flash(&self) -> Steps {
        Steps::All
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        let done = |step: &&FlashStep| matches!(step.event, FlashEvent::Read { again: false, .. });
        for FlashStep { die: DieId(die), operation, .. } in steps.iter().filter(done) {
            assert_eq!((operation.op, operation.source), (Op::Read, Source::Host));
            let Ppn(page) = operation.ppn;
            self.last = Some((*die, page));
        }
    }

    fn completed(&mut self, _: &Completion) {
        self.answered.push(self.last.take());
    }
}
