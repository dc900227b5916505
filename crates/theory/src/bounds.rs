//! The maximum throughput of an array of dies behind channels, and the latency of one request on
//! an idle array.
//!
//! A channel carries one page at a time. A die holds one page (S1: there is one page buffer), so a
//! read occupies it for sensing and transfer. The scarcer resource is the bound: no schedule can
//! exceed it, and a schedule that always keeps it busy reaches it.

/// An array of flash dies behind channels. Times are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array {
    /// Number of channels, each of which carries one page at a time.
    pub channels: f64,
    /// Number of dies on all channels together.
    pub dies: f64,
    /// Number of planes of a die, each of which programs one page at the same time.
    pub planes: f64,
    /// Time to transfer one page over a channel, in microseconds.
    pub transfer: f64,
    /// Time to sense a page, in microseconds.
    pub sensing: f64,
    /// Time to program the page buffers of a die, without the transfers, in microseconds.
    pub program: f64,
}

/// Returns pages per second from the time per page in microseconds.
fn per_second(us: f64) -> Option<f64> {
    (us > 0.0).then(|| 1e6 / us)
}

fn less(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Array {
    /// Returns the maximum page reads per second: the lower of `channels / transfer` and
    /// `dies / (sensing + transfer)`. `None` if all times are zero.
    pub fn read_iops(&self) -> Option<f64> {
        let channels = per_second(self.transfer / self.channels);
        less(channels, per_second((self.sensing + self.transfer) / self.dies))
    }

    /// Returns the maximum page programs per second without GC: the lower of `channels / transfer`
    /// and `dies * planes / (planes * transfer + program)`, as a die receives one page per plane,
    /// one after the other, and programs them together. `None` if all times are zero.
    pub fn write_iops(&self) -> Option<f64> {
        let channels = per_second(self.transfer / self.channels);
        let stripe = self.planes * self.transfer + self.program;
        less(channels, per_second(stripe / (self.dies * self.planes)))
    }

    /// Returns the latency of a page read on an idle array, in microseconds.
    pub fn read_alone(&self) -> f64 {
        self.sensing + self.transfer
    }

    /// Returns the latency of a page write on an idle array up to the end of its program, in
    /// microseconds.
    pub fn write_alone(&self) -> f64 {
        self.transfer + self.program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The drives of the PES paper: 16 chips, each on a channel of its own.
    const SLC: Array = Array {
        channels: 16.0,
        dies: 16.0,
        planes: 4.0,
        transfer: 20.0,
        sensing: 10.0,
        program: 140.0,
    };

    #[test]
    fn the_short_resource_is_the_bound() {
        assert_eq!(SLC.read_iops(), Some(16e6 / 30.0));
        assert_eq!(SLC.write_iops(), Some(64e6 / 220.0));
        let shared = Array { channels: 4.0, ..SLC };
        assert_eq!((shared.read_iops(), shared.write_iops()), (Some(2e5), Some(2e5)));
        let free = Array { transfer: 0.0, ..SLC };
        assert_eq!(free.read_iops(), Some(1.6e6));
        let free = Array { transfer: 0.0, sensing: 0.0, program: 0.0, ..SLC };
        assert_eq!((free.read_iops(), free.write_iops()), (None, None));
        assert_eq!((SLC.read_alone(), SLC.write_alone()), (30.0, 160.0));
    }
}
