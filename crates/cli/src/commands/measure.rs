//! `fowler measure`: job files of fio for a drive of your own.

use crate::action::Action;
use crate::console;
use crate::exit::Exit;
use crate::output::write;
use clap::Args;
use fowler_drives::block_device::Machine;
use fowler_drives::measure::{JobFile, MeasureSpec, job_files};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, escaped};
use fowler_experiment::numbers::real;
use std::os::unix::fs::FileTypeExt;
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
            let what = "this is no file of a block device".to_string();
            let it = Diagnostic::new("--target", what).text(&self.target);
            diagnostics.push(it.expected("a path such as /dev/nvme1n1, without spaces or colons"));
        }
        let machine = Machine::read();
        let device = machine.name(Path::new(&self.target));
        let capacity = diagnostics.take(self.capacity(&machine, device.as_deref()));
        diagnostics.or(())?;
        let Some(capacity) = capacity else { return Ok(Exit::Fault) };
        let target = self.target.clone();
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
        text += &self.dangers(&machine, device.as_deref());
        text += &format!("run with: sh {}\n", self.out.join("run.sh").display());
        console::print(&text);
        Ok(Exit::Done)
    }
}

impl Measure {
    /// Returns warnings: everything in use on the drive, and that the jobs destroy it.
    fn dangers(&self, machine: &Machine, device: Option<&str>) -> String {
        let mut text = String::new();
        for usage in device.map_or_else(Vec::new, |device| machine.in_use(device)) {
            let line = format!("WARNING: in use: {}\n", escaped(&usage));
            text += &line;
        }
        if self.destroy {
            let device = device.map(|device| format!("/dev/{}", device.replace('!', "/")));
            let device = device.filter(|device| *device != self.target);
            let real = device.map_or_else(String::new, |it| format!(" ({})", escaped(&it)));
            let line = format!("run.sh DESTROYS everything on {}{real}\n", escaped(&self.target));
            text += &line;
        }
        text
    }

    /// Returns the capacity in bytes: as given, or that of the block device as the kernel names it.
    fn capacity(&self, machine: &Machine, device: Option<&str>) -> Result<u64, Diagnostics> {
        let Some(text) = &self.capacity else {
            return device.and_then(|device| machine.capacity(device)).ok_or_else(|| {
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
/// and ends a value at the line. A file that is no block device, such as the character device of an
/// NVMe controller, is refused; one that is not there may be of another machine.
fn is_device(target: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
    let file = std::fs::metadata(target).ok();
    target.starts_with("/dev/")
        && target.len() > 5
        && target.chars().all(sound)
        && file.is_none_or(|file| file.file_type().is_block_device())
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
