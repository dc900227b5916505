//! SMART and health logs of real drives.

use crate::refused_in_words;
use fowler_drives::smart::{Interval, Question, answer, choose, parse};

/// Bytes that a data sheet might let a host write.
const TBW: f64 = 600e12;

/// An accepted log has an answer without infinities, whose ranges are in order.
pub fn check(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let logs = match parse(text, "smart.log") {
        Err(diagnostics) => return refused_in_words(&diagnostics),
        Ok(logs) => logs,
    };
    let chosen = match choose(logs, Vec::new(), None) {
        Err(diagnostics) => return refused_in_words(&diagnostics),
        Ok(chosen) => chosen,
    };
    let question = Question { tbw: Some(TBW), capacity: Some(1e12), ..Question::default() };
    let answer = answer(chosen, question);
    let now = &answer.logs.now;
    let counters = [now.host, now.media, now.hours, now.used, now.estimate, now.erases];
    let derived = [answer.per_day, answer.waf, answer.drive_writes(), answer.lately_waf];
    let years = answer.lives.iter().map(|life| life.years);
    counters.into_iter().chain(derived).flatten().chain(years).for_each(in_order);
    let words = answer.verdict() + &answer.doubts.join("\n");
    assert!(words.chars().all(|c| c == '\n' || !c.is_control()), "{words:?}");
    assert!(answer.json().is_object());
    assert!(!answer.sheet().rows.is_empty() || !answer.notes.is_empty());
    true
}

fn in_order(interval: Interval) {
    let Interval { low, value, high } = interval;
    let most = high.unwrap_or(f64::MAX);
    let value = value.unwrap_or(low);
    assert!(low >= 0.0 && low.is_finite() && most.is_finite(), "{interval:?}");
    // Quotients are rounded.
    assert!(low <= value * (1.0 + 1e-9) && value <= most * (1.0 + 1e-9), "{interval:?}");
}

pub fn seeds() -> Vec<Vec<u8>> {
    [
        "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning : 0\npercentage_used : 3%\n\
         data_units_written : 64,663,716 (33.11 TB)\nhost_write_commands : 2,931,291,530\npower_on_hours : 742\n",
        "{\"percent_used\":3,\"data_units_written\":\"64663716\",\"host_write_commands\":882312345,\"power_on_hours\":742}\n\
         {\"physical_media_units_written\":{\"hi\":0,\"lo\":90000000000000},\"endurance_estimate\":9e15,\"nand_avg_erase_count\":7}",
        "{\"serial_number\":\"S\",\"user_capacity\":{\"bytes\":960197124096},\"local_time\":{\"time_t\":1700000000},\
         \"nvme_smart_health_information_log\":{\"percentage_used\":255,\"data_units_written\":9,\"data_units_written_s\":\"9\"},\
         \"power_on_time\":{\"hours\":742,\"minutes\":3}}",
        "{\"device\":{\"name\":\"/dev/sda\"},\"in_smartctl_database\":true,\"ata_smart_attributes\":{\"table\":[\
         {\"id\":241,\"name\":\"Total_LBAs_Written\",\"value\":99,\"raw\":{\"value\":5000,\"string\":\"5000\"}},\
         {\"id\":247,\"name\":\"Host_Program_Page_Count\",\"raw\":{\"value\":9}},\
         {\"id\":202,\"name\":\"Percent_Lifetime_Remain\",\"value\":96}]},\"ata_device_statistics\":{\"pages\":[{\"table\":[\
         {\"name\":\"Power-on Hours\",\"value\":5}]}]}}",
        "[{\"nvme0\":{\"data_units_written\":5,\"mediate_write_commands\":8,\"percent_used\":1}}]",
        "SMART Cloud Attributes :-\n  Physical media units written -   \t        0 2068700589752320\n",
        "data_units_written : -5\npower_on_hours : 1e9\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}
