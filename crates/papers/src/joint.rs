//! Choices that a paper leaves open, settled together by the published numbers of its baselines
//! alone. The system's numbers under the settled choices are predictions: they had no part in the
//! choice.
//!
//! A study declares the open choices with their options, and measures every combination. A
//! combination is judged by its distance from the published numbers of the baselines, never by that
//! of the system.

use crate::claim::Labelled;
use crate::studies::interval;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::tables::{Cell, Sheet};
use serde::Deserialize;

/// A choice that a paper leaves open, such as a setting of the drive that it does not print.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Open {
    /// Possible values for a setting that the reproduced paper does not print; the study runs with
    /// the first one.
    pub option: Vec<Choosable>,
}

/// An option for a setting that a paper leaves open: its name in tables, and settings of the drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choosable {
    pub name: String,
    pub set: Vec<String>,
}

/// A combination of options: one for each setting that a paper leaves open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Combination {
    pub name: String,
    pub set: Vec<String>,
}

/// Returns all combinations of settings for what a paper leaves open, one option for each open
/// setting; the study runs with the first combination. `numbers` counts the published numbers by
/// which a combination is selected.
///
/// # Errors
/// If there are more open choices than numbers that can settle them.
pub(crate) fn combinations(open: &[Open], numbers: usize) -> Result<Vec<Combination>, Diagnostics> {
    if open.len() > numbers {
        let what = format!(
            "{} open choices cannot be settled by {numbers} published numbers of the baselines",
            open.len()
        );
        let hint = "leave out choices, or find more numbers that concern baselines";
        return Err(Diagnostic::new("joint", what).hint(Some(hint.to_string())).into());
    }
    let mut all = vec![Combination { name: String::new(), set: Vec::new() }];
    for choice in open {
        let with = |before: &Combination, option: &Choosable| {
            let joined = if before.name.is_empty() { "" } else { ", " };
            Combination {
                name: format!("{}{joined}{}", before.name, option.name),
                set: [&before.set[..], &option.set].concat(),
            }
        };
        all = all
            .iter()
            .flat_map(|before| choice.option.iter().map(|option| with(before, option)))
            .collect();
    }
    Ok(all)
}

/// Measured numbers of a drive under a combination of options for the settings that a paper leaves
/// open, by seed: those of the paper's baselines, and those of its system.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub name: String,
    /// Numbers measured for the baselines of the reproduced paper: by seed, then in the order of
    /// the published numbers.
    pub baselines: Vec<Vec<f64>>,
    /// Measured numbers of the system that the paper proposes: by seed, then in the order in which
    /// the paper prints the numbers.
    pub system: Vec<Vec<f64>>,
}

/// Returns the mean over the seeds of each measured number.
fn means(by_seed: &[Vec<f64>]) -> Vec<f64> {
    let Some(first) = by_seed.first() else { return Vec::new() };
    let mean = |at: usize| by_seed.iter().map(|it| it[at]).sum::<f64>() / by_seed.len() as f64;
    (0..first.len()).map(mean).collect()
}

/// Returns the distance of a study's measured numbers from the paper's published ones: the root
/// mean square of the differences, without the number at index `left_out`.
fn distance(ours: &[f64], published: &[Labelled], left_out: Option<usize>) -> f64 {
    let pairs = ours.iter().zip(published).enumerate().filter(|(at, _)| Some(*at) != left_out);
    let squares: Vec<f64> = pairs.map(|(_, (ours, (_, it)))| (ours - it).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// Returns the indices of the combinations of options (for settings that a paper leaves open),
/// sorted by the distance of the measured baselines from the published numbers, nearest first. The
/// published number at index `left_out` does not count.
fn ranked(all: &[Judged], published: &[Labelled], left_out: Option<usize>) -> Vec<usize> {
    let of = |at: usize| distance(&means(&all[at].baselines), published, left_out);
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by(|&one, &other| of(one).total_cmp(&of(other)));
    places
}

/// Returns true if two combinations of settings that a paper leaves open bring the measured
/// baselines equally near to their published numbers: over the seeds, the difference of the two
/// distances is within its 95 % confidence interval.
fn alike(one: &Judged, nearest: &Judged, published: &[Labelled]) -> bool {
    let of = |it: &Judged| -> Vec<f64> {
        it.baselines.iter().map(|ours| distance(ours, published, None)).collect()
    };
    let apart: Vec<f64> =
        of(one).iter().zip(of(nearest)).map(|(one, nearest)| one - nearest).collect();
    interval(&apart).is_some_and(|it| it.mean.abs() <= it.half_width)
}

/// Returns the table of all combinations of options for settings that a paper leaves open, nearest
/// to the published numbers of its baselines first. Each row has the measured numbers of the
/// baselines, then those that the combination predicts for the paper's system.
pub(crate) fn sheet(all: &[Judged], (baselines, system): (&[Labelled], &[Labelled])) -> Sheet {
    let heads: Vec<String> = ["combination", "distance (percentage points)"]
        .into_iter()
        .map(String::from)
        .chain(baselines.iter().map(|(label, _)| format!("baseline: {label}")))
        .chain(system.iter().map(|(label, _)| format!("predicted: {label}")))
        .chain(["chosen".into()])
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let title =
        "Open choices settled together by the baselines; the system's numbers are predictions";
    let mut sheet = Sheet::new("joint", title, &heads);
    let mut row: Vec<Cell> = vec!["the paper".into(), Cell::Nothing];
    row.extend(baselines.iter().chain(system).map(|(_, it)| Cell::share(Some(*it))));
    row.push(Cell::Nothing);
    sheet.row(row);
    let order = ranked(all, baselines, None);
    for &place in &order {
        let Judged { name, baselines: ours, system } = &all[place];
        let nearest = &all[order[0]];
        let mut row: Vec<Cell> = vec![
            name.as_str().into(),
            Cell::number(Some(100.0 * distance(&means(ours), baselines, None))),
        ];
        row.extend(means(ours).into_iter().chain(means(system)).map(|it| Cell::share(Some(it))));
        let chosen = match place == order[0] {
            true => "nearest",
            false if alike(&all[place], nearest, baselines) => "within the interval of the nearest",
            false => "",
        };
        row.push(chosen.into());
        sheet.row(row);
    }
    sheet
}

/// Returns the table of the combinations of options (for settings that a paper leaves open) that
/// would be chosen without one of the published numbers of the paper's baselines; one row for each
/// number left out.
pub(crate) fn left_out(all: &[Judged], (baselines, system): (&[Labelled], &[Labelled])) -> Sheet {
    let heads: Vec<String> = ["left out", "nearest combination"]
        .into_iter()
        .map(String::from)
        .chain(["the number left out: the paper".into(), "ours".into()])
        .chain(system.iter().map(|(label, _)| format!("predicted: {label}")))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let title = "Open choices settled without one of the baselines' numbers";
    let mut sheet = Sheet::new("joint-left-out", title, &heads);
    for (at, (label, published)) in baselines.iter().enumerate() {
        let nearest = &all[ranked(all, baselines, Some(at))[0]];
        let mut row: Vec<Cell> = vec![
            label.as_str().into(),
            nearest.name.as_str().into(),
            Cell::share(Some(*published)),
            Cell::share(Some(means(&nearest.baselines)[at])),
        ];
        row.extend(means(&nearest.system).into_iter().map(|it| Cell::share(Some(it))));
        sheet.row(row);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(names: &[&str]) -> Open {
        let option =
            |name: &&str| Choosable { name: (*name).into(), set: vec![format!("k={name}")] };
        Open { option: names.iter().map(option).collect() }
    }

    #[test]
    fn every_combination_is_made_and_there_are_never_more_choices_than_numbers() {
        let all = combinations(&[open(&["a", "b"]), open(&["c", "d"])], 2).unwrap();
        let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a, c", "a, d", "b, c", "b, d"]);
        assert_eq!(all[3].set, ["k=b", "k=d"]);
        assert!(combinations(&[open(&["a"]), open(&["b"])], 1).is_err());
    }

    #[test]
    fn the_system_has_no_say_in_the_choice() {
        let published = [("x".to_string(), 0.3), ("y".to_string(), 0.1)];
        let of = |name: &str, x: f64, system: f64| Judged {
            name: name.into(),
            baselines: vec![vec![x, 0.1], vec![x + 0.002, 0.1]],
            system: vec![vec![system], vec![system]],
        };
        // The one that is farther from the baselines has the system's number right.
        let all = [of("far", 0.2, 0.4), of("near", 0.29, 0.1), of("alike", 0.288, 0.9)];
        assert_eq!(ranked(&all, &published, None), [1, 2, 0]);
        let predicted = [("z".to_string(), 0.4)];
        let rows = sheet(&all, (&published, &predicted)).texts("combination");
        assert_eq!(rows, ["the paper", "near", "alike", "far"]);
        // Without x all are equally near; the first stays.
        assert_eq!(ranked(&all, &published, Some(0)), [0, 1, 2]);
        assert!(alike(&all[1], &all[1], &published) && !alike(&all[0], &all[1], &published));
    }
}
