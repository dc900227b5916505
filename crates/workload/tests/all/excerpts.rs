//! Reads excerpts of real traces and compares what they hold with the table that came with them.
//! The excerpts are not part of the repository; without them, the tests print so and pass.

use fowler_tests::shared_folder;
use fowler_units::{HostIo, HostOp};
use fowler_workload::{
    DeviceChoice, Format, FormatSource, ReadOptions, ReadReport, TraceInfo, TraceReader,
};
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    shared_folder::path("traces", "excerpts of real traces")
}

/// An excerpt, its format, and what the table prints of it: requests, span in seconds, percentage
/// of reads; last, how many devices it holds. The numbers of the last three are our own count.
type Excerpt = (&'static str, Format, u64, &'static str, &'static str, usize);

#[rustfmt::skip]
const EXCERPTS: &[Excerpt] = &[
    ("Financial1.first10k.ssdsim.ascii.zst", Format::SsdsimNs, 10_000, "259.6", "40.8", 22),
    ("Financial1.first50k.flashsim.trace.zst", Format::Flashsim, 50_000, "853.4", "58.4", 1),
    ("WebSearch1.first60s.mqsim.trace.zst", Format::Mqsim, 24_783, "60.1", "100.0", 6),
    ("WebSearch1.first50k.flashsim.trace.zst", Format::Flashsim, 50_000, "128.7", "100.0", 1),
    ("DTRS.5min.ssdsim.trace.zst", Format::SsdsimUs, 127_043, "300.0", "89.0", 1),
    ("MSR.cut10k.rw_20_80.105.trace.zst", Format::MsrCut, 10_000, "242.9", "20.2", 1),
    ("MSR.cut10k.most_thpt.1006.trace.zst", Format::MsrCut, 10_000, "1.0", "83.2", 1),
    ("TPCC.w2k8.small.mqsim.trace.zst", Format::Mqsim, 6_999, "0.14", "62.6", 16),
    ("Desktop.flashsim.trace.zst", Format::Flashsim, 32_527, "8877", "38", 1),
    ("JpegCopy.flashsim.trace.zst", Format::Flashsim, 47_120, "810", "75", 1),
    ("MSR.hm.sample1000.csv.zst", Format::Msr, 1_000, "127", "50.8", 1),
    ("FIU.homes.sample1000.ssdsim.zst", Format::SsdsimDigest, 1_000, "46.7", "0.0", 1),
    ("Systor17.traces.sample1000.csv.zst", Format::Systor17, 999, "2.4", "82.7", 1),
    ("TencentCBS.first50k.csv.zst", Format::Tencent, 50_000, "2.0", "49.0", 2038),
    ("MSPS.MSNFS.sample.csv.zst", Format::Msps, 927, "1.5", "82.0", 4),
    ("Nexus5.Booting.log176.txt.zst", Format::Nexus, 18_417, "112", "66.9", 1),
    ("YCSB-RocksDB.ssdtrace.sample10k.blkparse.zst", Format::Blkparse, 1_695, "0.68", "100.0", 1),
];

/// True if `value` differs from the printed number by at most one of the last digit: the table cuts
/// and rounds.
fn is_printed(value: f64, printed: &str) -> bool {
    let digits = printed.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let unit = 0.1f64.powi(digits as i32);
    (value - printed.parse::<f64>().unwrap()).abs() <= unit
}

/// Reads an excerpt, all devices side by side; returns its requests and the report.
fn whole(file: &str, device: DeviceChoice) -> Option<(Vec<HostIo>, ReadReport)> {
    let options = ReadOptions { device, ..ReadOptions::default() };
    let mut reader = TraceReader::open(&folder()?.join(file), &options).unwrap();
    let requests = reader.by_ref().map(|request| request.unwrap_or_else(|it| panic!("{it}")));
    let requests = requests.collect();
    Some((requests, reader.report().clone()))
}

#[test]
fn whole_seconds_are_spread_and_a_volume_is_read_alone() {
    let side_by_side = DeviceChoice::SideBySide;
    let Some((all, report)) = whole("TencentCBS.first50k.csv.zst", side_by_side) else { return };
    let of_second = all.iter().filter(|it| it.at.0 < 1_000_000_000).count();
    assert_eq!(of_second, 1_297, "those of the earlier second, though most come later in the file");
    let gap = all[1].at.0 - all[0].at.0;
    assert!((770_000..772_000).contains(&gap), "1/1297 s: {gap} ns");
    assert!(report.notes[0].contains("spread evenly"), "{:?}", report.notes);
    // The requests of one volume fit in any window: other volumes' requests must not push them out.
    let (one, report) = whole("TencentCBS.first50k.csv.zst", DeviceChoice::Only(1063)).unwrap();
    let busiest = report.devices.iter().find(|device| device.device == 1063).unwrap();
    assert_eq!(one.len() as u64, busiest.requests);
    assert_eq!(report.requests + report.other_devices, 50_000);
}

#[test]
fn a_clock_that_is_set_is_told_from_idle_time() {
    let Some((requests, report)) = whole("Nexus5.Booting.log176.txt.zst", DeviceChoice::Default)
    else {
        return;
    };
    let span = requests.last().unwrap().at.0 as f64 / 1e9;
    assert!((112.0..115.0).contains(&span), "{span} s, not 44 years");
    assert_eq!(
        report.notes,
        [
            "the phone's clock was set 2 times, and each time the gap between two requests counts as zero"
        ]
    );
    let longest = requests.windows(2).map(|pair| pair[1].at.0 - pair[0].at.0).max().unwrap();
    assert!(longest < 30_000_000_000, "{longest} ns");
}

mod shared_files {
    use super::*;

    #[test]
    fn excerpts_hold_what_their_table_says() {
        let Some(folder) = folder() else { return };
        for &(file, format, requests, span_s, read_percent, devices) in EXCERPTS {
            let (format, device) = (Some(format), DeviceChoice::SideBySide);
            let options = ReadOptions { format, device, ..ReadOptions::default() };
            let mut reader = TraceReader::open(&folder.join(file), &options).unwrap();
            let info = TraceInfo::of(&mut reader).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(info.total_requests(), requests, "{file}");
            assert_eq!(reader.report().requests, requests, "{file}");
            assert_eq!(reader.report().devices.len(), devices, "{file}");
            let reordered = match format {
                Some(Format::Systor17) => 287,
                Some(Format::Tencent) => 1_297,
                Some(Format::Msps) => 388,
                Some(Format::Nexus) => 1534,
                _ => 0,
            };
            assert_eq!(reader.report().reordered, reordered, "{file}");
            // The table counts some spans from the first request on and some from time zero.
            let (first, span) = (info.first.0 as f64 / 1e9, info.span.as_s());
            let is_span = is_printed(span, span_s) || is_printed(first + span, span_s);
            assert!(is_span, "{file}: {span} s");
            let percent = 100.0 * info.read_share();
            assert!(is_printed(percent, read_percent), "{file}: {percent} % reads");
        }
    }

    #[test]
    fn excerpts_are_recognised_or_the_choice_is_named() {
        let Some(folder) = folder() else { return };
        for &(file, format, ..) in EXCERPTS {
            let device = DeviceChoice::SideBySide;
            let options = ReadOptions { device, ..ReadOptions::default() };
            match TraceReader::open(&folder.join(file), &options) {
                Ok(reader) => {
                    assert_eq!(reader.format(), format, "{file}");
                    let needs_name = [Format::Mqsim, Format::Flashsim].contains(&format);
                    let expected = if needs_name { FormatSource::Name } else { FormatSource::Text };
                    assert_eq!(reader.report().format_source, expected, "{file}");
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!([Format::SsdsimNs, Format::SsdsimUs].contains(&format), "{text}");
                    assert!(text.contains("`mqsim` (") && text.contains("`ssdsim-us` ("), "{text}");
                }
            }
        }
    }

    #[test]
    fn several_devices_are_refused_listed_and_read_one_by_one() {
        let Some(folder) = folder() else { return };
        let path = folder.join("Financial1.first10k.ssdsim.ascii.zst");
        let read = |device| {
            let format = Some(Format::SsdsimNs);
            TraceReader::open(&path, &ReadOptions { format, device, ..ReadOptions::default() })
                .unwrap()
        };
        let error = read(DeviceChoice::Default).next().unwrap().unwrap_err().to_string();
        assert!(
            error.contains("22 devices (device 0: 1013 requests, device 1: 828 requests"),
            "{error}"
        );
        let total: usize = (0..22).map(|device| read(DeviceChoice::Only(device)).count()).sum();
        assert_eq!(total, 10_000);
        assert_eq!(read(DeviceChoice::Only(1)).count(), 828);
        assert!(read(DeviceChoice::Only(99)).next().unwrap().is_err());
    }

    #[test]
    fn a_trace_opened_in_a_wrong_format_names_the_right_one() {
        let Some(folder) = folder() else { return };
        for (file, wrong, hint) in [
            ("MSR.hm.sample1000.csv.zst", Format::Spc, "`msr`"),
            ("MSR.hm.sample1000.csv.zst", Format::Native, "`msr`"),
            ("MSR.hm.sample1000.csv.zst", Format::Mqsim, "`msr`"),
            ("FIU.homes.sample1000.ssdsim.zst", Format::SsdsimNs, "`ssdsim-digest`"),
            ("Desktop.flashsim.trace.zst", Format::Msr, "`disksim`, `flashsim`"),
        ] {
            let options = ReadOptions { format: Some(wrong), ..ReadOptions::default() };
            let mut reader = TraceReader::open(&folder.join(file), &options).unwrap();
            let error = reader.next().unwrap().unwrap_err();
            let first = &error.diagnostics[0];
            assert!(
                first.what.contains(&format!("does not look like format `{wrong}`")),
                "{error}"
            );
            assert!(first.hint.as_ref().unwrap().contains(hint), "{error}");
            assert!(reader.next().is_none());
        }
    }

    #[test]
    fn the_first_requests_are_those_of_the_file() {
        let Some(folder) = folder() else { return };
        let options = ReadOptions::default();
        let path = folder.join("MSR.hm.sample1000.csv.zst");
        let first: Vec<_> =
            TraceReader::open(&path, &options).unwrap().take(2).map(Result::unwrap).collect();
        assert_eq!((first[0].at.0, first[0].offset, first[0].size), (0, 9_056_014_336, 2048));
        assert_eq!((first[1].at.0, first[1].op), (21_500, HostOp::Write));
    }

    /// A request packet (IRP) is in use from arrival to completion, and never for two requests at
    /// once. That holds only if the time of an event is that of its completion.
    #[test]
    fn events_of_windows_are_logged_at_completion() {
        let Some(folder) = folder() else { return };
        let packed = std::fs::File::open(folder.join("MSPS.MSNFS.sample.csv.zst")).unwrap();
        let text = std::io::read_to_string(zstd::Decoder::new(packed).unwrap()).unwrap();
        let (mut last, mut overlaps) = (std::collections::BTreeMap::new(), [0, 0]);
        for line in text.lines() {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let (Some(Ok(time)), Some(Ok(took))) = (
                cells.get(1).map(|it| it.parse::<u64>()),
                cells.get(7).map(|it| it.parse::<u64>()),
            ) else {
                continue;
            };
            if let Some((time_before, took_before)) = last.insert(cells[4], (time, took)) {
                overlaps[0] += u32::from(time - took < time_before);
                overlaps[1] += u32::from(time < time_before + took_before);
            }
        }
        assert_eq!(overlaps, [0, 251], "read as completions, and as arrivals");
    }
}
