//! Every throttle against hosts of every kind, on a life that is a number of pages and a length of time.

use super::*;
use fowler_units::Rng;

/// A capacity, and what was taken of it.
struct Pages {
    taken: u64,
    rated: f64,
    /// The capacity with recovery, by the mean rate so far, in pages for each second.
    healed: Option<fn(f64, f64) -> f64>,
    ends: Nanos,
}

impl Life for Pages {
    fn taken(&self) -> u64 {
        self.taken
    }

    fn left(&self, now: Nanos, healed: bool) -> f64 {
        let seconds = (now - Nanos::ZERO).as_s();
        let most = match self.healed {
            Some(by_rate) if healed => by_rate(self.rated, self.taken as f64 / seconds.max(1.0)),
            _ => self.rated,
        };
        most - self.taken as f64
    }

    fn ends(&self) -> Nanos {
        self.ends
    }
}

/// What became of a closed host.
#[derive(Debug, Default)]
struct Fate {
    taken: u64,
    /// The longest that a page was held.
    longest: Span,
    delay_in_the_end: Span,
    /// Pages in each tenth of the life.
    tenths: [u64; 10],
    held: Held,
    state: State,
}

/// A host that asks for `next` (a gap and a number of pages, by the number of the request) until the life ends.
fn live(params: &Params, life: &mut Pages, mut next: impl FnMut(u64) -> (Span, u32)) -> Fate {
    let mut throttle = AnyThrottle::new(params, 1);
    let (mut at, mut fate) = (Nanos::ZERO, Fate::default());
    for number in 0.. {
        let (gap, pages) = next(number);
        at = at + gap;
        if at >= life.ends {
            break;
        }
        let held = throttle.hold(at, pages, life);
        at = at + held.total();
        if at >= life.ends {
            break;
        }
        life.taken += u64::from(pages);
        fate.longest = fate.longest.max(Span(held.total().0 / u64::from(pages)));
        fate.tenths[(at.0 as u128 * 10 / u128::from(life.ends.0)) as usize] += u64::from(pages);
        fate.held.spread += held.spread;
        fate.held.stopped += held.stopped;
    }
    fate.taken = life.taken;
    fate.state = throttle.state();
    fate.delay_in_the_end = fate.state.delay;
    fate
}

const DAY: Span = Span(86_400_000_000_000);

fn pages(rated: f64, life: Span) -> Pages {
    Pages { taken: 0, rated, healed: None, ends: Nanos::ZERO + life }
}

fn params(name: ThrottleKind, enforcement: Enforcement, epoch: EpochRule) -> Params {
    Params { name, enforcement, epoch, ..Params::default() }
}

fn every() -> Vec<Params> {
    use {Enforcement as E, EpochRule as R, ThrottleKind as K};
    let mut all = vec![params(K::FixedRate, E::Optimistic, R::Auto)];
    for name in [K::Dynamic, K::Ready] {
        for enforcement in [E::Pessimistic, E::Optimistic] {
            for epoch in [R::Auto, R::Fixed] {
                all.push(params(name, enforcement, epoch));
            }
        }
    }
    all
}

/// Hosts of every kind; each writes `mean` pages a second on average, or more.
fn host(kind: u64, mean: f64, seed: u64) -> impl FnMut(u64) -> (Span, u32) {
    let mut rng = Rng::stream(seed, "hosts");
    let gap = move |rate: f64| Span((1e9 / rate) as u64);
    move |number| {
        let size = 1 + rng.below(32) as u32;
        let even = gap(mean / f64::from(size));
        match kind {
            // Constant.
            0 => (even, size),
            // All of an hour's at once, in huge writes.
            1 => (
                if number.is_multiple_of(8) { Span(3_600_000_000_000) } else { Span::ZERO },
                (mean * 450.0) as u32 + 1,
            ),
            // Growing without end.
            2 => (Span((even.0 as f64 / (1.0 + number as f64 / 20_000.0)) as u64 + 1000), size),
            // Nothing for most of the life, then as fast as it can.
            3 => (if number == 0 { DAY * 20 } else { Span::us(50) }, size),
            // As fast as it can for a while, then next to nothing.
            4 => (if number < 40_000 { Span::us(100) } else { even * 50 }, size),
            // Adversarial: as much as the spare allows in the first moments of every other ten minutes.
            5 => (if rng.chance(0.002) { Span::ms(1_200_000) } else { Span::us(10) }, size),
            _ => (Span((even.0 as f64 * -libm::log1p(-rng.unit())) as u64), size),
        }
    }
}

/// The target life is reached: whatever the host does, no more is taken than there is, and every write enters.
#[test]
fn capacity_lasts_for_the_life_whatever_the_host_does() {
    let life = DAY * 30;
    for params in every() {
        for kind in 0..7 {
            for (rated, mean) in [(400_000.0, 1.0), (400_000.0, 0.05), (3000.0, 0.5)] {
                let told = format!("{params:?} host {kind} {rated} {mean}");
                let mut its = pages(rated, life);
                let fate = live(&params, &mut its, host(kind, mean, kind));
                // A throttle that begins a write as long as anything is left may end by a write too much.
                let most =
                    if params.name == ThrottleKind::FixedRate { rated + 2000.0 } else { rated };
                assert!(fate.taken as f64 <= most, "{told}: {fate:?}");
                assert!(fate.held.total() <= life, "{told}: {fate:?}");
            }
        }
    }
}

/// Half of what there is, asked for evenly, is never held for more than a moment; and of a host that wants five times
/// as much nearly everything there is is used.
#[test]
fn what_there_is_is_used_and_no_more_held_than_needed() {
    let (life, rated) = (DAY * 30, 2_000_000.0);
    let share = rated / life.as_s();
    for params in every() {
        let mut its = pages(rated, life);
        let idle = live(&params, &mut its, host(0, 0.5 * share, 1));
        if params.name == ThrottleKind::Ready || params.enforcement == Enforcement::Optimistic {
            let whole = idle.held.total().as_s() / life.as_s();
            let most = if params.name == ThrottleKind::FixedRate { 1.0 } else { 0.02 };
            assert!(whole < most, "{params:?}: {idle:?}");
        }
        let mut its = pages(rated, life);
        let busy = live(&params, &mut its, host(0, 5.0 * share, 1));
        // What a period leaves is lost under a fixed rate.
        let least = if params.name == ThrottleKind::FixedRate { 0.85 } else { 0.97 };
        assert!(busy.taken as f64 > least * rated, "{params:?}: {busy:?}");
        let (most, least) = (busy.tenths.iter().max(), busy.tenths.iter().min());
        assert!(*most.unwrap() < 2 * least.unwrap(), "{params:?}: {busy:?}");
    }
}

/// After a host that spends whatever it may, the epochs that follow have nine tenths at least.
#[test]
fn a_spent_spare_costs_a_tenth_at_most() {
    let (life, rated) = (DAY * 30, 1_000_000.0);
    for epoch in [EpochRule::Auto, EpochRule::Fixed] {
        let params = params(ThrottleKind::Dynamic, Enforcement::Optimistic, epoch);
        let mut its = pages(rated, life);
        // 100,000 pages, which is all the spare there is, at once; then all that is allowed.
        let fate = live(&params, &mut its, |number| (Span::us(1 + number / 4000 * 1000), 25));
        let later: u64 = fate.tenths[1..].iter().sum();
        assert!(later as f64 >= 0.9 * 0.9 * rated * 0.99, "{epoch:?}: {fate:?}");
        assert!(fate.taken as f64 > 0.98 * rated, "{epoch:?}: {fate:?}");
    }
}

#[test]
fn the_delay_is_gone_when_demand_has_fallen() {
    let (life, rated) = (DAY * 30, 2_000_000.0);
    let share = rated / life.as_s();
    for params in every() {
        let mut its = pages(rated, life);
        let fate = live(&params, &mut its, |number| {
            let busy = number < 200_000;
            (Span((1e9 / share / if busy { 4.0 } else { 0.3 }) as u64), 1)
        });
        assert_eq!(fate.delay_in_the_end, Span::ZERO, "{params:?}: {fate:?}");
    }
}

/// With recovery there is more, the slower it is used; the target is still met.
#[test]
fn recovery_is_used_and_not_overdrawn() {
    let (life, rated) = (DAY * 60, 500_000.0);
    let by_rate = |rated: f64, rate: f64| rated * (1.0 + 1.0 / (0.2 + rate));
    for enforcement in [Enforcement::Pessimistic, Enforcement::Optimistic] {
        let params = params(ThrottleKind::Ready, enforcement, EpochRule::Auto);
        let mut its = Pages { healed: Some(by_rate), ..pages(rated, life) };
        let fate = live(&params, &mut its, host(6, 2.0, 3));
        let there = by_rate(rated, fate.taken as f64 / life.as_s());
        let used = fate.taken as f64 / there;
        assert!((0.97..1.002).contains(&used), "{enforcement:?}: {used} of {there} {fate:?}");
    }
}

/// So many pages in each of five windows, evenly: a gap and a page.
fn cycle_of_five(params: &Params, number: u64) -> (Span, u32) {
    let mut before = 0;
    let here = [40, 200, 10, 100, 20].into_iter().find(|count| {
        before += count;
        number % 370 < before
    });
    (Span(params.window.0 / here.expect("370 in all")), 1)
}

/// A demand that repeats every five windows: nine in ten epochs come as foreseen once the cycle is found.
#[test]
fn a_cycle_is_found_after_three_misses() {
    let params = params(ThrottleKind::Ready, Enforcement::Optimistic, EpochRule::Auto);
    let mut its = pages(1e9, DAY * 10);
    let fate = live(&params, &mut its, |number| cycle_of_five(&params, number));
    let [foreseen, came] = fate.state.foreseen;
    assert_eq!(fate.state.epoch, Some(params.window * 5), "{fate:?}");
    assert!(foreseen > 100 && came * 10 > foreseen * 9, "{fate:?}");
    assert!(fate.state.chosen >= 1 && fate.held.total() == Span::ZERO);
}

/// With half the capacity that a cycle of five windows asks for, the chosen epoch is as much longer as the delays make
/// it, `t_epoch * w / c`: ten windows, or a multiple of that.
#[test]
fn a_chosen_epoch_is_stretched_by_what_is_held() {
    assert_eq!(regulated::stretched(2.5, DAY, DAY * 100), 2.5);
    assert_eq!(regulated::stretched(2.5, DAY, DAY * 2), 2.0, "not beyond the life");
    assert_eq!(regulated::stretched(0.5, DAY, DAY * 2), 1.0);
    let params = params(ThrottleKind::Ready, Enforcement::Optimistic, EpochRule::Auto);
    // 370 pages in five windows, so 0.5 of that in as much time.
    let windows = DAY.0 as f64 * 100.0 / params.window.0 as f64;
    let mut its = pages(0.5 * 74.0 * windows, DAY * 100);
    let fate = live(&params, &mut its, |number| {
        let gap = cycle_of_five(&params, number);
        // The host goes away in the middle of the life, in the middle of an epoch.
        if number > 250_000 { (DAY * 100, 1) } else { gap }
    });
    let cycles = fate.state.epoch.unwrap().0 as f64 / params.window.0 as f64 / 5.0 / 2.0;
    let whole = (cycles - cycles.round()).abs() < 0.05 * cycles && cycles > 0.9;
    assert!(fate.state.chosen > 0 && whole, "{cycles}: {fate:?}");
    let fixed = Params { epoch: EpochRule::Fixed, ..params };
    let fate = live(&fixed, &mut pages(1e6, DAY), host(0, 100.0, 1));
    assert_eq!(fate.state.epoch, Some(fixed.epoch_length), "{fate:?}");
    assert_eq!(fate.state.chosen, 0);
}

#[test]
fn nothing_left_stops_the_host_until_the_life_ends_and_no_longer() {
    for params in every() {
        let mut its = pages(0.0, DAY);
        let mut throttle = AnyThrottle::new(&params, 1);
        let held = throttle.hold(Nanos(5), 3, &its);
        assert_eq!(held.total(), DAY - Span(5), "{params:?}");
        its.taken = 9;
        assert_eq!(throttle.hold(its.ends, 3, &its), Held::default());
    }
}
