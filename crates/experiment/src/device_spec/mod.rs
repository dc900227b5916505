//! Resolves a drive from a device file or preset, a scheme and `--set`, and reports everything that
//! is wrong.
//!
//! The room owns the defaults of a drive (`defaults`) and the check for settings without effect
//! (`effect`). It reads device files and returns a [`Resolved`] drive.

mod axis;
mod defaults;
mod effect;
mod fitting_table;

use crate::config_builder::{self, ConfigBuilder};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::{self, Origin, Setting};
use crate::json_schema::{self, configuration};
pub use crate::presets::Source;
use crate::provenance::text_hash;
use crate::scheme::Scheme;
use crate::{keys, presets};
pub use axis::Axis;
use fowler_device::policy::custom::Policies;
use fowler_device::{Config, Layout, Refusal};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const INCOMPLETE_HINT: &str =
    "geometry and timing have no defaults; `fowler presets pes-mlc` prints a complete device";

/// A drive as the user specifies it: a preset or a file, with settings on top of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSpec {
    /// A preset's name, or a path that ends in `.toml`.
    pub device: String,
    /// Text of the drive's description, if the text is not in a file; `device` is then only the
    /// drive's name in messages.
    pub text: Option<String>,
    /// Settings `key=value` of the drive, applied after those of the scheme.
    pub set: Vec<String>,
    /// Seed of the drive; overrides the seed that the file, scheme or settings set. `None` keeps
    /// that one.
    pub seed: Option<u64>,
    /// Custom policies with the names under which schemes use them, such as `mine` in `rps+mine`.
    pub policies: Vec<(String, Policies)>,
}

/// A complete, checked drive with its description and its scheme.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Name of the preset, or path of the file, that describes the drive.
    pub device: String,
    /// Name of the scheme (a named set of policies) on the drive; `as described` for a drive
    /// without a scheme.
    pub scheme: String,
    /// Name of the drive in a comparison of drives; `None` where runs differ in their scheme.
    pub candidate: Option<String>,
    /// Configuration of the drive.
    pub config: Config,
    /// Layout of the drive: its sizes in pages and bytes.
    pub layout: Layout,
    /// Every configuration key of the drive as TOML: a complete device file.
    pub text: String,
    /// Hash of `text`, the drive's complete configuration, as hexadecimal digits.
    pub hash: String,
    /// True if `policy.redundancy.integrity` is on only because the run has faults.
    pub notes_losses: bool,
}

impl DeviceSpec {
    /// Reads the description of the drive from the spec itself, a preset or a file.
    pub fn source(&self) -> Result<Source, Diagnostics> {
        if let Some(text) = &self.text {
            return Ok(Source { name: self.device.clone(), text: text.clone() });
        }
        presets::open(presets::Folder::Devices, &self.device)
    }

    /// Loads the scheme `name`, which may include custom policies; `None` loads one that sets
    /// nothing.
    pub fn scheme(&self, name: Option<&str>) -> Result<Scheme, Diagnostics> {
        name.map_or(Ok(Scheme::none()), |name| Scheme::load_with(name, &self.policies))
    }
}

/// Resolves the drive that `source` describes, under `scheme`, with the settings of `spec`.
pub fn resolve(
    source: &Source,
    scheme: &Scheme,
    spec: &DeviceSpec,
) -> Result<Resolved, Diagnostics> {
    let builder = ConfigBuilder::new(keys::all(), defaults::config());
    let mut builder = builder.retired(keys::former_keys::diagnostic);
    let (mut settings, diagnostics) = document::read_toml(&source.text, &source.name);
    builder.note(diagnostics);
    builder.note(fitting_table::check(&source.text, &source.name));
    settings.retain(|setting| !belongs_to_fitting(&setting.path));
    builder.apply(&settings);
    builder.apply(scheme.settings());
    let mut flags = Vec::new();
    for argument in &spec.set {
        match document::read_flag("--set", argument) {
            Ok(setting) => flags.push(setting),
            Err(diagnostics) => builder.note(diagnostics),
        }
    }
    builder.apply(&flags);
    if let Some(seed) = spec.seed {
        if let Some(other) = flags.iter().find(|flag| flag.path == "seed") {
            let diagnostic =
                other.origin.diagnostic(format!("the seed is also given as {seed} by `--seed`"));
            let hint = "leave out `--seed` or `--set seed`".to_string();
            builder.note(diagnostic.hint(hint).into());
        }
        let origin = Origin { file: "--seed".into(), line: None, text: seed.to_string() };
        let value = document::Value::Whole(i128::from(seed));
        builder.apply(&[Setting { path: "seed".into(), value, origin }]);
    }
    let (mut config, origins) = builder.finish_with_origins(&source.name, INCOMPLETE_HINT)?;
    config.policies = scheme.policies().clone();
    let (layout, mut refusals) =
        config.layout().map_or_else(|cannot| (None, cannot), |layout| (Some(layout), Vec::new()));
    refusals.extend(effect::without_effect(&config));
    effect::drop_advice_on_impossible(&mut refusals);
    let Some(layout) = layout.filter(|_| refusals.is_empty()) else {
        return Err(refused(&source.name, &origins, refusals));
    };
    Ok(Resolved::of(source.name.clone(), scheme.name().into(), config, layout))
}

/// Returns true for keys of the `calibrate` table, which only `fowler calibrate` and `fowler score`
/// read and check. The table changes nothing about the drive.
fn belongs_to_fitting(path: &str) -> bool {
    path == FITTING || path.strip_prefix(FITTING).is_some_and(|rest| rest.starts_with('.'))
}

/// Name of the table of a drive file that is about fitting the drive to measurements.
pub const FITTING: &str = "calibrate";

impl Resolved {
    fn of(device: String, scheme: String, config: Config, layout: Layout) -> Resolved {
        let mut text = print(&config);
        for (key, label) in config.policies.labels() {
            // Custom policies are not in the keys but are part of the identity of the drive.
            text.push_str(&format!("# {key} is filled by {label}\n"));
        }
        let hash = text_hash(&text);
        let candidate = None;
        Resolved { device, scheme, candidate, config, layout, text, hash, notes_losses: false }
    }

    /// Returns the name of a run on the drive in tables, charts and sentences: that of the drive
    /// where drives are compared, otherwise that of the scheme.
    pub fn label(&self) -> &str {
        self.candidate.as_deref().unwrap_or(&self.scheme)
    }

    /// Returns the property in which the runs of this drive's comparison differ.
    pub fn axis(&self) -> Axis {
        if self.candidate.is_some() { Axis::Devices } else { Axis::Schemes }
    }

    /// Returns a phrase with the scheme or the drive of a run: `under rps`, `without a scheme`, or
    /// `on nvme-pm9a3` where drives are compared.
    pub fn place(&self) -> String {
        self.axis().place(self.label())
    }

    /// Returns the drive unchanged if it is page-mapped; `what` names the feature that only
    /// page-mapped drives have.
    ///
    /// # Errors
    /// If the drive is not page-mapped.
    pub fn page_mapped(self, what: &str) -> Result<Resolved, Diagnostics> {
        if !self.config.ftl.has_superblocks() {
            return Ok(self);
        }
        let what = format!("{what} is for page-mapped drives, and this one has superblocks");
        let hint = "choose a drive with ftl.reclaim_unit = \"block\": `fowler presets` lists some";
        Err(Diagnostic::new(self.device, what).hint(hint.to_string()).into())
    }

    /// Returns the drive with a changed configuration.
    ///
    /// # Errors
    /// If the drive cannot have that configuration.
    pub fn changed(self, change: impl FnOnce(&mut Config)) -> Result<Resolved, Diagnostics> {
        let Resolved { device, scheme, candidate, mut config, .. } = self;
        change(&mut config);
        let layout = config.layout();
        let layout = layout.map_err(|refusals| refused(&device, &BTreeMap::new(), refusals))?;
        Ok(Resolved { candidate, ..Resolved::of(device, scheme, config, layout) })
    }

    /// Returns the drive with `policy.redundancy.integrity` on; without it, data that faults
    /// destroy goes unnoticed.
    ///
    /// # Errors
    ///
    /// If the drive does not support that key.
    pub(crate) fn noting_losses(self) -> Result<Resolved, Diagnostics> {
        if self.config.redundancy.integrity {
            return Ok(self);
        }
        let Resolved { device, scheme, candidate, mut config, .. } = self;
        config.redundancy.integrity = true;
        let layout = config.layout().map_err(|refusals| {
            let mut diagnostics = refused(&device, &BTreeMap::new(), refusals);
            let what = "a run with faults needs policy.redundancy.integrity";
            diagnostics.push(Diagnostic::new(&device, what));
            diagnostics
        })?;
        let drive = Resolved::of(device, scheme, config, layout);
        Ok(Resolved { notes_losses: true, candidate, ..drive })
    }
}

/// Parses a device file. Never panics, whatever the text.
pub fn parse_device(text: &str, file: &str) -> Result<Resolved, Diagnostics> {
    let source = Source { name: file.into(), text: text.into() };
    resolve(&source, &Scheme::none(), &DeviceSpec::default())
}

/// Returns the default configuration of a drive. Keys that a description must set have arbitrary
/// values.
pub fn defaults() -> Config {
    defaults::config()
}

/// Returns the JSON Schema of a file that describes a drive.
pub fn schema() -> Value {
    let mut tree = configuration::of_keys(&keys::all(), Some(&defaults()));
    tree.insert(FITTING, fitting_schema(), false);
    let body = tree.schema();
    let about = "A drive, for --device. `fowler presets tlc` prints a complete one. The program \
        also checks the ranges of times, sizes and rates, and combinations of keys.";
    json_schema::document("Fowler: a drive", about, body)
}

/// Returns the JSON Schema of the table in a drive file about fitting the drive to measurements.
fn fitting_schema() -> Value {
    let text = json!({ "type": "string" });
    let number = json!({ "type": ["string", "number", "array"] });
    json!({
        "description": "Parameters that `fowler calibrate` may fit, and the fitted values; this \
            table does not change the drive.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "model": text,
            "about": text,
            "fitted": { "type": "array", "items": text },
            "spread": { "type": "array", "items": { "type": "array", "items": { "type": "number" } } },
            "parameter": { "type": "array", "maxItems": 9, "items": { "oneOf": [
                {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["key", "low", "high", "source"],
                    "properties": { "key": text, "low": number, "high": number, "source": text },
                },
                {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["options", "source"],
                    "properties": { "source": text, "options": {
                        "type": "array",
                        "minItems": 2,
                        "maxItems": 8,
                        "items": { "type": "array", "minItems": 1, "items": text },
                    } },
                },
            ] } },
        },
    })
}

/// Prints every key of a drive's configuration as TOML.
pub fn print(config: &Config) -> String {
    config_builder::print(&keys::all(), config)
}

/// Returns diagnostics for the reasons why the configuration of a drive cannot work. Each points to
/// the place (file and line, or flag) that set the first of the keys it names.
pub fn refused(
    file: &str,
    origins: &BTreeMap<&'static str, Origin>,
    refusals: Vec<Refusal>,
) -> Diagnostics {
    let diagnostic = |refusal: Refusal| {
        let origin = refusal.keys.iter().find_map(|key| origins.get(key));
        let what = if refusal.keys.is_empty() {
            refusal.what
        } else {
            format!("{} ({})", refusal.what, refusal.keys.join(", "))
        };
        match origin {
            Some(origin) => origin.diagnostic(what),
            None => Diagnostic::new(file, what),
        }
        .hint(refusal.hint)
    };
    Diagnostics(refusals.into_iter().map(diagnostic).collect())
}
