//! Tests of Algorithms 1 and 2 of DA-RAID-5 as printed: each loses data that the drive's reading of
//! it preserves.

use crate::config::{Ack, Config};
use crate::event_loop::{Device, Pacing};
use crate::observe::completion::Completion;
use crate::policy::redundancy::RedundancyKind;
use crate::raid::fault_kinds::{Bug, Fault};
use crate::raid::losses::Reason;
use fowler_units::{Bytes, Geometry, HostIo, HostOp, Lpn, Nanos, Span, StripeId};

/// Returns a drive with stripes of four pages on five chips, with versions.
fn config(kind: RedundancyKind) -> Config {
    let mut config = crate::config::tests::shaped(Geometry {
        channels: 5,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 40,
        pages_per_block: 8,
        page_size: Bytes(4096),
    });
    config.over_provisioning = 0.4;
    config.buffer.ack = Ack::OnProgram;
    config.buffer.size = Bytes(5 * 4096);
    config.buffer.evict_ahead = 1;
    config.gc.foreground_below = 2;
    let redundancy = &mut config.redundancy;
    (redundancy.name, redundancy.stripe, redundancy.integrity) = (kind, 4, true);
    redundancy.parity_cache = Bytes(6 * 4096);
    redundancy.worn_above = 2000;
    config
}

fn drive(config: &Config, as_printed: bool) -> Device {
    let mut device = Device::new(config).expect("a drive that works");
    if as_printed {
        device.inject(Fault::Bug(Bug::AsPrinted));
    }
    device
}

fn run(device: &mut Device, op: HostOp, page: Lpn, pages: u32) {
    let io = |after: Span, op, size| {
        let offset = if size == 0 { 0 } else { u64::from(page.0) * 4096 };
        HostIo::new(op, Nanos(after.0), offset, size)
    };
    let mut completions: Vec<Completion> = Vec::new();
    // Runs until the flash is idle.
    let ios = [io(Span::ZERO, op, pages * 4096), io(Span::ms(100), HostOp::Flush, 0)];
    device.run(ios, Pacing::Open, &mut completions);
}

fn write(device: &mut Device, page: Lpn, pages: u32) {
    run(device, HostOp::Write, page, pages);
}

/// Fills the buffer with pages of the last stripes, so that the buffer holds no others.
fn forget_buffered(device: &mut Device) {
    let last = device.layout().logical_pages - 8;
    write(device, Lpn(last), 8);
}

fn counted(device: &Device, stripe: StripeId) -> u8 {
    device.layer.raid().expect("it has stripes").worn[stripe]
}

/// Returns a drive with a stripe without pages in worn blocks, and two pages of that stripe: when
/// written, the first goes to a worn block, the other to a trusted one.
fn one_worn_one_trusted(config: &Config) -> (Device, StripeId, Lpn, Lpn) {
    let mut device = drive(config, false);
    for stripe in (0..device.stripes()).map(StripeId) {
        let pages: Vec<Lpn> = device.stripe(stripe).data.iter().map(|&(page, _)| page).collect();
        if counted(&device, stripe) > 0 {
            continue;
        }
        for &page in &pages {
            let mut tried = device.clone();
            write(&mut tried, page, 1);
            let other = pages.iter().find(|&&other| {
                let mut tried = tried.clone();
                write(&mut tried, other, 1);
                other != page && counted(&tried, stripe) == 1
            });
            if let (1, Some(&other)) = (counted(&tried, stripe), other) {
                return (device, stripe, page, other);
            }
        }
        write(&mut device, pages[0], 1);
    }
    panic!("none of {} stripes qualifies", device.stripes());
}

/// Algorithm 1 as printed drops the parity of a stripe that has one page in a worn block when
/// another page is written to a trusted block. The page in the worn block is then lost if it
/// becomes unreadable. On the test drive a sixth of the blocks is worn.
#[test]
fn algorithm_1_drops_the_parity_of_a_page_in_a_worn_block() {
    let mut config = config(RedundancyKind::WearAware);
    config.reliability.cycles = 1996;
    config.reliability.cycles_spread = 5;
    let (device, stripe, worn, trusted) = one_worn_one_trusted(&config);
    let outcome = |as_printed: bool| {
        let mut device = device.clone();
        if as_printed {
            device.inject(Fault::Bug(Bug::AsPrinted));
        }
        write(&mut device, worn, 1);
        assert!(device.stripe(stripe).parity.is_some(), "it has its first parity");
        write(&mut device, trusted, 1);
        forget_buffered(&mut device);
        let protected = device.stripe(stripe).parity.is_some();
        device.inject(Fault::Page(worn));
        run(&mut device, HostOp::Read, worn, 1);
        (protected, device.lost(worn).map(|loss| loss.reason), device.losses().unwrap().rebuilt)
    };
    assert_eq!(outcome(false), (true, None, 1), "as the device counts");
    assert_eq!(outcome(true), (false, Some(Reason::Unprotected), 0), "as printed");
}

/// Parity computed without reading one of the required pages does not exist in a real controller; a
/// law detects it.
#[test]
fn parity_of_what_was_not_read_is_noticed() {
    for pages in 1..4 {
        for spared in [0, 1] {
            let mut device = drive(&config(RedundancyKind::Raid5), false);
            device.inject(Fault::Bug(Bug::SkippedReads(spared)));
            write(&mut device, Lpn(0), pages);
            assert!(device.check_data().is_ok(), "every version is right all the same");
            let reported = device.check().err().map(|law| law.0);
            let reported = reported.as_deref() == Some("1 parity pages computed from unread pages");
            assert_eq!(reported, spared > 0, "{pages} pages");
        }
    }
}

/// Algorithm 1 counts a page twice if it is written to worn blocks twice.
#[test]
fn algorithm_1_counts_a_rewrite_twice() {
    let mut config = config(RedundancyKind::WearAware);
    // Every block is worn.
    config.reliability.cycles = 2001;
    for (as_printed, expected) in [(false, [4, 4, 4]), (true, [4, 5, 6])] {
        let mut device = drive(&config, as_printed);
        let page = device.stripe(StripeId(3)).data[1].0;
        let mut counts = vec![counted(&device, StripeId(3))];
        for _ in 0..2 {
            write(&mut device, page, 1);
            counts.push(counted(&device, StripeId(3)));
        }
        assert_eq!(counts, expected, "as printed: {as_printed}");
        assert_eq!(device.check().is_err(), as_printed, "the law of Device::check");
    }
}

/// Algorithm 2 rebuilds the partial parity of D1, D2 and D3 from D0, D1 and D2, and does not record
/// that the parity no longer covers D3. Whether D3 is lost before or after that parity is flushed,
/// D3 is not recovered correctly; nor is any other page of the stripe then.
#[test]
fn algorithm_2_forgets_pages_that_it_covers() {
    let mut config = config(RedundancyKind::HybridCaching);
    config.redundancy.n_update = 2;
    config.redundancy.cut_off = 0;
    config.buffer.ack = Ack::OnInsert;
    // First D1 to D3, then D0 to D2 of stripe 0.
    let written = |as_printed: bool| {
        let mut device = drive(&config, as_printed);
        write(&mut device, Lpn(1), 3);
        write(&mut device, Lpn(0), 3);
        forget_buffered(&mut device);
        assert!(device.stripe(StripeId(0)).cached.is_some(), "its parity is not in the flash yet");
        device
    };
    for flushed in [false, true] {
        for lost in [3, 0] {
            let outcome = |as_printed: bool| {
                let mut device = written(as_printed);
                if flushed {
                    // The parity cache has room for six stripes.
                    (1..12).for_each(|stripe| write(&mut device, Lpn(4 * stripe), 4));
                    assert!(device.stripe(StripeId(0)).cached.is_none(), "it is in the flash");
                }
                device.inject(Fault::Page(Lpn(lost)));
                run(&mut device, HostOp::Read, Lpn(lost), 1);
                run(&mut device, HostOp::Flush, Lpn(0), 0);
                let losses = device.losses().unwrap();
                (losses.wrong > 0, device.check_data().is_err(), losses.lost_in_all())
            };
            let reported = format!("page {lost}, parity in the flash: {flushed}");
            assert_eq!(outcome(false), (false, false, 0), "{reported}");
            assert_eq!(
                outcome(true),
                (true, true, 0),
                "{reported}: as printed, and not even noticed"
            );
        }
    }
}
