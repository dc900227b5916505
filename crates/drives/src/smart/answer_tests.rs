//! Tests of the answer about a real drive: choice of the drive, present rates, years left, doubts.

use super::tests::{OLD_TEXT, asked, logs, model, of, value, years};
use super::*;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_units::Rng;
use serde_json::Value;

fn chosen(text: &str, drive: Option<&str>) -> Result<Logs, Diagnostics> {
    choose(logs(text), Vec::new(), drive)
}

#[test]
fn logs_of_several_drives_are_refused_until_one_is_named() {
    let two = OLD_TEXT.to_string()
        + &OLD_TEXT.replace("nvme3n1", "nvme4n1").replace("1,000\n", "2,000\n");
    let said = chosen(&two, None).unwrap_err().to_string();
    assert!(
        said.contains("several drives: /dev/nvme3n1, /dev/nvme4n1") && said.contains("--drive"),
        "{said}"
    );
    assert_eq!(value(chosen(&two, Some("nvme4")).unwrap().now.hours), 2000.0);
    let said = chosen(&two, Some("nvme9")).unwrap_err().to_string();
    assert!(said.contains("`nvme9`") && said.contains("one of /dev/nvme3n1"), "{said}");
    let smartctl = |serial: &str| {
        format!(
            r#"{{"serial_number":"{serial}","device":{{"name":"/dev/nvme0"}},
               "nvme_smart_health_information_log":{{"data_units_written":9,"power_on_hours":5}}}}"#
        )
    };
    for text in [smartctl("A") + &smartctl("B"), format!("[{},\n{}]", smartctl("A"), smartctl("B"))]
    {
        let said = chosen(&text, None).unwrap_err().to_string();
        assert!(said.contains("serial number A, serial number B"), "{said}");
        assert_eq!(chosen(&text, Some("B")).unwrap().now.serial.as_deref(), Some("B"));
    }
    let unnamed = "{\"data_units_written\":9,\"power_on_hours\":5}\n".repeat(2);
    let said = chosen(&unnamed, None).unwrap_err().to_string();
    assert!(said.contains("name no drive") && said.contains("log:2"), "{said}");
    let blocks =
        OLD_TEXT.lines().skip(1).map(|line| line.to_string() + "\n").collect::<String>().repeat(2);
    assert!(chosen(&blocks, None).unwrap_err().to_string().contains("name no drive"));
}

#[test]
fn two_logs_of_a_drive_say_what_it_does_now() {
    let later = OLD_TEXT.replace(": 2,000,000", ": 5,000,000").replace(": 1,000\n", ": 2,000\n");
    let series = OLD_TEXT.to_string() + &later;
    for answer in [of(&series), asked(&later, OLD_TEXT, Question::default())] {
        let lately = answer.lately.as_ref().unwrap();
        assert_eq!((value(lately.host), value(lately.hours)), (1.536e12, 1000.0));
        assert!((value(answer.lately_per_day) - 1.536e12 * 24.0 / 1000.0).abs() < 1.0);
        assert!((value(answer.per_day) - 2.56e12 * 24.0 / 2000.0).abs() < 1.0);
    }
    let tbw = Question { tbw: Some(100e12), ..Question::default() };
    let answer = asked(&later, OLD_TEXT, tbw);
    let left = (100e12 - 2.56e12) / (1.536e12 / 1000.0) / 8760.0;
    assert!((years(&answer, "TBW").value.unwrap() / left - 1.0).abs() < 1e-9);
    let swapped = choose(logs(OLD_TEXT), logs(&later), None).unwrap_err().to_string();
    assert!(swapped.contains("--since"), "{swapped}");
    let other = later.replace("nvme3n1", "nvme5n1");
    let said = choose(logs(&later), logs(&other), None).unwrap_err().to_string();
    assert!(said.contains("another drive"), "{said}");
    let reset = later.replace(": 5,000,000", ": 1,000,000");
    let answer = asked(&reset, OLD_TEXT, Question::default());
    assert!(
        answer.doubts.iter().any(|it| it.contains("fell from 1.024 to 0.512 TB")),
        "{:?}",
        answer.doubts
    );
    assert_eq!(answer.lately_per_day, None);
    let same = asked(OLD_TEXT, OLD_TEXT, Question::default());
    assert!(same.doubts.iter().any(|it| it.contains("did not rise")), "{:?}", same.doubts);
}

#[test]
fn years_are_what_is_left_at_the_rate_of_the_log() {
    let question = Question { tbw: Some(600e12), model: Some(model()), ..Question::default() };
    let answer = asked(OLD_TEXT, "", question.clone());
    let rate = 1.024e12 / 1000.0;
    let tbw = years(&answer, "TBW");
    assert!((tbw.value.unwrap() / ((600e12 - 1.024e12) / rate / 8760.0) - 1.0).abs() < 1e-9);
    let used = years(&answer, "percentage used");
    assert!((used.value.unwrap() / (93.0 * 1000.0 / 7.0 / 8760.0) - 1.0).abs() < 1e-9);
    assert!((used.low / (92.0 * 1000.0 / 8.0 / 8760.0) - 1.0).abs() < 1e-9);
    assert!((used.high.unwrap() / (94.0 * 1001.0 / 6.0 / 8760.0) - 1.0).abs() < 1e-9);
    let cycles = years(&answer, "rated cycles");
    let flash = 3000.0 * 1.1e12;
    let at = |waf: f64| (flash / waf - 1.024e12) / rate / 8760.0;
    assert!(
        (cycles.low / at(4.0) - 1.0).abs() < 2e-3
            && (cycles.high.unwrap() / at(1.0) - 1.0).abs() < 2e-3
    );
    let given = Question { waf: Some(2.0), ..question.clone() };
    let cycles = years(&asked(OLD_TEXT, "", given), "rated cycles");
    assert!((cycles.value.unwrap() / at(2.0) - 1.0).abs() < 1e-9);
    let unknown = Model { worst_waf: None, ..model() };
    let answer = asked(OLD_TEXT, "", Question { model: Some(unknown), ..Question::default() });
    assert_eq!(years(&answer, "rated cycles").low, 0.0);
    let scaled = Model { is_scaled: true, ..model() };
    let answer = asked(OLD_TEXT, "", Question { model: Some(scaled), ..Question::default() });
    assert!(answer.notes.iter().any(|note| note.contains("--capacity SIZE")), "{:?}", answer.notes);
    for (flag, note) in [
        ("--tbw", "no years by TBW"),
        ("--device", "no years by cycles"),
        ("--capacity", "no drive writes"),
    ] {
        let notes = of(OLD_TEXT).notes;
        assert!(notes.iter().any(|it| it.contains(flag) && it.contains(note)), "{flag}: {notes:?}");
    }
}

#[test]
fn impossible_counters_are_doubted_by_name() {
    let with = |units: &str, commands: &str, hours: &str, used: &str| {
        format!(
            "{{\"data_units_written\":{units},\"host_write_commands\":{commands},\"power_on_hours\":{hours},\"percent_used\":{used}}}"
        )
    };
    let tbw = Question { tbw: Some(600e12), ..Question::default() };
    let small =
        Question { model: Some(Model { user: 1e9, raw: 1e9, ..model() }), ..Question::default() };
    let sized = Question { capacity: Some(1e12), ..Question::default() };
    for (text, question, doubt) in [
        (with("1000000", "9000000", "0", "1"), &tbw, "power-on hours are 0"),
        (with("1000000", "9000000", "999999", "1"), &tbw, "NVMe 1.0"),
        (with("1000000000", "9000000000", "1", "1"), &tbw, "PCIe 5.0 x4"),
        (with("1000", "900000000", "100", "1"), &tbw, "has wrapped or was reset"),
        (with("100000000", "5", "1000", "1"), &tbw, "the commands have wrapped"),
        (with("1000000", "9000000", "100", "60"), &tbw, "percentage used is 60 %"),
        (with("2000000000", "9000000000", "99999", "100"), &tbw, "--tbw of 600 TB is used up"),
        (with("1000000", "9000000", "100", "101"), &Question::default(), "100 % or more"),
        (with("100000000", "9000000000", "9000", "1"), &small, "the log is of another drive"),
        (with("12", "9", "9000", "40"), &Question::default(), "no flash wears by"),
        (with("3000000000", "9000000000", "99999", "0"), &sized, "no flash wears by"),
    ] {
        let answer = asked(&text, "", question.clone());
        let doubts = &answer.doubts;
        assert!(doubts.iter().any(|it| it.contains(doubt)), "{doubt}: {doubts:?}");
        assert!(answer.verdict().ends_with("see below."));
        let is_new = answer.logs.now.hours.unwrap().value == Some(0.0);
        assert!(!is_new || (answer.per_day.is_none() && answer.lives.is_empty()), "{text}");
    }
    for (text, note) in [
        (with("0", "9", "5", "1"), "`data_units_written` is 0"),
        (with("18446744073709551615", "9", "5", "1"), "all bits set"),
        (with("9", "9", "4294967295", "1"), "`power_on_hours` has all bits set"),
    ] {
        let notes = of(&text).notes;
        assert!(notes.iter().any(|it| it.contains(note)), "{note}: {notes:?}");
    }
    let low = r#"{"data_units_written":100,"media_units_written":20}"#;
    assert!(of(low).doubts[0].contains("below 1"));
}

/// Returns a random number from 0 to beyond 2^128, of every order of magnitude.
fn any(rng: &mut Rng) -> f64 {
    match rng.below(6) {
        0 => 0.0,
        1 => 1.0,
        2 => rng.below(300) as f64,
        3 => (rng.below(1 << 20) as f64) * 1e6,
        4 => 2f64.powi(rng.below(128) as i32),
        _ => 3.4e38,
    }
}

#[test]
fn no_answer_has_an_infinity() {
    let mut answered = 0;
    for seed in 0..3000 {
        let mut rng = Rng::stream(seed, "smart");
        let mut log = |used: u64| {
            let [units, commands, hours] = [0; 3].map(|_| any(&mut rng));
            let [media, estimate] = [0; 2].map(|_| any(&mut rng));
            format!(
                "{{\"data_units_written\":{units},\"host_write_commands\":{commands},\
                 \"power_on_hours\":{hours},\"percent_used\":{used}}}\n\
                 {{\"physical_media_units_written\":{media},\"endurance_estimate\":{estimate}}}"
            )
        };
        let (since, now) = (log(seed % 100), log(seed % 256));
        let question = Question {
            tbw: Some(any(&mut rng)).filter(|it| *it > 0.0),
            waf: Some(any(&mut rng)).filter(|it| (1e-3..1e3).contains(it)),
            capacity: Some(any(&mut rng)).filter(|it| *it > 0.0),
            model: Some(model()).filter(|_| seed % 2 == 0),
        };
        let Ok(chosen) = choose(logs(&now), logs(&since), None) else { continue };
        answered += 1;
        let answer = answer(chosen, question);
        let json = answer.json();
        let words = format!(
            "{}{:?}{:?}{:?}",
            answer.verdict(),
            answer.sheet(),
            answer.notes,
            answer.doubts
        );
        for text in [words.to_ascii_lowercase(), json.to_string().to_ascii_lowercase()] {
            let numbers = text.replace("information", "").replace("infinit", "");
            assert!(!numbers.contains("inf") && !numbers.contains("nan"), "seed {seed}: {text}");
        }
        for life in &answer.lives {
            let Interval { low, value, high } = life.years;
            let is_inside = value.is_none_or(|value| low <= value * (1.0 + 1e-9));
            assert!(
                is_inside && low.is_finite() && high.is_none_or(f64::is_finite),
                "seed {seed}: {life:?}"
            );
            if let (Some(value), Some(high)) = (value, high) {
                assert!(value <= high * (1.0 + 1e-9), "seed {seed}: {life:?}");
            }
        }
        // JSON has null for what is not a number.
        let fields =
            json.as_object().unwrap().values().chain(json["years_left"].as_array().unwrap());
        for low in fields.filter_map(|field| field.get("low")) {
            assert!(low.is_number(), "seed {seed}: {json}");
        }
    }
    assert!(answered > 1000, "{answered}");
}

#[test]
fn the_json_has_what_the_table_has() {
    let answer = asked(OLD_TEXT, "", Question { tbw: Some(600e12), ..Question::default() });
    let json = answer.json();
    assert_eq!(json["written_bytes"]["value"], 1.024e12);
    assert_eq!(json["percentage_used"]["high"], 8.0);
    assert_eq!(json["waf"], Value::Null);
    assert_eq!(json["years_left"][0]["by"], "TBW");
    let required = schema()["required"].as_array().unwrap().len();
    assert_eq!(required, json.as_object().unwrap().len());
    assert!(
        answer.verdict().starts_with(
            "/dev/nvme3n1: 1.024 TB written in 1,000 h of power-on time, 0.025 TB a day"
        )
    );
}

mod shared_files {
    use super::*;
    use fowler_tests::shared_folder;

    /// A drive with 64,663,716 data units of 512,000 bytes written in 742 hours has 1.07 TB written
    /// per day.
    #[test]
    fn the_files_of_the_shared_folder_say_1_07_tb_a_day() {
        for (file, used) in [
            ("a-14-smart-log.txt", 0.0),
            ("b-08-smartctl-j.json", 3.0),
            ("b-09-nvme-smart-log-o-json.json", 3.0),
        ] {
            let Some(path) = shared_folder::path(&format!("inputs/{file}"), "a SMART log") else {
                return;
            };
            let logs = read(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
            let question = Question { tbw: Some(1752e12), ..Question::default() };
            let answer = answer(choose(logs, Vec::new(), None).unwrap(), question);
            let now = &answer.logs.now;
            assert_eq!(value(now.host), 64_663_716.0 * 512_000.0, "{file}");
            assert_eq!((value(now.hours), value(now.used)), (742.0, used), "{file}");
            assert!((value(answer.per_day) / 1e12 - 1.071).abs() < 5e-4, "{file}");
            let tbw = years(&answer, "TBW").value.unwrap();
            assert!((tbw - 4.398).abs() < 1e-3, "{file}: {tbw}");
            assert!(answer.doubts.is_empty(), "{file}: {:?}", answer.doubts);
        }
    }
}
