//! The answer about a real drive: bytes written per day, write amplification, and years left.

use super::choice::Logs;
use super::doubts;
use super::interval::Interval;
use super::log::SmartLog;
use fowler_experiment::device_spec::{DeviceSpec, FITTING, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::document;
use fowler_experiment::life_estimate;
use fowler_experiment::numbers::real;

const DAY_H: f64 = 24.0;
const YEAR_H: f64 = 365.0 * DAY_H;
const CYCLES: &str = "lifetime.cycles";

/// Properties of a simulated drive that the answer about a real one needs: rated cycles, capacities
/// and link.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Name of the drive's preset, or path of its file.
    pub device: String,
    /// Rated P/E cycles; `None` if the description does not state them.
    pub cycles: Option<f64>,
    /// Capacity that the host sees, in bytes.
    pub user: f64,
    /// Capacity of the flash in bytes, spare included.
    pub raw: f64,
    /// True if the drive description was fitted to a real drive: such a description is scaled down,
    /// so its capacity is a part of the real drive's.
    pub is_scaled: bool,
    /// Bytes per second of the host link (such as PCIe 4.0 x4) in the description of the simulated
    /// drive; `None` if it has none.
    pub link: Option<f64>,
    /// Write amplification of the drive under uniformly random writes over all addresses, in closed
    /// form.
    pub worst_waf: Option<f64>,
}

impl Model {
    /// Returns the properties of the drive that `spec` describes.
    ///
    /// # Errors
    /// Everything that is wrong with the description.
    pub fn of(spec: &DeviceSpec) -> Result<Model, Diagnostics> {
        let source = spec.source()?;
        let drive = resolve(&source, &spec.scheme(None)?, spec)?;
        let (settings, _) = document::read_toml(&source.text, &source.name);
        let is_set = |flag: &String| flag.split('=').next().is_some_and(|key| key.trim() == CYCLES);
        let stated = settings.iter().any(|it| it.path == CYCLES) || spec.set.iter().any(is_set);
        let fitted = settings.iter().any(|it| it.path.split('.').next() == Some(FITTING));
        let link = drive.config.host.bandwidth.0 as f64;
        Ok(Model {
            device: spec.device.clone(),
            cycles: stated.then_some(drive.config.life.cycles).filter(|cycles| *cycles > 0.0),
            user: drive.layout.logical.0 as f64,
            raw: drive.layout.raw.0 as f64,
            is_scaled: fitted,
            link: Some(link).filter(|link| *link > 0.0),
            worst_waf: life_estimate::greedy(&drive).filter(|waf| waf.is_finite()),
        })
    }
}

/// A question about a real drive: what the user states besides the logs.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Description of a simulated drive of the kind of the real drive whose SMART logs are read;
    /// `None` if the user names none.
    pub model: Option<Model>,
    /// Bytes that the vendor warrants the host to write (TBW).
    pub tbw: Option<f64>,
    /// Capacity that the host sees, in bytes, as the user states it.
    pub capacity: Option<f64>,
    /// Write amplification stated by the user, for a log that does not have it.
    pub waf: Option<f64>,
}

/// Years of power-on time until one measure of a drive's life is used up.
#[derive(Clone, Debug, PartialEq)]
pub struct Life {
    /// Name of the measure of life, such as `TBW`.
    pub by: &'static str,
    /// Power-on years until this measure of the drive's life (such as TBW) is used up, at the
    /// present rate.
    pub years: Interval,
    /// Formula and rate of writing from which the years left until the drive is worn out follow, in
    /// words.
    pub how: String,
}

/// Rises of the counters of one drive between two logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lately {
    /// Power-on hours between an earlier and the present SMART log of a drive.
    pub hours: Option<Interval>,
    /// Bytes that the host wrote between an earlier and the present SMART log of a drive.
    pub host: Option<Interval>,
    /// Bytes that the drive wrote to its flash between an earlier and the present SMART log.
    pub media: Option<Interval>,
    /// Rise of the share of life that the drive reports as used, in percentage points.
    pub used: Option<Interval>,
    /// Mean number of erases of a block between an earlier and the present SMART log of a drive.
    pub erases: Option<Interval>,
    /// Pages programmed between an earlier and the present SMART log of a drive: for the host, and
    /// by the drive itself.
    pub pages: Option<[Interval; 2]>,
    /// Hours between an earlier and the present SMART log of a drive, by the clock of the machine
    /// that took the logs.
    pub clock_h: Option<f64>,
}

/// Answer about the life of a real drive: rates of writing, write amplification, and years left.
#[derive(Clone, Debug)]
pub struct SmartAnswer {
    /// SMART counters of the drive whose life is estimated, now and at an earlier time.
    pub logs: Logs,
    /// Question about the drive's life, with what the user states besides the SMART logs, such as
    /// TBW.
    pub question: Question,
    /// Rises of the SMART counters between an earlier and a later log; `None` if there is a single
    /// log.
    pub lately: Option<Lately>,
    /// Capacity that the host sees in bytes, and the source of that number.
    pub capacity: Option<(f64, String)>,
    /// Bytes that the host writes in 24 power-on hours, over the whole life.
    pub per_day: Option<Interval>,
    /// Bytes that the host writes in 24 power-on hours, from the SMART counters of an earlier and
    /// the present log.
    pub lately_per_day: Option<Interval>,
    /// Write amplification over the whole life: bytes written to the flash per byte written by the
    /// host.
    pub waf: Option<Interval>,
    /// Write amplification between an earlier and the present SMART log: bytes written to the flash
    /// per byte written by the host.
    pub lately_waf: Option<Interval>,
    /// Years left by each measure of life that is known.
    pub lives: Vec<Life>,
    /// Sentences about counters of the logs that are implausible.
    pub doubts: Vec<String>,
    /// Sentences for the user about SMART counters that give no information, and about results that
    /// are left out, with the inputs that they would need.
    pub notes: Vec<String>,
}

/// Computes rates of writing, write amplification and years left of a real drive from the drive's
/// SMART counters and from what the user states (`question`).
pub fn answer(logs: Logs, question: Question) -> SmartAnswer {
    let lately = logs.since.as_ref().map(|since| between(&logs.now, since));
    let capacity = capacity(&logs.now, &question);
    let per_day = |host: Option<Interval>, hours: Option<Interval>| {
        Some(host?.over(counted(hours)?).times(DAY_H))
    };
    let now = &logs.now;
    let mut answer = SmartAnswer {
        per_day: per_day(now.host, now.hours),
        waf: waf(now.host, now.media, now.pages),
        lately_per_day: lately.as_ref().and_then(|it| per_day(it.host, it.hours)),
        lately_waf: lately.as_ref().and_then(|it| waf(it.host, it.media, it.pages)),
        lives: Vec::new(),
        doubts: doubts::of(now, &question, capacity.as_ref().map(|it| it.0)),
        notes: now.notes.clone(),
        logs,
        question,
        lately,
        capacity,
    };
    answer.doubts.extend(
        answer.lately.iter().flat_map(|it| doubts::lately(it, &answer.logs)).collect::<Vec<_>>(),
    );
    answer.add_lives();
    answer.add_notes();
    answer
}

/// Returns the power-on hours between two logs; `None` if they are zero or unknown, because no rate
/// follows from them.
fn counted(hours: Option<Interval>) -> Option<Interval> {
    hours.filter(|hours| hours.value.is_some_and(|it| it > 0.0))
}

/// Returns the write amplification: bytes written to the flash over bytes of the host, or the
/// quotient of the pages programmed.
fn waf(
    host: Option<Interval>,
    media: Option<Interval>,
    pages: Option<[Interval; 2]>,
) -> Option<Interval> {
    let of_bytes = host.zip(media).map(|(host, media)| media.over(host));
    let of_pages = pages.map(|[host, own]| host.plus(own).over(host));
    of_bytes.or(of_pages).filter(|waf| waf.value.is_some())
}

/// Returns the rises of the SMART counters between the logs `since` and `now`; `None` for a counter
/// that fell.
fn between(now: &SmartLog, since: &SmartLog) -> Lately {
    let rise = |now: Option<Interval>, since: Option<Interval>| {
        let (now, since) = now.zip(since)?;
        (now.low >= since.low).then(|| now.minus(since))
    };
    let pages = now.pages.zip(since.pages).and_then(|([host, own], [before, own_before])| {
        Some([rise(Some(host), Some(before))?, rise(Some(own), Some(own_before))?])
    });
    let clock = now.taken_s.zip(since.taken_s).map(|(now, since)| (now - since) / 3600.0);
    Lately {
        hours: rise(now.hours, since.hours),
        host: rise(now.host, since.host),
        media: rise(now.media, since.media),
        used: rise(now.used, since.used),
        erases: rise(now.erases, since.erases),
        pages,
        clock_h: clock.filter(|hours| *hours > 0.0),
    }
}

/// Returns the capacity that the host sees in bytes, and the source of that number in words.
fn capacity(now: &SmartLog, question: &Question) -> Option<(f64, String)> {
    let given = question.capacity.map(|bytes| (bytes, "--capacity".to_string()));
    let logged = now.capacity.map(|bytes| (bytes, "the log".to_string()));
    let model = question.model.as_ref().filter(|model| !model.is_scaled);
    given.or(logged).or_else(|| model.map(|it| (it.user, format!("--device {}", it.device))))
}

impl SmartAnswer {
    /// Returns the bytes that the host writes per day: between an earlier and the present SMART log
    /// if there are two, else over the whole life of the drive.
    pub fn rate(&self) -> Option<Interval> {
        self.lately_per_day.filter(|rate| rate.value.is_some_and(|it| it > 0.0)).or(self.per_day)
    }

    /// Returns the drive writes per day (DWPD): host writes divided by the capacity.
    pub fn drive_writes(&self) -> Option<Interval> {
        let (capacity, _) = self.capacity.as_ref()?;
        Some(self.rate()?.over(Interval::exact(*capacity)))
    }

    /// Returns the years until a measure of the drive's life, such as bytes written, rises from
    /// `done` to `total`, and in words the period whose rate is assumed: between two SMART logs if
    /// there are two, else the whole life.
    fn years(
        &self,
        total: Interval,
        done: Interval,
        lately: fn(&Lately) -> Option<Interval>,
    ) -> Option<(Interval, &'static str)> {
        let hours = counted(self.logs.now.hours);
        let whole = hours.map(|hours| (done.over(hours), "the rate of the whole life"));
        let recent = self.lately.as_ref().and_then(|it| Some(lately(it)?.over(counted(it.hours)?)));
        let recent = recent.filter(|rate| rate.value.is_some_and(|it| it > 0.0));
        let recent = recent.map(|rate| (rate, "the rate between the logs"));
        let (per_hour, which) = recent.or(whole)?;
        Some((total.minus(done).over(per_hour).times(1.0 / YEAR_H), which))
    }

    fn add_lives(&mut self) {
        let now = self.logs.now.clone();
        let mut lives = Vec::new();
        let mut add = |by: &'static str, years: Option<(Interval, &str)>, how: &str| {
            lives.extend(years.map(|(years, rate)| Life {
                by,
                years,
                how: format!("{how}, at {rate}"),
            }));
        };
        if let (Some(tbw), Some(host)) = (self.question.tbw, now.host) {
            let years = self.years(Interval::exact(tbw), host, |it| it.host);
            add("TBW", years, "what is left of --tbw");
        }
        if let Some(used) = now.used {
            let years = self.years(Interval::exact(100.0), used, |it| it.used);
            add("percentage used", years, "the drive's own estimate, in steps of 1 %");
        }
        if let (Some(estimate), Some(media)) = (now.estimate, now.media) {
            let years = self.years(estimate, media, |it| it.media);
            let how = "what the drive says its flash can take, less what was written to it";
            add("endurance estimate", years, how);
        }
        if let Some((years, how)) = self.by_cycles(&now) {
            add("rated cycles", years, &how);
        }
        self.lives = lives;
    }

    /// Returns the years until the cells reach their rated P/E cycles, and the formula in words.
    fn by_cycles(&self, now: &SmartLog) -> Option<(Option<(Interval, &'static str)>, String)> {
        let model = self.question.model.as_ref()?;
        let cycles = Interval::exact(model.cycles?);
        if let Some(erases) = now.erases {
            let how = "lifetime.cycles less the erases of an average block";
            return Some((self.years(cycles, erases, |it| it.erases), how.into()));
        }
        let (capacity, _) = self.capacity.as_ref()?;
        let flash = cycles.times(capacity * model.raw / model.user);
        if let Some(media) = now.media {
            let how = "lifetime.cycles of all blocks, less what was written to the flash";
            return Some((self.years(flash, media, |it| it.media), how.into()));
        }
        let (waf, words) = match (self.lately_waf.or(self.waf), self.question.waf, model.worst_waf)
        {
            (Some(waf), ..) => (waf, "the drive's WAF".to_string()),
            (None, Some(waf), _) => (Interval::exact(waf), "the WAF of --waf".to_string()),
            (None, None, Some(worst)) => {
                let words = format!(
                    "an unknown WAF, from 1 to {worst:.1} (the drive model's under random writes)"
                );
                (Interval::between(1.0, worst.max(1.0)), words)
            }
            (None, None, None) => {
                let waf = Interval { low: 1.0, value: None, high: None };
                (waf, "a WAF of at least 1 (--waf gives it)".to_string())
            }
        };
        // Years at the best and at the worst write amplification.
        let host = now.host?;
        let at = |waf: f64| self.years(flash.times(1.0 / waf), host, |it| it.host);
        let (best, rate) = at(waf.low.max(f64::EPSILON))?;
        let low = waf.high.map_or(Some(0.0), |worst| Some(at(worst)?.0.low))?;
        let value = waf.value.and_then(|waf| at(waf)?.0.value);
        let how = format!(
            "the host writes that wear all blocks to lifetime.cycles, less those so far, at {words}"
        );
        Some((Some((Interval { low, value, high: best.high }, rate)), how))
    }

    /// Adds notes on the rates, write amplifications and years left that the SMART logs do not
    /// determine, with the inputs that would.
    fn add_notes(&mut self) {
        let now = &self.logs.now;
        let mut notes = Vec::new();
        if now.host.is_none() {
            notes.push(
                "bytes written by the host are not in the log: give the drive's `nvme smart-log` as well, \
                 with another --smart"
                    .to_string(),
            );
        }
        if now.hours.is_none() {
            notes.push(
                "power-on hours are not in the log, so there is no rate and no year: give the drive's \
                 `nvme smart-log` as well, with another --smart"
                    .to_string(),
            );
        }
        if now.media.is_none() && now.pages.is_none() {
            notes.push(
                "no WAF: the log does not count writes to the flash; `nvme ocp smart-add-log -o json` does \
                 if the drive has that log (give both with --smart)"
                    .to_string(),
            );
        }
        if self.question.tbw.is_none() {
            notes.push("no years by TBW: --tbw TB gives what the data sheet warrants".into());
        }
        notes.extend(self.no_cycles());
        let lent = self.capacity.as_ref().filter(|(_, from)| from.starts_with("--device"));
        if let Some((bytes, from)) = lent {
            notes.push(format!(
                "the capacity of {} GB is taken from {from}; give the real drive's with --capacity \
                 SIZE",
                real(bytes / 1e9)
            ));
        }
        if self.capacity.is_none() {
            notes
                .push("no drive writes per day: --capacity SIZE gives the drive's capacity".into());
        }
        if let (Some(lately), true) = (&self.lately, self.lately_per_day.is_some())
            && let (Some(clock), Some(hours)) = (lately.clock_h, lately.hours)
            && let Some(most) = hours.high.filter(|most| *most < 0.98 * clock)
        {
            let share = 100.0 * most / clock;
            notes.push(format!(
                "the drive had power for only {share:.0} % of the time between the two logs, so \
                 the years left are longer in calendar time"
            ));
        }
        self.notes.extend(notes);
    }

    fn no_cycles(&self) -> Option<String> {
        let Some(model) = &self.question.model else {
            return Some(
                "no years by cycles (rated P/E cycles): --device names a drive that states these"
                    .into(),
            );
        };
        if model.cycles.is_none() {
            return Some(format!(
                "no years by cycles (rated P/E cycles): {} does not state these; --set lifetime.cycles=N does",
                model.device
            ));
        }
        let has = self.lives.iter().any(|life| life.by == "rated cycles");
        if self.capacity.is_none() && !has {
            return Some(format!(
                "no years by cycles (rated P/E cycles): the capacity of the real drive is not \
                 known, and {} describes a scaled-down drive; give the capacity with --capacity \
                 SIZE",
                model.device
            ));
        }
        (!has).then(|| "no years by cycles: the log has no bytes written, or no hours".to_string())
    }
}
