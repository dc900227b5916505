//! `fowler schema`: what a file may say, for editors and for programs.

use crate::schemas;
use crate::{Exit, console};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::fmt::Write;

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The one to print; without it they are listed
    #[arg(value_parser = PossibleValuesParser::new(schemas::ALL.iter().map(|it| it.name)))]
    name: Option<String>,
}

/// Does what the user asked for.
pub(crate) fn execute(arguments: &Schema) -> Exit {
    let schema = arguments.name.as_deref().and_then(schemas::find);
    let text = schema.map_or_else(list, |schema| format!("{:#}\n", schema.json()));
    console::print(&text);
    Exit::Done
}

fn list() -> String {
    let mut text = String::new();
    for schema in schemas::ALL {
        writeln!(text, "{:<12}{}", schema.name, schema.about).expect("text grows");
    }
    console::fitted(&text, 12)
}
