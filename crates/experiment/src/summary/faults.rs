//! The faults that the user listed, and what each of them did.

use super::metric::{Metric, Unit};
use crate::json_schema::output::{Fact, all_written, list_of, schema};
use crate::outcome::{Effect, Fate};
use fowler_units::Nanos;

pub(super) fn metrics() -> Vec<Metric> {
    let about = "The faults that were listed, in order, and what each of them did; absent without any. What a \
                 fault did is null if the run ended before it.";
    let list = Metric::new("faults", Unit::Table, about, |it| all_written(&facts(), &it.faults));
    vec![list.like(list_of(schema(&facts()))).only_if(|it| !it.faults.is_empty())]
}

fn facts() -> Vec<Fact<Fate>> {
    fn effect<V>(read: fn(&Effect) -> V) -> impl Fn(&Fate) -> Option<V> {
        move |it| it.effect.as_ref().map(read)
    }
    let seconds = |at: Nanos| (at - Nanos::ZERO).as_s();
    vec![
        Fact::new("fault", "What was to fail.", |it: &Fate| it.fault.what.to_string()),
        Fact::new("due_s", "When, in the time of the requests as replayed.", move |it: &Fate| {
            seconds(it.fault.at)
        }),
        Fact::new(
            "struck_s",
            "When it struck, by the clock of the drive.",
            effect(|it| (it.at - Nanos::ZERO).as_s()),
        ),
        Fact::new("unreadable", "Data pages that it made unreadable.", effect(|it| it.unreadable)),
        Fact::new(
            "parity_unreadable",
            "Parity pages that it made unreadable.",
            effect(|it| it.parity_unreadable),
        ),
        Fact::new(
            "lost",
            "Data pages that it took for good, acknowledged writes that went with the power included.",
            effect(|it| it.lost),
        ),
        Fact::new(
            "corrupted",
            "Pages that it corrupted unnoticed, parity pages included.",
            effect(|it| it.corrupted),
        ),
        Fact::new(
            "rebuilt",
            "Data pages rebuilt from their stripes before the next fault or the end.",
            effect(|it| it.rebuilt),
        ),
        Fact::new(
            "rewritten",
            "Unreadable data pages overwritten or trimmed by the host before the next fault or the end.",
            effect(|it| it.rewritten),
        ),
    ]
}
