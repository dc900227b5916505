//! Tests of the readers of logs: every layout, and texts that are no log.

use super::*;

/// A SMART log as printed by nvme-cli 1.x.
pub(super) const OLD_TEXT: &str = "Smart Log for NVME device:/dev/nvme3n1 namespace-id:ffffffff
critical_warning                    : 0
temperature                         : 30 C
percentage_used                     : 7%
data_units_read                     : 1,000,000
data_units_written                  : 2,000,000
host_read_commands                  : 50,000,000
host_write_commands                 : 40,000,000
power_on_hours                      : 1,000
Temperature Sensor 1                : 30 C
";

pub(super) fn logs(text: &str) -> Vec<SmartLog> {
    parse(text, "log").unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

fn refused(text: &str) -> String {
    parse(text, "log").expect_err(text).to_string()
}

pub(super) fn of(text: &str) -> SmartAnswer {
    asked(text, "", Question::default())
}

pub(super) fn asked(now: &str, since: &str, question: Question) -> SmartAnswer {
    let since = if since.is_empty() { Vec::new() } else { logs(since) };
    let chosen = choose(logs(now), since, None).unwrap_or_else(|wrong| panic!("{wrong}"));
    answer(chosen, question)
}

pub(super) fn value(interval: Option<Interval>) -> f64 {
    interval.and_then(|it| it.value).unwrap_or(f64::NAN)
}

pub(super) fn years(answer: &SmartAnswer, by: &str) -> Interval {
    let life = answer.lives.iter().find(|life| life.by == by);
    life.unwrap_or_else(|| panic!("{by}: {:?} {:?}", answer.lives, answer.notes)).years
}

/// Returns a drive of 1 TB with 3,000 P/E cycles and 10 % spare capacity.
pub(super) fn model() -> Model {
    Model {
        device: "drive.toml".into(),
        cycles: Some(3000.0),
        user: 1e12,
        raw: 1.1e12,
        is_scaled: false,
        link: None,
        worst_waf: Some(4.0),
    }
}

#[test]
fn every_layout_of_the_health_log_says_the_same() {
    let newer = OLD_TEXT
        .replace("2,000,000", "2000000 (1.02 TB)")
        .replace(": 30 C", ": 30 \u{b0}C (303 K)")
        .replace("critical_warning ", "informative_warning : 0\ncritical_warning ");
    let smartctl = "smartctl 7.3\n=== START OF INFORMATION SECTION ===
Model Number:                       EXAMPLE 1
Serial Number:                      S1
Namespace 1 Size/Capacity:          960,197,124,096 [960 GB]
=== START OF SMART DATA SECTION ===
Percentage Used:                    7%
Data Units Written:                 2,000,000 [1.02 TB]
Host Write Commands:                40,000,000
Power On Hours:                     1,000
";
    let units = [
        "2000000",
        "2000000.0",
        "2e6",
        "\"2000000\"",
        "\"2000000.000000\"",
        "\"2,000,000\"",
        "{\"hi\":0,\"lo\":2000000}",
        "{\"n\":2000000,\"s\":\"2000000\"}",
    ];
    let mut texts = vec![
        OLD_TEXT.to_string(),
        OLD_TEXT.replace(',', "."),
        OLD_TEXT.replace(',', "\u{202f}"),
        OLD_TEXT.replace('\n', "\r\n"),
        format!("\u{feff}me@host:~$ sudo nvme smart-log /dev/nvme3n1\n{OLD_TEXT}"),
        newer,
        smartctl.to_string(),
        format!("[{{\"percent_used\":7,\"data_units_written\":2000000,\"power_on_hours\":1000}}]"),
        r#"{"/dev/nvme0":{"percent_used":7,"data_units_written":2000000,"power_on_hours":1000}}"#.into(),
        r#"{"device":{"name":"/dev/nvme0"},"serial_number":"S","user_capacity":{"bytes":960197124096},
            "nvme_smart_health_information_log":{"percentage_used":7,"data_units_written":2000000,
            "host_writes":40000000},"power_on_time":{"hours":1000}}"#.into(),
    ];
    texts.extend(units.map(|units| {
        format!("{{\"percent_used\":7,\"data_units_written\":{units},\"power_on_hours\":1000}}\n")
    }));
    for text in &texts {
        let answer = of(text);
        let now = &answer.logs.now;
        assert_eq!(value(now.host), 1.024e12, "{text}");
        assert_eq!(value(now.hours), 1000.0, "{text}");
        assert_eq!(
            now.used,
            Some(Interval { low: 6.0, value: Some(7.0), high: Some(8.0) }),
            "{text}"
        );
        assert!(answer.doubts.is_empty(), "{:?}", answer.doubts);
        assert!((value(answer.per_day) - 1.024e12 * 24.0 / 1000.0).abs() < 1.0, "{text}");
    }
    assert_eq!(logs(OLD_TEXT)[0].name.as_deref(), Some("/dev/nvme3n1"));
    assert_eq!(logs(smartctl)[0].serial.as_deref(), Some("S1"));
    assert_eq!(logs(smartctl)[0].capacity, Some(960_197_124_096.0));
}

#[test]
fn logs_with_writes_to_the_flash_have_a_write_amplification() {
    let group = r#"{"percent_used":2,"endurance_estimate":8000,"data_units_written":100,
        "mediate_write_commands":250,"host_write_cmds":1000000}"#;
    let alone = of(group);
    let now = &alone.logs.now;
    assert_eq!((value(now.host), value(now.media)), (1e11, 2.5e11));
    let waf = alone.waf.unwrap();
    assert_eq!((waf.value, waf.low), (Some(2.5), 2.49));
    assert!(alone.notes.iter().any(|note| note.contains("power-on hours are not in the log")));

    // The log of OCP has no bytes of the host: it goes with a health log.
    let media = 1_500_000_000_000_u64;
    for ocp in [
        format!(
            r#"{{"Physical media units written":{{"hi":0,"lo":{media}}},"Endurance estimate":9000000000000}}"#
        ),
        format!(
            r#"{{"physical_media_units_written":{{"hi":0,"lo":{media}}},"endurance_estimate":"9000000000000","log_page_version":4}}"#
        ),
        format!(
            "SMART Cloud Attributes :-\n  Physical media units written -   \t        0 {media}\n  Physical media units read    - \t        0 77\n"
        ),
    ] {
        let alone = of(&ocp);
        assert!(alone.notes.iter().any(|note| note.contains("bytes written by the host")), "{ocp}");
        let mut both = logs(OLD_TEXT);
        both.extend(logs(&ocp));
        let answer = answer(choose(both, Vec::new(), None).unwrap(), Question::default());
        assert!((value(answer.waf) - 1.5e12 / 1.024e12).abs() < 1e-12, "{ocp}");
        if ocp.contains("stimate") {
            let left = (9e12 - 1.5e12) / (1.5e12 / 1000.0) / 8760.0;
            assert!(
                (years(&answer, "endurance estimate").value.unwrap() / left - 1.0).abs() < 1e-9
            );
        }
    }
}

fn ata(rows: &str, more: &str) -> String {
    format!(
        r#"{{"device":{{"name":"/dev/sda","protocol":"ATA"}},"power_on_time":{{"hours":500,"minutes":30}},
            {more} "ata_smart_attributes":{{"table":[{rows}]}}}}"#
    )
}

fn row(id: u64, name: &str, value: u64, raw: u64) -> String {
    format!(
        r#"{{"id":{id},"name":"{name}","value":{value},"raw":{{"value":{raw},"string":"{raw}"}}}}"#
    )
}

#[test]
fn sata_attributes_have_the_unit_of_their_name() {
    for (name, unit) in [
        ("Total_LBAs_Written", 512.0),
        ("Host_Writes_32MiB", 33_554_432.0),
        ("Lifetime_Writes_GiB", 1_073_741_824.0),
        ("Total_Writes_GB", 1e9),
    ] {
        let answer = of(&ata(&row(241, name, 99, 5000), ""));
        assert_eq!(value(answer.logs.now.host), 5000.0 * unit, "{name}");
        assert!((value(answer.logs.now.hours) - 500.5).abs() < 1e-9);
    }
    let hours = r#"{"id":9,"name":"Power_On_Hours_and_Msec","value":1,"raw":{"value":123456789,"string":"742h+12m+03.000s"}}"#;
    let answer = of(&format!("{{\"ata_smart_attributes\":{{\"table\":[{hours}]}}}}"));
    assert_eq!(value(answer.logs.now.hours), 742.0);
    // Micron counts pages, Intel both in units of their own.
    let pages = [
        row(247, "Host_Program_Page_Count", 100, 1000),
        row(248, "FTL_Program_Page_Count", 100, 500),
    ];
    assert_eq!(value(of(&ata(&pages.join(","), "")).waf), 1.5);
    let intel = [row(241, "Host_Writes_32MiB", 100, 3200), row(249, "NAND_Writes_1GiB", 100, 200)];
    assert_eq!(value(of(&ata(&intel.join(","), "")).waf), 2.0);
    for (name, used, more) in [
        ("Percent_Lifetime_Remain", Some(4.0), ""),
        ("SSD_Life_Left", Some(4.0), ""),
        ("Wear_Leveling_Count", Some(4.0), r#""model_name":"Samsung SSD 860 PRO","#),
        ("Wear_Leveling_Count", None, r#""model_name":"Other","#),
        ("Media_Wearout_Indicator", None, r#""in_smartctl_database":false,"#),
        ("Temperature_Celsius", None, ""),
    ] {
        let both = [row(241, "Host_Writes_GiB", 100, 9), row(200, name, 96, 77)].join(",");
        let answer = of(&ata(&both, more));
        let used_now = answer.logs.now.used.and_then(|it| it.value);
        assert_eq!(used_now, used, "{name} {more}");
    }
}

#[test]
fn device_statistics_come_before_attributes() {
    let statistics = r#""ata_device_statistics":{"pages":[
        {"number":1,"table":[{"name":"Logical Sectors Written","value":2000,"flags":{"valid":true}}]},
        {"number":7,"table":[{"name":"Percentage Used Endurance Indicator","value":12}]}]},
        "logical_block_size":4096,"#;
    let answer = of(&ata(&row(241, "Total_LBAs_Written", 99, 5000), statistics));
    assert_eq!(value(answer.logs.now.host), 2000.0 * 4096.0);
    assert_eq!(value(answer.logs.now.used), 12.0);
    let guess = ata(&row(241, "Total_LBAs_Written", 99, 5000), r#""in_smartctl_database":false,"#);
    let answer = of(&guess);
    assert_eq!(answer.logs.now.host, None);
    assert!(answer.notes.iter().any(|note| note.contains("attribute 241")), "{:?}", answer.notes);
}

#[test]
fn what_is_no_log_is_refused_with_a_reason() {
    let written = |units: &str| format!("{{\"data_units_written\":{units},\"power_on_hours\":5}}");
    let line = |units: &str| format!("data_units_written : {units}\npower_on_hours : 5\n");
    for (text, parts) in [
        (String::new(), &["the file is empty"][..]),
        ("  \n\t\n".repeat(1000), &["the file is empty"]),
        ("hello\nworld\n".into(), &["log:1", "not a SMART log", "text: hello", "nvme smart-log"]),
        ("{\0\"\0a\0".into(), &["log:1", "zero bytes", "UTF-16"]),
        ("{}".into(), &["an empty object"]),
        ("[]".into(), &["not a SMART log"]),
        ("[1]".into(), &["`1` is not a SMART log"]),
        ("{\"a\":1}".into(), &["it has a"]),
        (r#"{"fio version":"fio-3.35","jobs":[]}"#.into(), &["a result of fio"]),
        (
            r#"{"smartctl":{"messages":[{"string":"Permission denied"}]}}"#.into(),
            &["Permission denied", "root"],
        ),
        (r#"{"smartctl":{},"scsi_grown_defect_list":0}"#.into(), &["SAS"]),
        (ata("", r#""rotation_rate":7200,"#), &["hard disk of 7200 rpm"]),
        (
            "ID# ATTRIBUTE_NAME FLAG RAW_VALUE\n241 Total_LBAs_Written 5\n".into(),
            &["smartctl -j -x"],
        ),
        (
            "Additional Smart Log for NVME device:nvme0\nnand_bytes_written : 100% sectors: 5\n"
                .into(),
            &["additional log"],
        ),
        ("$ nvme smart-log -o json\n{\n".into(), &["before the first `{`"]),
        (written("-5"), &["`data_units_written`", "not a counter"]),
        (written("1.5"), &["not a whole number"]),
        (written("true"), &["`true` is not a counter"]),
        (written("null"), &["`null`"]),
        (written("[]"), &["`[]`"]),
        (written("{\"hi\":1}"), &["an object with the keys `hi`"]),
        (written("\"NaN\""), &["`NaN` is not a counter"]),
        (written("NaN"), &["this is not JSON"]),
        (written("1e400"), &["this is not JSON", "out of range"]),
        (written("1e39"), &["2^128"]),
        (written("5").replace('}', ""), &["this is not JSON", "cut off"]),
        (written("5").replace("\"power", "\"percent_used\":256,\"power"), &["256 % of life used"]),
        (line("-5"), &["log:1", "`-5` is not a counter", "text: data_units_written"]),
        (line("64,66"), &["groups of three"]),
        (line("1e9"), &["not a counter"]),
        (line("NaN"), &["`NaN`"]),
        (line(&"9".repeat(50)), &["2^128"]),
        (line("2,000,000 (9.99 TB)"), &["the size behind it"]),
        (format!("{}{}", "[".repeat(5000), "]".repeat(5000)), &["this is not JSON"]),
    ] {
        let said = refused(&text);
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("inf "), "{said}");
    }
}

#[test]
fn a_huge_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge");
    std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let said = read(&path).unwrap_err().to_string();
    assert!(said.contains("more than 4194304 bytes"), "{said}");
}
