//! The specification of tests: the tests by name, and the choices that a user has.

use super::stimulus::{Addresses, Stimulus};
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::field::nearest;
use fowler_units::{Bytes, Span};

/// A test of SNIA's Performance Test Specification (PTS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Test {
    /// IOPS of random requests by size and share of reads.
    Iops,
    /// Throughput of sequential requests by request size.
    Throughput,
    /// Response times with one request at a time.
    Latency,
    /// Write saturation: random writes until the drive is steady.
    Saturation,
    /// Host idle recovery: bursts of writes with pauses between them.
    HostIdle,
    /// Cross stimulus recovery: sequential and random writes in turn.
    CrossStimulus,
    /// The enterprise composite workload at several loads.
    Enterprise,
    /// Demand intensity: response times at several loads, with histograms.
    Demand,
}

impl Test {
    /// All tests that can be run, in the order in which SNIA's Performance Test Specification (PTS)
    /// lists them.
    pub const ALL: [Test; 8] = [
        Test::Iops,
        Test::Throughput,
        Test::Latency,
        Test::Saturation,
        Test::HostIdle,
        Test::CrossStimulus,
        Test::Enterprise,
        Test::Demand,
    ];

    /// Returns the test's name on the command line, in JSON and in file names.
    pub fn name(self) -> &'static str {
        ["iops", "tp", "lat", "wsat", "hir", "xsr", "ecw", "dirth"][self as usize]
    }

    /// Returns the test's name in titles of tables and charts.
    pub fn title(self) -> &'static str {
        [
            "IOPS",
            "Throughput",
            "Latency",
            "Write saturation",
            "Host idle recovery",
            "Cross stimulus recovery",
            "Enterprise composite workload",
            "Demand intensity and response time histogram",
        ][self as usize]
    }

    /// Returns true for a test that begins with a drive to which the host has written the user
    /// capacity twice, false for one that begins with a purged (empty) drive.
    pub fn is_preconditioned(self) -> bool {
        matches!(
            self,
            Test::Iops | Test::Throughput | Test::Latency | Test::Enterprise | Test::Demand
        )
    }

    /// Reads a list of the names of tests, separated by commas.
    ///
    /// # Errors
    /// Every name that is no test.
    pub fn list(text: &str) -> Result<Vec<Test>, Diagnostics> {
        let mut wrong = Diagnostics::default();
        let mut tests = Vec::new();
        for name in text.split(',').map(str::trim) {
            match Test::ALL.into_iter().find(|test| test.name() == name) {
                Some(test) => tests.push(test),
                None => {
                    let names = Test::ALL.map(Test::name);
                    let near = nearest(name, names);
                    let what = format!("unknown test `{}`", printable(name));
                    wrong.push(
                        Diagnostic::new("--test", what)
                            .expected(format!("names of PTS tests: {}", names.join(", ")))
                            .hint(near.map(|near| format!("did you mean \"{near}\"?"))),
                    );
                }
            }
        }
        tests.sort();
        tests.dedup();
        wrong.or(tests)
    }
}

/// The editions of PTS, the performance test specification for solid-state drives: one for client
/// and one for enterprise drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// Enterprise edition of PTS, the performance test specification: the drive's write cache is
    /// off.
    Client,
    /// PTS for enterprises: the write cache is off.
    Enterprise,
}

/// The state of a drive after a purge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purge {
    /// The drive holds no data, but keeps the wear that it had.
    #[default]
    Format,
    /// The drive has never been used (fresh out of the box).
    Fob,
}

/// Settings of the tests that the user wants to run on a drive.
#[derive(Clone, Debug)]
pub struct PtsSpec {
    /// The drive to test.
    pub device: DeviceSpec,
    /// Scheme of the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// Tests to run on the drive, in the order in which SNIA's Performance Test Specification (PTS)
    /// lists them.
    pub tests: Vec<Test>,
    /// Edition of SNIA's PTS whose rules for the drive's write cache apply, client or enterprise;
    /// `None` leaves the write cache as the drive's configuration has it.
    pub edition: Option<Edition>,
    /// State of the drive after a purge.
    pub purge: Purge,
    /// Length of a minute of the tests: 60 s, unless the tests are to be shorter than PTS has them.
    pub minute: Span,
    /// Share of the LBAs that is tested, from the first LBA on (active range).
    pub active_share: f64,
    /// Number of bytes of the active range that the tests use, in pieces of 2 MiB spread over the
    /// range; zero for all of it.
    pub active_amount: Bytes,
    /// Number of host threads, for tests of SNIA's Performance Test Specification that do not
    /// prescribe it.
    pub threads: u32,
    /// Number of outstanding requests per host thread, for tests of SNIA's Performance Test
    /// Specification that do not prescribe it.
    pub depth: u32,
    /// Requests of the demand intensity test.
    pub stimulus: Stimulus,
    /// True if the write saturation test runs for a day, however much is written by then.
    pub whole_day: bool,
}

impl PtsSpec {
    /// The length of a minute in PTS.
    pub const MINUTE: Span = Span(60_000_000_000);

    /// Returns the specification of all tests of a drive, with the usual settings.
    pub fn of(device: DeviceSpec) -> PtsSpec {
        PtsSpec {
            device,
            scheme: None,
            tests: Test::ALL.to_vec(),
            edition: None,
            purge: Purge::default(),
            minute: PtsSpec::MINUTE,
            active_share: 1.0,
            active_amount: Bytes(0),
            // An implementation has as many threads as processors; a simulated host has none.
            threads: 4,
            depth: 64,
            stimulus: Stimulus::of(Addresses::Uniform, 0.65, 8 << 10),
            whole_day: false,
        }
    }

    /// Returns the number of host threads and the queue depth per thread in a test.
    pub fn load(&self, test: Test) -> (u32, u32) {
        match test {
            Test::Latency => (1, 1),
            Test::CrossStimulus => (1, 32),
            _ => (self.threads, self.depth),
        }
    }
}

/// Reads the size of requests and the shares of reads and writes: `8KiB 65/35`.
///
/// # Errors
/// If the text is anything else.
pub fn stimulus(text: &str) -> Result<Stimulus, Diagnostics> {
    const EXPECTED: &str = "a size and the shares of reads and writes, such as \"8KiB 65/35\"";
    let wrong =
        |what: String| Diagnostics::from(Diagnostic::new("--stimulus", what).expected(EXPECTED));
    let shown = printable(text);
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [size, mix] = parts[..] else {
        return Err(wrong(format!(
            "`{shown}` is not a request size and a mix of reads and writes"
        )));
    };
    let size: Bytes =
        size.parse().map_err(|error: fowler_units::QuantityError| wrong(error.reason))?;
    if size.0 == 0 || size.0 > 16 << 20 {
        return Err(wrong(format!("{size} is outside 1B to 16MiB")));
    }
    let shares = mix.split_once('/').and_then(|(reads, writes)| {
        Some((reads.parse::<f64>().ok()?, writes.parse::<f64>().ok()?))
    });
    match shares {
        Some((reads, writes))
            if (0.0..=100.0).contains(&reads) && (reads + writes - 100.0).abs() < 1e-9 =>
        {
            Ok(Stimulus::of(Addresses::Uniform, reads / 100.0, size.0 as u32))
        }
        _ => Err(wrong(format!(
            "the shares of reads and writes in `{}` do not add up to 100",
            printable(mix)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tests_are_read() {
        assert_eq!(Test::list("wsat, iops,iops"), Ok(vec![Test::Iops, Test::Saturation]));
        let wrong = Test::list("iosp,tp,x").unwrap_err().to_string();
        for part in ["`iosp`", "did you mean \"iops\"", "`x`", "names of PTS tests: iops, tp, lat"]
        {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }

    #[test]
    fn stimuli_are_read() {
        let oltp = stimulus("8KiB 65/35").unwrap();
        assert_eq!((oltp.reads, oltp.largest()), (0.65, 8192));
        for (text, said) in [
            ("8KiB", "is not a request size and a mix of reads and writes"),
            ("8 65/35", "has no unit"),
            ("0B 65/35", "outside"),
            ("8KiB 65/36", "`65/36` do not add up to 100"),
            ("8KiB -1/101", "do not add up to 100"),
            ("8KiB NaN/35", "do not add up to 100"),
        ] {
            let wrong = stimulus(text).unwrap_err().to_string();
            assert!(wrong.contains(said) && wrong.contains("8KiB 65/35"), "{text}: {wrong}");
        }
    }
}
