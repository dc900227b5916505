//! The presets: they resolve, print and read back; every number says where it comes from.

use fowler_experiment::device_spec::{DeviceSpec, parse_device, resolve};
use fowler_experiment::presets::Folder;
use fowler_experiment::scheme::Scheme;

/// Returns the text of a scheme, and the texts of the schemes that it joins.
fn whole(text: &str) -> String {
    let Some(sum) = text.lines().find_map(|line| line.strip_prefix("join = ")) else {
        return text.into();
    };
    let texts = Folder::Schemes
        .presets()
        .iter()
        .filter(|other| sum.trim_matches('"').split('+').any(|name| name == other.name));
    texts.map(|other| other.text).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_device_resolves_under_every_scheme_and_reads_back() {
    for device in Folder::Devices.presets() {
        let spec = DeviceSpec { device: device.name.into(), ..DeviceSpec::default() };
        let source = spec.source().unwrap();
        for scheme in Folder::Schemes.presets() {
            let text = whole(scheme.text);
            // Policies that weigh bit errors need cells that err.
            let errs = ["policy.step", "policy.sensing", "policy.scrub"]
                .iter()
                .any(|it| text.contains(it));
            let superblocks = device.text.contains("\"superblock\"");
            let mut set = if errs { vec!["reliability.model=analytic".into()] } else { Vec::new() };
            // Policies that depend on hits in the buffer need a buffer.
            let (hits, stripes) =
                (text.contains("buffer_hits"), text.contains("policy.redundancy"));
            if hits {
                set.push("buffer.evict_ahead=16".into());
                if superblocks {
                    set.push("buffer.eviction=lazy".into());
                }
            }
            // Stripes need chips in groups of as many pages as they have, and a buffer for one.
            let stripes = stripes && !["da-raid5", "together"].contains(&device.name);
            if stripes {
                set.push("policy.redundancy.stripe=1".into());
                set.push("policy.redundancy.worn_above=1000".into());
            }
            if hits || stripes {
                set.push("buffer.size=4MiB".into());
            }
            let spec = DeviceSpec { set, ..spec.clone() };
            let scheme = Scheme::load(scheme.name).unwrap();
            let drive = match resolve(&source, &scheme, &spec) {
                Ok(drive) => drive,
                // Voltages need cells that err; such a drive has none, and the hint says how to get
                // them. A drive with superblocks says why it lacks what the policies need.
                Err(diagnostics) => {
                    let reported = diagnostics.to_string();
                    if superblocks {
                        assert!(reported.contains("drive with superblocks"), "{reported}");
                        continue;
                    }
                    assert!(["hvc", "lvc", "hire"].contains(&scheme.name()), "{reported}");
                    assert!(device.name != "hire" && reported.contains("by_voltage"), "{reported}");
                    continue;
                }
            };
            let again = parse_device(&drive.text, "printed").unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(drive.text, again.text);
            assert_eq!(drive.hash, again.hash);
        }
    }
}

/// From a file and from flags alike; what is printed reads back to the same value.
#[test]
fn a_table_of_bit_errors_reads_back() {
    let spec = DeviceSpec { device: "rhio".into(), ..DeviceSpec::default() };
    let set = |set: &[&str]| DeviceSpec {
        set: set.iter().map(ToString::to_string).collect(),
        ..spec.clone()
    };
    let source = spec.source().unwrap();
    let flags = set(&[
        "reliability.model=table",
        "reliability.table.cycles=[0, 1500.5, 3e3]",
        "reliability.table.ages=[0s, 90min, '30d']",
        "reliability.table.rates=[[1e-4, 1e-4, 2e-4], [0.0003, 3e-4, 5e-3], [1e-3,2e-3,0.4999]]",
    ]);
    let drive = resolve(&source, &Scheme::load("rt_r").unwrap(), &flags).unwrap();
    let table = &drive.config.reliability.table;
    assert_eq!(table.cycles, [0.0, 1500.5, 3000.0]);
    assert_eq!(
        table.ages.iter().map(|age| age.as_s()).collect::<Vec<_>>(),
        [0.0, 5400.0, 2_592_000.0]
    );
    assert_eq!(table.rates[1..], [[3e-4, 3e-4, 5e-3], [1e-3, 2e-3, 0.4999]]);
    let again = parse_device(&drive.text, "printed").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.config, drive.config);
    assert_eq!((again.text, again.hash), (drive.text, drive.hash));
}

/// Table 1 of the P/E suspension paper, and its identities.
#[test]
fn the_paper_drives_have_the_numbers_of_the_paper() {
    for (device, bus, read, program, verify, iterations, erase, page, raw) in [
        ("pes-slc", 20, 10, 20, 8, 5, 1500, 2048, 32u64),
        ("pes-mlc", 40, 25, 20, 24, 15, 3300, 4096, 64),
    ] {
        let spec = DeviceSpec { device: device.into(), ..DeviceSpec::default() };
        let drive = resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap();
        let timing = &drive.config.timing;
        let us = |span: fowler_units::Span| span.0 / 1000;
        assert_eq!(us(timing.bus_transfer), bus);
        assert_eq!(timing.read.values().iter().map(|&read| us(read)).collect::<Vec<_>>(), [read]);
        assert_eq!((us(timing.program_phase), us(timing.verify_phase)), (program, verify));
        assert_eq!(timing.program_iterations.values(), [iterations]);
        assert_eq!(us(timing.program(0)), u64::from(iterations) * (program + verify));
        assert_eq!((us(timing.erase_pulse), us(timing.erase_verify)), (erase, verify));
        assert_eq!((us(timing.voltage_reset), us(timing.buffer_load)), (4, 3));
        assert_eq!(drive.config.geometry.page_size.0, page);
        assert_eq!(drive.config.geometry.raw().0, raw << 30);
        assert_eq!(drive.config.geometry.dies(), 16);
    }
}

#[test]
fn every_number_of_a_device_says_where_it_comes_from() {
    const MARKS: [&str; 6] =
        ["[measured]", "[datasheet]", "[paper]", "[fitted]", "[inferred]", "[assumed]"];
    let mut marked_lines = 0;
    for device in Folder::Devices.presets() {
        // The table after the drive's own keys has the fitted values, each with its bounds and
        // their source.
        let drive = device.text.split("\n[calibrate]\n").next().unwrap_or_default();
        for (index, line) in drive.lines().enumerate() {
            let (setting, comment) = line.split_once('#').unwrap_or((line, ""));
            let Some((_, value)) = setting.split_once('=') else { continue };
            if value.bytes().any(|byte| byte.is_ascii_digit()) {
                let marked = MARKS.iter().any(|mark| comment.trim_start().starts_with(mark));
                assert!(marked, "{}:{}: {line}", device.name, index + 1);
                assert!(comment.trim().len() > 10, "{}:{}: {line}", device.name, index + 1);
                marked_lines += 1;
            }
        }
    }
    assert!(marked_lines > 20, "{marked_lines}");
}

#[test]
fn every_preset_begins_with_what_it_is() {
    for folder in Folder::ALL {
        for preset in folder.presets() {
            assert!(preset.text.starts_with("# "), "{}", preset.name);
            assert!(
                (20..=120).contains(&preset.about().len()),
                "{}: {}",
                preset.name,
                preset.about()
            );
        }
    }
}
