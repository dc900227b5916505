//! Traces of kernel tools as users have them, read from the shared folder.

mod shared_files {
    use crate::kernel_tools::{finished, left_out, of_each};
    use fowler_tests::shared_folder;
    use fowler_units::HostIo;
    use fowler_workload::{Format, ReadReport, TraceReader};
    use std::collections::BTreeMap;

    /// The requests as words, what was left out, and the notes of a file.
    fn file(name: &str, format: Option<Format>) -> Option<(Format, Vec<String>, ReadReport)> {
        let path = shared_folder::path("inputs", "inputs as people have them")?.join(name);
        let reader = TraceReader::open(&path, &of_each(format)).unwrap_or_else(|it| panic!("{it}"));
        let (requests, error, report) = finished(reader).unwrap();
        assert_eq!(error, None, "{name}");
        let word = |io: &HostIo| format!("{} {} {}", io.op.word(), io.offset, io.size);
        Some((report.format, requests.iter().map(word).collect(), report))
    }

    fn refusal(name: &str) -> Option<String> {
        let path = shared_folder::path("inputs", "inputs as people have them")?.join(name);
        let reader = match TraceReader::open(&path, &of_each(None)) {
            Err(error) => return Some(error.to_string()),
            Ok(reader) => reader,
        };
        Some(finished(reader).unwrap().1.expect(name).to_string())
    }

    #[test]
    fn a_preflush_is_a_flush_and_forced_unit_access_is_named() {
        let Some((format, requests, report)) = file("a-04-blkparse-preflush-fua.txt", None) else {
            return;
        };
        assert_eq!(format, Format::Blkparse);
        assert_eq!(requests, ["flush 0 0", "write 22416361984 8704"]);
        assert_eq!(left_out(&report), [("A", 1), ("G", 1), ("D", 2), ("C", 1)].into());
        assert!(report.notes[0].contains("1 write has a preflush"), "{:?}", report.notes);
        assert!(report.notes[1].contains("1 request has FUA"), "{:?}", report.notes);
    }

    #[test]
    fn large_discards_are_read_and_other_events_counted() {
        let Some((_, requests, report)) = file("a-05-blkparse-large-discard.txt", None) else {
            return;
        };
        let mut ops = BTreeMap::new();
        let words = requests.iter().map(|it| it.split(' ').next().unwrap().to_string());
        words.for_each(|op| *ops.entry(op).or_insert(0) += 1);
        assert_eq!(ops, [("read".into(), 2), ("trim".into(), 2), ("write".into(), 1)].into());
        assert_eq!(requests[3], format!("trim 0 {}", 1_172_272 * 512));
        let expected = [("G", 2), ("P", 1), ("UT", 1), ("D", 2), ("C", 1)].into();
        assert_eq!(left_out(&report), expected);
        let (_, requests, _) = file("a-18-blkparse-4gib-discard.txt", None).unwrap();
        let size = 8_388_607u64 * 512;
        let expected =
            [format!("trim 0 {size}"), format!("trim {size} {size}"), "read 0 4096".into()];
        assert_eq!(requests, expected);
    }

    #[test]
    fn what_was_issued_is_read_when_asked_for() {
        let Some(error) = refusal("a-03-blktrace-issue-only.txt") else { return };
        assert!(error.contains("blkparse text without Q events, but with 3 D"), "{error}");
        assert!(error.contains("--format blkparse-issued"), "{error}");
        let issued = Some(Format::BlkparseIssued);
        let (_, requests, _) = file("a-03-blktrace-issue-only.txt", issued).unwrap();
        let expected =
            ["write 49070063616 40960", "write 49070108672 12288", "read 605548544 4096"];
        assert_eq!(requests, expected);
    }

    #[test]
    fn a_trim_of_a_whole_drive_is_read_in_pieces() {
        let Some((_, requests, report)) = file("a-18b-iolog3-whole-device-trim.log", None) else {
            return;
        };
        assert_eq!((requests.len(), report.requests), (896, 896));
        assert_eq!(requests[0], "trim 0 2147483648");
        assert_eq!(
            requests[894],
            format!("trim {} {}", 894u64 << 31, 1_920_383_410_176 - (894u64 << 31))
        );
        assert_eq!(requests[895], "write 0 4096");
        let (_, requests, _) = file("a-09b-fio-iolog3-trim.log", None).unwrap();
        assert_eq!(requests, ["write 0 4096", "flush 0 0", "trim 0 4096", "read 0 4096"]);
    }

    #[test]
    fn commands_of_nvme_are_read_from_ftrace() {
        let name = "a-06-ftrace-block-and-nvme.txt";
        let Some((format, requests, report)) = file(name, None) else { return };
        assert_eq!(format, Format::NvmeLba512, "the same write is there in sectors of 512 B");
        let expected = ["trim 2098144256 512", "write 1859581952 512", "write 255209205760 4096"];
        assert_eq!(requests, expected);
        let expected = [("block_rq_issue", 1), ("nvme_sq", 1), ("dsm", 1)].into();
        assert_eq!(left_out(&report), expected);
        assert!(report.notes.iter().any(|it| it.contains("writes zeroes")), "{:?}", report.notes);
        let name = "b-04-ftrace-nvme_setup_cmd.txt";
        let error = refusal(name).unwrap();
        assert!(error.contains("`nvme-lba512` (") && error.contains("`nvme-lba4k` ("), "{error}");
        for (format, block) in [(Format::NvmeLba512, 512), (Format::NvmeLba4k, 4096)] {
            let (_, requests, _) = file(name, Some(format)).unwrap();
            let range = |slba: u64, count: u64| format!("{} {}", slba * block, count * block);
            let (read, write) = (range(1_229_784, 1), range(6_047_402, 8));
            assert_eq!(
                requests,
                [format!("read {read}"), format!("write {write}"), "flush 0 0".into()]
            );
        }
    }

    #[test]
    fn issued_requests_are_read_from_perf() {
        let Some((format, requests, _)) = file("b-05-perf-script-block_rq_issue.txt", None) else {
            return;
        };
        assert_eq!(format, Format::BlockRqIssue);
        assert_eq!(requests, ["read 5037195264 4096", "write 24770158592 8192", "flush 0 0"]);
    }

    #[test]
    fn letters_of_biosnoop_are_operations() {
        let Some((format, requests, report)) = file("b-03-libbpf-biosnoop-rwbs.txt", None) else {
            return;
        };
        assert_eq!(format, Format::Biosnoop);
        let expected = [
            "write 24770158592 4096",
            "write 24770162688 8192",
            "read 5037195264 4096",
            "read 5037199360 131072",
            "trim 536870912 1048576",
            "flush 0 0",
        ];
        assert_eq!(requests, expected);
        assert!(report.notes.is_empty(), "{:?}", report.notes);
    }

    #[test]
    fn records_whose_columns_have_run_together_are_refused_as_such() {
        let Some(error) = refusal("a-01-biosnoop-junk.txt") else { return };
        assert!(error.contains("BYTES and LAT(ms) with a blank between them"), "{error}");
        assert!(error.contains("txt:2:") && error.contains("txt:4:"), "{error}");
    }

    #[test]
    fn blank_lines_of_an_iolog_are_remarks_and_all_is_at_time_zero() {
        let Some((format, requests, report)) = file("a-08-fio-iolog2-blank-lines.log", None) else {
            return;
        };
        assert_eq!(format, Format::FioIolog2);
        let offsets = [2_072_348_000u64, 25_436_172_000, 28_971_548_000, 16_149_572_000];
        assert_eq!(requests, offsets.map(|offset| format!("write {offset} 4000")));
        assert!(
            report.notes.iter().any(|it| it.contains("arrive at time 0")),
            "{:?}",
            report.notes
        );
    }

    #[test]
    fn commands_of_a_machine_of_vmware_are_counted() {
        let Some((format, requests, report)) = file("a-16-vscsi1.bin", None) else { return };
        assert_eq!(format, Format::Vscsi1);
        let count = |op: &str| requests.iter().filter(|it| it.starts_with(op)).count();
        assert_eq!(["read", "write", "flush", "trim"].map(count), [22, 22, 11, 0]);
        assert!(report.notes.iter().any(|it| it.starts_with("11 commands such as UNMAP")));
    }

    #[test]
    fn columns_of_windows_are_where_the_header_names_them() {
        let Some((format, requests, report)) = file("a-15-etw-cpu-column.csv", None) else {
            return;
        };
        assert_eq!(format, Format::Msps);
        assert_eq!(requests, ["read 221196288 4096", "write 221200384 8192"]);
        assert_eq!(report.devices[0].device, 0);
    }
}
