//! Commands that are proposed to the user, from the flags of the one that runs: they can be copied.

use crate::flags::{Addresses, Drive, Length, Load, Reading, ReplaySpeed, Settings, Source};
use fowler_report::ask::quoted;
use std::fmt::Display;
use std::path::Path;

/// The words of a proposed command, quoted for a shell.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandLine(Vec<String>);

impl CommandLine {
    /// Starts a proposed command of `fowler` with the name of the command.
    pub fn of(command: &str) -> CommandLine {
        CommandLine(vec!["fowler".into(), command.into()])
    }

    /// Adds a flag with its value to the proposed command, if the flag has a value.
    pub fn with(mut self, flag: &str, value: Option<impl Display>) -> CommandLine {
        if let Some(value) = value {
            self.0.extend([flag.into(), quoted(&value.to_string())]);
        }
        self
    }

    /// Adds a group of flags to this `fowler` command, which is proposed to the user for copying.
    pub fn and<T: Proposed>(self, flags: &T) -> CommandLine {
        flags.add_to(self)
    }

    /// Returns the proposed command as a line of text.
    pub fn line(&self) -> String {
        self.0.join(" ")
    }

    /// Returns the words of the proposed command from the third one on: without program and
    /// command.
    pub fn flags(&self) -> String {
        self.0.iter().skip(2).cloned().collect::<Vec<_>>().join(" ")
    }
}

/// A group of flags that goes into a proposed command.
pub(crate) trait Proposed {
    /// Adds the flags of one group of command-line flags to a command proposed to the user, without
    /// those that have their default values.
    fn add_to(&self, command: CommandLine) -> CommandLine;
}

impl Proposed for Settings {
    fn add_to(&self, command: CommandLine) -> CommandLine {
        let Settings { set, seed } = self;
        let command = set.iter().fold(command, |command, it| command.with("--set", Some(it)));
        command.with("--seed", *seed)
    }
}

impl Proposed for Drive {
    fn add_to(&self, command: CommandLine) -> CommandLine {
        command.with("--device", Some(&self.device)).and(&self.settings)
    }
}

impl Proposed for Reading {
    fn add_to(&self, command: CommandLine) -> CommandLine {
        let Reading { format, lenient, columns, spread, device_id } = self;
        let flags = [
            ("--format", format),
            ("--lenient", lenient),
            ("--columns", columns),
            ("--spread", spread),
            ("--device-id", device_id),
        ];
        flags.into_iter().fold(command, |command, (flag, value)| command.with(flag, value.as_ref()))
    }
}

impl Proposed for Source {
    fn add_to(&self, command: CommandLine) -> CommandLine {
        let Source { trace, from_stdin, workload } = self;
        let trace = if *from_stdin { Some(Path::new("-")) } else { trace.as_deref() };
        command.with("--trace", trace.map(Path::display)).with("--workload", workload.as_ref())
    }
}

impl Proposed for Load {
    fn add_to(&self, command: CommandLine) -> CommandLine {
        let Load { drive, source, reading, addresses, replay_speed, fault, length, progress: _ } =
            self;
        let Addresses { remap } = addresses;
        let ReplaySpeed { queue_depth, speed, idle } = replay_speed;
        let Length { limit } = length;
        let command = command.and(drive).and(source).and(reading);
        let command = command
            .with("--remap", Some(remap).filter(|it| *it != "error"))
            .with("--queue-depth", *queue_depth)
            .with("--speed", *speed)
            .with("--idle", *idle);
        let command = fault.iter().fold(command, |command, it| command.with("--fault", Some(it)));
        command.with("--limit", *limit)
    }
}
