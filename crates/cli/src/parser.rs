//! Parses the arguments and reports all errors at once. Clap stops at the first wrong argument;
//! this module omits that argument and parses the others again.

use crate::commands::Arguments;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error, Parser};
use fowler_experiment::diagnostic::printable;
use fowler_experiment::presets::{self, Folder};
use std::ffi::OsString;
use std::path::Path;

/// The most errors of the command line that are shown.
const SHOWN: usize = 20;

/// Parses the arguments of the command line, the name of the program first.
///
/// # Errors
/// Everything that is wrong, at least one error; or one that is a call for help.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Arguments, Vec<Error>> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let (mut errors, mut left_out) = (Vec::new(), Vec::new());
    loop {
        let error = match Arguments::try_parse_from(&arguments) {
            Ok(parsed) if errors.is_empty() => return Ok(parsed),
            Ok(_) => return Err(errors),
            Err(error) => with_flag(with_values(error, &arguments), &arguments),
        };
        let follows = !errors.is_empty() && (is_help(&error) || is_due_to(&error, &left_out));
        if follows {
            return Err(errors);
        }
        let wrong = places(&arguments, &error);
        left_out.extend(named(&error, ContextKind::InvalidArg));
        left_out.extend(named(&error, ContextKind::SuggestedArg));
        errors.push(error);
        if wrong.is_empty() || errors.len() == SHOWN {
            return Err(errors);
        }
        // At least one argument is gone, so this ends.
        let mut place = 0..;
        arguments.retain(|_| place.next().is_none_or(|place| !wrong.contains(&place)));
    }
}

/// Adds to the error of a repeated flag the values that the user gave.
fn with_values(mut error: Error, arguments: &[OsString]) -> Error {
    let [flag, prior] =
        [ContextKind::InvalidArg, ContextKind::PriorArg].map(|it| named(&error, it));
    let ([flag], true) = (&flag[..], error.kind() == ErrorKind::ArgumentConflict && flag == prior)
    else {
        return error;
    };
    // A flag without a value, such as `--quiet`.
    if !texts_of(&error, ContextKind::InvalidArg).iter().any(|text| text.contains('<')) {
        return error;
    }
    let joined = format!("{flag}=");
    let texts: Vec<_> = arguments.iter().map(|it| it.to_string_lossy()).collect();
    let value = |place: usize| match texts[place].strip_prefix(&joined) {
        Some(value) => Some(value),
        None if texts[place] == *flag => texts.get(place + 1).map(|it| &**it),
        None => None,
    };
    let values = (1..texts.len()).filter_map(value);
    let values: Vec<String> = values.map(|it| format!("`{}`", printable(it))).collect();
    let tip = StyledStr::from(format!("give this flag once: {}", values.join(" or ")));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    error
}

/// Adds to the error of a word without a flag the flag that the user probably meant: `--device`,
/// `--workload` or `--scheme` if the word is such a preset, `--trace` if it looks like a path.
fn with_flag(mut error: Error, arguments: &[OsString]) -> Error {
    let texts: Vec<&str> = arguments.iter().map(|it| it.to_str().unwrap_or_default()).collect();
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if !word.starts_with('-') => word.clone(),
        _ => return error,
    };
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let command = command_of(&texts);
    let has = |flag: &&str| has_value(&command, &format!("--{flag}"));
    let kinds = presets::find(&word).map(|(folder, _)| match folder {
        Folder::Devices => "device",
        Folder::Workloads => "workload",
        Folder::Schemes => "scheme",
    });
    let flags: Vec<&str> = kinds.filter(|flag| has(flag)).collect();
    let is_path = word.contains(['.', '/']) || Path::new(&word).exists();
    let flag = flags.first().copied().or(Some("trace").filter(|flag| is_path && has(flag)));
    if let Some(flag) = flag {
        let tip = StyledStr::from(format!("did you mean `--{flag} {}`?", printable(&word)));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Returns true if the user asked for help, or gave an empty command, which gets help.
fn is_help(error: &Error) -> bool {
    !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// Returns true if an error only says that arguments are missing, and all of these were given but
/// removed by the parser because they were wrong.
fn is_due_to(error: &Error, left_out: &[String]) -> bool {
    // One of a group is enough.
    let was_left_out = |text: &String| names_of(text).any(|name| left_out.contains(&name));
    error.kind() == ErrorKind::MissingRequiredArgument
        && texts_of(error, ContextKind::InvalidArg).iter().all(was_left_out)
}

/// Returns the arguments that an error names, without the placeholders for their values.
fn named(error: &Error, kind: ContextKind) -> Vec<String> {
    texts_of(error, kind).iter().flat_map(|text| names_of(text).collect::<Vec<_>>()).collect()
}

fn texts_of(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(several)) => several.clone(),
        _ => Vec::new(),
    }
}

/// Returns the flags in a usage text such as `--seed <N>` or `<--trace <FILE>|--workload <FILE>>`.
fn names_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split([' ', '=', '|', '<', '>']);
    words.filter(|word| word.starts_with('-')).map(str::to_string)
}

/// Returns the indices of the arguments on the command line that caused an error; empty if the
/// parser cannot go on by leaving them out.
fn places(arguments: &[OsString], error: &Error) -> Vec<usize> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else {
        return Vec::new();
    };
    let texts: Vec<&str> = arguments.iter().map(|it| it.to_str().unwrap_or_default()).collect();
    let command = command_of(&texts);
    let is = |place: usize, text: &str| texts.get(place) == Some(&text);
    let mut places = 1..texts.len();
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let with_value = format!("{wrong}=");
            let found = places.find(|&place| {
                is(place, wrong) && !has_value(&command, texts[place - 1])
                    || wrong.starts_with("--") && texts[place].starts_with(&with_value)
            });
            let Some(place) = found else { return Vec::new() };
            let value = is(place, wrong)
                && wrong.starts_with("--")
                && texts.get(place + 1).is_some_and(|next| !next.starts_with('-'))
                && takes_value(&command, error);
            (place..=place + usize::from(value)).collect()
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if wrong.starts_with('-') => {
            let flag = wrong.split([' ', '=']).next().unwrap_or_default();
            let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else {
                return Vec::new();
            };
            let joined = format!("{flag}={value}");
            // A flag without its value is the last argument, or stands before another flag.
            let bare = |place: usize| {
                value.is_empty() && texts.get(place + 1).is_none_or(|it| it.starts_with('-'))
            };
            places
                .find_map(|place| {
                    if is(place, &joined) || is(place, flag) && bare(place) {
                        Some(vec![place])
                    } else {
                        let both = is(place, flag) && is(place + 1, value);
                        both.then(|| vec![place, place + 1])
                    }
                })
                .unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns the command that the first words of the command line name.
fn command_of(texts: &[&str]) -> Command {
    let mut command = Arguments::command();
    command.build();
    for text in texts.iter().skip(1) {
        match command.find_subcommand(text) {
            Some(inner) => command = inner.clone(),
            None => break,
        }
    }
    command
}

/// Returns true if the word after an unknown flag is its value: the flag that was meant takes one,
/// or the command takes nothing but flags.
fn takes_value(command: &Command, error: &Error) -> bool {
    let meant = named(error, ContextKind::SuggestedArg).pop();
    meant.map_or_else(|| takes_flags_only(command), |meant| has_value(command, &meant))
}

fn takes_flags_only(command: &Command) -> bool {
    command.get_positionals().next().is_none() && !command.has_subcommands()
}

fn has_value(command: &Command, flag: &str) -> bool {
    let Some(name) = flag.strip_prefix("--") else { return false };
    let flag = command.get_arguments().find(|it| it.get_long() == Some(name));
    flag.is_some_and(|it| it.get_action().takes_values())
}
