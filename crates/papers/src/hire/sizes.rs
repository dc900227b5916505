//! Range of the sizes of volumes: all stand-ins for MSR volumes have 1 GiB, which is assumed. Some
//! volumes have a published size. The range has two steps: these volumes in their published sizes,
//! and further volumes in larger sizes, which are assumed, in addition. A verdict on a claim must
//! hold at both.

use super::paper::{Paper, Size, Sweeps};
use crate::claim::{Choice, Lens};

/// Returns the name of the HIRE study's variant in which workloads spread over `gib` GiB.
pub(super) fn space(gib: u32) -> String {
    format!("over {gib} GiB")
}

/// Name of the first step of the range of sizes: volumes with a published size have that size.
pub(super) const PUBLISHED: &str = "published sizes";

/// Returns the name of the last step of the range of sizes, in which further volumes have larger
/// sizes, which are assumed: "published sizes, stg1 64 GiB".
pub(super) fn largest(paper: &Paper) -> String {
    let assumed = paper.size.iter().filter(|size| size.bytes.is_none());
    let one = |size: &Size| format!(", {} {} GiB", size.workload, size.gib);
    assumed.fold(PUBLISHED.into(), |name: String, size| name + &one(size))
}

/// Returns the steps of the range of sizes.
pub(super) fn steps(paper: &Paper) -> [String; 2] {
    [PUBLISHED.into(), largest(paper)]
}

/// Returns the variant of the drive on which a workload runs where `variant` is asked for: at a
/// step of the range of sizes, the variant with the volume's own size, or the unchanged drive (an
/// empty name) for a volume that has none at this step. Any other variant is returned unchanged.
pub(super) fn variant_of(paper: &Paper, column: &str, variant: String) -> String {
    let with_assumed = match variant {
        _ if variant == PUBLISHED => false,
        _ if variant == largest(paper) => true,
        _ => return variant,
    };
    let counts = |size: &&Size| size.workload == column && (with_assumed || size.bytes.is_some());
    paper.size.iter().find(counts).map(|size| space(size.gib)).unwrap_or_default()
}

/// Returns the steps of the range of sizes as views of the study's measurements.
pub(super) fn bounds(paper: &Paper) -> Vec<Choice> {
    steps(paper).map(|name| Choice { lens: Lens::variant(name.as_str()), name }).into()
}

impl Sweeps {
    /// Returns true if the sweep of sizes runs this volume in this size.
    pub fn have(&self, size: &Size) -> bool {
        self.workloads.contains(&size.workload) && self.spaces_gib.contains(&size.gib)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::columns;

    #[test]
    fn sizes_are_the_published_ones_of_workloads_of_the_study() {
        let paper = Paper::open().unwrap();
        let names: Vec<String> =
            columns(&paper.workload, None).unwrap().into_iter().map(|it| it.name).collect();
        for size in &paper.size {
            assert!(names.contains(&size.workload), "{size:?}");
            if let Some(bytes) = size.bytes {
                let gib = bytes as f64 / f64::from(1 << 30);
                assert_eq!(gib.round(), f64::from(size.gib), "{size:?} has {gib} GiB");
            }
        }
        assert_eq!(largest(&paper), "published sizes, stg1 64 GiB, web0 8 GiB");
    }

    #[test]
    fn a_step_changes_the_variant_of_the_volumes_it_names_alone() {
        let paper = Paper::open().unwrap();
        let of = |column: &str, step: &str| variant_of(&paper, column, step.into());
        let last = largest(&paper);
        for (column, published, all) in [
            ("hm0", "over 5 GiB", "over 5 GiB"),
            ("stg1", "", "over 64 GiB"),
            ("web0", "", "over 8 GiB"),
            ("fin1", "", ""),
        ] {
            assert_eq!([of(column, PUBLISHED), of(column, &last)], [published, all], "{column}");
            assert_eq!(of(column, "rested"), "rested");
        }
    }
}
