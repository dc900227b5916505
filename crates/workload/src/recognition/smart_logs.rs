//! SMART and health logs of drives, which hold counters and no requests: text and JSON of `nvme`
//! and `smartctl`. Their counters are not read here.
//!
//! Sources: `nvme-print-stdout.c` and `nvme-print-json.c` of nvme-cli, versions 1 and 2 (headings,
//! `data_units_written`, `media_units_written`, the OCP log); smartctl(8) and `nvmeprint.cpp` of
//! smartmontools (`smartctl -a`, `-j`).

use crate::recognition::json::{Found, Scan};
use fowler_units::Diagnostic;

/// Largest number of lines at the beginning of a text that are examined to recognize a SMART log.
const LINES: usize = 128;
/// Largest number of values of a JSON text that are examined for a drive's SMART counters, and the
/// largest depth of keys that are examined.
const VALUES: usize = 4096;
const DEEPEST: usize = 4;

/// Beginnings of the headings above the counters in SMART and health logs of drives, in lower case.
const HEADINGS: [&str; 7] = [
    "smart log for nvme device",
    "smart/health information (nvme log",
    "smart attributes data structure",
    "endurance group log for nvme device",
    "smart cloud attributes",
    "additional smart log for nvme device",
    "=== start of smart data section",
];

/// Counter names that occur only in health logs; two of them identify one.
const COUNTERS: [&str; 16] = [
    "availspare",
    "availablespare",
    "availablesparethreshold",
    "sparethresh",
    "percentused",
    "percentageused",
    "dataunitsread",
    "dataunitswritten",
    "mediaunitswritten",
    "hostreadcommands",
    "hostwritecommands",
    "controllerbusytime",
    "poweronhours",
    "unsafeshutdowns",
    "physicalmediaunitswritten",
    "physicalmediaunitsread",
];

/// Keys of smartctl's JSON, each of which identifies a health log.
const SMARTCTL: [&[u8]; 4] = [
    b"nvme_smart_health_information_log",
    b"ata_smart_attributes",
    b"ata_smart_data",
    b"ata_device_statistics",
];

/// True if a file with this beginning is a SMART or health log.
pub(crate) fn is_one(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    match head.first() {
        Some(b'{' | b'[') => is_json(head),
        _ => is_text(head),
    }
}

/// Returns the error that a file is a SMART or health log of a drive and not a trace, with the
/// command that reads it (`name` is the file).
pub(crate) fn refusal(name: &str) -> Diagnostic {
    // File names that need shell quoting are not printed in a command.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/+".contains(&byte);
    let is_plain = name.bytes().all(plain) && !name.starts_with('-');
    let file = if is_plain { name } else { "FILE" };
    Diagnostic::of("this is a SMART log, not a trace: it holds counters of a drive and no requests")
        .expected("a trace with the time, operation, address and size of each request")
        .hint(format!(
            "fowler endurance --smart {file} shows the data written, the hours of use, and the \
                years that are left"
        ))
}

fn is_text(head: &[u8]) -> bool {
    let mut counters = 0;
    for line in head.split(|&byte| byte == b'\n').take(LINES) {
        let line = line.trim_ascii();
        let begins = |heading: &str| {
            line.get(..heading.len()).is_some_and(|it| it.eq_ignore_ascii_case(heading.as_bytes()))
        };
        if HEADINGS.iter().any(|heading| begins(heading)) {
            return true;
        }
        let name = memchr::memchr(b':', line).map_or(&b""[..], |colon| &line[..colon]);
        counters += usize::from(is_counter(name));
    }
    counters >= 2
}

fn is_json(head: &[u8]) -> bool {
    let (mut depth, mut counters) = (0, 0);
    for found in Scan::of(head).take(VALUES) {
        match found {
            Found::Begin(key) => {
                depth += 1;
                if SMARTCTL.contains(&key) {
                    return true;
                }
                // Counters of 128 bits are objects in some versions.
                counters += usize::from(depth <= DEEPEST && is_counter(key));
            }
            Found::End => depth -= 1,
            Found::Value(key, _) => counters += usize::from(depth <= DEEPEST && is_counter(key)),
            Found::Wrong => break,
        }
    }
    counters >= 2
}

/// True if `name` is a counter of a health log, with its words in any separation.
fn is_counter(name: &[u8]) -> bool {
    let mut dense = [0; 32];
    let mut length = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        let Some(place) = dense.get_mut(length) else { return false };
        *place = byte.to_ascii_lowercase();
        length += 1;
    }
    COUNTERS.iter().any(|known| known.as_bytes() == &dense[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_drives_are_known() {
        for text in [
            "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning : 0\n",
            "percentage_used : 3%\ndata_units_written : 64,663,716\n",
            "Percentage Used:  3%\nPower On Hours:  742\n",
            "smartctl 7.3 2022-02-28 r5338\n\n=== START OF INFORMATION SECTION ===\nModel: x\n\
             === START OF SMART DATA SECTION ===\nSMART overall-health: PASSED\n",
            "SMART Attributes Data Structure revision number: 16\n",
            "Smart Cloud attributes for NVMe device:nvme0n1\n",
            r#"{"critical_warning":0,"percent_used":3,"data_units_written":9}"#,
            r#"{"nvme0": {"percentage_used":3, "power_on_hours":9}}"#,
            r#"[{"Physical media units written":{"hi":0,"lo":9},"Percent used":3,"power_on_hours":1}]"#,
            r#"{"json_format_version":[1,0],"ata_smart_attributes":{"revision":16}}"#,
            r#"{"nvme_smart_health_information_log":{"critical_warn"#,
        ] {
            assert!(is_one(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn other_files_are_none() {
        for text in [
            "",
            "{",
            "0,20941264,8192,W,0.551706\n",
            r#"{"ts":7,"op":"R","sector":8,"bytes":512}"#,
            r#"{"fio version":"fio-3.36","jobs":[{"read":{"iops":1}}]}"#,
            "power_on_hours : 9\nop: R\n",
            "# Smart Log\n",
        ] {
            assert!(!is_one(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn the_command_can_be_copied_or_has_a_place_for_the_name() {
        for (name, file) in [("a/b-1.txt", "a/b-1.txt"), ("standard input", "FILE"), ("-", "FILE")]
        {
            let hint = refusal(name).hint.unwrap();
            assert!(hint.starts_with(&format!("fowler endurance --smart {file} shows")), "{hint}");
        }
    }
}
