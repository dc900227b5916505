//! Tests of alternatives, prices and choices, with fronts and prices computed by hand.

use super::Design;
use super::choices::{Candidate, Choice, beaten, best};
use super::combination::Combination;
use super::plan::{Evidence, Metric, Place};
use super::price::{Price, total};
use super::tests::{cell, config, evidence, evidence_of, measured, places, plan, read_factor};
use crate::run_summary::RunSummary;
use fowler_experiment::tables::Sheet;

/// Returns a candidate with the effects on mean reads and on wear under each seed; its other
/// effects are zero.
fn candidate(subset: usize, price: [f64; 3], effects: &[(f64, f64)]) -> Candidate {
    let zeros = || vec![0.0; effects.len()];
    let reads = effects.iter().map(|it| it.0).collect();
    let wear = effects.iter().map(|it| it.1).collect();
    let effects = [reads, zeros(), zeros(), wear, zeros()].map(Some).into();
    Candidate { of: Combination::from(subset), price: Price(price), effects }
}

/// Objectives of the front with wear, and the mean of reads among the objectives.
const WEAR: [usize; 3] = [0, 1, 3];
const READS: usize = 0;

#[test]
fn a_front_is_the_one_computed_by_hand() {
    let all = [
        candidate(0b0000, [0.0, 0.0, 0.0], &[(0.0, 0.0)]),
        // A fifth faster for 10 bytes, and the same for 20.
        candidate(0b0001, [10.0, 0.0, 0.0], &[(-0.2, 0.0)]),
        candidate(0b0010, [20.0, 0.0, 0.0], &[(-0.2, 0.0)]),
        // Slower than the second, but it wears less.
        candidate(0b0100, [5.0, 0.0, 0.0], &[(-0.1, -0.1)]),
        // Slower than nothing, and free.
        candidate(0b1000, [0.0, 0.0, 0.0], &[(0.1, 0.0)]),
        // Faster than all, and needs more of another kind of memory.
        candidate(0b0011, [0.0, 0.0, 1.0], &[(-0.3, 0.2)]),
        // No better than nothing, for a price.
        candidate(0b0110, [0.0, 0.0, 9.0], &[(0.0, 0.0)]),
        // As nothing; what it takes of the spare capacity is in its effects.
        candidate(0b1100, [0.0, 7.0, 0.0], &[(0.0, 0.0)]),
    ];
    let on = None;
    let expected = vec![on, on, Some(1), on, Some(0), on, Some(0), on];
    assert_eq!(beaten(&all, &WEAR), Some(expected));
    let reads = beaten(&all, &[READS]).unwrap();
    assert_eq!([reads[3], reads[4]], [on, Some(0)]);
}

/// A is beaten by B, which is beaten by C, and C does not beat A: without A, the front would have
/// lost its best member to a candidate that is not on it.
#[test]
fn only_members_of_the_front_take_others_off_it() {
    let seeds = |reads: [f64; 3]| reads.map(|it| (it, 0.0));
    let all = [
        candidate(0b001, [10.0, 0.0, 0.0], &seeds([-0.02; 3])),
        candidate(0b010, [5.0, 0.0, 0.0], &seeds([-0.03, 0.01, -0.01])),
        candidate(0b000, [0.0; 3], &seeds([0.0; 3])),
    ];
    assert_eq!(beaten(&all[..2], &WEAR), Some(vec![Some(1), None]));
    assert_eq!(beaten(&all, &WEAR), Some(vec![None, Some(2), None]));
}

/// Of three candidates of one price, each is better than the next by another objective, and cannot
/// be told from it by the others.
#[test]
fn a_circle_stays_on_the_front() {
    let noisy = [-2.5, 1.5, -0.5];
    let of = |price: f64, [reads, tail, wear]: [[f64; 3]; 3]| {
        let effects = vec![Some(reads.into()), Some(tail.into()), None, Some(wear.into()), None];
        Candidate { effects, ..candidate(1, [price, 0.0, 0.0], &[]) }
    };
    let first = [[-1.0; 3], noisy, [0.0; 3]];
    let circle = [
        of(1.0, first),
        of(1.0, [[0.0; 3], [-1.0; 3], noisy]),
        of(1.0, [noisy, [0.0; 3], [-1.0; 3]]),
    ];
    for (one, other) in [(0, 1), (1, 2), (2, 0)] {
        let pair = [circle[one].clone(), circle[other].clone()];
        assert_eq!(beaten(&pair, &WEAR), Some(vec![None, Some(0)]), "{one} beats {other}");
    }
    assert_eq!(beaten(&circle, &WEAR), Some(vec![None; 3]));
    // A member beats what is as good and dearer; a cheaper winner over a member opens the circle.
    let [a, b, c] = circle;
    let dearer = [of(2.0, first), a.clone(), b.clone(), c.clone()];
    assert_eq!(beaten(&dearer, &WEAR), Some(vec![Some(1), None, None, None]));
    let cheaper = [of(0.0, first), a, b, c];
    assert_eq!(beaten(&cheaper, &WEAR), Some(vec![None, Some(0), Some(0), None]));
}

/// With several seeds, a difference within its interval is none; what is equal in everything but
/// the price is beaten by the cheaper one.
#[test]
fn what_seeds_cannot_tell_apart_is_a_tie() {
    let seeds = |reads: [f64; 3]| reads.map(|it| (it, 0.0));
    let all = [
        candidate(0b0000, [0.0; 3], &seeds([0.0, 0.0, 0.0])),
        // -0.02 on average, with a standard error of 0.015: t of 2 degrees of freedom is 4.3.
        candidate(0b0001, [1.0, 0.0, 0.0], &seeds([-0.05, 0.0, -0.01])),
        // The interval of -0.2 is far from zero.
        candidate(0b0110, [2.0, 0.0, 0.0], &seeds([-0.21, -0.2, -0.19])),
        // The best by its mean, and not to be told from the one before it; simpler, but of buffers.
        candidate(0b1000, [1.0, 0.0, 8.0], &seeds([-0.21, -0.19, -0.21])),
    ];
    assert_eq!(beaten(&all, &WEAR), Some(vec![None, Some(0), None, None]));
    assert_eq!(best(&all, READS), Some((3, vec![3, 2])));
    // With one seed, every difference counts.
    let first = |it: &Candidate| {
        let effects = it.effects.iter().map(|it| it.as_ref().map(|it| it[..1].to_vec())).collect();
        Candidate { effects, ..it.clone() }
    };
    let one = all.each_ref().map(first);
    assert_eq!(beaten(&one, &WEAR), Some(vec![None; 4]));
}

/// A front over a metric that is not known of every candidate is no front.
#[test]
fn an_unknown_metric_leaves_the_front_open() {
    let mut all =
        [candidate(0, [0.0; 3], &[(0.0, 0.0)]), candidate(1, [1.0, 0.0, 0.0], &[(0.0, -0.5)])];
    assert_eq!(beaten(&all, &WEAR), Some(vec![None, None]));
    for candidate in &mut all {
        candidate.effects[3] = None;
    }
    assert_eq!(beaten(&all, &WEAR), None);
    assert_eq!(beaten(&all, &[READS]), Some(vec![None, Some(0)]));
    assert_eq!(best(&all, 3), None);
}

/// The drive has 64 dies of 2,048 blocks of 128 pages of 8 KiB, a buffer of 2,048 frames, and
/// 1,638,400 stripes if it has parity.
#[test]
fn a_price_is_the_one_computed_by_hand() {
    let plan = plan(Design::All);
    let prices = plan.prices().unwrap();
    let kib = |name: &str| {
        let of = |it: &&(Combination, _)| it.0.named(&plan.factor) == name;
        let (_, items) = prices.iter().find(of).unwrap_or_else(|| panic!("{name}"));
        total(items).0.map(|bytes| bytes / 1024.0)
    };
    let (pages, blocks) = (64.0 * 2048.0 * 128.0, 64.0 * 2048.0);
    assert_eq!(kib("none"), [0.0; 3]);
    assert_eq!(kib("retry, reads first"), [0.0; 3]);
    assert_eq!(kib("PES"), [0.0, 0.0, 64.0 * 8.0]);
    assert_eq!(kib("inter-phase suspension"), kib("PES"));
    // A stamp of four bytes for each page, a byte for each block, and one more stream, which has an
    // open block of 1 MiB in each plane.
    let open = 64.0 * 1024.0;
    assert_eq!(kib("RHIO"), [(4.0 * pages + blocks) / 1024.0, open, 0.0]);
    assert_eq!(kib("RHIO, reads by retry"), kib("RHIO"), "its order needs ages as well");
    // Two counters of 16 bits for each frame, two bits for each block, and four more streams.
    assert_eq!(kib("HIRE"), [(4.0 * 2048.0 + blocks / 4.0) / 1024.0, 4.0 * open, 0.0]);
    assert_eq!(kib("HIRE, reads cached, rewrite_on_idle"), kib("HIRE"));
    // And two bits for each of 11,468,800 mapping entries, the size in the paper.
    let entries = kib("HIRE, reads cached, on_evict")[0] - kib("HIRE")[0];
    assert!((entries - 2800.0).abs() < 1.0, "{entries}");
    // A day of windows of ten minutes.
    assert_eq!(kib("READY"), [144.0 * 8.0 / 1024.0, 0.0, 0.0]);
    let stripes = 1_638_400.0;
    let mapping = 4.0 * stripes / 1024.0;
    assert_eq!(kib("plain RAID-5"), [1024.0 + mapping, 8.0 * stripes, 0.0]);
    // A bit and a counter of a byte for each stripe, a stamp and a counter of reads for each block.
    let stages = (stripes / 8.0 + stripes + (4.0 + 4.0) * blocks) / 1024.0;
    assert_eq!(kib("DA-RAID-5"), [1024.0 + mapping + stages, 8.0 * stripes, 0.0]);
    // No system keeps what another one keeps, except for open blocks.
    let all = kib("PES + RHIO + HIRE + READY + DA-RAID-5");
    let each = ["PES", "RHIO", "HIRE", "READY", "DA-RAID-5"].map(kib);
    for store in [0, 2] {
        assert_eq!(all[store], each.iter().map(|it| it[store]).sum::<f64>());
    }
}

/// A drive that differs only in the depth of its queue begins in the same state.
#[test]
fn depths_of_the_queue_share_preconditioned_drives() {
    let plan = plan(Design::All);
    assert_eq!(plan.drive.len(), 2);
    for age in &plan.age {
        for of in plan.combinations() {
            let of_drive = |drive| config(&plan, Place { drive, age, column: "F1" }, of);
            let [deep, shallow] = [0, 1].map(of_drive);
            assert_eq!([deep.queue.depth, shallow.queue.depth], [1024, 32]);
            assert!(deep.ages_like(&shallow), "{} {}", age.name, of.named(&plan.factor));
        }
    }
}

/// Rivals alone have nothing of their system: "retry, reads first" neither sorts reads by age nor
/// slows programs down.
#[test]
fn an_alternative_replaces_its_system() {
    let plan = plan(Design::All);
    let place = places(&plan)[0];
    let other = |name: &str| {
        let of = plan.alternatives().find(|it| it.named(&plan.factor) == name);
        of.unwrap_or_else(|| panic!("{name}"))
    };
    let bare = config(&plan, place, 0);
    let retry = config(&plan, place, other("retry, reads first"));
    assert_eq!(retry.step, bare.step);
    assert_eq!(retry.placement, bare.placement);
    assert_eq!(retry.sensing.name.name(), "retry");
    assert_eq!(retry.die_order.name.name(), "read_first");
    let all = plan.subsets();
    let last = config(&plan, place, other("retry, reads first").as_last(all));
    assert_eq!(last.sensing.name.name(), "retry");
    assert_eq!(last.suspension.name.name(), "ipc");
    let rewrites = config(&plan, place, other("HIRE, reads cached, rewrite_on_idle").as_last(all));
    assert_eq!(rewrites.buffer.read_hot, fowler_device::ReadHot::RewriteOnIdle);
    let dynamic = config(&plan, place, other("dynamic throttle"));
    assert_eq!(dynamic.throttle.name.name(), "dynamic");
}

/// Returns the summary of a made-up run, in which an alternative makes reads twice as fast as its
/// system.
fn replaced(_seed: usize, [drive, age, _]: [usize; 3], of: Combination) -> RunSummary {
    let own = 100.0 * read_factor(drive, of.subset);
    let is_system = of == Combination::from(of.subset);
    measured(if is_system { own } else { own / 2.0 }, age, of.subset)
}

#[test]
fn alternatives_are_compared_with_nothing_and_with_their_system() {
    let evidence = evidence_of(Design::All, (1, &[]), replaced);
    let sheet = evidence.alternatives().unwrap();
    assert_eq!(sheet.rows.len(), 2 * 8 * 3 * 4);
    let read = Metric::Read.name();
    let of = |drive: &str, what: &str| {
        let lead = [drive, "RHIO", "retry, reads first", "old", what];
        cell(&sheet, &lead, read).unwrap()
    };
    // RHIO is a factor of 0.8 on the first drive, and of 1.25 on the second.
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one} {other}");
    near(of("together", "alone"), -0.6);
    near(of("together", "as the last"), -0.6);
    near(of("together", "in place of RHIO, alone"), -0.5);
    near(of("together", "in place of RHIO, as the last"), -0.5);
    near(of("together, depth 32", "alone"), 0.625 - 1.0);
}

/// No table has a mean over two depths of one drive's queue.
#[test]
fn one_drive_under_two_settings_has_no_mean() {
    let evidence = evidence(Design::All, 1);
    let sheets = [
        evidence.worth(),
        evidence.interactions(),
        evidence.choice().unwrap().choices(),
        evidence.choice().unwrap().pareto(),
        evidence.alternatives().unwrap(),
    ];
    for sheet in sheets {
        assert_eq!(sheet.heads[0], "drive", "{}", sheet.name);
        let mut drives: Vec<String> = sheet.rows.iter().map(|row| row[0].shown()).collect();
        drives.dedup();
        assert_eq!(drives, ["together", "together, depth 32"], "{}", sheet.name);
    }
    let names: Vec<String> = evidence.pictures().into_iter().map(|it| it.id).collect();
    assert_eq!(names, ["worth-together", "worth-together-depth-32"]);
    for figure in evidence.choice().unwrap().fronts() {
        figure.svg().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// An imaginary alternative is neither chosen nor on a front, and tables say why; the other ones
/// are candidates.
#[test]
fn only_what_can_be_built_is_chosen() {
    let evidence = evidence_of(Design::All, (1, &[]), replaced);
    let plan = &evidence.plan;
    let run = plan.alternatives().find(|it| !it.is_real(&plan.factor)).unwrap();
    let (name, why) = ("HIRE, reads cached, on_evict", "a note in a table changes no cell");
    assert_eq!(plan.run_name(places(plan)[0], run), format!("together F1 young 00100 {name}"));
    let shown = format!("{name} (imaginary: {why})");
    let has = |sheet: Sheet, head: &str, text: &str| {
        assert!(sheet.texts(head).iter().any(|it| it == text), "{}: {text}", sheet.name);
    };
    has(evidence.alternatives().unwrap(), "alternative", &shown);
    has(evidence.price().unwrap(), "system", &format!("{shown} (for HIRE)"));
    has(evidence.each_run(), "scheme", &shown);
    let choice = evidence.choice().unwrap();
    let pareto = choice.pareto();
    let names = pareto.texts("combination");
    assert!(names.iter().any(|it| it == "HIRE, reads cached, rewrite_on_idle"));
    assert!(!names.iter().any(|it| it.contains("on_evict")), "{names:?}");
    assert_eq!(pareto.rows.len(), 2 * 4 * (32 + 2 * 7));
    // PES by its factor of a half, RHIO replaced: 0.5 * 0.8 / 2; of the other systems none helps.
    let choices = choice.choices();
    let read = choices.rows.iter().find(|row| row[2].shown() == "lowest mean read").unwrap();
    assert!(read[4].value().is_some_and(|it| it < -0.7), "{read:?}");
}

#[test]
fn the_study_of_drives_of_today_makes_no_choice() {
    let evidence: Evidence = evidence(Design::Today, 1);
    assert!(evidence.alternatives().is_none() && evidence.choice().is_none());
    assert!(evidence.price().is_none());
}

/// HIRE writes too little in the second workload for its wear to be stated there, under one of two
/// seeds. In that workload PES makes reads twice as fast and saves wear.
fn near_the_threshold(seed: usize, [_, age, workload]: [usize; 3], of: Combination) -> RunSummary {
    let (is_pes, is_hire) = (of.subset & 1 != 0, of.subset & 4 != 0);
    let is_near = workload == 1;
    let run = measured(if is_pes && is_near { 50.0 } else { 100.0 }, age, of.subset);
    let wear = match (is_near, is_pes, is_hire) {
        (true, true, _) => 0.5,
        (true, _, true) => 0.8,
        (false, _, true) => 0.9,
        _ => 1.0,
    };
    let written = if is_near && is_hire && seed == 1 { 10.0 } else { 1e9 };
    let failed = if is_hire { 3.0 } else { 0.0 };
    run.with("wearing_weight", wear)
        .with("counters.programs.host", written)
        .with("counters.uncorrectable_reads", failed)
}

/// All candidates are compared by the same workloads, and a choice that loses data says so.
#[test]
fn a_workload_counts_if_all_candidates_have_it_under_all_seeds() {
    let evidence = evidence_of(Design::All, (2, &["near"]), near_the_threshold);
    let choice: Choice<'_> = evidence.choice().unwrap();
    let pareto = choice.pareto();
    let near = |name: &str, metric: Metric, other: f64| {
        for age in ["all ages", "old"] {
            let value = cell(&pareto, &["together", age, name], metric.name()).unwrap();
            assert!((value - other).abs() < 1e-9, "{name}, {age}: {value} {other}");
        }
    };
    near("PES", Metric::Read, libm::sqrt(0.5) - 1.0);
    near("PES", Metric::Wear, 0.0);
    near("HIRE", Metric::Wear, -0.1);
    near("HIRE", Metric::Failed, 0.01);
    near("PES", Metric::Failed, 0.0);
    near("DA-RAID-5", Metric::Failed, 0.0);
    let choices = choice.choices();
    let lead = ["together", "old", "least wear per host byte", "HIRE"];
    assert!((cell(&choices, &lead, "against none").unwrap() + 0.1).abs() < 1e-9);
    let failed = cell(&choices, &lead, "page reads beyond correction, simplest").unwrap();
    assert!((failed - 0.01).abs() < 1e-9);
    assert_eq!(choices.rows.len(), 2 * 4 * 5);
}

/// Where no workload has a metric for all candidates, its choice is empty, and so is its front.
#[test]
fn what_cannot_be_compared_is_not_decided() {
    let run = |seed, [drive, age, _]: [usize; 3], of: Combination| {
        near_the_threshold(seed, [drive, age, 1], of)
    };
    let evidence = evidence_of(Design::All, (2, &[]), run);
    let choice = evidence.choice().unwrap();
    let choices = choice.choices();
    let of = |goal: &str| choices.rows.iter().find(|row| row[2].shown() == goal).unwrap();
    assert_eq!(of("least wear per host byte")[3].exact(), "");
    assert_eq!(of("lowest mean read")[3].shown(), "PES");
    let pareto = choice.pareto();
    assert!(pareto.texts("front with wear").iter().all(String::is_empty));
    for figure in choice.fronts() {
        figure.svg().unwrap_or_else(|error| panic!("{error}"));
    }
}
