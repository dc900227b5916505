//! Files of every form: right, and wrong in many ways.

use super::file::parse;
use super::*;
use std::path::Path;

const GOOD: &str = r#"{
  "title": "t", "protocol": { "device_state": "full" },
  "units": { "mb_s": "10^6 bytes/s", "latency": "us; mean of all", "iops": "writes per second" },
  "drives": [
    { "model": "A 1", "sample": "x", "capacity_gb": null, "rows": [
      { "used_gib": 10, "overwritten_x_used": 4, "write_us": { "p50": 7.5 }, "curve": [[1, 2]] },
      { "used_gib": 20.0, "overwritten_x_used": 4, "campaign": "f" } ] },
    { "model": "B", "rows": [ { "used_gib": 30, "overwritten_x_used": 5 } ] } ] }"#;

fn read(text: &str) -> Result<Measured, Diagnostics> {
    parse(text, "m.json", Path::new("some/m.json"))
}

fn numbers(filters: &[&str]) -> Result<Vec<(String, usize)>, String> {
    let files = [read(GOOD).expect("it is good")];
    let mut diagnostics = Diagnostics::default();
    let filters: Vec<Filter> =
        filters.iter().filter_map(|text| diagnostics.take(Filter::parse(text))).collect();
    let picked = diagnostics.or(()).and_then(|()| pick(&files, &filters));
    let picked = picked.map_err(|wrong| wrong.to_string())?;
    Ok(picked.iter().map(|it| (it.drive.model.clone(), it.row.number)).collect())
}

#[test]
fn rows_are_picked_by_their_own_keys() {
    let (a1, a2, b) = (("A 1".into(), 1), ("A 1".into(), 2), ("B".into(), 1));
    for (filters, wanted) in [
        (&[][..], vec![&a1, &a2, &b]),
        (&["model=A 1"], vec![&a1, &a2]),
        (&["sample=x, used_gib=20"], vec![&a2]),
        (&["used_gib=10..20"], vec![&a1, &a2]),
        (&["used_gib=..19.9"], vec![&a1]),
        (&["used_gib=11.."], vec![&a2, &b]),
        (&["used_gib=10|30"], vec![&a1, &b]),
        (&["used_gib=10.0", "model=B"], vec![&a1, &b]),
        (&["write_us.p50=7..8"], vec![&a1]),
        (&["curve.0.1=2"], vec![&a1]),
        (&["file=m,campaign=f"], vec![&a2]),
    ] {
        let got = numbers(filters).unwrap_or_else(|wrong| panic!("{filters:?}: {wrong}"));
        assert_eq!(got.iter().collect::<Vec<_>>(), wanted, "{filters:?}");
    }
}

#[test]
fn a_filter_that_cannot_be_meant_is_refused() {
    for (filters, said) in [
        (&["used_gb=10"][..], &["no row has the key `used_gb`", "did you mean `used_gib`"][..]),
        (&["used_gib=11"], &["no row is like that", "10, 20.0, 30"]),
        (&["used_gib=10,model=B"], &["no row meets all"]),
        (&["used_gib"], &["`=` is missing", "key=value"]),
        (&["=4"], &["the key is empty"]),
        (&["used_gib="], &["the value is empty"]),
        (&["used_gib=9..a"], &["`a` is no number"]),
        (&["used_gib=9..3"], &["from 9 to 3 is empty"]),
        (&["used_gib=9,used_gib=3"], &["two conditions", "key=a|b"]),
        // Everything at once.
        (&["used_gib=9..a,x", "y"], &["`a` is no number", "`=` is missing"]),
    ] {
        let wrong = numbers(filters).expect_err("it is wrong");
        for part in said {
            assert!(wrong.contains(part), "{filters:?}: {part}: {wrong}");
        }
    }
}

#[test]
fn a_file_that_is_wrong_says_where_and_what_was_expected() {
    let without = |from: &str, to: &str| GOOD.replace(from, to);
    for (text, said) in [
        (GOOD[..GOOD.len() - 30].to_string(), &["m.json:8", "ends too early", "JSON object"][..]),
        (without("\"title\"", "title"), &["m.json:2", "this is no JSON"]),
        ("[]".into(), &["no JSON object"]),
        (without("\"title\": \"t\",", ""), &["`title` is missing"]),
        (without("protocol", "protocols"), &["`protocol` is missing", "what was done"]),
        (without("units", "unit"), &["`units` is missing"]),
        (without("10^6 bytes/s", "2^20 bytes/s"), &["`units.mb_s`", "10^6 bytes/s"]),
        (without("us; mean", "usual; mean"), &["`units.latency`", "\"us\""]),
        (without("writes per second", "writes"), &["not per second"]),
        (without("\"drives\"", "\"drive\""), &["`drives` is missing"]),
        (without("\"model\": \"B\",", ""), &["drive 2: `model` is missing"]),
        (
            without("{ \"used_gib\": 30, \"overwritten_x_used\": 5 }", "7"),
            &["B: row 1 is no object"],
        ),
        (without("\"model\": \"B\", \"rows\"", "\"model\": \"B\", \"row\""), &["B: `rows`"]),
        (without("used_gib", "used"), &["not known: it tells of device_state", "used, ", "kind"]),
        (
            without("\"device_state\"", "\"kind\": \"unheard\", \"device_state\""),
            &["`protocol.kind` \"unheard\" is not known", "overprovisioning, "],
        ),
        // Everything at once.
        (without("\"title\": \"t\",", "").replace("units", "u"), &["`title`", "`units`"]),
    ] {
        let wrong = read(&text).expect_err("it is wrong").to_string();
        for part in said {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }
}

#[test]
fn a_protocol_may_be_named() {
    let named = GOOD.replace("\"device_state\"", "\"kind\": \"write_patterns\", \"device_state\"");
    assert_eq!(read(&named).unwrap().kind, Kind::WritePatterns);
    assert_eq!(read(GOOD).unwrap().kind, Kind::OverProvisioning);
    assert_eq!(Kind::names().filter_map(Kind::by_name).count(), 10);
}
