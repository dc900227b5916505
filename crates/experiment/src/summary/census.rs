//! Pages that cannot be read or rebuilt at the end of a run, detected or not.

use super::metric::{Metric, Unit};
use crate::json_schema::output::Fact;
use crate::outcome::Outcome;
use fowler_device::{Census, Counted, Failure, Reason};
use serde_json::json;

const PAGES: Unit = Unit::Count("pages");

type Count = (&'static str, &'static str, fn(&Census) -> u64);

const COUNTS: [Count; 12] = [
    ("pages", "Pages of the host that hold data, lost ones included.", |it| it.pages),
    ("unreadable", "Pages of the host whose copy in the flash cannot be read.", |it| it.unreadable),
    ("buffered", "Unreadable pages whose newest version is in the buffer.", |it| it.buffered),
    ("recoverable", "Unreadable pages that can be rebuilt from their stripe.", |it| it.recoverable),
    (
        "lost",
        "Unreadable pages that are lost: neither buffer nor stripe has their data.",
        Census::lost,
    ),
    ("found", "Lost pages known to the drive, because it has tried to read them.", Census::found),
    ("unfound", "Lost pages that no read has detected yet.", Census::unfound),
    ("wrong", "Silently corrupted pages: they read without error and return wrong data.", |it| {
        it.wrong
    }),
    ("parity_pages", "Number of parity pages in the flash.", |it| it.parity_pages),
    ("parity_unreadable", "Parity pages that cannot be read.", |it| it.parity_unreadable),
    ("parity_lost", "Unreadable parity pages that cannot be recomputed.", |it| it.parity_lost),
    (
        "parity_wrong",
        "Silently corrupted parity pages: they read without error and do not match their stripe.",
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
    let about = "Lost pages by cause: `reason`, the `failure` of the page itself, the `failed` \
        pages of its stripe, and how many of those its parity can rebuild.";
    list.push(Metric::list("census.losses", about, facts, |it| Some(&it.census.as_ref()?.losses)));
    list
}

fn facts() -> Vec<Fact<Counted>> {
    type It = Counted;
    vec![
        Fact::new("reason", "", |it: &It| it.loss.reason.name())
            .like(json!({ "enum": Reason::ALL.map(Reason::name) })),
        Fact::new("failure", "", |it: &It| it.loss.failure.name())
            .like(json!({ "enum": Failure::ALL.map(Failure::name) })),
        Fact::new("failed", "", |it: &It| it.loss.failed)
            .like(json!({ "type": "integer", "minimum": 1 })),
        Fact::new("given_back", "", |it: &It| it.loss.given_back),
        Fact::new("found", "", |it: &It| it.found),
        Fact::new("unfound", "", |it: &It| it.unfound),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_schema::output::written;
    use fowler_device::Loss;

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
        let row = written(&facts(), &census.losses[1]);
        let expected = json!({
            "reason": "beyond_parity", "failure": "cells", "failed": 2, "given_back": 1, "found": 7,
            "unfound": 11,
        });
        assert_eq!(row, expected);
    }
}
