//! A measured load written out as a generated workload, in the keys of a `--workload` file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Rate and sizes of one kind of request in a measured load.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stream {
    /// Rate in requests per second, and mean size in bytes (0 if unknown), of each part of the
    /// measured load, such as a job of fio.
    parts: Vec<(f64, f64)>,
    /// True if each request begins where the one before ended.
    pub sequential: bool,
}

/// A load that a result file measured, as rates and sizes of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Load {
    pub reads: Stream,
    pub writes: Stream,
    pub trims: Stream,
    /// Queue depth that the host maintained; `None` if requests did not wait for completions.
    pub depth: Option<u64>,
}

/// Rates accepted by the generator, in requests per second.
const RATES: std::ops::RangeInclusive<f64> = 1e-6..=1e9;
/// Request sizes accepted by the generator, in bytes: a sector to 64 MiB.
const SIZES: std::ops::RangeInclusive<f64> = 512.0..=67_108_864.0;
/// Mean run length, in requests, that represents a sequential load.
const RUN: u32 = 1000;
/// Largest numbers of parts of a measured load (such as jobs of fio), and of request sizes written
/// to a workload file.
const PARTS_MOST: usize = 1024;
const SIZES_MOST: usize = 8;

impl Stream {
    /// Adds a part of a measured load, such as a job of fio: `rate` requests per second with a mean
    /// of `size` bytes.
    pub fn add(&mut self, rate: f64, size: f64) {
        if rate > 0.0 && rate.is_finite() && self.parts.len() < PARTS_MOST {
            self.parts.push((rate, size));
        }
    }

    /// Returns this kind of request of a measured load (reads, writes or trims), marked as
    /// sequential (each begins where the one before ended) if `sequential` is true.
    pub fn in_order(self, sequential: bool) -> Stream {
        Stream { sequential, ..self }
    }

    /// Returns the requests per second of this kind (reads, writes or trims) in the measured load.
    pub fn rate(&self) -> f64 {
        // An empty sum is -0.
        self.parts.iter().map(|(rate, _)| rate).sum::<f64>() + 0.0
    }

    /// True if a part of the measured load, such as a job of fio, has a mean request size below 512
    /// B or above 64 MiB, which Fowler's workload generator does not accept.
    fn has_no_size(&self) -> bool {
        self.parts.iter().any(|(_, size)| !SIZES.contains(size))
    }

    /// Returns the most common sizes of this kind of request in the measured load, rounded to
    /// sectors of 512 B, each with its requests per second; 4 KiB where the size is not known.
    fn sizes(&self) -> Vec<(u64, f64)> {
        let mut rates: BTreeMap<u64, f64> = BTreeMap::new();
        for &(rate, size) in &self.parts {
            let known = SIZES.contains(&size);
            let sectors = if known { libm::round(size / 512.0) as u64 } else { 8 };
            *rates.entry(512 * sectors.max(1)).or_default() += rate;
        }
        let mut sizes: Vec<(u64, f64)> = rates.into_iter().collect();
        sizes.sort_by(|one, other| other.1.total_cmp(&one.1));
        sizes.truncate(SIZES_MOST);
        sizes
    }

    fn text(&self) -> String {
        let named = |bytes: u64| match bytes.is_multiple_of(1024) {
            true => format!("{}KiB", bytes / 1024),
            false => format!("{bytes}B"),
        };
        let rate = self.rate();
        let sizes: Vec<String> = match &self.sizes()[..] {
            [] => vec!["4KiB".into()],
            [(bytes, _)] => vec![named(*bytes)],
            several => {
                let share = |of: f64| libm::round(of / rate * 1e4).max(1.0) / 100.0;
                several.iter().map(|&(it, of)| format!("{} {}", named(it), share(of))).collect()
            }
        };
        let run = if self.sequential { format!(", mean_run = {RUN}") } else { String::new() };
        format!("{{ sizes = \"{}\"{run} }}", sizes.join(", "))
    }
}

impl Load {
    /// Returns the requests per second of the measured load: reads, writes and trims.
    pub fn rate(&self) -> f64 {
        [&self.reads, &self.writes, &self.trims].into_iter().map(Stream::rate).sum()
    }

    /// Returns the text of a workload file with the load's rate, mix and sizes, ten seconds long;
    /// `None` if there is no rate.
    pub fn text(&self) -> Option<String> {
        let rate = self.rate();
        if !RATES.contains(&rate) {
            return None;
        }
        let share = |stream: &Stream| libm::round(stream.rate() / rate * 1e4) / 1e4;
        // Shares are rounded so that their sum does not exceed 1.
        let (reads, trims) = (share(&self.reads), share(&self.trims));
        let trims = if reads + trims > 1.0 { 1.0 - reads } else { trims };
        let mut text = String::from("duration = \"10s\"\n");
        let shown = libm::round(rate * 100.0).max(1.0) / 100.0;
        let _ = writeln!(text, "arrivals = {{ kind = \"poisson\", rate = {shown:.2} }}");
        if let Some(depth) = self.depth {
            let requests = (rate * 10.0).clamp(1000.0, 1e7) as u64;
            let _ = writeln!(
                text,
                "# as a host that waits, instead of the two lines above:\n\
                 # requests = {requests}\n# arrivals = {{ kind = \"closed\", depth = {depth} }}"
            );
        }
        if [&self.reads, &self.writes, &self.trims].into_iter().any(Stream::has_no_size) {
            text += "# a size is not in the file: 4 KiB is assumed\n";
        }
        let _ = writeln!(text, "mix.reads = {reads:?}");
        if trims > 0.0 {
            let _ = writeln!(text, "mix.trims = {trims:?}");
        }
        if reads > 0.0 {
            let _ = writeln!(text, "reads = {}", self.reads.text());
        }
        if reads < 1.0 {
            let writes = if self.writes.rate() > 0.0 { &self.writes } else { &self.trims };
            let _ = writeln!(text, "writes = {}", writes.text());
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(parts: &[(f64, f64)]) -> Stream {
        let mut stream = Stream::default();
        parts.iter().for_each(|&(rate, size)| stream.add(rate, size));
        stream
    }

    #[test]
    fn a_load_is_written_as_a_workload() {
        let load = Load {
            reads: stream(&[(300.0, 4096.0)]),
            writes: Stream { sequential: true, ..stream(&[(100.0, 65_500.0)]) },
            ..Load::default()
        };
        assert_eq!(
            load.text().unwrap(),
            "duration = \"10s\"\narrivals = { kind = \"poisson\", rate = 400.00 }\n\
             mix.reads = 0.75\nreads = { sizes = \"4KiB\" }\n\
             writes = { sizes = \"64KiB\", mean_run = 1000 }\n"
        );
        let writes = Load { reads: Stream::default(), ..load.clone() }.text().unwrap();
        assert!(writes.contains("mix.reads = 0.0\nwrites"), "{writes}");
        let with_trims = Load { trims: stream(&[(1.0, 0.0)]), ..load.clone() }.text().unwrap();
        assert!(with_trims.contains("mix.trims = 0.0025"), "{with_trims}");
        assert!(with_trims.contains("# a size is not in the file"), "{with_trims}");
        let sizes = stream(&[(10.0, 4096.0), (30.0, 131_072.0), (20.0, 4100.0)]);
        let several = Load { reads: sizes, ..Load::default() }.text().unwrap();
        assert!(several.contains("sizes = \"4KiB 50, 128KiB 50\""), "{several}");
        let deep = Load { depth: Some(32), ..load };
        assert!(deep.text().unwrap().contains("# arrivals = { kind = \"closed\", depth = 32 }"));
    }

    #[test]
    fn no_rate_is_no_workload() {
        assert_eq!(Load::default().text(), None);
        for rate in [f64::INFINITY, f64::NAN, -1.0, 0.0] {
            let reads = stream(&[(rate, 4096.0)]);
            assert_eq!(Load { reads, ..Load::default() }.text(), None, "{rate}");
        }
    }
}
