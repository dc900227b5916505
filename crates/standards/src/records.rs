//! A load without a pause, measured minute by minute.

use super::bench_drive::Measured;
use super::element::{Element, Tally};
use super::stimulus::Over;
use fowler_device::{Completion, Device, Layer, Probe};
use fowler_units::{Nanos, Span};

/// Function that decides after every minute of a load that runs without a pause, from the
/// measurements of all minutes so far, whether the load ends.
type Ends<'a> = &'a mut dyn FnMut(&[Element]) -> bool;

/// Probe of a drive under test that measures each minute of a load without a pause (such as write
/// saturation), and ends the load.
pub(super) struct Records<'a> {
    pub all: Vec<Element>,
    tally: Tally,
    length: Span,
    /// Simulated time at which the present minute of the test's load ends.
    due: Nanos,
    over: &'a Over<'a>,
    ends: Ends<'a>,
}

impl<'a> Records<'a> {
    /// Begins the first minute of a load without a pause, such as that of the write saturation
    /// test, at the drive's current time.
    pub fn new(
        device: &impl Measured,
        length: Span,
        over: &'a Over<'a>,
        ends: Ends<'a>,
    ) -> Records<'a> {
        let due = device.now() + length;
        Records { all: Vec::new(), tally: Tally::new(device), length, due, over, ends }
    }
}

impl<L: Layer> Probe<L> for Records<'_> {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.tally.add(completion);
    }

    #[inline]
    fn due(&self) -> Nanos {
        self.due
    }

    fn sampled(&mut self, device: &Device<L>) {
        // Requests that are answered after the load is over belong to no minute.
        if !self.over.is_set() {
            self.all.push(self.tally.element_until(device, self.due));
            if (self.ends)(&self.all) {
                self.over.set();
            }
        }
        self.tally = Tally::begun(device, self.due);
        self.due = self.due + self.length;
    }
}
