//! Writes, wear and suspensions, as the few numbers that describe a run.

use super::metric::{Metric, Stored, Unit};
use crate::outcome::Outcome;
use crate::outcome::write_amplification::Withheld;
use serde_json::{Value, json};

pub(super) fn metrics() -> Vec<Metric> {
    vec![
        Metric::new(
            "waf",
            Unit::Ratio,
            "Write amplification: pages programmed for any source per page programmed for the host.",
            |it| it.counters.waf(),
        )
        .headline(),
        Metric::new(
            "waf_withheld",
            Unit::Text,
            "Reason why tables and pages withhold `waf`: the run erased too few blocks. Null if \
                `waf` is shown.",
            |it| it.withheld().map(Withheld::reason),
        ),
        Metric::new(
            "waf_parts.SOURCE",
            Unit::Ratio,
            "Pages programmed for one source per page programmed for the host.",
            waf_parts,
        )
        .stored(Stored::Nowhere),
        Metric::new(
            "wearing_weight",
            Unit::Ratio,
            "Mean wear of a program, which depends on its threshold voltages; 1 at nominal ones.",
            Outcome::wearing_weight,
        ),
        Metric::new(
            "flash_bytes_per_host_byte",
            Unit::Ratio,
            "Bytes programmed for any source per byte that the host wrote.",
            Outcome::flash_bytes_per_host_byte,
        ),
        Metric::new("erases", Unit::Count("erases"), "Blocks erased for any source.", |it| {
            it.counters.erases.sum()
        })
        .headline(),
        Metric::new(
            "suspensions",
            Unit::Count("suspensions"),
            "Times that a program or an erase was suspended.",
            |it| it.counters.suspensions,
        )
        .headline(),
        Metric::new(
            "suspensions_each",
            Unit::Ratio,
            "Suspensions of each program or erase that was suspended at least once.",
            suspensions_each,
        )
        .stored(Stored::Nowhere),
        Metric::new(
            "suspended_share",
            Unit::Share,
            "Share of programs and erases that were suspended at least once.",
            Outcome::suspended_share,
        ),
        Metric::new(
            "suspension_overhead",
            Unit::Share,
            "Extra time of suspended programs and erases, as a share of their undisturbed time.",
            Outcome::suspension_overhead,
        ),
    ]
}

/// Returns the contribution of each source of programs to write amplification; null without host
/// programs.
fn waf_parts(it: &Outcome) -> Value {
    let [host, gc, wear, refresh, parity] = it.counters.programs.into_array();
    let part = |pages: u64| pages as f64 / host as f64;
    let parts = || json!({ "gc": part(gc), "wear": part(wear), "refresh": part(refresh), "parity": part(parity) });
    if host > 0 { parts() } else { Value::Null }
}

fn suspensions_each(it: &Outcome) -> Option<f64> {
    let suspended = it.counters.suspended_operations;
    (suspended > 0).then(|| it.counters.suspensions as f64 / suspended as f64)
}
