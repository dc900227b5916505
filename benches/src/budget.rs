//! The budget of instructions per request. A change that makes a workload more expensive must
//! change the file of budgets.

use crate::{instructions, traces};
use std::fmt::Write;
use std::path::PathBuf;

/// Share by which a count of instructions may exceed its budget.
const TOLERANCE: f64 = 0.05;

const HEAD: &str = "\
# Instructions per request (per record in parse_native) on small drives, counted by callgrind. `make budget`
# fails if a count exceeds its budget by more than 5 %. If a change makes a row more expensive, or much cheaper,
# update this file with `fowler-bench --instructions --write` and give the reason in the commit message.
";

/// Returns the path of the budget for this build profile: instruction counts differ with link-time
/// optimization.
fn path() -> PathBuf {
    let release = env!("FOWLER_PROFILE") == "release";
    let name = if release { "budget-release.toml" } else { "budget.toml" };
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns what the instruction counts depend on besides the code: compiler, valgrind and the like.
fn made_with() -> Result<[(&'static str, String); 3], String> {
    Ok([
        ("rustc", env!("FOWLER_RUSTC").into()),
        ("valgrind", instructions::valgrind()?),
        ("machine", std::env::consts::ARCH.into()),
    ])
}

/// Counts the instructions of every row, and writes the counts as the new budget.
///
/// # Errors
///
/// If counting or writing fails, or the real traces are missing.
pub fn write() -> Result<(), String> {
    if !traces::are_here() {
        return Err("without the real traces their rows would be lost from the budget".into());
    }
    let mut text = String::from(HEAD);
    for (key, value) in made_with()? {
        writeln!(text, "{key} = \"{value}\"").expect("a string takes all");
    }
    text.push_str("\n[instructions_per_request]\n");
    for (key, count) in instructions::measure()? {
        writeln!(text, "{key} = {count:.1}").expect("a string takes all");
    }
    print!("{text}");
    std::fs::write(path(), text).map_err(|error| format!("{}: {error}", path().display()))
}

/// Counts the instructions of every row and compares them with the budget. Returns true if every
/// row is within its budget.
///
/// # Errors
///
/// If counting fails, or there is no budget.
pub fn compare() -> Result<bool, String> {
    let text = std::fs::read_to_string(path())
        .map_err(|error| format!("{}: {error}", path().display()))?;
    let budget: toml::Table =
        text.parse().map_err(|error| format!("{}: {error}", path().display()))?;
    for (key, value) in made_with()? {
        let then = budget.get(key).and_then(toml::Value::as_str).unwrap_or("an unknown version");
        if then != value {
            eprintln!("note: the budget was counted with {then}, this is {value}");
        }
    }
    let counts = instructions::measure()?;
    let verdicts: Vec<Verdict> =
        counts.iter().map(|&(key, count)| Verdict::of(count, allowed(&budget, key))).collect();
    println!("| workload | instructions per request | budget | |");
    println!("|---|--:|--:|---|");
    for ((key, count), verdict) in counts.iter().zip(&verdicts) {
        let allowed =
            allowed(&budget, key).map_or("none".into(), |allowed| format!("{allowed:.1}"));
        println!("| {key} | {count:.1} | {allowed} | {} |", verdict.said());
    }
    let failed = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Over(_) | Verdict::New));
    let cheaper = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Under(_)));
    if failed {
        eprintln!(
            "some rows are over budget or have none: make them cheaper, or update the budget with `fowler-bench \
             --instructions --write` and give the reason in the commit message"
        );
    } else if cheaper {
        eprintln!(
            "some rows are below budget: tighten it with `fowler-bench --instructions --write`"
        );
    }
    Ok(!failed)
}

fn allowed(budget: &toml::Table, key: &str) -> Option<f64> {
    let value = budget.get("instructions_per_request")?.get(key)?;
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// Result of comparing a row's instruction count with its budget. Numbers are shares of the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Within,
    Over(f64),
    Under(f64),
    /// The row has no budget yet.
    New,
}

impl Verdict {
    fn of(count: f64, allowed: Option<f64>) -> Verdict {
        let Some(allowed) = allowed else { return Verdict::New };
        match count / allowed - 1.0 {
            more if more > TOLERANCE => Verdict::Over(more),
            more if more < -TOLERANCE => Verdict::Under(-more),
            _ => Verdict::Within,
        }
    }

    fn said(self) -> String {
        match self {
            Verdict::Within => "within".into(),
            Verdict::Over(more) => format!("OVER by {:.1} %", 100.0 * more),
            Verdict::Under(less) => {
                format!("{:.1} % below: the budget can be tightened", 100.0 * less)
            }
            Verdict::New => "has NO BUDGET".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_percent_either_way_is_within() {
        for (count, allowed, due) in [
            (104.9, Some(100.0), Verdict::Within),
            (95.1, Some(100.0), Verdict::Within),
            (150.0, Some(100.0), Verdict::Over(0.5)),
            (50.0, Some(100.0), Verdict::Under(0.5)),
            (1.0, None, Verdict::New),
        ] {
            assert_eq!(Verdict::of(count, allowed), due);
        }
    }
}
