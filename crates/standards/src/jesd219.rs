//! The enterprise workload of JESD219, as in fio's `examples/jesd219.fio` and JEDEC's table.

use super::stimulus::{Addresses, Stimulus};

/// Request sizes of the enterprise workload in bytes, with their shares in percent.
pub const SIZES: [(u32, u32); 12] = [
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16384, 7),
    (32768, 3),
    (65536, 3),
];
/// Zones of the enterprise workload's addresses, from the first LBA on: share of the accesses, and
/// share of the LBAs.
pub const ZONES: &[(f64, f64)] = &[(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)];
/// Share of reads among the requests of the enterprise workload.
pub const READS: f64 = 0.4;
/// Alignment of requests of the enterprise workload in bytes: fio's example aligns all to 4 KiB.
pub const ALIGNMENT: u32 = 4096;
/// Number of jobs of the enterprise workload, and outstanding requests per job.
pub const LOAD: (u32, u32) = (4, 256);

/// Returns the requests of JESD219's enterprise workload.
pub fn enterprise() -> Stimulus {
    Stimulus {
        reads: READS,
        sizes: SIZES.iter().map(|&(size, percent)| (size, f64::from(percent) / 100.0)).collect(),
        addresses: Addresses::Zones(ZONES),
        alignment: Some(ALIGNMENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_mean_size_is_the_published_one() {
        assert_eq!(SIZES.iter().map(|&(_, percent)| percent).sum::<u32>(), 100);
        assert!((enterprise().mean_size() - 7818.24).abs() < 1e-9);
        let sums = ZONES.iter().fold((0.0, 0.0), |sums, zone| (sums.0 + zone.0, sums.1 + zone.1));
        assert!((sums.0 - 1.0_f64).abs() < 1e-12 && (sums.1 - 1.0_f64).abs() < 1e-12);
    }
}
