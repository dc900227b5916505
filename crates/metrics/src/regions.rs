//! The addresses at which the host reads and writes, and the cost of these writes in flash.

use crate::{ByKind, Kind};
use fowler_device::{
    BySource, Completion, Device, FlashEvent, FlashStep, Layer, Op, Probe, Steps, waf,
};
use fowler_units::{Bytes, Id};

/// Largest number of regions into which the drive's addresses are divided.
const REGIONS: u64 = 64;

/// Requests and flash programs of one region of the drive's addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Number of bytes that the host read and wrote in this range of the drive's addresses.
    pub bytes: ByKind<u64>,
    /// Number of reads and of writes that begin in this range of the drive's addresses.
    pub requests: ByKind<u64>,
    /// Sum of the latencies of the reads, and of the writes, that begin in this range of the
    /// drive's addresses, in nanoseconds.
    pub latency: ByKind<u128>,
    /// Number of flash programs of the pages in this range of addresses and of the parity of their
    /// stripes, by source (host, GC and so on). Zero on drives with superblocks, where one flash
    /// page holds units of several ranges.
    pub programs: BySource<u64>,
}

impl Region {
    /// Returns the write amplification of this range of the drive's addresses: all programs of its
    /// pages per program for the host; `None` before the host's first.
    pub fn waf(&self) -> Option<f64> {
        waf(&self.programs)
    }

    /// Returns the mean latency in microseconds of the requests of a kind that begin in the region;
    /// `None` if there are none.
    pub fn mean_us(&self, kind: Kind) -> Option<f64> {
        let requests = self.requests[kind];
        (requests > 0).then(|| self.latency[kind] as f64 / requests as f64 / 1e3)
    }
}

/// A probe that counts by region: up to 64 equal ranges of the drive's addresses.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// Size of each of the equal address ranges (regions) in which requests are counted, in bytes,
    /// and in logical pages.
    width: u64,
    pages: u64,
    /// Number of logical pages of the host, and of the mapping, which has more if some pages are
    /// parity.
    logical: u64,
    mapped: u64,
    regions: Vec<Region>,
}

impl Regions {
    /// Returns the regions in the order of their addresses; none before the first request.
    pub fn all(&self) -> &[Region] {
        &self.regions
    }

    /// Returns the size of each of the address ranges (regions) in which requests are counted; only
    /// the last may be smaller.
    pub fn width(&self) -> Bytes {
        Bytes(self.width)
    }
}

impl<L: Layer> Probe<L> for Regions {
    fn begun(&mut self, device: &Device<L>) {
        let layout = device.layout();
        (self.logical, self.mapped) = (layout.logical_pages.into(), layout.mapped_pages.into());
        self.pages = self.logical.div_ceil(REGIONS).max(1);
        self.width = self.pages * layout.page_size.0;
        let count = self.logical.div_ceil(self.pages) as usize;
        self.regions = vec![Region::default(); count];
    }

    #[inline]
    fn completed(&mut self, completion: &Completion) {
        let Some(kind) = Kind::of(completion.io.op) else { return };
        let (mut at, size) = (completion.io.offset, u64::from(completion.io.size));
        let end = at + size;
        let Some(first) = self.regions.get_mut((at / self.width) as usize) else { return };
        first.requests[kind] += 1;
        first.latency[kind] += u128::from(completion.latency().0);
        // A request may reach beyond its region.
        for region in &mut self.regions[(at / self.width) as usize..] {
            let here = (end - at).min(self.width - at % self.width);
            region.bytes[kind] += here;
            at += here;
            if at == end {
                break;
            }
        }
    }

    fn watches_flash(&self) -> Steps {
        Steps::Programs
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        for step in steps {
            let (operation, lpn) = (&step.operation, step.operation.lpn);
            if step.event == FlashEvent::Done && operation.op == Op::Program && lpn.is_some() {
                // Stripes are in the order of their data, each with its parity.
                let page = u64::from(lpn.0) * self.logical / self.mapped;
                if let Some(region) = self.regions.get_mut((page / self.pages) as usize) {
                    region.programs[operation.source] += 1;
                }
            }
        }
    }
}
