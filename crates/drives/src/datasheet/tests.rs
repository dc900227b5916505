//! Data sheets: what follows from them, and which are refused.

use super::sheet::parse;
use super::{FromSheet, medians, preset};
use fowler_experiment::device_spec::{DeviceSpec, Resolved, resolve};
use fowler_experiment::scheme::Scheme;

const SHEET: &str = r#"{
  "model": "SK hynix PE8110", "capacity_gb": 960, "pcie": "4",
  "datasheet": { "seq_read_mb_s": 6500, "seq_write_mb_s": 1700, "rand_read_iops": 900000,
    "rand_write_iops": 70000, "dwpd": 1, "read_latency_us": 75 } }"#;

fn made(text: &str) -> (FromSheet, Resolved) {
    let sheet = parse(text, "sheet").unwrap_or_else(|wrong| panic!("{wrong}"));
    let medians = medians::of_presets(None).expect("the presets");
    let made = preset::make(&sheet, &medians, 1.0).drive;
    let spec = DeviceSpec {
        device: "made".into(),
        text: Some(made.text.clone()),
        ..DeviceSpec::default()
    };
    let source = spec.source().expect("a source");
    let drive = resolve(&source, &Scheme::none(), &spec)
        .unwrap_or_else(|wrong| panic!("{wrong}\n{}", made.text));
    (made, drive)
}

/// Returns the time of a program without its transfers, in nanoseconds.
fn program(drive: &Resolved) -> f64 {
    drive.config.timing.program(0).0 as f64
}

/// Returns the spare capacity of a drive as a share of the raw one, parity included.
fn spare(drive: &Resolved) -> f64 {
    let g = &drive.layout.geometry;
    let pages =
        f64::from(g.planes()) * f64::from(g.blocks_per_plane) * f64::from(g.pages_per_block);
    1.0 - drive.layout.logical.0 as f64 / (pages * 16_384.0)
}

#[test]
fn a_sheet_becomes_a_drive_of_real_size_with_every_value_explained() {
    let (made, drive) = made(SHEET);
    let shown = drive.layout.logical.0 as f64 / 960e9;
    assert!((shown - 1.0).abs() < 0.01, "{shown}");
    // 1.063 times 1,700 MB/s and one command in 32 or so of parity over 16 dies of 192 KiB: 1.6 to
    // 1.7 ms.
    let time = program(&drive) + 12.0 * drive.config.timing.bus_transfer.0 as f64;
    assert!((1.60e6..1.71e6).contains(&time), "{time}");
    let spare = spare(&drive);
    assert!((0.12..0.25).contains(&spare), "{spare}");
    let drive_keys = made.text.split("\n[[calibrate").next().unwrap_or_default();
    for line in drive_keys.lines().filter(|line| line.contains(" = ")) {
        let explained = line.contains('#')
            || ["reclaim_unit", "program_unit", "pattern", "over_provisioning_base"]
                .iter()
                .any(|key| line.starts_with(key));
        assert!(explained, "{line}");
    }
}

#[test]
fn a_capacity_is_enough_as_json_or_toml_for_drives_of_any_size() {
    for gb in [64, 250, 480, 960, 1920, 3840, 7680, 15_360] {
        let (_, drive) = made(&format!("capacity_gb = {gb}"));
        let shown = drive.layout.logical.0 as f64 / (f64::from(gb) * 1e9);
        assert!((shown - 1.0).abs() < 0.05, "{gb} GB: {shown}");
    }
    let toml = "model = \"SK hynix PE8110\"\ncapacity_gb = 960\npcie = 4\n[datasheet]\n\
                seq_read_mb_s = 6500\nseq_write_mb_s = 1700\nrand_read_iops = 900000\n\
                rand_write_iops = 70000\ndwpd = 1\nread_latency_us = 75";
    assert_eq!(made(toml).0.text, made(SHEET).0.text);
}

/// A sheet names its link in several ways, and its capacity twice if both agree.
#[test]
fn a_generation_and_an_exact_capacity_are_read() {
    for (text, name, most) in [
        ("\"4\"", "4", 7_880.0),
        ("4", "4", 7_880.0),
        ("4.0", "4.0", 7_880.0),
        ("\"PCIe 4.0 x4\"", "4.0 x4", 7_880.0),
        ("\"PCIe Gen4 x4\"", "4 x4", 7_880.0),
        ("\"3.1, x2\"", "3.1, x2", 3_940.0),
        ("\"7\"", "7", 60_500.0),
    ] {
        let text = SHEET.replace("\"4\"", text).replace("6500", "3900");
        let sheet = parse(&text, "sheet").unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(sheet.link, Some((name.to_string(), most)));
    }
    let exact = SHEET.replace("960", "960, \"user_gib\": 894.25");
    let sheet = parse(&exact, "sheet").unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(sheet.capacity, 894.25 * (1_u64 << 30) as f64);
}

/// The file declares what measured rows may move, and the drive works at every bound.
#[test]
fn the_drive_can_be_fitted_to_rows_of_its_own() {
    let (made, drive) = made(SHEET);
    let source = fowler_experiment::presets::Source { name: "made".into(), text: made.text };
    let table = crate::fitting::CalibrateTable::read(&source).expect("declarations");
    assert_eq!(table.parameters.len(), 5);
    table.check(&drive).unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// More spare capacity for a higher random write rate, and longer programs for a lower sequential
/// one.
#[test]
fn rates_move_the_values_that_follow_from_them() {
    let with = |from: &str, to: &str| made(&SHEET.replace(from, to)).1;
    let (few, many) = (with("70000", "60000"), with("70000", "120000"));
    assert!(spare(&few) < spare(&many) - 0.05, "{} and {}", spare(&few), spare(&many));
    let (slow, fast) = (with("1700", "1300"), with("1700", "1900"));
    assert!(program(&slow) > program(&fast) * 1.3, "{} and {}", program(&slow), program(&fast));
    // A longer program has more steps, not longer ones.
    let step = |drive: &Resolved| drive.config.timing.program_phase.0 as f64;
    assert!((0.8..1.25).contains(&(step(&slow) / step(&fast))));
}

/// The die is the one whose program is as long as those of the presets: more of 512 Gbit would
/// leave it 4 ms.
#[test]
fn a_large_drive_has_larger_dies() {
    let sheet = "capacity_gb = 7680\n[datasheet]\nseq_write_mb_s = 5300\nrand_write_iops = 180000";
    let (made, drive) = made(sheet);
    assert!(made.text.contains("64 dies of 1024 Gbit"), "{}", made.text);
    assert!((1.0e6..3.0e6).contains(&program(&drive)), "{}", program(&drive));
}

/// A write of 4 KiB programs a whole unit, so units of 16 KiB need no more spare capacity than a
/// fourth of the amplification does.
#[test]
fn large_units_amplify_small_writes() {
    let sheet = "capacity_gb = 30720\n[datasheet]\nseq_write_mb_s = 3000\nrand_write_iops = 28000";
    let (made, drive) = made(sheet);
    assert!(made.text.contains("unit = \"16KiB\""), "{}", made.text);
    assert!(spare(&drive) > 0.1, "{}", spare(&drive));
}

#[test]
fn a_drive_with_sata_takes_32_commands_and_its_link_limits_sequential_writes() {
    let sheet = "capacity_gb = 1920\npcie = \"SATA 6 Gb/s\"\n[datasheet]\nseq_write_mb_s = 530";
    let (made, drive) = made(sheet);
    assert_eq!(drive.config.queue.depth, 32);
    assert!(made.notes.iter().any(|it| it.contains("the rate of the link")), "{:?}", made.notes);
    // 32 dies at 530 MB/s would have 12 ms.
    assert!(program(&drive) < 3.0e6, "{}", program(&drive));
}

#[test]
fn a_rate_of_a_cache_is_noted_and_not_used() {
    let burst = SHEET.replace("70000", "400000").replace("1700", "6000");
    let (made, _) = made(&burst);
    assert!(made.notes.iter().any(|it| it.contains("seq_write_mb_s") && it.contains("cache")));
    let burst = SHEET.replace("70000", "400000");
    let (made, _) = self::made(&burst);
    assert!(made.notes.iter().any(|it| it.contains("rand_write_iops") && it.contains("cache")));
}

#[test]
fn the_drive_itself_is_left_out_of_the_medians() {
    let all = medians::of_presets(None).expect("the presets");
    let without = medians::of_presets(Some("SK hynix PE8110")).expect("the presets");
    assert_eq!((all.presets, without.presets), (4, 3));
    assert_ne!(all.delay, without.delay);
    // 16,722, 34,513, 42,467 and 85,276 ns.
    assert_eq!(without.delay, 34_513.0);
    assert_eq!(all.delay, 38_490.0);
}

#[test]
fn sheets_that_contradict_themselves_are_refused_with_the_reason() {
    let with = |from: &str, to: &str| SHEET.replace(from, to);
    for (text, said) in [
        (with("70000", "500000"), &["sheet:4", "2048 MB/s of 4 KiB", "1700", "another state"][..]),
        (with("900000", "1800000"), &["rand_read_iops", "seq_read_mb_s"]),
        (with("6500", "9000"), &["`seq_read_mb_s` needs 9000 MB/s", "at most 7880"]),
        (with("\"dwpd\": 1", "\"dwpd\": 500"), &["all day", "seq_write_mb_s"]),
        (with("\"read_latency_us\": 75", "\"read_latency_us\": 99999"), &["reads in flight"]),
        (with("\"capacity_gb\": 960,", ""), &["`capacity_gb` is missing"]),
        (with("960", "-1"), &["`capacity_gb` is -1", "above 0"]),
        (with("\"4\"", "\"9\""), &["`pcie` is 9", "1 to 7", "SATA"]),
        (with("\"4\"", "\"40\""), &["`pcie` is 40", "1 to 7"]),
        (with("\"4\"", "0"), &["`pcie` is 0"]),
        (with("\"4\"", "-4"), &["`pcie` is -4"]),
        (with("\"4\"", "4.25"), &["`pcie` is 4.25"]),
        (with("\"4\"", "\"4 GT/s\""), &["`pcie` is 4 gt/s"]),
        (with("\"4\"", "\"\""), &["`pcie` is "]),
        (
            with("960", "960, \"user_gib\": 8000"),
            &["`user_gib` is 8590 GB, and `capacity_gb` is 960", "849 to 939 GiB, within 5 %"],
        ),
        (with("960", "960, \"user_gib\": 960"), &["`user_gib` is 1031 GB"]),
        (with("dwpd", "dwdp"), &["`datasheet.dwdp` is not known", "did you mean `dwpd`"]),
        ("[1]".into(), &["no object"]),
        ("{".into(), &["no JSON"]),
        ("capacity_gb = ".into(), &["no TOML"]),
        // Everything at once.
        (
            with("6500", "9000").replace("70000", "500000"),
            &["`seq_read_mb_s` needs", "`rand_write_iops` is 2048"],
        ),
    ] {
        let wrong = parse(&text, "sheet").expect_err("it is wrong").to_string();
        for part in said {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }
}
