//! Programs by their threshold voltages, and the fate of pages evicted from the buffer (HIRE,
//! section 4.2).

use super::metric::{Metric, Stored, Unit};
use crate::json_schema::nullable;
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
            programs_at,
        )
        .like(programs_at_schema()),
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

fn programs_at(it: &Outcome) -> Value {
    let named = |programs: ByVoltage<u64>| {
        let [boosted, nominal, reduced] = programs.into_array();
        json!({ "boosted": boosted, "nominal": nominal, "reduced": reduced })
    };
    let Some(all) = it.programs_at() else { return Value::Null };
    let mut object = named(all);
    object["host"] = named(it.counters.programs_at[Source::Host]);
    object
}

fn programs_at_schema() -> Value {
    let pages = json!({ "type": "integer", "minimum": 0 });
    let mut named = json!({ "boosted": pages, "nominal": pages, "reduced": pages });
    let mut required = vec!["boosted", "nominal", "reduced"];
    let closed = |properties: &Value, required: &[&str]| {
        json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        })
    };
    let host = closed(&named, &required);
    required.push("host");
    named["host"] = host;
    nullable(closed(&named, &required))
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
