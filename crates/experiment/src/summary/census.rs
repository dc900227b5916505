//! The pages that no read and no equation gives back at the end of a run, read or not.

use super::metric::{Metric, Unit};
use crate::json_schema::nullable;
use crate::json_schema::output::list_of;
use crate::outcome::Outcome;
use fowler_device::{Census, Counted, Failure, Loss, Reason};
use serde_json::{Value, json};

const PAGES: Unit = Unit::Count("pages");

type Count = (&'static str, &'static str, fn(&Census) -> u64);

const COUNTS: [Count; 12] = [
    ("pages", "Pages of the host that hold data, lost ones included.", |it| it.pages),
    ("unreadable", "Of them, those whose copy in the flash cannot be read.", |it| it.unreadable),
    ("buffered", "Of the unreadable, those whose newest version is in the buffer.", |it| {
        it.buffered
    }),
    ("recoverable", "Of the unreadable, those that their stripe gives back.", |it| it.recoverable),
    ("lost", "Of the unreadable, all others: nothing gives them back.", Census::lost),
    ("found", "Of the lost, those that the drive knows of: it has read them.", Census::found),
    ("unfound", "Of the lost, those that no read has met yet.", Census::unfound),
    ("wrong", "Pages that read well and hold something else than was written, unnoticed.", |it| {
        it.wrong
    }),
    ("parity_pages", "Parity pages in the flash.", |it| it.parity_pages),
    ("parity_unreadable", "Of them, those that cannot be read.", |it| it.parity_unreadable),
    ("parity_lost", "Of the unreadable parity pages, those that cannot be computed again.", |it| {
        it.parity_lost
    }),
    (
        "parity_wrong",
        "Parity pages that read well and are not what they should be, unnoticed.",
        |it| it.parity_wrong,
    ),
];

pub(super) fn metrics() -> Vec<Metric> {
    let about = "A count of all pages at the end, read or not; null where every page can be read: \
                 without a model or rate of errors and without versions.";
    let mut list = vec![Metric::group("census", about, |it| it.census.is_some())];
    list.extend(COUNTS.map(|(name, about, read)| {
        let read = move |it: &Outcome| it.census.as_ref().map(read);
        Metric::new(format!("census.{name}"), PAGES, about, read)
    }));
    let about = "The lost pages by what took them: `reason`, the `failure` of the page itself, the \
                 `failed` pages of its stripe, and how many of them its parity gives back.";
    let losses = |it: &Outcome| {
        it.census.as_ref().map(|its| its.losses.iter().map(counted).collect::<Vec<_>>())
    };
    let list_schema = nullable(list_of(schema()));
    list.push(Metric::new("census.losses", Unit::Table, about, losses).like(list_schema));
    list
}

fn counted(its: &Counted) -> Value {
    let Counted { loss, found, unfound } = *its;
    let Loss { reason, failure, failed, given_back } = loss;
    json!({
        "reason": reason.name(), "failure": failure.name(), "failed": failed,
        "given_back": given_back, "found": found, "unfound": unfound,
    })
}

fn schema() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "type": "object",
        "properties": {
            "reason": { "enum": Reason::ALL.map(Reason::name) },
            "failure": { "enum": Failure::ALL.map(Failure::name) },
            "failed": { "type": "integer", "minimum": 1 },
            "given_back": count, "found": count, "unfound": count,
        },
        "required": ["reason", "failure", "failed", "given_back", "found", "unfound"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_was_found_or_was_not() {
        let of = |reason, failed, given_back, found, unfound| Counted {
            loss: Loss { reason, failure: Failure::Cells, failed, given_back },
            found,
            unfound,
        };
        let losses =
            vec![of(Reason::Unprotected, 1, 0, 3, 5), of(Reason::BeyondParity, 2, 1, 7, 11)];
        let census = Census {
            pages: 100,
            unreadable: 43,
            buffered: 4,
            recoverable: 13,
            losses,
            wrong: 17,
            parity_pages: 25,
            parity_unreadable: 6,
            parity_lost: 2,
            parity_wrong: 1,
        };
        let read: Vec<u64> = COUNTS.iter().map(|(_, _, read)| read(&census)).collect();
        assert_eq!(read, [100, 43, 4, 13, 26, 10, 16, 17, 25, 6, 2, 1]);
        let row = counted(&census.losses[1]);
        let expected = json!({
            "reason": "beyond_parity", "failure": "cells", "failed": 2, "given_back": 1, "found": 7,
            "unfound": 11,
        });
        assert_eq!(row, expected);
    }
}
