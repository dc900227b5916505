//! Job files of fio, and descriptions of generated workloads and of drives, which hold no requests.
//!
//! Sources: fio(1) (sections in brackets, comments with `;` or `#`, options of a job); the files of
//! `--workload` and `--device`.

use fowler_units::Diagnostic;

/// Largest number of lines at the beginning of a file that are examined to recognize a fio job
/// file, a generated workload or a drive file.
const LINES: usize = 256;

/// Options of fio, at least one of which every job file has.
const OPTIONS: [&str; 8] =
    ["rw", "readwrite", "bs", "blocksize", "ioengine", "filename", "iodepth", "size"];

/// Keys of a generated workload; two of them identify one.
const KEYS: [&str; 4] = ["requests", "arrivals", "mix.reads", "reads"];

/// Sections that every description of a drive has.
const DRIVE: [&str; 2] = ["[geometry]", "[timing]"];

/// Returns the error that a file is a description of a load (such as a fio job file) and not a
/// trace; `None` for another file. `head` is the beginning of the file.
pub(crate) fn refusal(name: &str, head: &[u8]) -> Option<Diagnostic> {
    let text = std::str::from_utf8(head).unwrap_or_default();
    let lines = text.lines().map(str::trim).take(LINES);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
    let (mut sections, mut options, mut keys, mut of_drive) = (0, 0, 0, 0);
    for (place, line) in lines.enumerate() {
        let section = line.starts_with('[') && line.ends_with(']');
        if place == 0 && !section && !KEYS.iter().any(|key| line.starts_with(key)) {
            return None;
        }
        let key = line.split_once('=').map_or("", |(key, _)| key.trim());
        sections += usize::from(section);
        of_drive += usize::from(DRIVE.contains(&line));
        options += usize::from(OPTIONS.contains(&key));
        keys += usize::from(KEYS.contains(&key));
    }
    // File names that need shell quoting are not printed in a command.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/+".contains(&byte);
    let is_plain = name.bytes().all(plain) && !name.starts_with('-');
    let file = if is_plain { name } else { "FILE" };
    let (what, hint) = if of_drive == DRIVE.len() {
        ("a description of a drive", format!("--device {file} is that drive"))
    } else if keys >= 2 {
        ("a generated workload", format!("--workload {file} generates its requests"))
    } else if sections > 0 && options > 0 {
        ("a job file of fio", format!("fowler fio {file} runs its jobs"))
    } else {
        return None;
    };
    let refusal = Diagnostic::of(format!("this is {what}, not a trace: it holds no requests"));
    let expected = "a trace with the time, operation, address and size of each request";
    Some(refusal.expected(expected).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_describes_a_load_is_named_and_nothing_else() {
        for (text, what) in [
            ("[global]\nrw=randread\nbs=4k\n[a]\n", Some("a job file of fio")),
            ("; a comment\n\n[a]\nfilename=/dev/nvme0n1\n", Some("a job file of fio")),
            (
                "requests = 60\narrivals = { kind = 'fixed', rate = 1 }\n",
                Some("a generated workload"),
            ),
            ("[geometry]\nchannels = 2\n[timing]\nread = '1us'\n", Some("of a drive")),
            ("[a]\nno option\n", None),
            ("1,2,3\n[a]\nrw=read\n", None),
            ("at_ns,op,offset,size\n0,read,0,4096\n", None),
            ("[1, 2, 3]\n", None),
            ("requests,arrivals\n1,2\n", None),
            ("", None),
        ] {
            let refused = refusal("a file", text.as_bytes()).map(|it| it.to_string());
            match (refused, what) {
                (Some(said), Some(what)) => assert!(said.contains(what), "{text}: {said}"),
                (said, what) => assert_eq!((said, what), (None, None), "{text}"),
            }
        }
    }
}
