//! `fowler lifetime`: a drive to the end of its target life.

use crate::args::Lifetime as Arguments;
use crate::fleet::{self, LifetimeAction};
use crate::output::{Output, Wanted};
use crate::{Exit, console, fit, pages, progress, sheets, signals};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::{Estimate, in_words};
use fowler_experiment::numbers::{bytes, counted, real};
use fowler_experiment::workload::Control;
use fowler_lifetime::fleet::with_life;
use fowler_lifetime::{Early, Ended, Lifetime, LifetimeSpec, SaveTo, Watch};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The name of the file, in the folder of results, that what is done so far is saved in.
pub(crate) const CHECKPOINT: &str = "lifetime.checkpoint";

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, Diagnostics> {
    if let Some(LifetimeAction::Merge { folders, out, json, quiet }) = &arguments.action {
        return fleet::merge(folders, out, *json, *quiet);
    }
    let schemes: Vec<String> = arguments.scheme.iter().cloned().collect();
    let mut inputs = fit::drive_files(&arguments.drive, &schemes);
    inputs.extend(fit::source_files(&arguments.source));
    let mut diagnostics = Diagnostics::default();
    let spec = diagnostics.take(spec(arguments));
    if let Some(spec) = &spec {
        diagnostics.0.extend(fowler_lifetime::check(spec).0);
    }
    let asked = fleet::fleet_of(&arguments.fleet);
    if let (Some(fleet), Some(spec)) = (&asked, &spec) {
        diagnostics.0.extend(fowler_lifetime::check_fleet(spec, fleet).0);
    }
    let shard = diagnostics.take(fleet::shard_of(arguments)).flatten();
    let wanted = Wanted { pictures: true, ..Wanted::default() };
    let output = Output::open(arguments.out.as_deref(), wanted, &inputs, |_| Vec::new());
    let output = diagnostics.take(output);
    diagnostics.or(())?;
    let (Some(output), Some(spec)) = (output, spec) else { return Ok(Exit::Fault) };
    let bar = progress::Shares::new(arguments.quiet, "reading the workload");
    let watch = Watch {
        control: Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) },
        share: &|share| bar.set(share),
        early: &|early| tell(&bar, early, arguments.quiet),
        warn: &|warning| bar.note(&format!("note: {warning}")),
    };
    if let (Some(fleet), Some(shard), Some(folder)) = (&asked, &shard, &arguments.out) {
        return fleet::draw(&spec, fleet, shard, folder, watch, &bar);
    }
    let lived = match &asked {
        Some(fleet) => with_life(&spec, fleet, watch),
        None => fowler_lifetime::live(&spec, watch),
    };
    bar.clear();
    let lived = match lived? {
        Ended::Lived(lived) => lived,
        Ended::Stopped { saved } => {
            console::note(&stopped(&spec.checkpoint, saved));
            return Ok(Exit::Stopped);
        }
    };
    finish(&lived, &output, arguments.out.as_deref(), arguments.json)?;
    Ok(Exit::Done)
}

/// Prints and writes what came of it, and then removes what it would resume from.
pub(crate) fn finish(
    lived: &Lifetime,
    output: &Output,
    out: Option<&Path>,
    as_json: bool,
) -> Result<(), Diagnostics> {
    let json = format!("{:#}\n", lived.json());
    output.summary(&json)?;
    let written = out.map(|folder| pages::lifetime(lived, folder)).transpose()?;
    console::print(&if as_json { json } else { report(lived) });
    if let (Some((mut files, warnings)), Some(folder)) = (written, out) {
        files.extend(drives::write(lived, folder)?);
        output.list("lifetime", files.iter().map(|file| folder.join(file)))?;
        lived.remove_checkpoint()?;
        warnings.iter().for_each(|warning| console::note(&format!("note: {warning}")));
        console::note(&format!(
            "written to {}: summary.json, {}",
            folder.display(),
            files.join(", ")
        ));
        if let Some(page) = pages::PAGE {
            console::note_opens(&folder.join(page));
        }
    } else if let Err(why) = lived.remove_checkpoint() {
        // It is only a cache, and the result is printed.
        console::note(&format!("note: {why}"));
    }
    Ok(())
}

/// The drives of a fleet as Parquet.
mod drives {
    use fowler_experiment::diagnostic::Diagnostics;
    use fowler_lifetime::Lifetime;
    use std::path::Path;

    /// Writes them, if there is a fleet; returns the name of the file.
    #[cfg(feature = "parquet")]
    pub(super) fn write(lived: &Lifetime, folder: &Path) -> Result<Option<String>, Diagnostics> {
        use fowler_columns::fleet::{NAME, write};
        let Some(fleet) = &lived.fleet else { return Ok(None) };
        write(fleet, &folder.join(NAME))?;
        Ok(Some(NAME.into()))
    }

    #[cfg(not(feature = "parquet"))]
    pub(super) fn write(_: &Lifetime, _: &Path) -> Result<Option<String>, Diagnostics> {
        Ok(None)
    }
}

/// Says what becomes of a life that was stopped.
pub(crate) fn stopped(checkpoint: &SaveTo, saved: bool) -> String {
    match checkpoint {
        SaveTo::File(place) | SaveTo::Cache(place) if saved => format!(
            "stopped: what is done is saved in {}, and the same command resumes from there",
            place.display()
        ),
        SaveTo::File(_) | SaveTo::Cache(_) => {
            "stopped before the life began: what an earlier run saved is kept".into()
        }
        SaveTo::Nowhere => {
            "stopped: nothing is saved, as there is no home folder and no --out".into()
        }
    }
}

/// Says what is known so far: bounds as a line, what follows in the bar.
fn tell(bar: &progress::Shares, early: Early, quiet: bool) {
    match early {
        Early::Bounds(estimate) if !quiet => bar.note(&first_estimate(&estimate)),
        Early::Bounds(_) => {}
        Early::Drawing { drives } => {
            bar.restart(&format!("drawing {}", counted(drives as u64, "drive")))
        }
        Early::SoFar { years, waf } => {
            bar.say(format!("{} years so far, WAF {}", real(years), real(waf)));
        }
    }
}

fn first_estimate(estimate: &Estimate) -> String {
    let Estimate { waf: [least, most], years: [worst, best], written, .. } = *estimate;
    let [rated_worst, rated_best] = estimate.rated_years;
    let held = if estimate.throttled { ", if writes were not throttled" } else { "" };
    format!(
        "first estimate: {} to {} years at this load{held}, or {} to {} written; without the recovery \
         of resting cells {} to {} years. That is {} drive writes per day at a write amplification between {} (nothing is ever moved) and {} (random writes \
         over the whole drive)",
        in_words(worst),
        in_words(best),
        bytes(written[0] as u64),
        bytes(written[1] as u64),
        in_words(rated_worst),
        in_words(rated_best),
        real(estimate.drive_writes_per_day),
        real(least),
        real(most)
    )
}

fn spec(arguments: &Arguments) -> Result<LifetimeSpec, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let Arguments { source, reading, remap, .. } = arguments;
    let workload = diagnostics.take(fit::workload(source, reading, remap));
    let mut device = fit::device(&arguments.drive);
    if let Some(years) = arguments.years {
        // A number beyond any drive's is refused by its key; one that is none is refused here.
        if years.is_finite() && years > 0.0 && years <= 1e6 {
            device.set.push(format!("lifetime.target={:.0}s", years * 365.0 * 86_400.0));
        } else {
            let what = format!("a life of {years} years");
            diagnostics.push(Diagnostic::new("--years", what).expected("a number above 0"));
        }
    }
    let spec = |workload| LifetimeSpec {
        device,
        scheme: arguments.scheme.clone(),
        workload,
        limit: None,
        dilation: arguments.dilation,
        check: !arguments.no_check,
        close_up: None,
        checkpoint: match &arguments.out {
            Some(folder) => SaveTo::File(folder.join(CHECKPOINT)),
            None => cache().map_or(SaveTo::Nowhere, SaveTo::Cache),
        },
        checkpoint_every: arguments.save_every.max(1),
    };
    let spec = workload.map(spec);
    diagnostics.or(())?;
    spec.ok_or_else(|| Diagnostic::new("", "there is no workload").into())
}

/// The user's folder of caches, where a life without `--out` has its checkpoint.
fn cache() -> Option<PathBuf> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    caches.map(|caches| caches.join("fowler"))
}

fn report(lived: &Lifetime) -> String {
    let mut text = String::new();
    let Lifetime { survey, precondition, .. } = lived;
    let _grows = writeln!(
        text,
        "a repetition: {} writes of {} pages in {:.0} s; the drive before: {precondition}",
        survey.writes,
        survey.pages,
        survey.span.as_s()
    );
    let _grows = writeln!(text, "left out are {}", lived.left_out.join("; "));
    if let [first, second] = &lived.lived[..] {
        let _grows = writeln!(
            text,
            "one repetition stands for {}, in the check for {}: what differs is what dilation does, and the \
             undilated life lies within three times that",
            first.dilation, second.dilation
        );
    }
    let mut all = sheets::text(&lived.sheet()) + &console::fitted(&text, 4);
    if let Some(fleet) = &lived.fleet {
        for sheet in fleet.sheets() {
            all += "\n";
            all += &sheets::text(&sheet);
        }
        all += &console::fitted(&format!("{}\n", fleet.assumptions()), 4);
    }
    all
}
