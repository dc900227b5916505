//! The choice of one drive among the logs given, with its counters now and at an earlier time.
//!
//! Drives are distinguished by serial number, or by device name where a log has no serial number.
//! If the logs are of several drives, the user must name one. Several logs of one drive are a time
//! series, of which the first and the last are used.

use super::interval::Interval;
use super::log::{Layout, SmartLog};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use std::collections::BTreeMap;

/// Counters of one drive, now and at an earlier time.
#[derive(Clone, Debug)]
pub struct Logs {
    /// Counters of the latest log of the drive.
    pub now: SmartLog,
    /// Counters of the earliest log of the drive; `None` if there is a single log.
    pub since: Option<SmartLog>,
    /// SMART logs from which the counters were read, as words for the report.
    pub sources: Vec<String>,
}

/// Largest number of drives that an error message lists.
const LISTED: usize = 8;

/// Returns the counters of one drive: from `now`, the present logs, and `since`, logs of an earlier
/// time. `drive` names the drive.
///
/// # Errors
/// If the logs are of several drives and none is named, if no log is of the named drive, or if the
/// logs in `since` are not earlier.
pub fn choose(
    now: Vec<SmartLog>,
    since: Vec<SmartLog>,
    drive: Option<&str>,
) -> Result<Logs, Diagnostics> {
    let now = of_one(now, drive, "--smart")?;
    let since = if since.is_empty() { since } else { of_one(since, drive, "--since")? };
    let (mut earlier, mut latest) = (Vec::new(), Vec::new());
    for logs in by_layout(now) {
        let mut series = in_time(logs)?;
        latest.push(series.pop().expect("a layout has a log"));
        earlier.extend(series.into_iter().next());
    }
    if !since.is_empty() {
        earlier.clear();
        for logs in by_layout(since) {
            earlier.extend(in_time(logs)?.into_iter().next());
        }
    }
    let sources = latest.iter().map(source).collect();
    let now = merged(latest).expect("there is a log");
    let since = merged(earlier);
    if let Some(since) = &since {
        in_order(&now, since)?;
    }
    Ok(Logs { now, since, sources })
}

/// Returns the SMART logs grouped by kind of log.
fn by_layout(logs: Vec<SmartLog>) -> impl Iterator<Item = Vec<SmartLog>> {
    let mut layouts: BTreeMap<Layout, Vec<SmartLog>> = BTreeMap::new();
    for log in logs {
        layouts.entry(log.layout).or_default().push(log);
    }
    layouts.into_values()
}

fn source(log: &SmartLog) -> String {
    format!("{}:{}: {}", log.file, log.line, log.layout.name())
}

/// Returns the SMART logs of one drive: of `drive` if it is given, else all logs, which must be of
/// a single drive. Error messages name the command-line option `flag`.
fn of_one(
    mut logs: Vec<SmartLog>,
    drive: Option<&str>,
    flag: &str,
) -> Result<Vec<SmartLog>, Diagnostics> {
    let Some(first) = logs.first() else {
        return Err(Diagnostic::new(flag, "no log").into());
    };
    let file = first.file.clone();
    let names = names(&logs);
    if let Some(drive) = drive {
        let is_named = logs.iter().any(|log| log.drive().is_some());
        logs.retain(|log| log.is_called(drive) || (log.drive().is_none() && names.len() <= 1));
        if logs.is_empty() || !is_named || !logs.iter().any(|log| log.is_called(drive)) {
            let what = format!("no log of {flag} is of the drive `{}`", printable(drive));
            let known = if names.is_empty() {
                "none: the logs name no drive".into()
            } else {
                listed(&names)
            };
            return Err(Diagnostic::new("--drive", what)
                .expected(format!("one of {known}"))
                .into());
        }
    }
    let mut several = logs.iter().enumerate().flat_map(|(at, log)| {
        logs[at + 1..].iter().take(1000).filter(move |other| !log.may_be_of(other))
    });
    if several.next().is_some() {
        let what = format!("logs of several drives: {}", listed(&names));
        let hint = "choose one of them: --drive NAME, its serial number or the name of its device";
        return Err(Diagnostic::new(file, what).hint(hint.to_string()).into());
    }
    let mut unnamed: BTreeMap<Layout, Vec<&SmartLog>> = BTreeMap::new();
    for log in logs.iter().filter(|log| log.drive().is_none()) {
        unnamed.entry(log.layout).or_default().push(log);
    }
    if let Some((layout, several)) = unnamed.iter().find(|(_, logs)| logs.len() > 1) {
        let lines: Vec<String> =
            several.iter().take(LISTED).map(|it| format!("{}:{}", it.file, it.line)).collect();
        let what = format!(
            "{} logs of one kind ({}) that name no drive, at {}: they may be of several drives",
            several.len(),
            layout.name(),
            lines.join(", ")
        );
        let hint = "give one of them with --smart and an earlier one with --since";
        return Err(Diagnostic::new(&*several[1].file, what)
            .line(several[1].line)
            .hint(hint.to_string())
            .into());
    }
    Ok(logs)
}

fn names(logs: &[SmartLog]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in logs.iter().filter_map(SmartLog::drive) {
        if !names.contains(&name) && names.len() <= LISTED {
            names.push(name);
        }
    }
    names
}

fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    if names.len() > LISTED { shown + " and more" } else { shown }
}

/// Returns SMART logs of one drive and one kind, sorted by the time at which they were taken.
fn in_time(mut logs: Vec<SmartLog>) -> Result<Vec<SmartLog>, Diagnostics> {
    if logs.len() > 1 && logs.iter().any(|log| log.hours.is_none() && log.taken_s.is_none()) {
        let log = &logs[1];
        let what =
            format!("{} logs of one drive without times: their order is not known", logs.len());
        let hint = "give one of them with --smart and an earlier one with --since";
        return Err(Diagnostic::new(&*log.file, what).line(log.line).hint(hint.to_string()).into());
    }
    let hours = |log: &SmartLog| log.hours.map_or(0.0, |hours| hours.low);
    logs.sort_by(|one, two| {
        let key = |log: &SmartLog| (log.taken_s.unwrap_or(0.0), hours(log));
        let (one, two) = (key(one), key(two));
        one.0.total_cmp(&two.0).then(one.1.total_cmp(&two.1))
    });
    Ok(logs)
}

/// Returns one log with the counters of several logs of one drive; of byte counters in several
/// logs, the one with the finest unit is taken.
fn merged(logs: Vec<SmartLog>) -> Option<SmartLog> {
    let mut logs = logs.into_iter();
    let mut all = logs.next()?;
    for log in logs {
        let SmartLog { serial, name, model, taken_s, capacity, host, media, .. } = log;
        all.serial = all.serial.or(serial);
        all.name = all.name.or(name);
        all.model = all.model.or(model);
        all.taken_s = all.taken_s.or(taken_s);
        all.capacity = all.capacity.or(capacity);
        all.host = all.host.or(host);
        all.media = finer(all.media, media);
        all.pages = all.pages.or(log.pages);
        all.commands = all.commands.or(log.commands);
        all.hours = all.hours.or(log.hours);
        all.used = all.used.or(log.used);
        all.estimate = finer(all.estimate, log.estimate);
        all.erases = all.erases.or(log.erases);
        all.notes.extend(log.notes);
    }
    Some(all)
}

fn finer(one: Option<Interval>, two: Option<Interval>) -> Option<Interval> {
    let width = |it: &Interval| it.high.map_or(f64::MAX, |high| high - it.low);
    match (one, two) {
        (Some(one), Some(two)) => Some(if width(&two) < width(&one) { two } else { one }),
        (one, two) => one.or(two),
    }
}

/// Checks that two SMART logs are of one drive, and that the log `since` was taken earlier than the
/// log `now`.
fn in_order(now: &SmartLog, since: &SmartLog) -> Result<(), Diagnostics> {
    if !now.may_be_of(since) {
        let name = |log: &SmartLog| log.drive().unwrap_or_default();
        let what =
            format!("the earlier log is of another drive: {}, not {}", name(since), name(now));
        return Err(Diagnostic::new(&*since.file, what).line(since.line).into());
    }
    if let (Some(one), Some(two)) = (now.capacity, since.capacity)
        && one != two
        && now.serial.is_none()
    {
        let what = format!("the earlier log is of a drive of {two} B, and the other of {one} B");
        return Err(Diagnostic::new(&*since.file, what).line(since.line).into());
    }
    let fell = |get: fn(&SmartLog) -> Option<Interval>| {
        get(now).zip(get(since)).map(|(now, since)| (now.low < since.low, now.low > since.low))
    };
    let all = [fell(|it| it.hours), fell(|it| it.host), fell(|it| it.media)];
    let fallen = all.iter().flatten().filter(|it| it.0).count();
    let risen = all.iter().flatten().any(|it| it.1);
    if fallen > 1 && !risen {
        let what = "every counter of the earlier log is above that of the later one";
        let hint = "give the later log with --smart and the earlier one with --since; if they are in this order, the counters were reset";
        return Err(Diagnostic::new(&*since.file, what)
            .line(since.line)
            .hint(hint.to_string())
            .into());
    }
    Ok(())
}
