//! Scratch.
#![allow(clippy::print_stdout)]
use fowler_fio::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let cap = std::env::args().nth(3).and_then(|x| x.parse().ok());
    let seeding = if std::env::args().nth(2).as_deref() == Some("3.35") {
        Seeding::V335
    } else {
        Seeding::V333
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let file = match JobFile::parse(&text, &path, &Environment::empty()) {
        Ok(f) => f,
        Err(e) => {
            println!("ERR {e}");
            std::process::exit(2)
        }
    };
    let layout = match Layout::new(&file.jobs, cap) {
        Ok(f) => f,
        Err(e) => {
            println!("ERR {e}");
            std::process::exit(2)
        }
    };
    for n in &file.notes {
        eprintln!("{n}");
    }
    use std::io::Write;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (job, files) in file.jobs.iter().zip(&layout.jobs) {
        for r in Sequence::new(job, files, seeding).take(100_000_000) {
            writeln!(
                out,
                "{},{},{},{},{}",
                job.number,
                r.op.word(),
                r.offset,
                r.length,
                files.files[r.file as usize].name
            )
            .unwrap();
        }
    }
}
