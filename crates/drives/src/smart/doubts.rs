//! Implausible counters of a log: each doubt is a sentence that names its counter. Logs with such
//! counters are still answered, because drives with such counters exist; the reader of the answer
//! is warned.

use super::choice::Logs;
use super::interval::Interval;
use super::life::{Lately, Question};
use super::log::{Layout, SmartLog};
use fowler_experiment::numbers::{real, whole};

/// Hours from March 2011, when NVMe 1.0 was published, to the end of 2026: no NVMe drive can have
/// been on for longer.
const NVME_H: f64 = 5785.0 * 24.0;
/// Hours from January 2003, when SATA 1.0 was published, to the end of 2026: no SATA drive can have
/// been on for longer.
const SATA_H: f64 = 8766.0 * 24.0;
/// End of 2026, in seconds since 1970: the time up to which a drive's power-on hours are counted to
/// find the most that are plausible. For a SMART log taken later, the limits are higher by the time
/// since.
const END_S: f64 = 1_798_761_600.0;
/// Speed of the fastest NVMe link with four lanes, PCIe 5.0 x4, in bytes per second: 32 GT/s, 128
/// of 130 bits.
const PCIE: f64 = 4.0 * 32e9 / 8.0 * 128.0 / 130.0;
/// Speed of a SATA link of 6 Gb/s after 8b/10b coding, in bytes per second.
const SATA: f64 = 600e6;
/// Size of the longest NVMe write command, in bytes: 2^16 blocks of 4 KiB.
const COMMAND_MOST: f64 = 65_536.0 * 4096.0;
/// Size of the shortest write command, in bytes: one block of 512 bytes.
const COMMAND_LEAST: f64 = 512.0;
/// Largest factor between the share of life used and the share of TBW written that raises no doubt:
/// warranties leave a margin.
const SHARES_APART: f64 = 5.0;

/// Returns the doubts about the counters of a drive with this capacity in bytes.
pub(super) fn of(now: &SmartLog, question: &Question, capacity: Option<f64>) -> Vec<String> {
    let all = [
        hours(now),
        rate(now, question),
        commands(now),
        amplification(now.host, now.media),
        shares(now, question),
        cycles(now, question, capacity),
        wear(now, capacity),
        used_up(now, question),
        (question.capacity.zip(now.capacity)).and_then(|(given, logged)| {
            let apart = (given - logged).abs() > 0.02 * logged;
            let words = format!(
                "--capacity is {} GB, and the log says {} GB: the flag is taken",
                number(given / 1e9),
                number(logged / 1e9)
            );
            apart.then_some(words)
        }),
    ];
    all.into_iter().flatten().collect()
}

fn is_sata(log: &SmartLog) -> bool {
    log.layout == Layout::Ata
}

fn hours(now: &SmartLog) -> Option<String> {
    let hours = now.hours?;
    if hours.low == 0.0 && hours.high.is_some_and(|most| most <= 1.0) {
        let written = now.host.and_then(|host| host.value).unwrap_or(0.0);
        let doubt = match written > 0.0 {
            true => "the counter was reset, or the drive is new",
            false => "the drive is new, or the counter was reset",
        };
        return Some(format!(
            "power-on hours are 0: {doubt}; neither a rate per day nor years follow"
        ));
    }
    let (limit, what) = match is_sata(now) {
        true => (SATA_H, "since SATA 1.0 of January 2003"),
        false => (NVME_H, "since NVMe 1.0 of March 2011"),
    };
    let later = now.taken_s.map_or(0.0, |taken| (taken - END_S).max(0.0) / 3600.0);
    let limit = limit + later;
    (hours.low > limit).then(|| {
        format!(
            "power-on hours are {}, and there have been at most {} {what}: the counter may be in another \
             unit, or damaged",
            counted(hours.low),
            counted(limit)
        )
    })
}

/// Returns a doubt if the host has written more than the drive's link can carry in its power-on
/// hours.
fn rate(now: &SmartLog, question: &Question) -> Option<String> {
    let (host, hours) = now.host.zip(now.hours)?;
    let (link, what) = match question.model.as_ref().and_then(|it| Some((it.link?, &it.device))) {
        Some((link, device)) => (link, format!("the link of {device}")),
        None if is_sata(now) => (SATA, "SATA 6 Gb/s".into()),
        None => (PCIE, "PCIe 5.0 x4".into()),
    };
    let most = hours.high? * 3600.0 * link;
    (host.low > most).then(|| {
        format!(
            "{} TB written in {} h are more than {what} carries in that time ({} TB): power-on hours or bytes \
             written were reset, or have another unit",
            number(host.low / 1e12),
            counted(hours.low),
            number(most / 1e12)
        )
    })
}

/// Returns a doubt if the bytes per write command are more than the longest command has, or less
/// than the shortest.
fn commands(now: &SmartLog) -> Option<String> {
    let (host, commands) = now.host.zip(now.commands)?;
    let least = commands * COMMAND_LEAST;
    if host.high.is_some_and(|most| most < least) {
        return Some(format!(
            "host write commands are {}, which write at least {} TB, and bytes written are {} TB: that \
             counter has wrapped or was reset",
            counted(commands),
            number(least / 1e12),
            number(host.high? / 1e12)
        ));
    }
    let most = (commands + 1.0) * COMMAND_MOST;
    (host.low > most).then(|| {
        format!(
            "host write commands are {}, which write at most {} TB, and bytes written are {} TB: the \
             commands have wrapped or were reset",
            counted(commands),
            number(most / 1e12),
            number(host.low / 1e12)
        )
    })
}

/// Returns a doubt if the drive has written less to its flash than the host wrote, or implausibly
/// more.
fn amplification(host: Option<Interval>, media: Option<Interval>) -> Option<String> {
    const MOST: f64 = 100.0;
    let waf = media?.over(host?);
    let value = waf.value?;
    if waf.high.is_some_and(|most| most < 1.0) {
        return Some(format!(
            "WAF is {}, below 1: the drive compresses, or writes to the flash were reset or have wrapped",
            number(value)
        ));
    }
    (waf.low > MOST).then(|| {
        format!("WAF is {}: bytes written by the host were reset or have wrapped", number(value))
    })
}

/// Returns a doubt if the share of life used and the share of TBW written are far apart.
fn shares(now: &SmartLog, question: &Question) -> Option<String> {
    let (host, used) = now.host.zip(now.used)?;
    let written = host.times(100.0 / question.tbw?);
    let is_low = written.high.is_some_and(|most| most * SHARES_APART < used.low);
    let is_high = used.high.is_some_and(|most| most * SHARES_APART < written.low);
    (is_low || is_high).then(|| {
        format!(
            "percentage used is {}, but {} % of --tbw is written: only one of the counters was \
             reset, the load is unlike that of the warranty, or --tbw is of another drive",
            used.value.map_or_else(|| "above 254 %".into(), |value| format!("{value} %")),
            number(written.low)
        )
    })
}

/// Returns a doubt if the host's writes alone took far more P/E cycles than the drive reports.
fn cycles(now: &SmartLog, question: &Question, capacity: Option<f64>) -> Option<String> {
    let (host, used) = now.host.zip(now.used)?;
    let model = question.model.as_ref()?;
    let flash = model.cycles? * capacity? * model.raw / model.user;
    let least = 100.0 * host.low / flash;
    (used.high? * 2.0 < least).then(|| {
        format!(
            "percentage used is {} %, but the host has written enough for {} % of the rated cycles of {} \
             ({} GB): the log is of another drive than --device",
            used.value.unwrap_or(used.low),
            number(least),
            model.device,
            number(capacity.unwrap_or(0.0) / 1e9)
        )
    })
}

/// Returns a doubt if the share of life used implies an endurance in P/E cycles that no flash has.
fn wear(now: &SmartLog, capacity: Option<f64>) -> Option<String> {
    // Capacities written in a life: 100 cycles at a WAF of 50, and 100,000 cycles at one of 1.
    const WRITES: [f64; 2] = [2.0, 1e5];
    // A drive of unknown capacity has this much at least.
    const LEAST: f64 = 8e9;
    let (host, used) = now.host.zip(now.used)?;
    let is_less = host.high? < used.low / 100.0 * WRITES[0] * capacity.unwrap_or(LEAST);
    let most = used.high.zip(capacity).map(|(used, bytes)| used / 100.0 * WRITES[1] * bytes);
    let is_more = most.is_some_and(|most| host.low > most);
    (is_less || is_more).then(|| {
        format!(
            "percentage used is {} %, and the host has written {} GB, which no flash wears by: one of the \
             counters was reset or has wrapped",
            used.value.unwrap_or(used.low),
            number(host.value.unwrap_or(host.low) / 1e9)
        )
    })
}

fn used_up(now: &SmartLog, question: &Question) -> Option<String> {
    if let (Some(host), Some(tbw)) = (now.host, question.tbw)
        && host.low >= tbw
    {
        return Some(format!(
            "--tbw of {} TB is used up: {} TB are written",
            number(tbw / 1e12),
            number(host.low / 1e12)
        ));
    }
    let used = now.used?;
    (used.value.unwrap_or(used.low) >= 100.0).then(|| {
        "percentage used is 100 % or more: the drive has had the life that its maker expects, which is no \
         failure"
            .to_string()
    })
}

/// Returns the reasons to doubt the rises of SMART counters between an earlier and a later log of a
/// drive.
pub(super) fn lately(lately: &Lately, logs: &Logs) -> Vec<String> {
    let Some(since) = &logs.since else { return Vec::new() };
    let now = &logs.now;
    let mut doubts = Vec::new();
    let counters = [
        ("power-on hours", now.hours, since.hours, 1.0, "h"),
        ("bytes written by the host", now.host, since.host, 1e12, "TB"),
        ("bytes written to the flash", now.media, since.media, 1e12, "TB"),
        ("percentage used", now.used, since.used, 1.0, "%"),
    ];
    for (what, now, since, unit, name) in counters {
        let (Some(now), Some(since)) = (now, since) else { continue };
        if now.low < since.low {
            let [from, to] = [since, now].map(|it| number(it.value.unwrap_or(it.low) / unit));
            doubts.push(format!(
                "{what} fell from {from} to {to} {name}: the counter has wrapped or was reset, so nothing is \
                 said of it between the logs"
            ));
        }
    }
    if let Some(hours) = lately.hours {
        let most = lately.clock_h.filter(|clock| hours.low > clock + 1.0);
        if let Some(clock) = most {
            doubts.push(format!(
                "power-on hours rose by {}, and the logs were taken {} h apart",
                counted(hours.low),
                number(clock)
            ));
        }
        if hours.value == Some(0.0) {
            doubts.push(
                "power-on hours did not rise between the logs: the rate of the whole life is taken"
                    .into(),
            );
        }
    }
    if lately.host.is_some_and(|host| host.value == Some(0.0)) {
        let what = "the host wrote nothing between the logs: the rate of the whole life is taken";
        doubts.push(what.into());
    }
    doubts.extend(
        amplification(lately.host, lately.media).map(|it| format!("between the logs, {it}")),
    );
    doubts
}

/// Returns a number as text for people: whole numbers as they are, those above 10^15 as powers of
/// ten.
pub(super) fn number(value: f64) -> String {
    match value {
        _ if value >= 1e15 => format!("{value:.3e}"),
        _ if value.fract() == 0.0 => counted(value),
        _ if value < 0.0005 => format!("{value:.1e}"),
        _ => real(value),
    }
}

/// Returns a count as text with thousands separators.
pub(super) fn counted(value: f64) -> String {
    // Above 2^63 the digits are no longer those of the counter.
    if value < 9e18 { whole(value.round() as u64) } else { format!("{value:.3e}") }
}
