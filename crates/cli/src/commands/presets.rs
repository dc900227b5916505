//! `fowler presets`: the built-in devices, workloads and schemes, and every configuration key.

use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use crate::schemas;
use crate::wrap::wrapped_comments;
use clap::Args;
use fowler_experiment::compatibility::{self, Reasons};
use fowler_experiment::device_spec::DeviceSpec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::{field, generator, keys};
use std::fmt::Write;

/// List the built-in devices, workloads and schemes, or print one as TOML
#[derive(Debug, Args)]
pub(crate) struct Presets {
    /// Name of the preset to print
    pub name: Option<String>,
    /// Kind of the preset, needed if a device and a scheme have the same name
    #[arg(long, value_name = "KIND", requires = "name", value_parser = ["device", "workload", "scheme"])]
    pub kind: Option<String>,
    /// List every configuration key with its type and range
    #[arg(long, conflicts_with = "name")]
    pub keys: bool,
    /// List the schemes that work on this drive, the keys others need, and why the rest cannot
    #[arg(long, value_name = "PRESET|FILE.toml", conflicts_with_all = ["name", "keys"])]
    pub on: Option<String>,
}

impl Action for Presets {
    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let text = match &self.name {
            None if self.keys => key_list(),
            None => match &self.on {
                Some(device) => schemes_on(device)?,
                None => preset_list(),
            },
            Some(name) => {
                let text = one_preset(name, self.kind.as_deref())?;
                console::print(&wrapped_comments(&text, console::width()));
                note_namesakes(name, self.kind.as_deref());
                return Ok(Exit::Done);
            }
        };
        console::print(&text);
        Ok(Exit::Done)
    }
}

/// Returns the text of the preset of that name; of the first, if several kinds have one.
fn one_preset(name: &str, kind: Option<&str>) -> Result<String, Diagnostics> {
    let wanted = |folder: Folder| kind.is_none_or(|kind| folder.word() == kind);
    match presets::find(name).find(|(folder, _)| wanted(*folder)) {
        Some((folder, preset)) => Ok(schemas::line(folder) + preset.text),
        None => Err(unknown_preset(name, kind).into()),
    }
}

/// Tells the user that presets of other kinds have the same name: without a kind, only the first is
/// printed.
fn note_namesakes(name: &str, kind: Option<&str>) {
    if kind.is_some() {
        return;
    }
    for (folder, _) in presets::find(name).skip(1) {
        let word = folder.word();
        console::note(&format!(
            "note: a {word} has the same name; `fowler presets {name} --kind {word}` prints it"
        ));
    }
}

fn unknown_preset(name: &str, kind: Option<&str>) -> Diagnostic {
    let kinds = Folder::ALL.into_iter().filter(|it| kind.is_none_or(|kind| it.word() == kind));
    let names = kinds.flat_map(Folder::presets).map(|preset| preset.name);
    let other = presets::find(name).next().map(|(folder, _)| format!("it is a {}", folder.word()));
    let near = || field::nearest(name, names).map(|near| format!("did you mean \"{near}\"?"));
    Diagnostic::new("", format!("unknown {} `{name}`", kind.unwrap_or("preset")))
        .hint(other.or_else(near).or(Some("`fowler presets` lists them".into())))
}

fn preset_list() -> String {
    let mut text = String::new();
    let names = Folder::ALL.into_iter().flat_map(Folder::presets).map(|preset| preset.name.len());
    let width = names.max().unwrap_or(0) + 2;
    for folder in Folder::ALL {
        writeln!(text, "{}s", folder.word()).expect("text grows");
        for preset in folder.presets() {
            let line = format!("  {:<width$}{}\n", preset.name, preset.about());
            text.push_str(&console::fitted(&line, width));
        }
    }
    let head = "schemes on devices (`fowler presets --on DEVICE`: the keys that others need)\n";
    text.push_str(&console::fitted(head, 2));
    for preset in Folder::Devices.presets() {
        let spec = DeviceSpec { device: preset.name.into(), ..DeviceSpec::default() };
        let all = compatibility::schemes_on(&spec).unwrap_or_default();
        let names: Vec<&str> = all.iter().filter(|it| it.works()).map(|it| it.scheme).collect();
        let line = format!("  {:<width$}{}\n", preset.name, names.join(", "));
        text.push_str(&console::fitted(&line, width));
    }
    text
}

/// Returns the schemes on a drive: those that work, those that need keys, and why the rest cannot.
fn schemes_on(device: &str) -> Result<String, Diagnostics> {
    let spec = DeviceSpec { device: device.into(), ..DeviceSpec::default() };
    let all = compatibility::schemes_on(&spec)?;
    let width = all.iter().map(|it| it.scheme.len()).max().unwrap_or(0) + 4;
    let line = |name: &str, what: &str| {
        console::fitted(&format!("  {name:<width$}{what}\n", width = width - 2), width)
    };
    let mut text = format!("schemes on {}\n", escaped(device));
    let names: Vec<&str> = all.iter().filter(|it| it.works()).map(|it| it.scheme).collect();
    text += &console::fitted(&format!("  {}\n", names.join(", ")), 2);
    let mut reasons = Reasons::default();
    let (mut with_keys, mut without) = (String::new(), String::new());
    for it in &all {
        with_keys += &it.flags().map_or(String::new(), |flags| line(it.scheme, &flags));
        let numbers: Vec<String> = reasons.of(it).iter().map(ToString::to_string).collect();
        match &numbers[..] {
            [] => {}
            [number] => without += &line(it.scheme, &format!("reason {number}")),
            _ => without += &line(it.scheme, &format!("reasons {}", numbers.join(", "))),
        }
    }
    let why: String =
        reasons.numbered().map(|(number, why)| line(&number.to_string(), &escaped(why))).collect();
    for (head, lines) in
        [("with keys", with_keys), ("not on this drive", without), ("reasons", why)]
    {
        if !lines.is_empty() {
            text += &format!("{head}\n{lines}");
        }
    }
    Ok(text)
}

fn key_list() -> String {
    let mut text = String::from("keys of a device\n");
    for key in keys::all() {
        describe(&mut text, &key);
    }
    text.push_str("\nkeys of a workload\n");
    for key in generator::keys() {
        describe(&mut text, &key);
    }
    text
}

fn describe<T>(text: &mut String, key: &keys::Key<T>) {
    let required = if key.required { " (required)" } else { "" };
    writeln!(text, "  {}{required}", key.path).expect("text grows");
    let about = format!("      {}: {}\n", key.about, key.field.expected());
    text.push_str(&console::fitted(&about, 2));
    for (word, about) in key.field.words() {
        text.push_str(&console::fitted(&format!("        {word:<20}{about}\n"), 20));
    }
    if !key.needs.is_empty() {
        text.push_str(&console::fitted(&format!("      needs {}\n", key.needed()), 2));
    }
}
