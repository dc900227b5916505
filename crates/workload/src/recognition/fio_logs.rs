//! fio's logs that hold no requests: averages over time (`log_avg_msec`), rates, and logs without
//! addresses.
//!
//! Source: `iolog.c` of fio (`flush_samples`, `__add_samples`) and its HOWTO, "Log File Formats".
//! Rows are `time, value, direction, bs[, offset][, priority][, issue_ns]`, with
//! `log_window_value=both` a second value behind the first. fio puts a blank behind each comma.
//! With `log_avg_msec`, and in logs of bandwidth and IOPS that are sampled by time, the offset is
//! 0, and `bs` is 0 or the only block size of the job.

/// Largest number of columns in a row of a fio log that is not a histogram.
const MOST: usize = 8;
/// Smallest number of bins in a row of a histogram log (`write_hist_log`), after its time,
/// direction and size.
const BINS_LEAST: usize = 64;

/// Reasons for which a log of fio holds no requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRequests {
    /// Each row of the fio log is an average over an interval: all sizes are 0.
    Averaged {
        /// True if the rows of the fio log have a column with an offset.
        with_offset: bool,
    },
    /// Each row of the fio log is a bandwidth or a number of IOPS over an interval of time, with
    /// one row per direction and interval; all offsets are 0.
    Rates,
    /// The rows of the fio log are single requests, but without addresses.
    NoOffsets,
    /// Each row of the fio log is a histogram of latencies.
    Histograms,
}

impl NoRequests {
    /// Returns the kind of the fio log in words, and how to make fio write a log that can be read
    /// as a trace.
    pub fn words(self) -> (&'static str, &'static str) {
        let again = "record single requests: without log_avg_msec, with log_offset=1 and, for the \
                     times of arrival, log_issue_time=1; or write_iolog=FILE";
        let what = match self {
            NoRequests::Averaged { with_offset: false } => {
                "this is a log of fio made with log_avg_msec and without log_offset=1: its rows are \
                 averages (size 0) and have no addresses"
            }
            NoRequests::Averaged { with_offset: true } => {
                "this is a log of fio made with log_avg_msec: its rows are averages (size 0), not \
                 requests"
            }
            NoRequests::Rates => {
                "this is a bandwidth or IOPS log of fio, averaged over time (log_avg_msec): all \
                 offsets are 0, and its rows are no requests"
            }
            NoRequests::NoOffsets => {
                "this is a log of fio without addresses: log_offset=1 is missing"
            }
            NoRequests::Histograms => {
                "this is a histogram log of fio (write_hist_log): its rows are counts, not requests"
            }
        };
        (what, again)
    }
}

/// Columns of a log row that show which of fio's logs it belongs to.
struct Row {
    /// Time at which fio logged the row, in milliseconds.
    logged: u64,
    direction: u64,
    size: u64,
    /// Numbers in the columns of a row of fio's log after the request size.
    behind: Vec<u64>,
}

/// Returns a number as fio prints it: decimal, negative, or hexadecimal with `0x`.
fn number(field: &str) -> Option<u64> {
    match field.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => field.strip_prefix('-').unwrap_or(field).parse().ok(),
    }
}

/// Returns the numbers of a row of a fio log; `None` if the line is no such row.
fn numbers(line: &[u8]) -> Option<Vec<u64>> {
    let text = str::from_utf8(line).ok()?;
    text.split(',').take(BINS_LEAST + MOST).map(|field| number(field.trim())).collect()
}

/// Parses a row of a fio log with 4 to 8 columns, of which `values` are measured values.
fn row(all: &[u64], values: usize) -> Option<Row> {
    let &[direction, size] = all.get(1 + values..3 + values)? else { return None };
    let behind = all[3 + values..].to_vec();
    // A size is 0 or at least 512 B; volume numbers and counters are smaller.
    let is_row = direction <= 2 && (size == 0 || size >= 512);
    is_row.then(|| Row { logged: all[0], direction, size, behind })
}

/// Returns the kind of fio log if all of `lines` are rows of such a log and none is a request.
pub(crate) fn no_requests(lines: &[&[u8]]) -> Option<NoRequests> {
    let first = lines.first()?;
    memchr::memchr(b',', first)?;
    let all: Vec<Vec<u64>> = lines.iter().map(|line| numbers(line)).collect::<Option<_>>()?;
    let width = all[0].len();
    if all.iter().any(|row| row.len() != width) {
        return None;
    }
    if width >= BINS_LEAST {
        return all.iter().all(|row| row[1] <= 2).then_some(NoRequests::Histograms);
    }
    if !(4..=MOST).contains(&width) {
        return None;
    }
    let spaced = lines.iter().all(|line| line.windows(2).all(|it| it[0] != b',' || it[1] == b' '));
    [1, 2].into_iter().find_map(|values| {
        let rows: Vec<Row> = all.iter().map(|all| row(all, values)).collect::<Option<_>>()?;
        judge(&rows, spaced)
    })
}

fn judge(rows: &[Row], spaced: bool) -> Option<NoRequests> {
    let columns_behind = rows[0].behind.len();
    let priorities = |at: usize| rows.iter().all(|row| row.behind[at] < 1 << 16);
    let in_order = [0, 1, 2].into_iter().all(|direction| {
        rows.iter().filter(|row| row.direction == direction).map(|row| row.logged).is_sorted()
    });
    // Milliseconds of a job, or since 1970 with `log_unix_epoch`: seconds since 1970, as other
    // traces with these columns have them, are between the two.
    let short = rows.iter().all(|row| !(100_000_000..=1_000_000_000_000).contains(&row.logged));
    if !in_order || !short {
        return None;
    }
    let no_sizes = rows.iter().all(|row| row.size == 0);
    let no_offsets = columns_behind >= 2 && rows.iter().all(|row| row.behind[0] == 0);
    match columns_behind {
        _ if no_sizes
            && columns_behind <= 3
            && rows.iter().all(|row| row.behind.first().is_none_or(|&it| it < 1 << 16)) =>
        {
            Some(NoRequests::Averaged { with_offset: columns_behind >= 2 })
        }
        0 if spaced => Some(NoRequests::NoOffsets),
        1 if spaced && priorities(0) => Some(NoRequests::NoOffsets),
        2 if no_offsets && priorities(1) && one_at_a_time(rows) => Some(NoRequests::Rates),
        _ => None,
    }
}

/// True if several rows of each direction of a fio log have times of their own. Only requests to
/// one address more than 1 ms apart would look the same.
fn one_at_a_time(rows: &[Row]) -> bool {
    let rises = |direction: u64| {
        let times: Vec<u64> =
            rows.iter().filter(|row| row.direction == direction).map(|row| row.logged).collect();
        times.windows(2).all(|pair| pair[0] < pair[1])
    };
    let enough = rows.len() >= 2 || rows[0].logged >= 100;
    enough && rows.iter().any(|row| row.logged > 0) && [0, 1, 2].into_iter().all(rises)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<NoRequests> {
        no_requests(&text.lines().map(str::as_bytes).collect::<Vec<_>>())
    }

    #[test]
    fn logs_that_hold_no_requests_are_known() {
        for (text, expected) in [
            ("3500, 24, 1, 0, 0\n3550, 25, 1, 0, 0\n", NoRequests::Averaged { with_offset: false }),
            ("3500,24,1,0\n", NoRequests::Averaged { with_offset: false }),
            ("3500, 24, 1, 0, 0, 0x0000\n", NoRequests::Averaged { with_offset: true }),
            ("3500, 24, 99, 1, 0, 0, 0\n", NoRequests::Averaged { with_offset: true }),
            ("500, 1, 0, 4096, 0, 0\n1000, 1, 0, 4096, 0, 0\n", NoRequests::Rates),
            ("500, 1, 0, 4096, 0, 0\n500, 1, 1, 4096, 0, 0\n", NoRequests::Rates),
            ("1000, 1, 0, 4096, 0, 0\n", NoRequests::Rates),
            ("1700000000500, 1, 0, 0, 0\n", NoRequests::Averaged { with_offset: false }),
            ("35, 7622, 0, 262144, 0\n35, 7629, 0, 262144, 0\n", NoRequests::NoOffsets),
            ("35, 7622, 0, 262144\n", NoRequests::NoOffsets),
            ("35, 7622, 0, 262144, 0x6001\n", NoRequests::NoOffsets),
        ] {
            assert_eq!(of(text), Some(expected), "{text}");
        }
        let bins = ", 0".repeat(1216);
        assert_eq!(of(&format!("1000, 0, 4096{bins}\n")), Some(NoRequests::Histograms));
    }

    #[test]
    fn requests_and_other_files_are_left_alone() {
        for text in [
            "0, 171052, 0, 4096, 8192, 0x0000\n1, 91052, 1, 512, 0, 0x0000\n",
            "5, 1, 0, 4096, 0, 0\n5, 1, 0, 4096, 0, 0\n",
            "7, 1, 0, 4096, 8192, 0x0, 5\n",
            "1538323200,4247200,128,1,1058\n",
            "1538323200,8,0,0,1058\n",
            "500,107,0,4096\n",
            "0,20941264,8192,W,0.551706\n",
            "0, 1, 2\n",
            "",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
