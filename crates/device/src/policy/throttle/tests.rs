//! Tests of every throttle with many kinds of hosts, on lives of various capacities and lengths,
//! with the recovery of real drives.

use super::epoch_regulator::EpochRegulator;
use super::*;
use crate::host::endurance;
use fowler_units::Rng;

/// A capacity in pages, and the number of pages used of it.
struct Pages {
    taken: u64,
    life: endurance::Life,
}

impl Life for Pages {
    fn taken(&self) -> u64 {
        self.taken
    }

    fn left(&self, now: Nanos, healed: bool) -> f64 {
        self.life.left_of(self.taken as f64, now, healed)
    }

    fn ends(&self) -> Nanos {
        self.life.ends()
    }
}

impl Pages {
    /// Returns the number of pages that may be programmed over the whole life, given its history.
    fn endured(&self, name: ThrottleKind) -> f64 {
        let totals = self.life.totals(self.taken as f64, self.ends());
        if name == ThrottleKind::Ready { totals.achievable } else { totals.rated }
    }
}

/// The results of a closed-loop host over a life.
#[derive(Debug, Default)]
struct Fate {
    taken: u64,
    /// Maximum delay of a page, among writes that entered while there was capacity for them.
    longest: Span,
    delay_in_the_end: Span,
    delay_most: Span,
    epoch_most: Span,
    /// Minimum capacity of an epoch relative to that of an even epoch.
    least: f64,
    /// Number of pages written in each tenth of the life.
    tenths: [u64; 10],
    throttled: Throttled,
    state: State,
}

fn regulated(throttle: &AnyThrottle) -> Option<&EpochRegulator> {
    match throttle {
        AnyThrottle::Dynamic(it) => Some(&it.0),
        AnyThrottle::Ready(it) => Some(&it.0),
        AnyThrottle::Off(_) | AnyThrottle::FixedRate(_) | AnyThrottle::Custom(_) => None,
    }
}

impl Fate {
    fn look(&mut self, throttle: &AnyThrottle, rated: f64, ends: Nanos) {
        let Some((_, length, [capacity, _])) =
            regulated(throttle).and_then(EpochRegulator::standing)
        else {
            return;
        };
        self.delay_most = self.delay_most.max(throttle.state().delay);
        self.epoch_most = self.epoch_most.max(length);
        let even = rated * length.0 as f64 / ends.0 as f64;
        self.least = self.least.min(capacity / even);
    }
}

/// Runs a host until the life ends. `next` returns the gap before a request and its number of
/// pages, from the request's number and the current time.
fn live(
    params: &Params,
    life: &mut Pages,
    mut next: impl FnMut(u64, Nanos) -> (Span, u32),
) -> Fate {
    let mut throttle = AnyThrottle::new(params, 1);
    let (mut at, mut fate) = (Nanos::ZERO, Fate { least: f64::INFINITY, ..Fate::default() });
    let ends = life.ends();
    let rated = life.life.totals(0.0, Nanos::ZERO).rated;
    for number in 0.. {
        let (gap, pages) = next(number, at);
        at = at + gap;
        if at >= ends {
            break;
        }
        let asked = at;
        let delayed = throttle.delay(at, pages, life);
        at = at + delayed.total();
        assert_eq!(delayed.stops > 0, delayed.stopped > Span::ZERO, "{delayed:?}");
        fate.look(&throttle, rated, ends);
        fate.throttled.spread += delayed.spread;
        fate.throttled.stopped += delayed.stopped;
        fate.throttled.stops += delayed.stops;
        if at >= ends {
            assert_eq!(at, ends, "nobody is delayed beyond the life");
            break;
        }
        let each = Span(delayed.total().0 / u64::from(pages));
        if each > fate.longest
            && life.left(asked, params.name == ThrottleKind::Ready) > f64::from(pages)
        {
            fate.longest = each;
        }
        life.taken += u64::from(pages);
        fate.tenths[(at.0 as u128 * 10 / u128::from(ends.0)) as usize] += u64::from(pages);
    }
    fate.taken = life.taken;
    fate.state = throttle.state();
    fate.delay_in_the_end = fate.state.delay;
    fate
}

const DAY: Span = Span(86_400_000_000_000);
const MINUTE: Span = Span(60_000_000_000);

/// Returns a life of `rated` pages, from cells that endure 3,000 cycles, or more if they rest.
fn pages(rated: f64, target: Span) -> Pages {
    let params = endurance::Params { target, ..endurance::Params::default() };
    let drive = rated / params.cycles;
    Pages { taken: 0, life: endurance::Life::of(params, drive, 0) }
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
    // READY suggests a moving average and a limit that adapts (sections 3.2 and 3.5).
    let suggested = params(K::Ready, E::Optimistic, R::Auto);
    all.push(Params { smoothing: 0.3, miss_step: 0.1, ..suggested });
    all
}

/// Number of kinds of hosts that `host` can make.
const HOSTS: u64 = 12;

/// Returns a host of a given kind; each kind writes `mean` pages per second on average, or more.
fn host(kind: u64, mean: f64, seed: u64, life: Span) -> impl FnMut(u64, Nanos) -> (Span, u32) {
    let mut rng = Rng::stream(seed, "hosts");
    let gap = move |rate: f64| Span((1e9 / rate) as u64);
    let wait_for = |at: Nanos, until: Span| (Nanos::ZERO + until).max(at) - at;
    move |number, at| {
        let size = 1 + rng.below(32) as u32;
        let even = gap(mean / f64::from(size));
        // Busy for `busy` of every `of` minutes, otherwise quiet.
        let takes_turns = |busy: u64, of: u64, fast: Span| {
            let cycle = (MINUTE * of).0;
            let within = at.0 % cycle;
            if within < (MINUTE * busy).0 { fast } else { Span(cycle - within) }
        };
        match kind {
            // Constant, in random sizes or page by page.
            0 => (even, size),
            1 => (gap(mean), 1),
            // An hour's worth at once, in huge writes.
            2 => (
                if number.is_multiple_of(8) { Span(3_600_000_000_000) } else { Span::ZERO },
                (mean * 450.0) as u32 + 1,
            ),
            // Growing without bound.
            3 => (Span((even.0 as f64 / (1.0 + number as f64 / 5000.0)) as u64 + 1000), size),
            // Idle for two thirds, half or nine tenths of the life; then as fast as possible, or 50
            // or 200 times as fast as the mean.
            4 => (wait_for(at, Span(life.0 / 3 * 2)) + Span::us(50), size),
            5 => (wait_for(at, Span(life.0 / 2)) + Span(even.0 / 50), size),
            6 => (wait_for(at, Span(life.0 / 10 * 9)) + Span(even.0 / 200), size),
            // As fast as possible for a while, then next to nothing.
            7 => (if number < 10_000 { Span::us(100) } else { even * 50 }, size),
            // Adversarial: as much as allowed in every other epoch of ten minutes, or of an hour.
            8 => (takes_turns(10, 20, Span::us(10)), size),
            9 => (takes_turns(60, 120, Span::us(10)), size),
            // A cycle of a different length each day, so that the epoch length is chosen again.
            10 => {
                let day = 1 + at.0 / DAY.0 % 5;
                (takes_turns(10 * day, 10 * day + 20 * (6 - day), Span(even.0 / 4)), size)
            }
            _ => (Span((even.0 as f64 * -libm::log1p(-rng.unit())) as u64), size),
        }
    }
}

/// Under every throttle the target lifetime is reached, whatever the host does: it never programs
/// more pages than the cells endure until then, every write enters as long as there is capacity,
/// and no epoch of DT has less than nine tenths of an even one; the remaining tenth was borrowed.
/// For READY, "even" refers to cells that do not rest.
#[test]
fn capacity_lasts_for_the_life_whatever_the_host_does() {
    let life = DAY * 30;
    for params in every() {
        for kind in 0..HOSTS {
            for (rated, mean) in [(100_000.0, 0.25), (100_000.0, 0.0125), (3000.0, 0.5)] {
                let mut budget = pages(rated, life);
                let fate = live(&params, &mut budget, host(kind, mean, kind, life));
                let most = budget.endured(params.name);
                let reported = format!("{params:?} host {kind} {rated} {mean}: of {most} {fate:?}");
                // A page is written as long as anything is left of a period.
                let share = rated * params.period.0 as f64 / life.0 as f64;
                let over =
                    if params.name == ThrottleKind::FixedRate { 2.0 * share + 1.0 } else { 0.0 };
                assert!(fate.taken as f64 <= most * (1.0 + 1e-9) + over, "{reported}");
                if params.name == ThrottleKind::FixedRate {
                    continue;
                }
                // The rest of an epoch without room, and a delay, which is at most an epoch.
                assert!(fate.longest <= fate.epoch_most * 2, "{reported}");
                let share = if params.enforcement == Enforcement::Optimistic { 0.9 } else { 1.0 };
                assert!(fate.least >= share * (1.0 - 1e-6), "{reported}");
            }
        }
    }
}
/// A steady demand of half the capacity is never delayed noticeably; a host that wants five times
/// the capacity gets nearly all of it.
#[test]
fn what_there_is_is_used_and_no_more_delayed_than_needed() {
    let (life, rated) = (DAY * 30, 400_000.0);
    let share = rated / life.as_s();
    for params in every() {
        let mut budget = pages(rated, life);
        let idle = live(&params, &mut budget, host(1, 0.5 * share, 1, life));
        if params.name == ThrottleKind::Ready || params.enforcement == Enforcement::Optimistic {
            let whole = idle.throttled.total().as_s() / life.as_s();
            let most = if params.name == ThrottleKind::FixedRate { 1.0 } else { 0.02 };
            assert!(whole < most, "{params:?}: {idle:?}");
        }
        let mut budget = pages(rated, life);
        let busy = live(&params, &mut budget, host(0, 5.0 * share, 1, life));
        // Under a fixed rate, a period's unused share is lost.
        let least = if params.name == ThrottleKind::FixedRate { 0.85 } else { 0.97 };
        assert!(busy.taken as f64 > least * rated, "{params:?}: {busy:?}");
        let (most, least) = (busy.tenths.iter().max(), busy.tenths.iter().min());
        assert!(*most.unwrap() < 2 * least.unwrap(), "{params:?}: {busy:?}");
    }
}

/// A host that writes as much as allowed in every other epoch loses at most a tenth of the
/// capacity, however long it continues: of the capacity that remains after the first burst, each
/// tenth of the life has its share.
#[test]
fn a_spare_that_is_spent_again_and_again_costs_a_tenth_at_most() {
    let (life, rated) = (DAY * 30, 250_000.0);
    for (kind, length) in [(8, MINUTE * 10), (9, MINUTE * 60)] {
        let params = Params {
            epoch_length: length,
            ..params(ThrottleKind::Dynamic, Enforcement::Optimistic, EpochRule::Fixed)
        };
        let fate = live(&params, &mut pages(rated, life), host(kind, 1.0, 1, life));
        assert!(fate.least > 0.9 - 1e-6, "{fate:?}");
        // Half of the epochs are quiet, and their unused capacity goes to the others.
        let later = fate.tenths[1..].iter().map(|&pages| pages as f64 / (rated / 10.0));
        assert!(later.clone().all(|share| (0.85..1.1).contains(&share)), "{fate:?}");
        assert!(fate.taken as f64 > 0.98 * rated, "{fate:?}");
    }
}

/// Under every predictive throttle, the delay rises in a busy phase, even though the pages written
/// never exceed an enforced capacity, and it vanishes when demand has fallen.
#[test]
fn the_delay_follows_the_demand() {
    let (life, rated) = (DAY * 30, 400_000.0);
    let share = rated / life.as_s();
    for params in every() {
        let mut budget = pages(rated, life);
        let fate = live(&params, &mut budget, |number, _| {
            let busy = number < 40_000;
            (Span((1e9 / share / if busy { 4.0 } else { 0.3 }) as u64), 1)
        });
        if params.name != ThrottleKind::FixedRate {
            let even = 1e9 / share;
            assert!(fate.delay_most.0 as f64 > 0.3 * even, "{params:?}: {fate:?}");
            assert!(fate.throttled.spread > fate.throttled.stopped, "{params:?}: {fate:?}");
        }
        assert_eq!(fate.delay_in_the_end, Span::ZERO, "{params:?}: {fate:?}");
    }
}

/// With recovery, capacity grows as use slows: a host that wants more than the capacity gets nearly
/// all of it.
#[test]
fn recovery_is_used() {
    let (life, rated) = (DAY * 60, 200_000.0);
    for enforcement in [Enforcement::Pessimistic, Enforcement::Optimistic] {
        let params = params(ThrottleKind::Ready, enforcement, EpochRule::Auto);
        let mut budget = pages(rated, life);
        let fate = live(&params, &mut budget, host(11, 2.0, 3, life));
        let used = fate.taken as f64 / budget.endured(params.name);
        assert!((0.97..=1.0 + 1e-9).contains(&used), "{enforcement:?}: {used} {fate:?}");
        assert!(fate.taken as f64 > 1.3 * rated, "{enforcement:?}: {fate:?}");
    }
}

/// A pessimistic throttle with epochs of ten minutes and 60 pages.
fn sixty_pages() -> (AnyThrottle, Pages) {
    let params = params(ThrottleKind::Dynamic, Enforcement::Pessimistic, EpochRule::Fixed);
    (AnyThrottle::new(&params, 1), pages(6000.0, MINUTE * 1000))
}

/// The refused demand is the stopped time multiplied by the host's rate, and a stop does not count
/// as the host's time: 61 pages after 100 s are 0.61 per second, and the host is stopped for 500 s.
#[test]
fn what_was_refused_is_told_by_the_time_that_the_host_had() {
    let (mut throttle, life) = sixty_pages();
    let delayed = throttle.delay(Nanos(0) + Span::ms(100_000), 61, &life);
    let (demand, capacity) = (60.0 + 500.0 * 0.61, 60.0 * 99.0 / 99.0);
    let delay = 600.0 / capacity * (demand / capacity - 1.0);
    assert!((throttle.state().delay.as_s() / delay - 1.0).abs() < 1e-6, "{delay} {throttle:?}");
    assert_eq!((delayed.spread, delayed.stopped), (throttle.state().delay, Span::ms(500_000)));
    assert_eq!(delayed.stops, 61 - 10, "ten pages had room");
}

/// An epoch delays only the pages that it grants: the other pages wait for the next epoch, and are
/// stopped meanwhile.
#[test]
fn pages_that_are_not_let_in_are_not_delayed() {
    let (mut throttle, mut life) = sixty_pages();
    // The host asks for 78 pages in the first epoch, some of which the epoch refuses.
    let mut at = Nanos::ZERO;
    while at < Nanos::ZERO + MINUTE * 10 {
        at = at + Span::ms(7700);
        at = at + throttle.delay(at, 1, &life).total();
        life.taken += 1;
    }
    let before = throttle.state().delay;
    assert!(before > Span::ms(500) && before < Span::ms(5000), "{before}");
    let (start, length, [capacity, _]) = regulated(&throttle).unwrap().standing().unwrap();
    let delayed = throttle.delay(at, 90, &life);
    let later = 90 - (capacity as u64 - 1);
    let spread = before.as_s() * (90 - later) as f64 + throttle.state().delay.as_s() * later as f64;
    assert!((delayed.spread.as_s() - spread).abs() < 1e-3, "{delayed:?} {spread}");
    assert!(delayed.stopped + delayed.spread + (at - start) >= length, "{delayed:?}");
}

/// After a gap the delay is gone (equation 5 without demand), also if the epoch length is chosen
/// again when the host returns.
#[test]
fn the_delay_does_not_outlive_a_gap() {
    let params = params(ThrottleKind::Dynamic, Enforcement::Optimistic, EpochRule::Auto);
    for windows in 1..60 {
        let mut life = pages(2000.0, DAY * 30);
        let mut throttle = AnyThrottle::new(&params, 1);
        let (mut at, mut number) = (Nanos::ZERO, 0);
        while at < Nanos::ZERO + MINUTE * 10 * windows {
            number += 1;
            at = at + if number % 20 < 10 { MINUTE } else { Span::ms(3000) };
            at = at + throttle.delay(at, 1, &life).total();
            life.taken += 1;
        }
        // Beyond any possible epoch.
        at = at + DAY * 5;
        let delayed = throttle.delay(at, 1, &life);
        assert_eq!(throttle.state().delay, Span::ZERO, "{windows}: {delayed:?}");
    }
}

/// Returns how often a throttle has chosen an epoch length, and how many predictions it has missed,
/// after windows with these numbers of pages.
fn misses(params: &Params, demand: &[u64]) -> (u64, u64) {
    let mut budget = pages(1e9, DAY * 10);
    let mut throttle = AnyThrottle::new(params, 1);
    for (window, &pages) in demand.iter().chain(&[1]).enumerate() {
        for page in 0..pages {
            let at = params.window * window as u64 + Span(params.window.0 * page / pages);
            assert_eq!(throttle.delay(Nanos::ZERO + at, 1, &budget), Throttled::default());
            budget.taken += 1;
        }
    }
    let State { chosen, predicted, .. } = throttle.state();
    (chosen, predicted.missed())
}

/// With half of the weight on the last epoch, 100 and then 200 pages predict 150.
#[test]
fn the_prediction_can_be_a_moving_average() {
    let last = params(ThrottleKind::Ready, Enforcement::Optimistic, EpochRule::Fixed);
    let average = Params { smoothing: 0.5, ..last };
    for (demand, alone, half) in [
        (&[100, 200][..], 1, 1),
        (&[100, 200, 140], 2, 1),
        (&[100, 200, 190], 1, 2),
        // 125 is predicted after the third epoch, and 112.5 after the fourth.
        (&[100, 200, 100, 100, 100], 2, 2),
        (&[100, 200, 100, 100, 85], 2, 2),
    ] {
        let both = [&last, &average].map(|params| misses(params, demand).1);
        assert_eq!(both, [alone, half], "{demand:?}");
    }
}

/// After 24 epochs predicted within 25 % the limit of a miss is 15 %, and after 24 that were all
/// off by more than 35 % it is 35 %.
#[test]
fn the_limit_of_a_miss_can_adapt() {
    use epoch_regulator::MissLimit;
    let adapts = Params { miss_step: 0.1, ..Params::default() };
    for (error, epochs, expected) in
        [(0.2, 23, 0.25), (0.2, 24, 0.15), (0.5, 23, 0.25), (0.5, 24, 0.35), (0.3, 100, 0.25)]
    {
        let mut limit = MissLimit::default();
        for _ in 0..epochs {
            limit.after(error, &adapts);
        }
        assert!((limit.after(error, &adapts) - expected).abs() < 1e-12, "{error} {epochs}");
        // One epoch of another kind begins anew.
        limit.after(if error < 0.25 { 1.0 } else { 0.0 }, &adapts);
        assert_eq!(limit.after(error, &adapts), 0.25, "{error} {epochs}");
    }
    let constant = Params::default();
    let mut limit = MissLimit::default();
    assert!((0..100).all(|_| limit.after(0.2, &constant) == 0.25));
}

/// Three epochs without a write leave half of an average with a weight of a fifth: 0.8^3 = 0.512.
/// 100 pages in each of many epochs, a gap of three, and 51 pages come as predicted.
#[test]
fn a_moving_average_outlives_a_gap() {
    let average = Params {
        smoothing: 0.2,
        ..params(ThrottleKind::Ready, Enforcement::Optimistic, EpochRule::Fixed)
    };
    let steady = [100; 30];
    // The three idle epochs were predicted to write, and are missed.
    assert_eq!(misses(&average, &[&steady[..], &[0, 0, 0, 51]].concat()).1, 3);
    assert_eq!(misses(&average, &[&steady[..], &[0, 0, 0, 100]].concat()).1, 4);
}

/// Demand that differs by 24 % is no miss; three consecutive misses, but not two, cause the epoch
/// length to be chosen again.
#[test]
fn the_length_is_chosen_after_three_misses() {
    let params = params(ThrottleKind::Ready, Enforcement::Optimistic, EpochRule::Auto);
    let after = |demand: &[u64]| misses(&params, demand);
    assert_eq!(after(&[100, 124, 153, 189, 234, 290, 359]), (0, 0), "24 % each time");
    assert_eq!(after(&[100, 126]), (0, 1), "26 %");
    assert_eq!(after(&[100, 200, 100, 100, 200, 100]), (0, 4), "never three in succession");
    assert_eq!(after(&[100, 200, 100]), (0, 2));
    assert_eq!(after(&[100, 200, 100, 200]), (1, 3));
}

/// The fixed rate is that of the whole life, no matter when the first write comes.
#[test]
fn a_fixed_rate_does_not_rise_by_waiting() {
    let params = params(ThrottleKind::FixedRate, Enforcement::Optimistic, EpochRule::Auto);
    let (life, rated) = (DAY * 30, 300_000.0);
    for days in [0, 10, 29] {
        let fate = live(&params, &mut pages(rated, life), |number, _| {
            (if number == 0 { DAY * days } else { Span::us(10) }, 1)
        });
        let even = rated / 30.0 * (30 - days) as f64;
        assert!((fate.taken as f64 / even - 1.0).abs() < 1e-4, "{days}: {even} {fate:?}");
    }
}

/// Returns request `number` of a host with a cycle of five windows, each with its own number of
/// evenly spaced pages: the gap before the request, and one page.
fn cycle_of_five(params: &Params, number: u64) -> (Span, u32) {
    let mut before = 0;
    let here = [40, 200, 10, 100, 20].into_iter().find(|count| {
        before += count;
        number % 370 < before
    });
    (Span(params.window.0 / here.expect("370 in all")), 1)
}

/// The throttle finds a cycle of five windows in the demand after three misses; from then on nine
/// in ten epochs meet the prediction.
#[test]
fn a_cycle_is_found_after_three_misses() {
    let params = params(ThrottleKind::Ready, Enforcement::Optimistic, EpochRule::Auto);
    let mut budget = pages(1e9, DAY * 10);
    let fate = live(&params, &mut budget, |number, _| cycle_of_five(&params, number));
    let Predicted { epochs, right } = fate.state.predicted;
    assert_eq!(fate.state.epoch, Some(params.window * 5), "{fate:?}");
    assert!(epochs > 100 && right * 10 > epochs * 9, "{fate:?}");
    assert!(fate.state.chosen >= 1 && fate.throttled.total() == Span::ZERO);
}

/// With half the capacity that a cycle of five windows demands, the chosen epoch is longer by the
/// factor of the delays, `t_epoch * w / c`: ten windows, or a multiple of that.
#[test]
fn a_chosen_epoch_is_stretched_by_delays() {
    assert_eq!(epoch_regulator::stretched(2.5, DAY, DAY * 100), 2.5);
    assert_eq!(epoch_regulator::stretched(2.5, DAY, DAY * 2), 2.0, "not beyond the life");
    assert_eq!(epoch_regulator::stretched(0.5, DAY, DAY * 2), 1.0);
    let params = params(ThrottleKind::Dynamic, Enforcement::Optimistic, EpochRule::Auto);
    // 370 pages come in five windows, so half of that fits in the same time.
    let windows = DAY.0 as f64 * 100.0 / params.window.0 as f64;
    let mut budget = pages(0.5 * 74.0 * windows, DAY * 100);
    let fate = live(&params, &mut budget, |number, _| {
        let gap = cycle_of_five(&params, number);
        // The host leaves in the middle of the life, in the middle of an epoch.
        if number > 250_000 { (DAY * 100, 1) } else { gap }
    });
    let cycles = fate.state.epoch.unwrap().0 as f64 / params.window.0 as f64 / 5.0 / 2.0;
    assert!(fate.state.chosen > 0 && (cycles - 1.0).abs() < 0.05, "{cycles}: {fate:?}");
    let fixed = Params { epoch: EpochRule::Fixed, ..params };
    let fate = live(&fixed, &mut pages(1e6, DAY), host(0, 100.0, 1, DAY));
    assert_eq!(fate.state.epoch, Some(fixed.epoch_length), "{fate:?}");
    assert_eq!(fate.state.chosen, 0);
}

#[test]
fn nothing_left_stops_the_host_until_the_life_ends_and_no_longer() {
    for params in every() {
        let mut budget = pages(0.0, DAY);
        let mut throttle = AnyThrottle::new(&params, 1);
        let delayed = throttle.delay(Nanos(5), 3, &budget);
        assert_eq!(delayed.total(), DAY - Span(5), "{params:?}");
        budget.taken = 9;
        assert_eq!(throttle.delay(budget.ends(), 3, &budget), Throttled::default());
    }
}
