//! Options about reports and logs.

use super::{Draft, Entry, option};
use crate::grammar::{Value, Wrong};
use crate::job::Unified;
use fowler_units::Span;

const MILLISECOND: u64 = 1000;
/// Largest number of percentiles in a list, as in fio.
const MOST_PERCENTILES: usize = 20;

/// Refuses a fio option whose value switches on the feature `what`, which is not simulated; accepts
/// the value that leaves it off.
fn off(value: &Value<'_>, what: &str) -> Result<(), Wrong> {
    if value.switch()? { Err(Wrong::new(what, "0")) } else { Ok(()) }
}

pub(super) const OPTIONS: &[Entry] = &[
    option(&["description"], |draft, value| {
        draft.job.description = Some(value.text.into());
        Ok(())
    }),
    optional(&["write_bw_log"], |draft, value| {
        draft.job.logs.bandwidth = Some(log_name(value));
        Ok(())
    }),
    optional(&["write_iops_log"], |draft, value| {
        draft.job.logs.iops = Some(log_name(value));
        Ok(())
    }),
    optional(&["write_lat_log"], |draft, value| {
        draft.job.logs.latency = Some(log_name(value));
        Ok(())
    }),
    optional(&["write_hist_log"], |draft, value| {
        draft.job.logs.histogram = Some(log_name(value));
        Ok(())
    }),
    option(&["write_iolog"], |draft, value| {
        draft.job.logs.iolog = Some(value.text.into());
        Ok(())
    }),
    option(&["log_avg_msec"], |draft, value| {
        draft.job.logs.window = milliseconds(value)?;
        Ok(())
    }),
    option(&["log_hist_msec"], |draft, value| {
        draft.job.logs.histogram_window = milliseconds(value)?;
        Ok(())
    }),
    option(&["log_hist_coarseness"], |draft, value| {
        draft.job.logs.histogram_coarseness = value.up_to(6)? as u32;
        Ok(())
    }),
    option(&["log_max_value", "log_window_value"], |draft, value| {
        let words = [("avg", false), ("0", false), ("max", true), ("1", true)];
        draft.job.logs.max_value = value.word(&words)?;
        Ok(())
    }),
    option(&["log_offset"], |draft, value| {
        draft.job.logs.offset = value.switch()?;
        Ok(())
    }),
    option(&["log_prio"], |_, value| off(&value, "priorities are not logged: all are the same")),
    option(&["log_unix_epoch"], |_, value| off(&value, "simulated time has no epoch")),
    option(&["per_job_logs"], |draft, value| {
        draft.job.logs.per_job = value.switch()?;
        Ok(())
    }),
    option(&["bwavgtime"], |draft, value| {
        draft.job.logs.bandwidth_window = milliseconds(value)?;
        Ok(())
    }),
    option(&["iopsavgtime"], |draft, value| {
        draft.job.logs.iops_window = milliseconds(value)?;
        Ok(())
    }),
    option(&["clat_percentiles"], |draft, value| {
        draft.job.statistics.clat_percentiles = value.switch()?;
        Ok(())
    }),
    option(&["lat_percentiles"], |draft, value| {
        draft.job.statistics.lat_percentiles = value.switch()?;
        Ok(())
    }),
    option(&["slat_percentiles"], |draft, value| {
        draft.job.statistics.slat_percentiles = value.switch()?;
        Ok(())
    }),
    option(&["percentile_list"], percentiles),
    option(&["disable_lat"], |draft, value| {
        draft.job.statistics.no_lat = value.switch()?;
        Ok(())
    }),
    option(&["disable_clat"], |draft, value| {
        draft.job.statistics.no_clat = value.switch()?;
        Ok(())
    }),
    option(&["disable_slat"], |draft, value| {
        draft.job.statistics.no_slat = value.switch()?;
        Ok(())
    }),
    option(&["disable_bw_measurement", "disable_bw"], |draft, value| {
        draft.job.statistics.no_bandwidth = value.switch()?;
        Ok(())
    }),
    option(&["gtod_reduce"], |draft, value| {
        if value.switch()? {
            let statistics = &mut draft.job.statistics;
            statistics.no_lat = true;
            statistics.no_clat = true;
            statistics.no_slat = true;
            statistics.no_bandwidth = true;
        }
        Ok(())
    }),
    option(&["unified_rw_reporting"], |draft, value| {
        draft.job.statistics.unified = value.word(&[
            ("none", Unified::Separate),
            ("0", Unified::Separate),
            ("mixed", Unified::Mixed),
            ("1", Unified::Mixed),
            ("both", Unified::Both),
            ("2", Unified::Both),
        ])?;
        Ok(())
    }),
    option(&["stats"], |draft, value| {
        draft.job.statistics.silent = !value.switch()?;
        Ok(())
    }),
];

/// Returns an option for which a missing value means the job's name.
const fn optional(names: &'static [&'static str], set: super::Setter) -> Entry {
    super::flag(names, set)
}

/// Returns the file name of a fio log (such as `write_lat_log`), empty for the job's name. An
/// option that is set without a value is read as `1` by [`Entry::apply`].
fn log_name(value: Value<'_>) -> String {
    if value.text == "1" { String::new() } else { value.text.into() }
}

fn milliseconds(value: Value<'_>) -> Result<Span, Wrong> {
    value.time(MILLISECOND)
}

fn percentiles(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    let numbers = value.text.split(':').map(str::trim).filter(|text| !text.is_empty());
    let numbers: Result<Vec<f64>, Wrong> =
        numbers.map(|text| Value { text, ..value }.real(0.0, 100.0)).collect();
    let mut numbers = numbers?;
    if numbers.len() > MOST_PERCENTILES {
        let what = format!("{} percentiles", numbers.len());
        return Err(Wrong::new(what, format!("at most {MOST_PERCENTILES} percentiles")));
    }
    numbers.sort_by(f64::total_cmp);
    draft.job.statistics.percentiles = numbers;
    Ok(())
}
