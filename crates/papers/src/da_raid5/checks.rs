//! Checks of DA-RAID-5 that need no workload, on a small drive with stripes of 8 pages: the flash
//! operations of a one-page update, the cost of a stripe's first parity, the invariants after every
//! event, and the example of Figure 4.

use super::example::{self, Moment};
use crate::paper_data::drive;
use crate::run_folder::Job;
use crate::studies::{self, fan_out};
use fowler_device::{BySource, Config, Counters, Device, Pacing, ParityWays, Source};
use fowler_experiment::device_spec::resolve;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::Control;
use fowler_units::{HostIo, HostOp, Nanos, Rng};
use serde::{Deserialize, Serialize};

/// Settings of the small drive of the DA-RAID-5 study, on which every invariant can be checked
/// after every event.
const SMALL: [&str; 6] = [
    "geometry.blocks_per_plane=32",
    "geometry.pages_per_block=16",
    "geometry.over_provisioning=0.5",
    "policy.redundancy.integrity=true",
    "policy.redundancy.parity_cache=64KiB",
    "buffer.size=128KiB",
];

/// Returns the configuration of the small drive, with stripes of 8 pages, for the checks of the
/// DA-RAID-5 study, under a scheme and with the settings `more` (`key=value`).
pub(super) fn config(scheme: &str, more: &[&str]) -> Result<Config, Diagnostics> {
    let own = |settings: &[&str]| settings.iter().map(|it| (*it).into()).collect::<Vec<String>>();
    let spec = drive("da-raid5", &own(&SMALL), &own(more));
    let source = presets::open(Folder::Devices, &spec.device)?;
    Ok(resolve(&source, &Scheme::load(scheme)?, &spec)?.config)
}

fn write(page: u64, at: Nanos) -> HostIo {
    HostIo::write(at, page * 8192, 8192)
}

pub(super) fn device(config: &Config, control: Control<'_>) -> Result<Device, Diagnostics> {
    studies::drive("da-raid5", config, control)
}

/// Returns the number of flash reads and programs that a one-page write causes under parity,
/// without those of GC.
fn update(config: &Config, control: Control<'_>) -> Result<Operations, Diagnostics> {
    let mut device = device(config, control)?;
    let before = device.counters();
    device.run([write(3, Nanos::ZERO)], Pacing::Open, &mut ());
    let after = device.counters();
    let of = |counts: fn(&Counters) -> &BySource<u64>| {
        let own = |it: &Counters| counts(it)[Source::Host] + counts(it)[Source::Parity];
        own(&after) - own(&before)
    };
    Ok(Operations { reads: of(|it| &it.reads), writes: of(|it| &it.programs) })
}

/// Runs random requests on a small drive of the DA-RAID-5 study, and returns the number of events
/// after which an invariant of the drive was broken and the number of times that parity was
/// computed in each way. Meaningless if it was stopped.
fn laws(config: &Config, control: Control<'_>) -> Result<(u64, ParityWays), Diagnostics> {
    let mut device = device(config, control)?;
    let pages = u64::from(device.layout().logical_pages);
    let mut rng = Rng::stream(config.seed, "reproduce/da-raid5/laws");
    let requests: Vec<HostIo> = (0..1500)
        .map(|number| {
            let size = 8192 * (1 + rng.below(9));
            let page = rng.below(pages - 9);
            let op = if rng.chance(0.2) { HostOp::Read } else { HostOp::Write };
            write(page, Nanos(3_000_000 * number)).with_op(op).with_size(size as u32)
        })
        .collect();
    let mut broken = 0;
    let requests = requests.into_iter().take_while(|_| !control.stopped());
    device.run_watched(requests, Pacing::Open, &mut (), |device| {
        broken += u64::from(!control.stopped() && device.check().is_err());
    });
    broken += u64::from(device.check_data().is_err());
    Ok((broken, device.counters().parity_ways))
}

/// Results of the checks on small drives in the DA-RAID-5 study.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Checks {
    /// Flash reads and programs for an update of one page.
    pub update: Operations,
    /// The cost of parity for a stripe partly on worn blocks; `None` if there was no such stripe.
    pub parity: Option<Parities>,
    /// Number of events after which a small drive of the DA-RAID-5 study failed the simulator's
    /// check of its state or data.
    pub broken: u64,
    /// Number of times that parity was computed from the other pages of the stripe.
    pub by_rest: u64,
    /// Number of times that parity was computed from the replaced pages and the old parity.
    pub by_old: u64,
    /// The state of the drive after each write in the worked example of the DA-RAID-5 paper's
    /// Figure 4.
    pub example: Vec<Moment>,
}

/// Numbers of flash reads and of page programs for one operation of the host.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Operations {
    pub reads: u64,
    pub writes: u64,
}

/// Flash operations for the first parity of a stripe, and for an update of that parity later.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Parities {
    pub first: Operations,
    pub later: Operations,
}

/// Returns the job of the DA-RAID-5 study that checks, on small drives, how parity is updated under
/// each of the paper's schemes.
pub(super) fn job<'a>(name: &str) -> Result<Job<'a, Checks>, Diagnostics> {
    let raid5 = config("raid5", &[])?;
    let worn = config("pe_aware", &PARTLY_WORN)?;
    let all = ["raid5", "ppc", "pe_aware", "hc", "da_raid5"];
    let drives: Vec<Config> =
        all.iter().map(|scheme| config(scheme, &[])).collect::<Result<_, _>>()?;
    let inputs = format!("{raid5:?} {worn:?} {drives:?} {}", example::identity()?);
    Ok(Job::new(name, &inputs, move |control| {
        let update = update(&raid5, control)?;
        let each = fan_out::each(&drives, |drive| laws(drive, control));
        let each = each.into_iter().collect::<Result<Vec<_>, Diagnostics>>()?;
        let broken = each.iter().map(|(broken, _)| broken).sum();
        let by_rest = each.iter().map(|(_, ways)| ways.from_rest).sum();
        let by_old = each.iter().map(|(_, ways)| ways.by_delta).sum();
        let (parity, example) = (parities(&worn, control)?, example::run(control)?);
        let checks = Checks { update, parity, broken, by_rest, by_old, example };
        Ok((!control.stopped()).then_some(checks))
    }))
}

/// Settings of a drive of which one block in 21 is worn: most stripes have no page in a worn block,
/// and some get one when a page is rewritten.
const PARTLY_WORN: [&str; 3] =
    ["reliability.cycles=14981", "reliability.cycles_spread=20", "buffer.ack=on_program"];

/// Returns the flash reads and programs of two writes of one page in the DA-RAID-5 study: the first
/// moves the page to a worn block and so gives its stripe parity; the second updates that parity,
/// and includes the program of the page. `None` if the drive has no such stripe.
fn parities(config: &Config, control: Control<'_>) -> Result<Option<Parities>, Diagnostics> {
    let mut device = device(config, control)?;
    let (host, parity) = (Source::Host, Source::Parity);
    let mut number = 0;
    let mut written = |device: &mut Device, page: u64| {
        let before = device.counters();
        device.run([write(page, Nanos(100_000_000 * number))], Pacing::Open, &mut ());
        number += 1;
        let after = device.counters();
        let data = after.programs[host] - before.programs[host];
        let parities = after.programs[parity] - before.programs[parity];
        (after.reads[parity] - before.reads[parity], parities, data)
    };
    let stripes = (0..device.stripes()).map(fowler_units::StripeId);
    let bare: Vec<_> = stripes.filter(|&it| device.stripe(it).parity.is_none()).collect();
    for stripe in bare.into_iter().take_while(|_| !control.stopped()) {
        for (page, _) in device.stripe(stripe).data {
            let (first_reads, first_writes, _) = written(&mut device, page.0.into());
            let first = Operations { reads: first_reads, writes: first_writes };
            if device.stripe(stripe).parity.is_none() {
                continue; // The page went to a trusted block.
            }
            let (reads, parities, data) = written(&mut device, page.0.into());
            if device.stripe(stripe).parity.is_some() {
                let later = Operations { reads, writes: parities + data };
                return Ok(Some(Parities { first, later }));
            }
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_folder::tests::stopped_midway;

    #[test]
    fn a_first_parity_and_a_later_one_are_found() {
        let worn = config("pe_aware", &PARTLY_WORN).unwrap();
        let found = parities(&worn, Control::UNWATCHED).unwrap();
        let [first, later] = [(7, 1), (2, 2)].map(|(reads, writes)| Operations { reads, writes });
        assert_eq!(found, Some(Parities { first, later }));
    }

    #[test]
    fn they_can_be_stopped() {
        assert!(stopped_midway(job("da_raid5").unwrap()).is_none());
    }
}
