//! Slot: the delay of a write, so that the drive reaches its target lifetime (READY, FAST 2012,
//! section 3).
//!
//! Contract. The throttle is called once for each write, between host interface and translation
//! layer. A throttle sees only pages written, time, and the remaining capacity ([`Life`]). It
//! returns the delay of the write: one part spread over all page writes, and one part from stopping
//! a host that is out of capacity. The host is closed: a delayed write delays all later ones. Calls
//! therefore come in order of time, and only after the previous write has entered.
//!
//! `capacity.rs`, `delay.rs`, `demand.rs` and `epoch_regulator.rs` are shared components, not
//! policies.

pub mod capacity;
pub mod delay;
pub mod demand;
mod epoch_regulator;

use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

slot! { $
    /// The throttle policy of a drive.
    #[derive(Serialize, Deserialize)]
    pub enum AnyThrottle, named ThrottleKind, match by each_throttle, or #[serde(skip)] Custom(CustomThrottle) {
        "off" => off::Off needs Nothing, "no write is delayed (NT)";
        "fixed_rate" => fixed_rate::FixedRate needs Nothing, "each period may write its share of the rated capacity (ST)";
        "dynamic" => dynamic::Dynamic needs Nothing, "delays by predicted demand, so that the rated capacity lasts for the target lifetime (DT)";
        "ready" => ready::Ready needs Nothing, "as dynamic, but with the capacity that cells gain by resting (READY)";
    }
}

/// Configuration of the throttle policy, which delays writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Name of the selected throttle policy.
    pub name: ThrottleKind,
    /// Rule for the number of pages that may be written in an epoch (READY, section 3.4).
    pub enforcement: Enforcement,
    /// Rule for the length of an epoch (READY, section 3.5).
    pub epoch: EpochRule,
    /// Length of a throttle's epoch, if it is fixed.
    pub epoch_length: Span,
    /// Length of a window in which write demand is counted, and of the shortest epoch.
    pub window: Span,
    /// Length of a period of the throttle: a stopped host may resume in the next period.
    pub period: Span,
    /// Share (0 to 1) of the later epochs' write capacity that an epoch may borrow.
    pub spare: f64,
    /// Relative error beyond which a prediction of write demand counts as a miss.
    pub miss: f64,
    /// Amount by which [`Params::miss`] falls while predictions of write demand have long been
    /// right, and rises while they have long been wrong by more (READY, section 3.5); 0 for a
    /// constant [`Params::miss`].
    pub miss_step: f64,
    /// Number of consecutive missed predictions after which the epoch length is chosen again.
    pub streak: u32,
    /// Time over which the throttle stores past write demand.
    pub history: Span,
    /// Weight (above 0, up to 1) of an epoch's write demand in the prediction of the next, an
    /// exponentially weighted moving average (READY, section 3.2); 1: the last epoch alone.
    pub smoothing: f64,
}

impl Default for Params {
    fn default() -> Self {
        let minute = Span::ms(60_000);
        Params {
            name: ThrottleKind::Off,
            enforcement: Enforcement::Optimistic,
            epoch: EpochRule::Auto,
            epoch_length: minute * 10,
            window: minute * 10,
            period: Span::ms(1000),
            spare: 0.1,
            miss: 0.25,
            miss_step: 0.0,
            streak: 3,
            history: minute * 60 * 24,
            smoothing: 1.0,
        }
    }
}

/// The rule for the number of pages that may be written in one of the throttle's epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Enforcement {
    /// The capacity of the epoch may be written, in equal parts over its periods; unused capacity
    /// passes to the next period.
    Pessimistic,
    /// The capacity of the epoch may be written, in equal parts over its periods; unused capacity
    /// passes to the next period. The epoch may also borrow capacity that later epochs can spare.
    Optimistic,
}

/// The rule for the length of the throttle's epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EpochRule {
    /// An epoch is as long as the cycle found in the host's write demand.
    Auto,
    /// An epoch has the configured length.
    Fixed,
}

/// The lifetime of a drive as a throttle policy sees it. Capacity is counted in flash pages, so it
/// includes pages programmed by GC and wear leveling.
pub trait Life {
    /// Returns the number of pages of the write capacity used so far: pages of the host that have
    /// entered, and pages programmed for other sources.
    fn taken(&self) -> u64;
    /// Returns the number of pages that may still be programmed: if `healed` is set, including
    /// those gained as cells recover in idle time up to `now`; else as rated.
    fn left(&self, now: Nanos, healed: bool) -> f64;
    /// Returns the time at which the target lifetime of the drive ends.
    fn ends(&self) -> Nanos;
}

/// Delay of one write by the throttle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Delay that is spread over the pages of the write.
    pub spread: Span,
    /// Delay from stopping the write while no write capacity is left. It comes after the delay that
    /// is spread over the pages of the write.
    pub stopped: Span,
    /// Number of times that the throttle stopped the write because no write capacity was left. Each
    /// stops one page; a page may be stopped in one epoch and again in the next.
    pub stops: u32,
}

impl Throttled {
    /// Returns the total delay of the write: the delay spread over its pages, and that from
    /// stopping it while no write capacity is left.
    #[inline]
    pub fn total(self) -> Span {
        self.spread + self.stopped
    }
}

/// State of a write throttle, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Current throttling delay of each page write.
    pub delay: Span,
    /// Length of the throttle's current epoch; `None` without epochs.
    pub epoch: Option<Span>,
    /// Numbers of throttle epochs whose write demand was predicted, and predicted right.
    pub predicted: Predicted,
    /// Number of times that the epoch length was chosen again.
    pub chosen: u64,
}

/// Numbers of throttle epochs whose write demand was predicted, and predicted right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predicted {
    /// Number of throttle epochs whose write demand was predicted.
    pub epochs: u64,
    /// Number of throttle epochs whose write demand was within [`Params::miss`] of its prediction.
    pub right: u64,
}

impl Predicted {
    /// Returns the number of throttle epochs whose write demand was not within [`Params::miss`] of
    /// its prediction.
    pub fn missed(self) -> u64 {
        self.epochs - self.right
    }
}

/// A policy that delays writes so that the drive reaches its target lifetime.
pub trait Throttle {
    /// Returns the throttle's delay of a write of `pages` pages that could enter the drive at `now`
    /// without it. `life` is the lifetime of the drive, with the pages that may still be
    /// programmed.
    fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled;

    /// Returns the state of the write throttle, for reports.
    fn state(&self) -> State {
        State::default()
    }
}

impl Throttle for AnyThrottle {
    #[inline]
    fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled {
        each_throttle!(self, policy => policy.delay(now, pages, life))
    }

    fn state(&self) -> State {
        each_throttle!(self, policy => policy.state())
    }
}

impl AnyThrottle {
    /// Returns true if the throttle can delay writes at all.
    #[inline]
    pub fn is_on(&self) -> bool {
        !matches!(self, AnyThrottle::Off(_))
    }
}

#[cfg(test)]
mod tests;

/// A custom throttle, supplied by the code that builds the drive.
pub trait CustomThrottle: Custom {
    /// Returns the delay of a write of `pages` pages that could enter at `now`.
    fn delay(&mut self, now: Nanos, pages: u32, life: &dyn Life) -> Throttled;

    /// Returns the state of the write throttle, for reports.
    fn state(&self) -> State {
        State::default()
    }
}
clone_trait_object!(CustomThrottle);
