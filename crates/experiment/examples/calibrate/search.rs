//! The search for the keys of a stand-in: Nelder and Mead (1965), and starts that fill a box
//! evenly. See docs/decisions/real_drives.md, "Which search fits them?".

/// A candidate: where the knobs stand, and the sum of squared residuals.
pub type Point = (Vec<f64>, f64);

/// Minimizes `cost` from `start` on with about `candidates` candidates: reflection, expansion,
/// contraction, shrinking.
pub fn nelder_mead(start: &[f64], candidates: usize, mut cost: impl FnMut(&[f64]) -> f64) -> Point {
    let mut simplex: Vec<Point> = vec![(start.to_vec(), cost(start))];
    for axis in 0..start.len() {
        let mut at = start.to_vec();
        at[axis] += 0.2;
        simplex.push((at.clone(), cost(&at)));
    }
    let mut spent = simplex.len();
    while spent < candidates {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (simplex[0].clone(), simplex.len() - 1);
        if simplex[worst].1 - best.1 < 1e-4 {
            break;
        }
        let along = |by: f64| -> Vec<f64> {
            let centre =
                |axis| simplex[..worst].iter().map(|it| it.0[axis]).sum::<f64>() / worst as f64;
            (0..start.len())
                .map(|axis| centre(axis) + by * (centre(axis) - simplex[worst].0[axis]))
                .collect()
        };
        let mut tried = |by: f64| {
            let at = along(by);
            spent += 1;
            (at.clone(), cost(&at))
        };
        let reflected = tried(1.0);
        let replacement = if reflected.1 < best.1 {
            let expanded = tried(2.0);
            Some(if expanded.1 < reflected.1 { expanded } else { reflected })
        } else if reflected.1 < simplex[worst - 1].1 {
            Some(reflected)
        } else {
            let contracted = tried(if reflected.1 < simplex[worst].1 { 0.5 } else { -0.5 });
            (contracted.1 < simplex[worst].1.min(reflected.1)).then_some(contracted)
        };
        if let Some(point) = replacement {
            simplex[worst] = point;
            continue;
        }
        for point in &mut simplex[1..] {
            let at: Vec<f64> = point.0.iter().zip(&best.0).map(|(a, b)| (a + b) / 2.0).collect();
            *point = (at.clone(), cost(&at));
            spent += 1;
        }
    }
    simplex.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("a simplex")
}

/// Point `number`, from 1, of the sequence of Halton (1960) in the unit cube: as even as random
/// points are not, and the same every time.
pub fn halton<const N: usize>(number: u32) -> [f64; N] {
    const PRIMES: [u32; 4] = [2, 3, 5, 7];
    std::array::from_fn(|axis| {
        let prime = PRIMES[axis];
        let (mut left, mut share, mut value) = (number, 1.0, 0.0);
        while left > 0 {
            share /= f64::from(prime);
            value += share * f64::from(left % prime);
            left /= prime;
        }
        value
    })
}
