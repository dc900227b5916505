//! Slot: when may this write enter, so that the drive lives as long as it is to (READY, FAST 2012,
//! section 3)?
//!
//! Contract. Asked once for each write, between host interface and translation layer, of both of
//! which it knows nothing: it sees pages that are written, time, and the capacity that is left
//! ([`Life`]). It answers how long the write is delayed: by a delay that is spread over all page
//! writes, and by stops of a host that is out of capacity. The host is closed: a write that is
//! delayed holds those behind it, so that writes are asked for in order of time and none before the
//! one before it has entered.
//!
//! `capacity.rs`, `delay.rs`, `demand.rs` and `regulated.rs` are parts that rules share, not rules.

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
        "off" => off::Off, "no write is delayed (NT)";
        "fixed_rate" => fixed_rate::FixedRate, "no more in a period than the rated capacity over the life allows (ST)";
        "dynamic" => dynamic::Dynamic, "by predicted demand, so that the rated capacity lasts (DT)";
        "ready" => ready::Ready, "the same, so that what rested cells endure lasts (READY)";
    }
}

/// Parameters of every policy of this slot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// The policy.
    pub name: ThrottleKind,
    /// What may be written in an epoch (section 3.4).
    pub enforcement: Enforcement,
    /// How long an epoch is (section 3.5).
    pub epoch: EpochRule,
    /// The length of an epoch where it is fixed.
    pub epoch_length: Span,
    /// The window in which demand is counted, and the shortest epoch.
    pub window: Span,
    /// A period: a stopped host may resume in the next one.
    pub period: Span,
    /// The share of the later epochs' capacity that an epoch may borrow.
    pub spare: f64,
    /// By which share demand may differ from the prediction.
    pub miss: f64,
    /// After how many misses one after another the length of an epoch is chosen anew.
    pub streak: u32,
    /// How far back demand is remembered.
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

/// What may be written in an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Enforcement {
    /// Its capacity, in equal parts over its periods; what a period leaves is the next one's.
    Pessimistic,
    /// The same, and what later epochs can spare.
    Optimistic,
}

/// How long an epoch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EpochRule {
    /// As long as the cycle found in the demand.
    Auto,
    /// As configured.
    Fixed,
}

/// What a throttle sees of a drive. Capacity is counted in flash pages, so that what GC and
/// wear leveling program is counted too.
pub trait Life {
    /// Pages taken out of the capacity so far: those of the host that have entered, and those
    /// programmed for other sources.
    fn taken(&self) -> u64;
    /// Pages that may still be taken; with what the rest until `now` has healed, or as rated.
    fn left(&self, now: Nanos, healed: bool) -> f64;
    /// When the life ends that is to be reached.
    fn ends(&self) -> Nanos;
}

/// How long a write is delayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// By delays of its pages.
    pub spread: Span,
    /// By stops, after that: no capacity was left.
    pub stopped: Span,
    /// In how many stops, each of one of its pages; a page may be stopped in an epoch and again in
    /// the next.
    pub stops: u32,
}

impl Throttled {
    /// In all.
    #[inline]
    pub fn total(self) -> Span {
        self.spread + self.stopped
    }
}

/// What a throttle has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The delay of each page in force.
    pub delay: Span,
    /// The length of the epoch that runs; none without epochs.
    pub epoch: Option<Span>,
    /// How well demand was predicted.
    pub predicted: Predicted,
    /// How often the length of an epoch was chosen anew.
    pub chosen: u64,
}

/// How well demand was predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predicted {
    /// Epochs whose demand was predicted.
    pub epochs: u64,
    /// Of them, those where it came within [`Params::miss`].
    pub right: u64,
}

impl Predicted {
    /// Epochs whose demand came otherwise.
    pub fn missed(self) -> u64 {
        self.epochs - self.right
    }
}

/// A rule that throttles writes.
pub trait Throttle {
    /// By how much to delay a write of `pages` pages that could enter at `now`.
    fn delay(&mut self, now: Nanos, pages: u32, life: &impl Life) -> Throttled;

    /// What it has come to.
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
    /// Whether writes can be delayed at all.
    #[inline]
    pub fn is_on(&self) -> bool {
        !matches!(self, AnyThrottle::Off(_))
    }
}

#[cfg(test)]
mod tests;

/// A policy that whoever builds the drive hands over.
pub trait CustomThrottle: Custom {
    /// By how much to delay a write of `pages` pages that could enter at `now`.
    fn delay(&mut self, now: Nanos, pages: u32, life: &dyn Life) -> Throttled;

    /// What it has come to.
    fn state(&self) -> State {
        State::default()
    }
}
clone_trait_object!(CustomThrottle);
