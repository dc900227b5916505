//! What an array of dies behind channels can serve at most, and what one request alone takes.
//!
//! A channel carries one page at a time; a die holds one page (S1: there is one page buffer), so
//! that a read occupies it for sensing and transfer. Whichever of the two is short is the bound: no
//! schedule can pass it, and a schedule that never lets it rest reaches it.

/// An array of dies. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array {
    /// Channels, each of which carries one page at a time.
    pub channels: f64,
    /// Dies, in all.
    pub dies: f64,
    /// Planes of a die that program one page each at the same time.
    pub planes: f64,
    /// One page over a channel.
    pub transfer: f64,
    /// Sensing a page.
    pub sensing: f64,
    /// Programming the page buffers of a die, without the transfers.
    pub program: f64,
}

/// Pages a second, from a time in microseconds for one.
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
    /// Page reads a second at most: the channels' `channels / transfer` or the dies'
    /// `dies / (sensing + transfer)`. `None` if nothing takes any time.
    pub fn read_iops(&self) -> Option<f64> {
        let channels = per_second(self.transfer / self.channels);
        less(channels, per_second((self.sensing + self.transfer) / self.dies))
    }

    /// Page programs a second at most, without any GC: the channels' `channels / transfer`,
    /// or that of dies which take in one page for each plane, one after the other, and program them
    /// together: `dies * planes / (planes * transfer + program)`. `None` if nothing takes any time.
    pub fn write_iops(&self) -> Option<f64> {
        let channels = per_second(self.transfer / self.channels);
        let stripe = self.planes * self.transfer + self.program;
        less(channels, per_second(stripe / (self.dies * self.planes)))
    }

    /// Latency of a page read that finds the array idle, in microseconds.
    pub fn read_alone(&self) -> f64 {
        self.sensing + self.transfer
    }

    /// Latency of a page write that finds the array idle, in microseconds, up to the end of its
    /// program.
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
