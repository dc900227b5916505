//! Programs by their threshold voltages, and the fate of pages evicted from the buffer (HIRE,
//! section 4.2).

use super::metric::{Metric, Stored, Unit};
use crate::json_schema::nullable;
use crate::json_schema::output::{Fact, schema, written};
use crate::outcome::Outcome;
use fowler_device::policy::hotness::Detector;
use fowler_device::{ReadHot, Rewritten, Source};
use fowler_physics::voltage::ByVoltage;
use serde_json::{Value, json};

const PAGES: Unit = Unit::Count("pages");

pub(super) fn metrics() -> Vec<Metric> {
    vec![
        Metric::new(
            "counters.programs_at.VOLTAGE",
            PAGES,
            "Flash page programs by their threshold voltages, those for the host also below `host`; null without a \
             model of errors.",
            |it| {
                let host = it.counters.programs_at[Source::Host];
                it.programs_at().map(|all| written(&programs(), &[all, host]))
            },
        )
        .like(nullable(schema(&programs()))),
        Metric::new(
            "counters.left.CLASS",
            PAGES,
            "Pages evicted from the buffer, by access class; null where data is not classified.",
            left,
        ),
        Metric::new(
            "counters.rewritten.FATE",
            PAGES,
            "Clean read-hot pages that were reprogrammed, or given up; null unless buffer.read_hot is rewrite_on_idle.",
            rewritten,
        ),
        Metric::new(
            "pages_rewritten",
            PAGES,
            "Clean read-hot pages that were reprogrammed for reads.",
            |it| it.counters.rewritten.anew,
        )
        .stored(Stored::Nowhere),
    ]
}

/// Numbers of programs by voltage: all programs, and those for the host.
type Programs = [ByVoltage<u64>; 2];

fn by_voltage() -> Vec<Fact<ByVoltage<u64>>> {
    let of =
        |name, place: usize| Fact::new(name, "", move |it: &ByVoltage<u64>| it.into_array()[place]);
    vec![of("boosted", 0), of("nominal", 1), of("reduced", 2)]
}

fn programs() -> Vec<Fact<Programs>> {
    let all = by_voltage().into_iter().map(|fact| fact.within(|it: &Programs| &it[0]));
    let host = Fact::new("host", "", |it: &Programs| written(&by_voltage(), &it[1]));
    all.chain([host.like(schema(&by_voltage()))]).collect()
}

fn left(it: &Outcome) -> Option<Value> {
    let [mixed, read_hot, write_hot] = it.counters.left.into_array();
    let classes = it.drive.config.hotness.uses(Detector::BufferHits);
    classes.then(|| json!({ "mixed": mixed, "read_hot": read_hot, "write_hot": write_hot }))
}

fn rewritten(it: &Outcome) -> Option<Value> {
    let Rewritten { anew, given_up } = it.counters.rewritten;
    let would = it.drive.config.buffer.read_hot == ReadHot::RewriteOnIdle;
    would.then(|| json!({ "anew": anew, "given_up": given_up }))
}
