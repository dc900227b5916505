//! How the data of a run was protected, and what became of what could not be read.

use crate::outcome::Outcome;
use fowler_device::policy::redundancy::{CachePower, Stage};
use fowler_device::{LossLedger, PowerOffs, Protection, Reason, StageChange};
use fowler_units::{Nanos, Span};
use serde_json::{Map, Value, json};

/// A stage as the paper counts it.
fn number(stage: Stage) -> u8 {
    stage as u8 + 1
}

impl Outcome {
    /// One object, or null where nothing is striped.
    pub(crate) fn redundancy_json(&self) -> Value {
        let Some(Protection { stripes, stage, changes, age, bare, exposed, exposed_most }) =
            &self.protection
        else {
            return Value::Null;
        };
        let change = |it: &StageChange| {
            json!({
                "to": number(it.to), "at_s": (it.at - Nanos::ZERO).as_s(), "cycles": it.age.cycles,
                "worn_stripes": it.age.worn_stripes,
            })
        };
        let [by_rest, by_difference] = self.counters.parity_ways;
        let [due, idle] = self.counters.recycled;
        json!({
            "stripes": stripes,
            "stage": number(*stage),
            "changes": changes.iter().map(change).collect::<Vec<_>>(),
            "worn_stripes": age.worn_stripes,
            "most_cycles": age.cycles,
            "bare": bare,
            "exposed": exposed,
            "exposed_most": exposed_most,
            "parity_from_rest": by_rest,
            "parity_from_difference": by_difference,
            "recycled_when_due": due,
            "recycled_in_idle_time": idle,
            "closed_early": self.counters.closed_early,
            "losses": self.losses.as_ref().map(losses),
        })
    }

    /// One object, or null where the power was never off.
    pub(crate) fn power_json(&self) -> Value {
        let PowerOffs { spans, off, lost_writes, parity_lost, overdue } = self.power_offs;
        if spans == 0 {
            return Value::Null;
        }
        let protected = self.drive.config.redundancy.cache == CachePower::Protected;
        json!({
            "spans": spans,
            "off_s": off.as_s(),
            "cache": if protected { "protected" } else { "volatile" },
            "lost_writes": lost_writes,
            "parity_lost": parity_lost,
            "overdue": overdue,
        })
    }

    /// When the drive came into another stage of its life, and why, in words.
    pub fn stages(&self) -> Vec<String> {
        let changes = self.protection.iter().flat_map(|it| &it.changes);
        let worn = self.drive.config.redundancy.worn_above;
        let all = self.drive.config.redundancy.all_above;
        let why = |it: &StageChange| match it.to {
            Stage::First => String::new(),
            Stage::Second => format!("a block has {} P/E cycles, above {worn}", it.age.cycles),
            Stage::Third => {
                format!("{} stripes have a page in a worn block, above {all}", it.age.worn_stripes)
            }
        };
        let words = |it: &StageChange| {
            let at = (it.at - Nanos::ZERO).as_s();
            format!("stage {} from {at:.3} s on: {}", number(it.to), why(it))
        };
        changes.map(words).collect()
    }
}

fn losses(its: &LossLedger) -> Value {
    let lost: Map<String, Value> = Reason::ALL
        .iter()
        .map(|&why| (why.name().to_string(), json!(its.lost[why as usize])))
        .collect();
    let LossLedger { at_risk: Span(at_risk), .. } = its;
    // A law of the device: whatever could not be read was rebuilt, written anew or lost, or waits for one of these.
    let ended = its.rebuilt + its.rewritten + its.lost_in_all() - its.lost_writes;
    json!({
        "faults": its.faults, "unreadable": its.unreadable, "rebuilt": its.rebuilt,
        "rewritten": its.rewritten, "lost": lost, "lost_writes": its.lost_writes,
        "waiting": its.unreadable - ended, "parity_unreadable": its.parity_unreadable,
        "parity_lost": its.parity_lost, "wrong": its.wrong, "unread": its.unread, "degraded_reads": its.degraded_reads,
        "failed_reads": its.failed_reads, "at_risk_s": *at_risk as f64 / 1e9,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Every count of the ledger is in the JSON under its own name, and what still waits is what has not ended.
    #[test]
    fn every_loss_is_told() {
        let ledger = LossLedger {
            faults: 2,
            unreadable: 1000,
            rebuilt: 3,
            rewritten: 5,
            lost: [7, 11, 13],
            lost_writes: 4,
            parity_unreadable: 17,
            parity_lost: 19,
            wrong: 23,
            unread: 29,
            degraded_reads: 31,
            failed_reads: 37,
            at_risk: Span::ms(41),
            since: None,
        };
        let expected: Value = json!({
            "faults": 2, "unreadable": 1000, "rebuilt": 3, "rewritten": 5,
            "lost": { "unprotected": 7, "two_in_stripe": 11, "power": 13 }, "lost_writes": 4,
            "waiting": 1000 - 3 - 5 - (7 + 11 + 13 - 4), "parity_unreadable": 17, "parity_lost": 19,
            "wrong": 23, "unread": 29, "degraded_reads": 31, "failed_reads": 37, "at_risk_s": 0.041,
        });
        assert_eq!(losses(&ledger), expected);
    }
}
