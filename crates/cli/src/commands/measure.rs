//! `fowler measure`: job files of fio for a drive of your own.

use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use crate::output::write;
use clap::Args;
use fowler_drives::measure::{JobFile, MeasureSpec, job_files, mounted};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::numbers::real;
use std::path::{Path, PathBuf};

/// Job files of fio that measure a drive of your own; their output is for `fowler calibrate`
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is run: the command writes files. Without --destroy it writes only jobs that read.\n\n\
                  Exit codes: 0 done; 2 the input is wrong"
)]
pub(crate) struct Measure {
    /// The drive to measure, such as /dev/nvme1n1
    #[arg(long, value_name = "DEVICE")]
    pub target: String,
    /// Capacity of the drive, such as 960GB [default: that of the device in /sys]
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Write the jobs that overwrite the whole drive as well: all data on it is lost
    #[arg(long)]
    pub destroy: bool,
    /// Write jobs that measure for ten minutes in all instead of an hour, not counting the
    /// preconditioning of the drive
    #[arg(long)]
    pub ten_minutes: bool,
    /// Measure writes by address pattern as well: the drive is overwritten 28 times, which takes
    /// many hours
    #[arg(long)]
    pub patterns: bool,
    /// Folder for the job files and the script that runs them
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

impl Action for Measure {
    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        if !is_device(&self.target) {
            let what = "this is no device file".to_string();
            let it = Diagnostic::new("--target", what).text(&self.target);
            diagnostics.push(it.expected("a path such as /dev/nvme1n1, without spaces or colons"));
        }
        let capacity = diagnostics.take(self.capacity());
        diagnostics.or(())?;
        let Some(capacity) = capacity else { return Ok(Exit::Fault) };
        let target = self.target.clone();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let mounted = mounted(&target, &mounts);
        let (brief, patterns) = (self.ten_minutes, self.patterns);
        let all = job_files(&MeasureSpec { target, capacity, brief, patterns });
        let (wanted, others): (Vec<_>, Vec<_>) =
            all.iter().partition(|file| self.destroy || !file.destroys());
        std::fs::create_dir_all(&self.out).map_err(|error| {
            Diagnostic::new("--out", error.to_string()).text(self.out.display().to_string())
        })?;
        let mut text = String::new();
        for file in &wanted {
            write(&self.out.join(file.name), &file.text)?;
            text += &console::fitted(&format!("{}: {}\n", file.name, cost(file)), 4);
        }
        write(&self.out.join("run.sh"), &script(&wanted))?;
        for file in &others {
            let line = format!(
                "not written: {}: {}; add --destroy to write this job file, too\n",
                file.name,
                cost(file)
            );
            text += &console::fitted(&line, 4);
        }
        for mount in &mounted {
            let line = format!("WARNING: mounted: {}\n", escaped(mount));
            text += &line;
        }
        if self.destroy {
            let line = format!("run.sh DESTROYS everything on {}\n", escaped(&self.target));
            text += &line;
        }
        text += &format!("run with: sh {}\n", self.out.join("run.sh").display());
        console::print(&text);
        Ok(Exit::Done)
    }
}

impl Measure {
    fn capacity(&self) -> Result<u64, Diagnostics> {
        let Some(text) = &self.capacity else {
            let name = Path::new(&self.target).file_name().unwrap_or_default();
            let size = Path::new("/sys/class/block").join(name).join("size");
            let sectors = std::fs::read_to_string(size).ok().and_then(|it| it.trim().parse().ok());
            let bytes = sectors.and_then(|sectors: u64| sectors.checked_mul(512));
            return bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
                Diagnostic::new("--target", "this machine does not report a capacity of the device")
                    .text(&self.target)
                    .expected(
                        "a block device of this machine, such as /dev/nvme0n1, or --capacity SIZE",
                    )
                    .hint("give the capacity: --capacity 960GB".to_string())
                    .into()
            });
        };
        let size: Result<fowler_experiment::Bytes, fowler_experiment::QuantityError> = text.parse();
        match size {
            Ok(size) if size.0 > 0 => Ok(size.0),
            Ok(_) => Err(Diagnostic::new("--capacity", "a drive has a capacity above 0").into()),
            Err(error) => {
                Err(Diagnostic::new("--capacity", error.reason).expected(error.expected).into())
            }
        }
    }
}

/// Returns true if the name of a device can stand in a job file: fio splits file names at colons,
/// and ends a value at the line.
fn is_device(target: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
    target.starts_with("/dev/") && target.len() > 5 && target.chars().all(sound)
}

fn cost(file: &JobFile) -> String {
    let hours = real(file.hours);
    match file.destroys() {
        true => {
            format!(
                "overwrites the drive when the job runs, about {} GB in {hours} hours",
                real(file.bytes / 1e9)
            )
        }
        false => format!("reads only, {hours} hours"),
    }
}

/// Returns the text of a shell script that runs fio on each of the job files, which are in the
/// folder of the script.
fn script(files: &[&JobFile]) -> String {
    let mut text = "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")\"\n".to_string();
    for file in files {
        let output = file.name.replace(".fio", ".json");
        let line = format!("fio --output-format=json --output={output} {}\n", file.name);
        text += &line;
    }
    text
}
