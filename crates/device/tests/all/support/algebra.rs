//! The pages of a stripe that may be lost, by linear algebra: an unknown page can be brought back
//! if and only if the equations that the controller has left determine it.

use fowler_device::{Cell, Census, Device, Loss, StripeView};
use fowler_units::{Lpn, Ppn, StripeId};
use std::collections::{BTreeMap, BTreeSet};

/// Pages whose exclusive-or is known: some unknown ones, and the sum of the others.
pub struct Equation {
    unknown: BTreeSet<Ppn>,
    sum: u64,
}

impl Equation {
    /// Creates an equation over `cells`, whose sum is `sum`. Pages that are not readable or in
    /// `failed` are unknown.
    fn of(cells: impl Iterator<Item = Cell>, sum: u64, failed: &BTreeSet<Ppn>) -> Self {
        let mut equation = Equation { unknown: BTreeSet::new(), sum };
        for (ppn, version) in cells {
            match version {
                Some(version) if !failed.contains(&ppn) => equation.sum ^= version,
                _ => {
                    equation.unknown.insert(ppn);
                }
            }
        }
        equation
    }
}

/// Everything that a stripe's equations determine, by elimination.
pub fn solve(mut equations: Vec<Equation>) -> BTreeMap<Ppn, u64> {
    let mut done = 0;
    while let Some(at) = (done..equations.len()).find(|&at| !equations[at].unknown.is_empty()) {
        equations.swap(done, at);
        let (pivot, sum) = (equations[done].unknown.clone(), equations[done].sum);
        let first = *pivot.first().expect("not empty");
        for (index, other) in equations.iter_mut().enumerate() {
            if index != done && other.unknown.contains(&first) {
                other.unknown = &other.unknown ^ &pivot;
                other.sum ^= sum;
            }
        }
        done += 1;
    }
    let single = equations.iter().filter(|it| it.unknown.len() == 1);
    single.map(|it| (*it.unknown.first().expect("one"), it.sum)).collect()
}

/// The equations that a controller has of a stripe.
pub fn equations(view: &StripeView, failed: &BTreeSet<Ppn>) -> Vec<Equation> {
    let current = |at: usize| view.data[at].1;
    let all = 0..view.data.len();
    let mut equations = Vec::new();
    match (&view.cached, view.parity) {
        (None, Some(parity)) => {
            let pages = all.filter_map(current).chain([parity]);
            equations.push(Equation::of(pages, 0, failed));
        }
        (Some(cached), parity) => {
            let covered = |at: &usize| cached.covered[*at].0;
            if let Some(value) = cached.value {
                let deltas = cached.deltas.iter().copied();
                let pages = all.clone().filter(covered).filter_map(current).chain(deltas);
                equations.push(Equation::of(pages, value, failed));
            }
            if let Some(parity) = parity.filter(|_| cached.based) {
                let rest = all.clone().filter(|at| !covered(at)).filter_map(current);
                let kept = cached.covered.iter().filter_map(|(_, kept)| *kept);
                let pages = rest.chain(kept).chain([parity]);
                equations.push(Equation::of(pages, 0, failed));
            }
            if let Some(whole) = cached.whole {
                equations.push(Equation::of(all.filter_map(current), whole, failed));
            }
        }
        (None, None) => {}
    }
    equations
}

/// The pages of the host that a stripe holds.
pub fn pages_of(device: &Device, stripe: StripeId) -> impl Iterator<Item = Lpn> + use<> {
    let data = device.layout().logical_pages / device.stripes();
    (stripe.0 * data..(stripe.0 + 1) * data).map(Lpn)
}

pub fn every_stripe(device: &Device) -> Vec<StripeId> {
    (0..device.stripes()).map(StripeId).collect()
}

/// Compares the census of a drive of whole pages with the algebra, and returns the census.
pub fn check_census(device: &Device) -> Census {
    let failed: BTreeSet<Ppn> = device.unreadable_now().into_iter().collect();
    let mut must = Census::default();
    let (mut found, mut unfound) = (0, 0);
    for stripe in every_stripe(device) {
        let pages = || pages_of(device, stripe);
        let lost = pages().filter(|&page| device.lost(page).is_some()).count() as u64;
        found += lost;
        must.pages += pages().filter(|&page| device.holds(page)).count() as u64 + lost;
        must.unreadable += lost;
        let view = device.stripe(stripe);
        let given_back = solve(equations(&view, &failed));
        let fails = |cell: Option<Cell>| {
            cell.map(|(ppn, version)| (ppn, version.is_none() || failed.contains(&ppn)))
        };
        let mut gone = false;
        for &(page, cell) in &view.data {
            let Some((ppn, true)) = fails(cell) else { continue };
            must.unreadable += 1;
            let known = given_back.contains_key(&ppn);
            gone |= !known;
            match (device.is_buffered(page), known) {
                (true, _) => must.buffered += 1,
                (false, true) => must.recoverable += 1,
                (false, false) => unfound += 1,
            }
        }
        if let Some((_, fails)) = fails(view.parity) {
            must.parity_pages += 1;
            must.parity_unreadable += u64::from(fails);
            must.parity_lost += u64::from(fails && gone);
        }
    }
    let census = device.census();
    assert_eq!((census.found(), census.unfound()), (found, unfound), "found and unfound");
    for group in &census.losses {
        let Loss { failed, given_back, .. } = group.loss;
        assert!(given_back < failed, "{}", group.loss);
    }
    must.losses.clone_from(&census.losses);
    assert_eq!(census, must);
    census
}
