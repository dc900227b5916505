//! `fowler schema`: JSON Schemas of the program's files, for editors and for programs.

use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use crate::schemas;
use clap::Args;
use clap::builder::PossibleValuesParser;
use fowler_experiment::diagnostic::Diagnostics;
use std::fmt::Write;

/// Print JSON Schemas of configurations and results, for editors and programs
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Name of the schema to print; without a name all are listed
    #[arg(value_parser = PossibleValuesParser::new(schemas::ALL.iter().map(|it| it.name)))]
    name: Option<String>,
}

impl Action for Schema {
    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let schema = self.name.as_deref().and_then(schemas::find);
        let text = schema.map_or_else(list, |schema| format!("{:#}\n", schema.json()));
        console::print(&text);
        Ok(Exit::Done)
    }
}

fn list() -> String {
    let mut text = String::new();
    for schema in schemas::ALL {
        writeln!(text, "{:<12}{}", schema.name, schema.about).expect("text grows");
    }
    console::fitted(&text, 12)
}
