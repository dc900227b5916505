//! The table of signs: how often the mechanism of each system acts on a drive without other
//! systems. Where a system has no sign at all, its mechanism is inactive on that drive, and its
//! effect comes from the other settings that it changes.

use super::combination::short;
use super::plan::{Evidence, Place};
use super::tables::{Estimate, Group};
use crate::run_summary::RunSummary;
use crate::runs::{Runs, mean};
use fowler_experiment::tables::{Cell, Sheet};

/// Two runs from which a sign (a number that says how often a system's mechanism acted) is
/// computed: one without any studied system, and one with a single system.
struct Pair<'a> {
    /// Summary of the ablation study's run on a drive without any of the studied systems.
    none: &'a RunSummary,
    /// Summary of the run with only the system whose sign is computed: a number that says how often
    /// the mechanism of that system acted.
    alone: &'a RunSummary,
    /// Drive writes per day (DWPD) of the run without any studied system and of the run with one.
    daily: [Option<f64>; 2],
}

/// A sign in an ablation study: a number that says how often the mechanism of a system acted.
struct Sign {
    /// Short name of the studied system whose mechanism is counted.
    system: &'static str,
    name: &'static str,
    is_share: bool,
    of: fn(&Pair<'_>) -> Option<f64>,
}

/// Returns the share `part / whole` of two counts of a run; `None` if a count is missing or `whole`
/// is zero.
fn part(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    Some(part? / whole.filter(|it| *it > 0.0)?)
}

fn at_voltage(pair: &Pair<'_>, name: &str) -> Option<f64> {
    let at =
        |name: &str| pair.alone.get(&format!("counters.programs_at.host.{name}")).unwrap_or(0.0);
    part(Some(at(name)), Some(at("boosted") + at("nominal") + at("reduced")))
}

const SIGNS: &[Sign] = &[
    Sign {
        system: "PES",
        name: "time without a request in the drive, without any of the five",
        is_share: true,
        of: |it| it.none.get("idle_share"),
    },
    Sign {
        system: "PES",
        name: "programs and erases that are suspended",
        is_share: true,
        of: |it| it.alone.get("suspended_share"),
    },
    Sign {
        system: "RHIO",
        name: "reads that need more than the hard decision, without any of the five",
        is_share: true,
        of: |it| {
            let hard = it.none.get("counters.reads_at.3");
            Some(1.0 - part(hard, it.none.sum("counters.reads_at"))?)
        },
    },
    Sign {
        system: "RHIO",
        name: "time that dies are busy, against none of the five",
        is_share: true,
        of: |it| {
            let busy = |run: &RunSummary| run.get("counters.die_busy_s");
            Some(part(busy(it.alone), busy(it.none))? - 1.0)
        },
    },
    Sign {
        system: "HIRE",
        name: "pages of requests that are found in the buffer",
        is_share: true,
        of: |it| {
            let sum = |a: &str, b: &str| Some(it.alone.get(a)? + it.alone.get(b)?);
            let hits = sum("counters.buffer_read_hits", "counters.buffer_write_hits");
            part(hits, sum("counters.pages_read", "counters.pages_written"))
        },
    },
    Sign {
        system: "HIRE",
        name: "host data at reduced voltages",
        is_share: true,
        of: |it| at_voltage(it, "reduced"),
    },
    Sign {
        system: "HIRE",
        name: "host data at boosted voltages",
        is_share: true,
        of: |it| at_voltage(it, "boosted"),
    },
    Sign {
        system: "READY",
        name: "drive writes a day, without any of the five",
        is_share: false,
        of: |it| it.daily[0],
    },
    Sign {
        system: "READY",
        name: "drive writes a day that READY lets through",
        is_share: false,
        of: |it| it.daily[1],
    },
    Sign {
        system: "DA-RAID-5",
        name: "programs of parity for each program of the host",
        is_share: true,
        of: |it| {
            let programs = |name: &str| it.alone.get(&format!("counters.programs.{name}"));
            part(programs("parity"), programs("host"))
        },
    },
];

impl Evidence {
    /// Returns how often (in the unit of `sign`) the mechanism of a studied system acted, as mean
    /// over some of the drives and over the workloads that have the number: one estimate for each
    /// age of the drives, with the interval over seeds.
    fn sign(&self, sign: &Sign, group: &Group) -> Vec<Estimate> {
        let factors = &self.plan.factor;
        let bit = factors.iter().position(|it| short(&it.name) == sign.system);
        let ages = self.plan.age.iter();
        let of_age = |age| {
            Estimate::of(self.seeds.iter().map(|runs| {
                let known = self
                    .places_of(group, age)
                    .filter_map(|it| (sign.of)(&self.pair(runs, it, 1 << bit?)?));
                mean(&known.collect::<Vec<_>>())
            }))
        };
        ages.map(of_age).collect()
    }

    fn pair<'a>(&self, runs: &'a Runs, place: Place<'_>, alone: usize) -> Option<Pair<'a>> {
        let of = |subset| self.run(runs, place, subset);
        let daily = [0, alone].map(|subset| self.daily_writes(runs, place, subset));
        Some(Pair { none: of(0)?, alone: of(alone)?, daily })
    }

    /// Returns the table of signs (how often the mechanism of each system acted): one row per
    /// system and drive, one column per age.
    pub(super) fn signs(&self) -> Sheet {
        let mut heads = vec!["drive", "factor", "sign"];
        heads.extend(self.plan.age.iter().map(|age| age.name.as_str()));
        let title = format!(
            "How often the mechanism of each system acts, alone on a drive: mean over the workloads with a number{}",
            self.of_all()
        );
        let mut sheet = Sheet::new("signs", title, &heads);
        for group in self.groups() {
            for sign in SIGNS {
                let estimates = self.sign(sign, &group);
                let mut row = |name: String, part: fn(&Estimate) -> Option<f64>| {
                    let drive = group.name.as_deref().unwrap_or("the drive");
                    let mut cells: Vec<Cell> =
                        vec![drive.into(), sign.system.into(), name.as_str().into()];
                    cells.extend(estimates.iter().map(part).map(|value| {
                        if sign.is_share { Cell::share(value) } else { Cell::number(value) }
                    }));
                    sheet.row(cells);
                };
                row(sign.name.into(), |it| it.mean);
                if self.seeds.len() > 1 {
                    row(format!("{} ±", sign.name), |it| it.half);
                }
            }
        }
        sheet
    }
}
