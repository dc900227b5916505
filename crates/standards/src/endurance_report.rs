//! Endurance as tables, JSON and a page.

use super::endurance::Endurance;
use super::uber::{ALLOWED, Uber};
use fowler_experiment::json_schema;
use fowler_experiment::json_schema::nullable;
use fowler_experiment::json_schema::output::{self, Fact, Typed, written};
use fowler_experiment::numbers::{bytes, percent, real};
use fowler_experiment::tables::{Cell, Sheet};
use serde_json::Value;

/// Method by which endurance was measured, in words, for the title of the table and for the JSON.
const MANNER: &str = "in the manner of JESD218 and JESD219, on a simulated drive";

impl Endurance {
    /// Returns the table of an endurance measurement: the measurements, and the numbers that follow
    /// from them.
    pub fn sheet(&self) -> Sheet {
        let title = format!(
            "Endurance of {}, scheme {}, {MANNER}: {}",
            self.drive.device, self.drive.scheme, self.workload
        );
        let mut sheet = Sheet::new("endurance", title, &["quantity", "value", "how"]);
        let mut row = |name: &str, value: Cell, how: String| {
            sheet.row(vec![name.into(), value, how.into()]);
        };
        let (logical, raw) = (self.drive.layout.logical.0, self.drive.layout.raw.0);
        let cycles = self.drive.config.life.cycles;
        let cost = &self.cost;
        row("rated P/E cycles", Cell::Number(cycles), "lifetime.cycles of the drive".into());
        row("user capacity (GB)", Cell::Number(logical as f64 / 1e9), bytes(logical));
        row("raw capacity (GB)", Cell::Number(raw as f64 / 1e9), bytes(raw));
        row("WAF in bytes", Cell::Number(cost.waf), self.measured());
        let pages = "pages programmed per page programmed for the host";
        row("WAF in pages", Cell::Number(cost.waf_pages), pages.into());
        let unevenness = "erases of the block with the most, over the mean";
        row("wear, most to mean", Cell::number(cost.unevenness), unevenness.into());
        let by = |what: &str| format!("P/E cycles * {what} capacity / WAF, in 10^12 bytes");
        let days = format!("TBW / (user capacity * {} years)", real(self.years));
        row("TBW", Cell::Number(self.tbw()), by("user"));
        row("DWPD", Cell::Number(self.dwpd(self.tbw())), days.clone());
        row("TBW with the spare blocks", Cell::Number(self.tbw_raw()), by("raw"));
        let spare = Cell::Number(self.dwpd(self.tbw_raw()));
        row("DWPD with the spare blocks", spare, days);
        let [rated, healed] = self.at_one_dwpd;
        let lifetime = "as `fowler lifetime` estimates it";
        row("years at 1 DWPD", Cell::Number(rated), format!("{lifetime}, by the rated cycles"));
        let recovery = format!("{lifetime}, while resting cells recover");
        row("years at 1 DWPD with recovery", Cell::Number(healed), recovery);
        if let Some([rated, healed]) = self.at_trace {
            row("years of the trace", Cell::Number(rated), "at its own rate".into());
            let recovery = "at its own rate, while resting cells recover";
            row("years of the trace with recovery", Cell::Number(healed), recovery.into());
        }
        sheet
    }

    /// Returns the table of uncorrectable bit error rates at the rated cycles.
    pub fn uber_sheet(&self) -> Sheet {
        let cycles = real(self.drive.config.life.cycles);
        let [client, enterprise] = ALLOWED;
        let title = if self.uber.is_empty() {
            let superblocks = self.drive.config.ftl.has_superblocks();
            let key =
                if superblocks { "aging.coding, reliability.model" } else { "reliability.model" };
            format!("UBER is unknown: this drive has no model of bit errors ({key})")
        } else {
            format!(
                "UBER after {cycles} P/E cycles, from the model of the cells at one temperature; from memory, \
                 JESD218 allows {client:e} for clients and {enterprise:e} for enterprises"
            )
        };
        let heads = ["data", "RBER of an average block", "unreadable blocks", "UBER"];
        let mut sheet = Sheet::new("uber", title, &heads);
        for Uber { age, rber, unreadable, rate } in &self.uber {
            sheet.row(vec![
                (*age).into(),
                Cell::Text(format!("{rber:.2e}")),
                Cell::Share(*unreadable),
                Cell::Text(if *rate == 0.0 { "0".into() } else { format!("{rate:.2e}") }),
            ]);
        }
        if let Some(rate) = self.counted_uber() {
            let cell = if rate == 0.0 { "0".into() } else { format!("{rate:.2e}") };
            let (name, none) = ("counted in this run, at its own wear", Cell::Nothing);
            sheet.row(vec![name.into(), none.clone(), none, Cell::Text(cell)]);
        }
        sheet
    }

    /// Returns a sentence on the way in which write amplification was measured.
    fn measured(&self) -> String {
        let Some(window) = self.cost.window else {
            return "bytes programmed per byte written; the trace was repeated on a drive without dies or buffer".into();
        };
        let (first, last) = (window.first, window.last);
        let excursion = percent(window.data_excursion / window.average);
        let how = if window.is_steady() { "steady" } else { "NOT STEADY" };
        format!(
            "bytes programmed per byte written; {how}: in rounds {first} to {last}, in each of which \
             the host writes the user capacity once, highest and lowest differ by \
             {excursion} of the mean"
        )
    }

    /// Returns the endurance measurement as one JSON object. Unknown numbers are null; there are no
    /// infinities.
    pub fn json(&self) -> Value {
        written(&facts(), self)
    }
}

/// Returns the JSON Schema of the summary that `fowler endurance` writes into `summary.json` and
/// prints with `--json`.
pub fn schema() -> Value {
    let about = "What a host can write in the life of a drive. What is not known is null.";
    json_schema::document("Fowler: the summary of endurance", about, output::schema(&facts()))
}

fn facts() -> Vec<Fact<Endurance>> {
    type It = Endurance;
    let mut facts = vec![
        Fact::new("about", "Method of the measurement.", |_: &It| format!("Endurance {MANNER}")),
        Fact::new(
            "conforms",
            "True if the measurement conforms to JESD218: always false.",
            |_: &It| false,
        ),
        Fact::new("device", "The drive: a preset or a file.", |it: &It| it.drive.device.clone()),
        Fact::new("scheme", "The scheme on the drive.", |it: &It| it.drive.scheme.clone()),
        Fact::new("workload", "The workload that was written.", |it: &It| it.workload.clone()),
        Fact::new("cycles", "Rated P/E cycles.", |it: &It| it.drive.config.life.cycles),
        Fact::new("capacity", "Bytes that the host sees.", |it: &It| it.drive.layout.logical.0),
        Fact::new("raw_capacity", "Bytes of the flash.", |it: &It| it.drive.layout.raw.0),
        Fact::new("waf", "Bytes programmed for each byte written.", |it: &It| it.cost.waf),
        Fact::new("waf_pages", "Pages programmed for each page of the host.", |it: &It| {
            it.cost.waf_pages
        }),
        Fact::new(
            "waf_rounds",
            "Write amplification of each round, in which one capacity is written; empty for a \
                trace.",
            |it: &It| it.cost.rounds.clone(),
        ),
        Fact::new(
            "steady",
            "True if the write amplification of the rounds was steady; null for a trace.",
            |it: &It| it.cost.window.map(|window| window.is_steady()),
        ),
        Fact::new(
            "window",
            "First and last round of the measurement; null for a trace.",
            |it: &It| it.cost.window.map(|window| Value::from(vec![window.first, window.last])),
        )
        .like(nullable(<[u64; 2]>::schema())),
        Fact::new(
            "wear_unevenness",
            "Erases of the block with the most, over the mean of all blocks.",
            |it: &It| it.cost.unevenness,
        ),
        Fact::new("simulated_s", "Simulated seconds; null for a trace.", |it: &It| {
            it.cost.simulated.map(|span| span.as_s())
        }),
    ];
    facts.extend(results());
    facts.extend([
        Fact::list(
            "uber",
            "Uncorrectable bit error rate (UBER) at the rated P/E cycles; empty without bit \
                errors.",
            of_uber,
            |it: &It| &it.uber,
        ),
        Fact::new(
            "uber_counted",
            "UBER counted in the run; null if it has too few errors.",
            |it: &It| it.counted_uber(),
        ),
        Fact::new("config_hash", "A hash of the drive's complete description.", |it: &It| {
            it.drive.hash.clone()
        }),
        Fact::new("config", "The drive as TOML, with every key.", |it: &It| it.drive.text.clone()),
        Fact::new("version", "The version of Fowler.", |_: &It| {
            fowler_experiment::provenance::VERSION
        }),
    ]);
    facts
}

fn results() -> Vec<Fact<Endurance>> {
    type It = Endurance;
    vec![
        Fact::new("tbw", "Terabytes written (TBW): cycles * user capacity / waf.", It::tbw),
        Fact::new(
            "tbw_raw",
            "Terabytes written, with the raw capacity in place of the user capacity.",
            It::tbw_raw,
        ),
        Fact::new("years", "Years over which the drive writes per day are counted.", |it: &It| {
            it.years
        }),
        Fact::new("dwpd", "Drive writes per day by `tbw`.", |it: &It| it.dwpd(it.tbw())),
        Fact::new("dwpd_raw", "Drive writes per day by `tbw_raw`.", |it: &It| {
            it.dwpd(it.tbw_raw())
        }),
        Fact::new("years_at_1_dwpd", "Years at one drive write per day.", |it: &It| {
            it.at_one_dwpd[0]
        }),
        Fact::new(
            "years_at_1_dwpd_recovered",
            "Years at one drive write per day, while resting cells recover.",
            |it: &It| it.at_one_dwpd[1],
        ),
        Fact::new(
            "years_of_trace",
            "Years at the write rate of the trace; null without a trace.",
            |it: &It| it.at_trace.map(|years| years[0]),
        ),
        Fact::new(
            "years_of_trace_recovered",
            "Years at one drive write per day, while resting cells recover.",
            |it: &It| it.at_trace.map(|years| years[1]),
        ),
    ]
}

fn of_uber() -> Vec<Fact<Uber>> {
    type It = Uber;
    vec![
        Fact::new("data", "Retention age of the data.", |it: &It| it.age),
        Fact::new("rber", "The raw bit error rate of an average block.", |it: &It| it.rber),
        Fact::new("unreadable", "The share of blocks that cannot be read.", |it: &It| {
            it.unreadable
        }),
        Fact::new("uber", "Uncorrectable errors per bit read.", |it: &It| it.rate),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endurance::Cost;
    use fowler_experiment::device_spec::{DeviceSpec, resolve};
    use fowler_experiment::scheme::Scheme;

    #[test]
    fn terabytes_and_drive_writes_follow_from_cycles_and_cost() {
        let spec = DeviceSpec {
            device: "tlc".into(),
            set: vec!["lifetime.cycles=3000".into()],
            ..DeviceSpec::default()
        };
        let drive = resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap();
        let (logical, raw) = (drive.layout.logical.0 as f64, drive.layout.raw.0 as f64);
        let cost = Cost {
            waf: 2.5,
            waf_pages: 2.0,
            rounds: vec![2.5; 5],
            window: None,
            unevenness: None,
            unreadable: None,
            simulated: None,
        };
        let endurance = Endurance {
            drive,
            workload: "w".into(),
            cost,
            years: 5.0,
            uber: Vec::new(),
            at_one_dwpd: [1.0, 2.0],
            at_trace: None,
        };
        assert!((endurance.tbw() - 3000.0 * logical / 2.5 / 1e12).abs() < 1e-9);
        assert!((endurance.tbw_raw() / endurance.tbw() - raw / logical).abs() < 1e-12);
        assert!((endurance.dwpd(endurance.tbw()) - 3000.0 / 2.5 / 1825.0).abs() < 1e-12);
        let json = endurance.json();
        assert_eq!(json["dwpd"].as_f64(), Some(endurance.dwpd(endurance.tbw())));
        assert!(endurance.uber_sheet().title.contains("unknown"));
    }
}
