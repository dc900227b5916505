//! Helpers that tests share: the sequence of a job file in the form of fio's cases.

use fowler_fio::{Environment, JobFile, Layout, Seeding, Sequence};
use std::fmt::Write;

/// The most requests of a file that a test lists.
const MOST: usize = 2_000_000;

/// Lists the requests of all jobs, `job,op,offset,length`.
pub fn listed(text: &str, seeding: Seeding) -> Result<String, String> {
    let environment = Environment { seeding, ..Environment::empty() };
    let file = JobFile::parse(text, "job.fio", &environment).map_err(|it| it.to_string())?;
    let layout = Layout::new(&file.jobs, None).map_err(|it| it.to_string())?;
    let mut csv = String::from("job,op,offset,length\n");
    let mut count = 0;
    for (job, files) in file.jobs.iter().zip(&layout.jobs) {
        for request in Sequence::new(job, files, seeding) {
            let (offset, length) = (request.offset, request.length);
            writeln!(csv, "{},{},{offset},{length}", job.number, request.op.word())
                .expect("text grows");
            count += 1;
            if count > MOST {
                return Err("it does not end".into());
            }
        }
    }
    Ok(csv)
}

/// Returns the first line in which two lists differ; `None` if they are equal.
pub fn difference(ours: &str, theirs: &str) -> Option<String> {
    let (ours, theirs): (Vec<_>, Vec<_>) = (ours.lines().collect(), theirs.lines().collect());
    let at = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at))?;
    let (ours_at, theirs_at) = (ours.get(at), theirs.get(at));
    let lengths = (ours.len(), theirs.len());
    Some(format!("line {}: {ours_at:?}, fio has {theirs_at:?}; lines {lengths:?}", at + 1))
}
