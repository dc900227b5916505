//! Faults that the user listed, and the effect of each.

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
        Fact::new("fault", "The unit or event of the fault.", |it: &Fate| {
            it.fault.what.to_string()
        }),
        Fact::new(
            "due_s",
            "Scheduled time of the fault, on the clock of the replayed requests.",
            move |it: &Fate| seconds(it.fault.at),
        ),
        Fact::new(
            "struck_s",
            "Time at which the fault struck, on the drive's clock.",
            effect(|it| (it.at - Nanos::ZERO).as_s()),
        ),
        Fact::new(
            "unreadable",
            "Data pages that the fault made unreadable.",
            effect(|it| it.unreadable),
        ),
        Fact::new(
            "parity_unreadable",
            "Parity pages that the fault made unreadable.",
            effect(|it| it.parity_unreadable),
        ),
        Fact::new(
            "lost",
            "Data pages lost for good by the fault, including acknowledged writes lost with the \
                power.",
            effect(|it| it.lost),
        ),
        Fact::new(
            "corrupted",
            "Pages that the fault corrupted silently, parity pages included.",
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
        Fact::new(
            "waiting",
            "Unreadable data pages, of this fault and of those before it, that wait to be rebuilt at the next fault or the end.",
            effect(|it| it.waiting),
        ),
    ]
}
