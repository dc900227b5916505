//! Slot: the delay of a write, so that the drive reaches its target lifetime (READY, FAST 2012,
//! section 3).
//!
//! Contract. The throttle is called once for each write, between host interface and translation
//! layer. A throttle sees only pages written, time, and the remaining capacity ([`Life`]). The
//! answer is the delay of the write: one part spread over all page writes, and one part from
//! stopping a host that is out of capacity. The host is closed: a delayed write holds up all later
//! ones. Calls therefore come in order of time, and only after the previous write has entered.
//!
//! `capacity.rs`, `delay.rs`, `demand.rs` and `regulated.rs` are shared components, not rules.

pub mod capacity;
pub mod delay;
pub mod demand;
mod regulated;

use crate::policy::custom::Custom;
use crate::policy::registry::slot;
use dyn_clone::clone_trait_object;
use fowler_units::{Nanos, Span};
use serde::{Deserialize, Serialize};

slot! { $
    /// The throttle a device was configured with.
    #[derive(Serialize, Deserialize)]
    pub enum AnyThrottle, named ThrottleKind, match by each_throttle, or #[serde(skip)] Custom(CustomThrottle) {
        "off" => off::Off needs Nothing, "no write is delayed (NT)";
        "fixed_rate" => fixed_rate::FixedRate needs Nothing, "each period may write its share of the rated capacity (ST)";
        "dynamic" => dynamic::Dynamic needs Nothing, "delays by predicted demand, so that the rated capacity lasts for the target lifetime (DT)";
        "ready" => ready::Ready needs Nothing, "as dynamic, but with the capacity that cells gain by resting (READY)";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// The selected policy.
    pub name: ThrottleKind,
    /// The amount that an epoch may write (section 3.4).
    pub enforcement: Enforcement,
    /// The rule for the length of an epoch (section 3.5).
    pub epoch: EpochRule,
    /// The length of an epoch if that length is fixed.
    pub epoch_length: Span,
    /// The window in which demand is counted, and the minimum length of an epoch.
    pub window: Span,
    /// A period: a stopped host may resume in the next one.
    pub period: Span,
    /// The share of the later epochs' capacity that an epoch may borrow.
    pub spare: f64,
    /// The relative error beyond which a prediction of demand counts as a miss.
    pub miss: f64,
    /// The number of consecutive misses after which the epoch length is chosen again.
    pub streak: u32,
    /// The time over which demand is remembered.
    pub history: Span,
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
            streak: 3,
            history: minute * 60 * 24,
        }
    }
}

/// The amount that an epoch may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Enforcement {
    /// The capacity of the epoch, in equal parts over its periods; unused capacity passes to the
    /// next period.
    Pessimistic,
    /// As [`Enforcement::Pessimistic`], plus the capacity that later epochs can spare.
    Optimistic,
}

/// The rule for the length of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EpochRule {
    /// The cycle found in the demand.
    Auto,
    /// The configured length.
    Fixed,
}

/// A drive as a throttle sees it. Capacity is counted in flash pages, so it includes pages
/// programmed by GC and wear leveling.
pub trait Life {
    /// Returns the pages taken from the capacity so far: pages of the host that have entered, and
    /// pages programmed for other sources.
    fn taken(&self) -> u64;
    /// Returns the pages that may still be taken: with recovery up to `now` if `healed` is set,
    /// else as rated.
    fn left(&self, now: Nanos, healed: bool) -> f64;
    /// Returns the end of the target lifetime.
    fn ends(&self) -> Nanos;
}

/// The delay of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// The delay spread over the pages of the write.
    pub spread: Span,
    /// The delay by stops after that, for lack of capacity.
    pub stopped: Span,
    /// The number of stops. Each stops one of its pages; a page may be stopped in one epoch and
    /// again in the next.
    pub stops: u32,
}

impl Throttled {
    /// Returns the total delay.
    #[inline]
    pub fn total(self) -> Span {
        self.spread + self.stopped
    }
}

/// The state of a throttle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The current delay of each page.
    pub delay: Span,
    /// The length of the current epoch; `None` without epochs.
    pub epoch: Option<Span>,
    /// The number of epochs whose demand was predicted, and predicted right.
    pub predicted: Predicted,
    /// The number of times the epoch length was chosen again.
    pub chosen: u64,
}

/// The number of epochs whose demand was predicted, and predicted right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predicted {
    /// Epochs with a prediction.
    pub epochs: u64,
    /// Epochs whose demand was within [`Params::miss`] of the prediction.
    pub right: u64,
}

impl Predicted {
    /// Returns the epochs whose prediction missed.
    pub fn missed(self) -> u64 {
        self.epochs - self.right
    }
}

/// A rule that throttles writes.
pub trait Throttle {
    /// Returns the delay of a write of `pages` pages that could enter at `now`.
    fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled;

    /// Returns the state of the throttle.
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
    /// Returns true if writes can be delayed at all.
    #[inline]
    pub fn is_on(&self) -> bool {
        !matches!(self, AnyThrottle::Off(_))
    }
}

#[cfg(test)]
mod tests;

/// A policy supplied by the code that builds the drive.
pub trait CustomThrottle: Custom {
    /// Returns the delay of a write of `pages` pages that could enter at `now`.
    fn delay(&mut self, now: Nanos, pages: u32, life: &dyn Life) -> Throttled;

    /// Returns the state of the throttle.
    fn state(&self) -> State {
        State::default()
    }
}
clone_trait_object!(CustomThrottle);
