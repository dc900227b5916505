//! Tests of the studies' plans, and of their tables on made-up numbers.

use super::combination::Combination;
use super::effects::Scale;
use super::plan::{Evidence, Metric, Place, Plan, never_waits};
use super::tables::Estimate;
use super::{Design, Request, chosen};
use crate::column::Column;
use crate::run_summary::RunSummary;
use crate::studies::ImageCache;
use fowler_device::Config;
use fowler_experiment::device_spec::Source;
use fowler_experiment::sweep::StudyPoint;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::workload::{Control, WorkloadSpec};
use std::path::PathBuf;

pub(super) fn plan(design: Design) -> Plan {
    design.plan().unwrap_or_else(|why| panic!("{}: {why}", design.name()))
}

/// Returns the configuration of the drive at `place` with a combination of the systems.
pub(super) fn config(plan: &Plan, place: Place<'_>, of: impl Into<Combination>) -> Config {
    let of = of.into();
    let (drive, name) = (&plan.drive[place.drive].name, of.named(&plan.factor));
    plan.config(place, of).unwrap_or_else(|why| panic!("{drive} {name}: {why}"))
}

pub(super) fn places(plan: &Plan) -> Vec<Place<'_>> {
    let drives = 0..plan.drive.len();
    let of = |drive| plan.age.iter().map(move |age| Place { drive, age, column: "F1" });
    drives.flat_map(of).collect()
}

#[test]
fn the_host_has_the_same_capacity_under_every_subset() {
    let forms = Design::EVERY.into_iter().flat_map(|design| {
        let mut brief = plan(design);
        brief.shorten();
        [plan(design), brief]
    });
    for plan in forms {
        for place in places(&plan) {
            let capacity = |of| config(&plan, place, of).layout().unwrap().logical_pages;
            let first = capacity(Combination::from(0));
            for of in plan.combinations() {
                let (name, shown) = (&plan.drive[place.drive].name, of.shown(&plan.factor));
                // A capacity is rounded to pages or units, which parity divides differently.
                let apart = capacity(of).abs_diff(first);
                assert!(apart <= first / 1_000, "{name} {shown}: {apart} of {first}");
            }
        }
    }
}

/// Subsets of systems without parity share one preconditioned drive at every age, or two: HIRE
/// keeps more superblocks erased. Subsets with parity need one for each age, because the stage of
/// life decides which superblocks have parity.
#[test]
fn a_drive_of_today_is_preconditioned_once_where_it_can_be() {
    let plan = plan(Design::Today);
    for drive in 0..plan.drive.len() {
        let of = |age, subset| config(&plan, Place { drive, age, column: "F1" }, subset);
        let mut states: Vec<Config> = Vec::new();
        for age in &plan.age {
            for subset in 0..plan.subsets() {
                let config = of(age, subset);
                let is_new = !states.iter().any(|other| other.ages_like(&config));
                // Suspension, RHIO and READY act after preconditioning only.
                let is_first = subset & 0b0_1011 == 0 && (subset & 16 != 0 || age.name == "young");
                assert_eq!(is_new, is_first, "{subset:05b} {}", age.name);
                if is_new {
                    states.push(config);
                }
            }
        }
        assert_eq!(states.len(), 2 + 2 * plan.age.len());
    }
}

#[test]
fn the_target_life_is_divided_by_what_a_second_stands_for() {
    let plan = plan(Design::Today);
    let of = |column| config(&plan, Place { drive: 0, age: &plan.age[1], column }, 0);
    let (years, day) = (2.5 * 365.0, 86_400.0);
    for (column, stands_for) in [("1 DWPD", 378.0), ("3 DWPD", 126.0), ("of the user", 1.0)] {
        let s = of(column).life.target.as_s();
        let expected = years * day / stands_for;
        assert!((s / expected - 1.0).abs() < 1e-9, "{column}: {s} {expected}");
    }
}

#[test]
fn the_quick_form_has_fewer_and_smaller_runs() {
    for design in Design::EVERY {
        let (whole, mut brief) = (plan(design), plan(design));
        brief.shorten();
        assert!(brief.requests < whole.requests / 50 && !brief.drive.is_empty());
        assert!(!brief.workload.is_empty() && brief.workload.len() < whole.workload.len());
        let pages = |plan: &Plan| config(plan, places(plan)[0], 31).geometry.pages();
        assert!(pages(&brief) * 4 <= pages(&whole), "{}", design.name());
        let request = Request {
            design,
            brief: true,
            workloads: Vec::new(),
            traces: None,
            out: PathBuf::new(),
            limit: None,
            seeds: 1,
        };
        let columns = chosen(&brief, &request).unwrap();
        assert_eq!(columns.len(), brief.workload.len());
    }
}

/// Returns the summary of a made-up run: every system multiplies the mean read latency by its own
/// constant, which differs between drives. Drives 2 and 3 are the marked ones.
pub(super) fn run(_seed: usize, [drive, age, _]: [usize; 3], of: Combination) -> RunSummary {
    measured(100.0 * read_factor(drive, of.subset), age, of.subset)
}

/// Returns the factor by which the systems of a subset multiply the mean read latency of a drive.
pub(super) fn read_factor(drive: usize, subset: usize) -> f64 {
    let factors = [
        [0.5, 0.8, 1.0, 1.0, 1.25],
        [0.5, 1.25, 1.0, 1.0, 1.25],
        [0.1, 0.1, 0.1, 0.1, 0.1],
        [0.5, 0.5, 1.0, 1.0, 1.0],
    ][drive];
    let set = factors.iter().enumerate().filter(|(bit, _)| subset & (1 << bit) != 0);
    set.map(|(_, factor)| factor).product()
}

/// Returns the summary of a made-up run with this mean read latency in us.
pub(super) fn measured(read: f64, age: usize, subset: usize) -> RunSummary {
    let parity = f64::from(u8::from(subset & 16 != 0 && age > 0));
    let voltage = f64::from(u8::from(subset & 4 != 0));
    RunSummary::from([
        ("read.mean_us", read),
        ("read.p999_us", 100.0),
        ("write.mean_us", 10.0),
        ("write.p999_us", 10.0),
        ("write.bytes", 1e9),
        ("simulated_s", 86_400.0),
        ("drive.logical_bytes", 1e10),
        ("idle_share", 0.75),
        ("suspended_share", 0.25),
        ("flash_bytes_per_host_byte", 2.0),
        ("wearing_weight", 1.0),
        ("counters.programs.host", 1e9),
        ("counters.programs.parity", 1e7 * parity),
        ("counters.programs_at.host.nominal", 4.0 - voltage),
        ("counters.programs_at.host.reduced", voltage),
        ("counters.uncorrectable_reads", 0.0),
        ("counters.pages_read", 300.0),
        ("counters.pages_written", 100.0),
        ("counters.buffer_read_hits", 10.0),
        ("counters.buffer_write_hits", 10.0),
        ("counters.die_busy_s", 50.0),
        ("counters.reads_at.3", 99.0),
        ("counters.reads_at.9", 1.0),
    ])
}

pub(super) fn evidence(design: Design, seeds: usize) -> Evidence {
    evidence_of(design, (seeds, &[]), run)
}

/// Returns made-up measurements of the quick form of a study, whose runs are those of `run`, under
/// some seeds and with further workloads.
pub(super) fn evidence_of(
    design: Design,
    (seeds, further): (usize, &[&str]),
    run: impl Fn(usize, [usize; 3], Combination) -> RunSummary,
) -> Evidence {
    let mut plan = plan(design);
    plan.shorten();
    let request = Request {
        design,
        brief: true,
        workloads: Vec::new(),
        traces: None,
        out: PathBuf::new(),
        limit: None,
        seeds: 1,
    };
    let mut columns = chosen(&plan, &request).unwrap();
    let first = columns[0].clone();
    columns.extend(further.iter().map(|name| Column { name: (*name).into(), ..first.clone() }));
    Evidence::made_up(plan, columns, seeds, run)
}

/// Returns the number in a table's cell in the row that begins with `lead`, under the heading
/// `head`.
pub(super) fn cell(sheet: &Sheet, lead: &[&str], head: &str) -> Option<f64> {
    let column = sheet.heads.iter().position(|it| it == head).expect(head);
    let begins = |row: &&Vec<Cell>| lead.iter().zip(*row).all(|(text, cell)| cell.shown() == *text);
    let row = sheet.rows.iter().find(begins).unwrap_or_else(|| panic!("{}: {lead:?}", sheet.name));
    row[column].value()
}

// Slow: made-up runs of six drives at three ages under 32 combinations, and all tables of them.
#[test]
fn tables_have_each_drive_and_all_of_them() {
    let evidence = evidence(Design::Today, 1);
    let worth = evidence.worth();
    let read = Metric::Read.name();
    let near = |value: Option<f64>, other: f64| {
        assert!(value.is_some_and(|it| (it - other).abs() < 1e-9), "{value:?} {other}");
    };
    let of = |drive, factor| cell(&worth, &[drive, factor, "young", "on average"], read);
    near(of("nvme-pm9a3", "suspension (PES)"), -0.5);
    near(of("nvme-pm9a3", "order and speed (RHIO)"), -0.2);
    near(of("nvme-p5520", "order and speed (RHIO)"), 0.25);
    // A fifth less and a fourth more cancel.
    near(of("all drives", "order and speed (RHIO)"), 0.0);
    near(of("all drives", "suspension (PES)"), -0.5);
    let interactions = evidence.interactions();
    near(cell(&interactions, &["all drives", "PES + RHIO", "old", "together"], read), 0.0);
    let runs = evidence.each_run();
    assert_eq!(runs.rows.len(), 4 * 3 * 32);
    near(cell(&runs, &["nvme-p5520", "F1", "stand-in f1", "old", "rhio"], read), 125.0);
    // 3,000 - 300 cycles of a drive that takes 2e9 bytes in 86,400 s, which stand for 329 days.
    let life = cell(
        &runs,
        &["nvme-pm9a3", "F1", "stand-in f1", "young", "none"],
        "projected life (years)",
    );
    let raw = 16.0 * 2.0 * 342.0 * 24.0 * 16_384.0;
    near(life.map(|it| it / (2_700.0 * raw / 2e9 * 329.0 / 365.0)), 1.0);
    let effects = evidence.effects();
    assert_eq!(effects.rows.len(), 4 * 3 * (5 + 10));
    for figure in evidence.pictures() {
        figure.svg().unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(evidence.pictures().len(), 5);
}

/// Drives with a mark are in no mean, have it wherever they are named, and have a table of their
/// own.
// Slow: made-up runs of six drives at three ages under 32 combinations, and all tables of them.
#[test]
fn marked_drives_are_shown_beside_the_others() {
    let evidence = evidence(Design::Today, 1);
    let plan = &evidence.plan;
    let (mark, read) = ("fitted to reads and cached writes only", Metric::Read.name());
    let marked: Vec<String> = plan.drive.iter().filter_map(|it| it.mark.clone()).collect();
    assert_eq!(marked, [mark, mark]);
    let [client, sata] = ["nvme-980pro", "sata-860pro"].map(|it| format!("{it} ({mark})"));
    let sheet = evidence.marked().unwrap();
    assert!(sheet.title.contains(mark), "{}", sheet.title);
    assert_eq!(sheet.rows.len(), 2 * 3 * (5 + 1));
    let near = |value: Option<f64>, other: f64| {
        assert!(value.is_some_and(|it| (it - other).abs() < 1e-9), "{value:?} {other}");
    };
    near(cell(&sheet, &[&client, "suspension (PES)", "old", "alone"], read), -0.9);
    near(cell(&sheet, &[&client, "all five", "old", "together"], read), 1e-5 - 1.0);
    near(cell(&sheet, &[&sata, "all five", "young", "together"], read), 0.25 - 1.0);
    // A mean over all drives would be 1 - (0.5 x 0.5 x 0.1 x 0.5)^(1/4).
    let worth = evidence.worth();
    near(cell(&worth, &["all drives", "suspension (PES)", "old", "alone"], read), -0.5);
    near(cell(&worth, &[&client, "suspension (PES)", "old", "alone"], read), -0.9);
    let sheets = [
        worth,
        sheet,
        evidence.signs(),
        evidence.interactions(),
        evidence.effects(),
        evidence.each_run(),
    ];
    for sheet in sheets {
        let drives: Vec<String> = sheet.rows.iter().map(|row| row[0].shown()).collect();
        for name in [&client, &sata] {
            let bare = name.split(' ').next().unwrap();
            assert!(drives.contains(name), "{}: {drives:?}", sheet.name);
            assert!(!drives.iter().any(|it| it == bare), "{}: {bare} without mark", sheet.name);
        }
    }
    let pictures = evidence.pictures();
    assert!(pictures.iter().filter(|it| it.title.contains(mark)).count() == 2);
    let notes = plan.notes();
    assert_eq!(notes.len(), 2);
    assert!(notes[0].starts_with(&client) && notes[1].starts_with(&sata), "{notes:?}");
    assert!(notes.iter().all(|it| it.contains("PES") && it.contains("DA-RAID-5")), "{notes:?}");
}

#[test]
fn a_study_of_one_drive_does_not_name_it() {
    let mut evidence = evidence(Design::All, 1);
    evidence.plan.drive.truncate(1);
    assert_eq!(evidence.worth().heads[0], "factor");
    assert_eq!(evidence.each_run().heads[0], "workload");
    assert_eq!(evidence.pictures().len(), 1);
    assert!(evidence.marked().is_none() && evidence.plan.notes().is_empty());
}

#[test]
fn signs_are_those_of_the_drive_with_only_that_factor() {
    let signs = evidence(Design::Today, 1).signs();
    let of = |sign: &str, age: &str| {
        let row = signs.rows.iter().find(|row| row[2].shown().starts_with(sign));
        let column = signs.heads.iter().position(|it| it == age).unwrap();
        row.unwrap_or_else(|| panic!("{sign}"))[column].value().unwrap()
    };
    assert_eq!(of("time without a request", "young"), 0.75);
    assert_eq!(of("programs and erases that are suspended", "old"), 0.25);
    assert!((of("reads that need more", "middle") - 0.01).abs() < 1e-12);
    assert_eq!(of("time that dies are busy", "middle"), 0.0);
    assert_eq!(of("pages of requests that are found", "young"), 0.05);
    assert_eq!(of("host data at reduced", "young"), 0.25);
    assert_eq!(of("host data at boosted", "young"), 0.0);
    // A tenth of the capacity in 329 days.
    assert!((of("drive writes a day, without", "old") - 0.1 / 329.0).abs() < 1e-12);
    assert_eq!(of("programs of parity", "young"), 0.0);
    assert_eq!(of("programs of parity", "old"), 0.01);
}

/// With several equal seeds, a table of effects has a row of intervals, and they are zero.
// Slow: made-up runs of six drives at three ages under 32 combinations, with two seeds.
#[test]
fn several_seeds_have_an_interval() {
    let evidence = evidence(Design::Today, 2);
    let worth = evidence.worth();
    let of =
        |what| cell(&worth, &["all drives", "suspension (PES)", "old", what], Metric::Read.name());
    assert_eq!(of("on average ±").map(f64::abs), Some(0.0));
    assert_eq!(evidence.signs().rows.len(), 2 * 5 * 10);
    assert_eq!(evidence.marked().unwrap().rows.len(), 2 * 2 * 3 * (5 + 1));
}

/// Returns the numbers of a run's summary, without the bound of a law that states the depth itself.
fn numbers(point: &StudyPoint, images: &ImageCache) -> RunSummary {
    let summary = point.simulate(images, Control::UNWATCHED).unwrap().expect("nobody stops it");
    let mut summary = summary.as_object().expect("a summary").clone();
    summary.remove("laws");
    summary.into()
}

/// A run in which no request waits for a place in the queue is the same with a deeper one. Of 200
/// requests a second none waits for one of 32 places; of a million a second most do.
#[test]
fn a_deeper_queue_changes_nothing_where_no_request_waits() {
    let mut plan = plan(Design::All);
    plan.shorten();
    let [deep, shallow] = [0, 1];
    assert_eq!([plan.shallower(deep), plan.shallower(shallow)], [Some(shallow), None]);
    let of_rate = |rate: u32| {
        let text = format!(
            "requests = 400\narrivals = {{ kind = \"poisson\", rate = {rate} }}\nmix.reads = 0.5\n"
        );
        let spec = WorkloadSpec::Generated(Source { name: rate.to_string(), text });
        Column { name: rate.to_string(), source: "of the test".into(), spec, place: None }
    };
    let columns = [200, 1_000_000].map(of_rate);
    let images = ImageCache::default();
    let points = |drive| plan.points(&columns, (drive, &plan.age[0]), None);
    let of = plan.combinations();
    for (at, (deep, shallow)) in points(deep).iter().zip(points(shallow)).enumerate() {
        let combination = of[at % of.len()];
        if ![0, 0b00010, plan.subsets() - 1].map(Combination::from).contains(&combination) {
            continue;
        }
        let [deep, shallow] = [deep, &shallow].map(|point| numbers(point, &images));
        let waits = at >= of.len();
        assert_eq!(never_waits(&shallow), !waits, "{at}");
        assert_eq!(deep == shallow, !waits, "{at}");
    }
}

/// A half and a double cancel over seeds as they do over workloads.
#[test]
fn a_mean_of_ratios_over_seeds_is_geometric() {
    let sums = [-0.5, 1.0].map(|effect| Scale::Ratio.addend(effect).unwrap());
    let ratio = Estimate::of_sums(&sums, Scale::Ratio);
    assert!(ratio.mean.unwrap().abs() < 1e-12);
    // ln 2 times 12.706, as a difference of shares: a hyperbolic sine.
    assert!((ratio.half.unwrap() / libm::sinh(12.706 * libm::log(2.0)) - 1.0).abs() < 1e-9);
    let difference = Estimate::of(sums.into_iter().map(Some));
    assert!((difference.half.unwrap() / (12.706 * libm::log(2.0)) - 1.0).abs() < 1e-9);
    assert_eq!(Estimate::of([Some(1.0), None].into_iter()), Estimate::default());
}

/// Prices are those of the first drive, so a study of different drives has no choices.
#[test]
fn choices_on_several_drives_are_refused_unless_these_are_one() {
    let text = include_str!("../../../../presets/studies/all.toml");
    assert!(Plan::open("studies/all", text).is_ok());
    let refused = Plan::open("studies/all", &text.replace("apart = true", "")).unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("studies/all.toml") && said.contains("apart = true"), "{said}");
}
