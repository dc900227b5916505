//! Faults that the command line lists: what is wrong with them, and what a run reports.

use crate::command::{command, refused};

#[test]
fn wrong_faults_are_said_at_once() {
    let faults = ["10s chip 9", "5s page 7, 20s plane", "9s power 1s", "30s parity 0"];
    let flags = faults.iter().flat_map(|fault| ["--fault", fault]);
    let usual = ["run", "--device", "small.toml", "--workload", "demo"];
    let arguments: Vec<&str> = usual.into_iter().chain(flags).collect();
    let said = refused(&arguments);
    for part in [
        "error: --fault: `5s page 7` does not say that the page is uncorrectable",
        "error: --fault: `20s plane` does not say which plane",
        "error: --fault: `9s power 1s` is listed after `10s chip 9`",
        "error: --fault: `10s chip 9`: the drive has 2 chips",
        "error: --fault: `30s parity 0`: the drive has no parity",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert_eq!(said.matches("error: ").count(), 5, "{said}");
}

/// The line of a fault adds up: pages that nobody has rebuilt, rewritten or lost wait for it, those
/// of earlier faults too. The list of faults may be one text with commas.
#[test]
fn a_report_says_what_waits_after_faults() {
    let usual = ["run", "--scheme", "raid5", "--set", "policy.redundancy.stripe=1"];
    let slow = ["--set", "policy.redundancy.rebuild_rate=1MB/s"];
    let faults = ["--fault", "10ms block 3, 20ms plane 1"];
    let small = ["--device", "small.toml", "--workload", "small-load.toml", "--quiet"];
    let output = command(&[&usual[..], &slow, &faults, &small].concat()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("fault ")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    let mut waiting = 0;
    for line in lines {
        let counts = line.split_once(": ").expect("it has numbers").1;
        let of = |what: &str| -> u64 {
            let count = counts.split(", ").find_map(|it| it.strip_suffix(what));
            count.map_or(0, |it| it.parse().expect("a number below 1,000"))
        };
        let unreadable = waiting + of(" pages unreadable");
        waiting = of(" still waiting to be rebuilt");
        let done = of(" rebuilt") + of(" rewritten") + of(" lost for good");
        assert!(waiting > 0 && unreadable == done + waiting, "{line}");
    }
}
