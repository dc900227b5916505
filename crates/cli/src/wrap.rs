//! Lines that fit a terminal. Where there is none, every line stays as it is.

/// The fewest columns that are worth breaking a line for.
const NARROWEST: usize = 24;

/// `text` with lines of at most `width` characters, broken at spaces. What follows is indented as
/// the line is, and by `hang` more.
pub(crate) fn wrapped(text: &str, width: Option<usize>, hang: usize) -> String {
    each_line(text, width, |line, width| {
        let indent = line.chars().take_while(|&it| it == ' ').count();
        broken(line, width, &" ".repeat(indent + hang))
    })
}

/// TOML with comments that fit the width: it stays the same TOML.
pub(crate) fn wrapped_comments(text: &str, width: Option<usize>) -> String {
    each_line(text, width, |line, width| match comment(line) {
        // A line for programs, such as the name of a schema.
        Some(0) if line.starts_with("#:") => line.into(),
        Some(at) => {
            let column = line[..at].chars().count();
            broken(line, width, &format!("{}# ", " ".repeat(column)))
        }
        None => line.into(),
    })
}

/// Where the comment of a line begins; none if it has none.
fn comment(line: &str) -> Option<usize> {
    let mut quoted = None;
    for (at, it) in line.char_indices() {
        match quoted {
            None if it == '#' => return Some(at),
            None if it == '"' || it == '\'' => quoted = Some(it),
            Some(quote) if it == quote => quoted = None,
            _ => {}
        }
    }
    None
}

fn each_line(text: &str, width: Option<usize>, fit: impl Fn(&str, usize) -> String) -> String {
    let Some(width) = width else { return text.into() };
    let mut fitted = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        fitted.push_str(&fit(line, width));
        fitted.push_str(end);
    }
    fitted
}

/// The line, with `before` at the beginning of every line but the first. A word longer than a line
/// stays whole.
fn broken(line: &str, width: usize, before: &str) -> String {
    let hang = before.chars().count();
    if line.chars().count() <= width || width < hang + NARROWEST {
        return line.into();
    }
    // Nothing is gained by a break within the indentation.
    let text = line.len() - line.trim_start().len();
    let (mut fitted, mut rest, mut least) = (String::new(), line, text.max(hang.min(line.len())));
    loop {
        let room = if fitted.is_empty() { width } else { width - hang };
        if rest.chars().count() <= room {
            return fitted + rest;
        }
        let spaces = rest.char_indices().enumerate().filter(|(_, (_, it))| *it == ' ');
        let mut spaces = spaces.map(|(column, (at, _))| (column, at)).filter(|it| it.1 > least);
        let (mut last, mut next) = (None, None);
        for (column, at) in &mut spaces {
            if column > room {
                next = Some(at);
                break;
            }
            last = Some(at);
        }
        let Some(at) = last.or(next) else { return fitted + rest };
        fitted.push_str(rest[..at].trim_end());
        fitted.push('\n');
        fitted.push_str(before);
        rest = rest[at..].trim_start();
        least = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap()
    }

    const LINE: &str = "note      no garbage collection happened under fifo: no block was erased; for \
        a drive in steady state, add --set precondition.pattern=steady\n";

    #[test]
    fn long_lines_hang_below_their_beginning() {
        let text = wrapped(LINE, Some(60), 10);
        assert!(widest(&text) <= 60, "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("          ")), "{text}");
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(words(&text), words(LINE));
        assert!(text.ends_with("steady\n") && !text.contains(" \n"), "{text}");
        // The indentation of the line itself counts, too.
        let text = wrapped("  key       one two three four five six seven", Some(30), 2);
        assert_eq!(text, "  key       one two three four\n    five six seven");
    }

    #[test]
    fn what_fits_or_goes_to_no_terminal_is_left_alone() {
        assert_eq!(wrapped(LINE, None, 10), LINE);
        assert_eq!(wrapped(LINE, Some(200), 10), LINE);
        assert_eq!(wrapped("a\n\nb", Some(60), 2), "a\n\nb");
        let path = format!("open      /{}\n", "x".repeat(100));
        assert_eq!(wrapped(&path, Some(60), 10), path, "a path stays whole");
        let long = format!("written to /{} and on", "x".repeat(70));
        assert_eq!(
            wrapped(&long, Some(60), 4),
            format!("written to\n    /{}\n    and on", "x".repeat(70))
        );
    }

    #[test]
    fn comments_of_toml_are_wrapped_and_nothing_else() {
        let toml = "#:schema ./a-schema-with-a-name-that-is-longer-than-the-line.json, whatever it is\n\
            # A drive that is described at length: what it is, where it comes from, and why\n\
            key = \"a # b\"                   # [assumed] within the 128 KB to 2 MB of Figure 7\n\
            list = [\"a long list of values\", \"which is longer than the line\", \"and stays\"]\n";
        let text = wrapped_comments(toml, Some(60));
        assert_eq!(toml::from_str::<toml::Table>(&text), toml::from_str::<toml::Table>(toml));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], toml.lines().next().unwrap());
        assert!(lines[2].starts_with("# ") && lines[3].ends_with("# [assumed] within the 128"));
        assert_eq!(lines[4], "                                # KB to 2 MB of Figure 7");
        assert!(lines[1..5].iter().all(|line| line.len() <= 60), "{text}");
        assert_eq!(wrapped_comments(toml, None), toml);
    }
}
