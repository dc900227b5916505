//! Fleets whose blocks fail before they are worn out, against drives that are simulated one by one.

use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_lifetime::fleet::{self, Cause, Fleet, FleetSpec};
use fowler_lifetime::{Ended, Lifetime, LifetimeSpec, SaveTo, Watch, live};

const DAY_S: f64 = 86_400.0;
/// Cells wear eight times as fast: a block that fails after some 700 cycles fails within eight
/// cycles of its number, 1 % at most, and a life takes an eighth of the time.
const DILATION: u32 = 8;
/// A small drive whose fleet is compared with single lives: a preset, its settings, and the days of
/// a life, in which the spare is used up.
struct Small {
    device: &'static str,
    settings: &'static [&'static str],
    days: f64,
}

/// A page-mapped drive of 256 blocks, and drives of 256 superblocks of 8 blocks and 96 of 32.
const DRIVES: [Small; 3] = [
    Small {
        device: "ready-32",
        settings: &[
            "geometry.channels=1",
            "geometry.dies_per_chip=1",
            "geometry.blocks_per_plane=64",
        ],
        days: 3.0,
    },
    Small {
        device: "nvme-7450",
        settings: &[
            "geometry.channels=2",
            "geometry.blocks_per_plane=256",
            "geometry.pages_per_block=12",
            "geometry.over_provisioning=0.3",
            "superblocks.parity=0",
            "policy.redundancy=none",
            "superblocks.retire=superblock",
        ],
        days: 26.0,
    },
    Small {
        device: "nvme-7450",
        settings: &[
            "geometry.channels=8",
            "geometry.blocks_per_plane=96",
            "geometry.pages_per_block=12",
            "geometry.over_provisioning=0.35",
            "superblocks.parity=8",
            "superblocks.retire=block",
        ],
        days: 40.0,
    },
];

/// Returns the life of a small drive of which a share of the blocks fails within 1,000 cycles,
/// under four writes of 8 KiB a second. Its cells are worn out long after that.
fn life(small: &Small, share: f64, seed: u32) -> Lifetime {
    let of_all = [
        "geometry.chips_per_channel=1".into(),
        "lifetime.recovery='table'".into(),
        "lifetime.table.idle=['1h']".into(),
        "lifetime.table.cycles=[1e6]".into(),
        "lifetime.cycles=1000".into(),
        format!("lifetime.target={:.0}s", small.days * DAY_S),
        format!("bad_blocks.share={share}"),
        format!("seed={seed}"),
    ];
    let mut set: Vec<String> = small.settings.iter().map(|it| (*it).into()).collect();
    set.extend(of_all);
    let text = "duration = '1h'\narrivals = { kind = 'poisson', rate = 4.0 }\nmix.reads = 0.0\n\
        writes.sizes = '8KiB'\nspace.alignment = '4KiB'\n";
    let spec = LifetimeSpec {
        device: DeviceSpec { device: small.device.into(), set, ..DeviceSpec::default() },
        scheme: (small.device == "ready-32").then(|| "nt".into()),
        workload: WorkloadSpec::Generated(Source { name: "load".into(), text: text.into() }),
        limit: None,
        dilation: Some(DILATION),
        check: false,
        close_up: None,
        checkpoint: SaveTo::Nowhere,
        checkpoint_every: 1000,
    };
    let watch =
        Watch { control: Control::UNWATCHED, share: &|_| (), early: &|_| (), warn: &|_| () };
    match live(&spec, watch).unwrap_or_else(|why| panic!("{}: {why}", small.device)) {
        Ended::Lived(life) => *life,
        Ended::Stopped { .. } => panic!("nobody stopped it"),
    }
}

fn drawn(life: &Lifetime, drives: u32) -> Fleet {
    let spec = FleetSpec {
        drives,
        load_spread: 0.0,
        early_share: 0.0,
        worn_blocks: 0.5,
        ..FleetSpec::default()
    };
    fleet::draw(life, &spec, Control::UNWATCHED).unwrap().expect("nobody stopped it")
}

/// The spare of a fleet's drives is used up when it is in lives that are simulated one by one.
// Slow: seven whole lives of each of three drives.
#[test]
fn drives_of_a_fleet_lose_their_spare_when_single_ones_do() {
    const SEEDS: u32 = 7;
    for small in &DRIVES {
        let lives: Vec<Lifetime> = (1..=SEEDS).map(|seed| life(small, 0.5, seed)).collect();
        let used_up = |life: &Lifetime| {
            let counts = life.lived[0].bad_blocks.expect("blocks fail");
            let at = counts.worn_out.unwrap_or_else(|| panic!("{}: {counts:?}", small.device));
            at.0 as f64 / 1e9 * f64::from(DILATION) / DAY_S
        };
        let alone = lives.iter().map(used_up).sum::<f64>() / f64::from(SEEDS);
        let fleet = drawn(&lives[0], 4_000);
        assert!(fleet.drives.iter().all(|it| it.worn_years.is_infinite() && it.spare_lost > 0.5));
        let days: Vec<f64> = fleet.drives.iter().map(|it| it.spare_years * 365.0).collect();
        let mean = days.iter().sum::<f64>() / days.len() as f64;
        let squares = days.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
        let spread = (squares / days.len() as f64).sqrt();
        // Three standard errors of the single lives, and 3 %: write amplification is that of the
        // first life, and blocks are not worn quite alike.
        let most = 3.0 * spread / f64::from(SEEDS).sqrt() + 0.03 * alone;
        let name = format!("{} {:?}", small.device, small.settings.last());
        assert!((mean - alone).abs() < most, "{name}: {mean} days of a fleet, {alone} alone");
        assert!(spread < 0.15 * mean, "{name}: {spread} of {mean} days");
    }
}

/// More bad blocks shorten lives and change nothing else of a drive: the loads, the cells and the
/// early failures are those of the fleet without them.
#[test]
fn bad_blocks_only_shorten_lives() {
    let fleets = [0.0, 0.05, 0.3].map(|share| {
        let spec = FleetSpec { drives: 500, early_share: 0.2, ..FleetSpec::default() };
        let life = life(&DRIVES[0], share, 1);
        fleet::draw(&life, &spec, Control::UNWATCHED).unwrap().expect("nobody stopped it")
    });
    let [none, few, many] = &fleets;
    for (one, other) in none.drives.iter().zip(&few.drives) {
        assert_eq!((one.load, one.strength), (other.load, other.strength));
        assert_eq!(one.early_years.to_bits(), other.early_years.to_bits());
        assert!(one.spare_years.is_infinite() && one.spare_lost == 0.0);
    }
    for (one, other) in few.drives.iter().zip(&many.drives) {
        assert!(one.years() >= other.years(), "{one:?} {other:?}");
    }
    assert_eq!((none.bad_blocks, none.out_of_spare(), none.beyond_simulated()), (None, None, None));
    let law = many.bad_blocks.expect("blocks fail");
    assert_eq!((law.share, law.cycles, law.shape), (0.3, 1000.0, 3.0));
    assert!((0.5..=1.0).contains(&law.simulated_loss), "{law:?}");
    // Every drive loses more than nothing, but those that fail early do not live to see it.
    let early = many.drives.iter().filter(|it| it.cause() == Cause::Early).count();
    let nothing = fleet::BadBlocks { simulated_loss: 0.0, ..law };
    let mut seen = many.clone();
    seen.bad_blocks = Some(nothing);
    assert!(early > 0, "drives fail early");
    assert_eq!(seen.beyond_simulated(), Some((500 - early) as f64 / 500.0));
    let spare = many.drives.iter().filter(|it| it.cause() == Cause::Spare).count();
    assert!(spare > 300, "{spare} of 500");
    assert!(many.assumptions().contains("failed blocks (30 % at 1000 cycles"));
    assert!(!none.assumptions().contains("failed blocks"));
}

/// Blocks that fail take from an SLC cache too, which a fleet does not follow.
#[test]
fn a_fleet_with_an_slc_cache_has_no_bad_blocks() {
    let mut life = life(&DRIVES[1], 0.05, 1);
    life.drive.config.slc.fixed = 4;
    let said = fleet::suits(&life.drive.config).unwrap_err().to_string();
    assert!(said.contains("bad_blocks.share") && said.contains("SLC"), "{said}");
    life.drive.config.bad_blocks.share = 0.0;
    assert!(fleet::suits(&life.drive.config).is_ok());
}
