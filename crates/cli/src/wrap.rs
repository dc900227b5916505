//! Lines that fit a terminal. Where there is none, every line stays as it is. A command is broken
//! only so that it can be copied and run.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The fewest columns of a terminal for which lines are broken.
const NARROWEST: usize = 24;

/// Returns `text` with lines of at most `width` characters, broken at spaces. Continuation lines
/// are indented as the line is, and by `hang` more.
pub(crate) fn wrapped(text: &str, width: Option<usize>, hang: usize) -> String {
    each_line(text, width, |line, width| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        broken(line, width, &" ".repeat(indent + hang))
    })
}

/// Returns TOML text with its comments broken to fit the width, so that the settings stay as they
/// are.
pub(crate) fn wrapped_comments(text: &str, width: Option<usize>) -> String {
    each_line(text, width, |line, width| match comment(line) {
        // A line for programs, such as the name of a schema.
        Some(0) if line.starts_with("#:") => line.into(),
        Some(at) => {
            let column = columns(&line[..at]);
            broken(line, width, &format!("{}# ", " ".repeat(column)))
        }
        None => line.into(),
    })
}

/// Returns the byte at which the comment of a line begins; `None` if it has none.
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

/// A space in a line at which the line may be broken.
#[derive(Clone, Copy, Debug)]
struct Break {
    /// Position, in bytes, of a space at which a line of output may be broken, from the start of
    /// the line.
    at: usize,
    /// Width, in terminal columns, of the part of a line before a space at which the line may be
    /// broken.
    column: usize,
    /// True if a space at which a line may be broken is within a shell command: the shell then
    /// needs a backslash to read on in the next line.
    in_command: bool,
}

impl Break {
    /// Returns the width, in terminal columns, of a line that is broken at this space, with the
    /// backslash if a shell command continues in the next line.
    fn columns(self) -> usize {
        self.column + if self.in_command { CONTINUES.len() } else { 0 }
    }
}

/// Ends a line of a command that the next line continues.
const CONTINUES: &str = " \\";

/// Returns the line broken to fit `width`, with `before` at the beginning of every line but the
/// first. A word longer than a line stays whole, and so does a command between backticks, unless it
/// is longer than a line: then its lines end as those of [`wrapped_command`] do.
fn broken(line: &str, width: usize, before: &str) -> String {
    let room = width.saturating_sub(columns(before));
    let breaks = breaks(line, |at| match line[at..].find('`').map(|end| at + end) {
        Some(end) if columns(&line[at..=end]) > room => Some((end, true)),
        Some(end) => Some((end, false)),
        None => None,
    });
    broken_at(line, &breaks, width, before)
}

/// Returns a command with lines that fit the width: all but the last end in a backslash, so that a
/// shell reads them as one. `hang` columns are before each of the other lines, and `label` columns
/// before the first. No argument in quotes is broken.
pub(crate) fn wrapped_command(
    command: &str,
    width: Option<usize>,
    label: usize,
    hang: usize,
) -> String {
    let Some(width) = width else { return command.into() };
    let (mut breaks, mut quoted, mut escaped) = (Vec::new(), None, false);
    let mut column = label;
    for (at, it) in command.char_indices() {
        match quoted {
            None if escaped => escaped = false,
            None if it == '\\' => escaped = true,
            None if it == ' ' && at > 0 => breaks.push(Break { at, column, in_command: true }),
            None if it == '\'' || it == '"' => quoted = Some(it),
            Some(quote) if it == quote => quoted = None,
            _ => {}
        }
        column += it.width().unwrap_or(0);
    }
    // A flag and its value stay together, unless the value has a line of its own.
    let is_value = |space: &Break| !command[space.at + 1..].starts_with('-');
    let parts = breaks.iter().filter(|it| !is_value(it)).copied().collect::<Vec<_>>();
    let indent = " ".repeat(hang);
    let fits = |text: &str| text.lines().all(|line| columns(line) <= width);
    let padded = format!("{}{command}", " ".repeat(label));
    let shift = |breaks: &[Break]| {
        let moved = breaks.iter().map(|it| Break { at: it.at + label, ..*it });
        broken_at(&padded, &moved.collect::<Vec<_>>(), width, &indent)
    };
    let by_flag = shift(&parts);
    let text = if fits(&by_flag) { by_flag } else { shift(&breaks) };
    text[label..].into()
}

/// Returns the spaces at which a line may be broken. `span` is called with the position after a
/// backtick: it returns the position of the closing backtick, and true if the text in between is a
/// command that may be broken; `None` if the backtick opens no such text.
fn breaks(line: &str, span: impl Fn(usize) -> Option<(usize, bool)>) -> Vec<Break> {
    let (mut breaks, mut column, mut inside) = (Vec::new(), 0, None);
    for (at, it) in line.char_indices() {
        if inside.is_some_and(|(end, _)| at > end) {
            inside = None;
        }
        match it {
            ' ' if inside.is_none_or(|(_, breaks)| breaks)
                && !belongs(&line[..at], &line[at + 1..]) =>
            {
                breaks.push(Break { at, column, in_command: inside.is_some() });
            }
            // The backtick that ends a text begins none.
            '`' if inside.is_none() => inside = span(at + 1),
            _ => {}
        }
        column += it.width().unwrap_or(0);
    }
    breaks
}

/// Returns true if a line must not be broken between two words: a number and its percent sign, or a
/// flag and its value.
fn belongs(before: &str, after: &str) -> bool {
    let word = before.rsplit(' ').next().unwrap_or_default();
    let is_flag = word.starts_with("--") && word.ends_with(|it: char| it.is_ascii_alphanumeric());
    after.starts_with('%') || is_flag && !after.starts_with(['-', ' '])
}

/// Returns a line of output with line breaks at some of the spaces `breaks`, so that each part fits
/// the width of the terminal; `before` indents each part but the first.
fn broken_at(line: &str, breaks: &[Break], width: usize, before: &str) -> String {
    let hang = columns(before);
    if columns(line) <= width || width < hang + NARROWEST {
        return line.into();
    }
    // A break within the indentation would gain nothing.
    let text = line.len() - line.trim_start().len();
    let (mut fitted, mut from, mut least) = (String::new(), 0, text.max(hang.min(line.len())));
    loop {
        let rest = &line[from..];
        let (room, gone) = match from {
            0 => (width, 0),
            _ => (width - hang, columns(&line[..from])),
        };
        if columns(rest) <= room {
            return fitted + rest;
        }
        let mut spaces = breaks.iter().filter(|it| it.at > from + least);
        let fits = |it: &&Break| it.columns() - gone <= room;
        let last = spaces.clone().take_while(fits).last();
        let Some(space) = last.or_else(|| spaces.next()) else { return fitted + rest };
        fitted.push_str(line[from..space.at].trim_end());
        fitted.push_str(if space.in_command { CONTINUES } else { "" });
        fitted.push('\n');
        fitted.push_str(before);
        from = space.at + (line[space.at..].len() - line[space.at..].trim_start().len());
        least = 0;
    }
}

/// Returns the number of columns of a text on a terminal: two for a wide character, none for one
/// that joins another.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widest(text: &str) -> usize {
        text.lines().map(columns).max().unwrap()
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

    /// A wide character has two columns, and one that joins another has none.
    #[test]
    fn columns_are_those_of_a_terminal() {
        assert_eq!([columns("abc"), columns("\u{4e2d}"), columns("e\u{301}")], [3, 2, 1]);
        let text = wrapped(&"\u{4e2d}\u{6587} ".repeat(20), Some(30), 0);
        assert!(widest(&text) <= 30 && text.lines().count() == 4, "{text}");
    }

    #[test]
    fn a_command_in_a_sentence_stays_in_a_line() {
        let text =
            "for the rest of the numbers of this run, use `fowler run --full` or another one";
        for width in 30..90 {
            let fitted = wrapped(text, Some(width), 4);
            assert!(fitted.contains("`fowler run --full`"), "{width}: {fitted}");
            assert!(widest(&fitted) <= width, "{width}: {fitted}");
        }
        let long = "hint: use `fowler run --device a-drive.toml --trace a-trace.csv --full` then";
        let fitted = wrapped(long, Some(40), 4);
        assert!(widest(&fitted) <= 40, "{fitted}");
        let command = fitted.split('`').nth(1).unwrap();
        let words: Vec<&str> = command.split_whitespace().filter(|it| *it != "\\").collect();
        assert_eq!(words.join(" "), long.split('`').nth(1).unwrap());
        assert!(command.lines().rev().skip(1).all(|line| line.ends_with(" \\")), "{fitted}");
        // An unpaired backtick is a character like any other.
        let odd = format!("the ` alone {}", "and on ".repeat(10));
        assert!(widest(&wrapped(&odd, Some(40), 4)) <= 40);
    }

    #[test]
    fn a_number_keeps_its_percent_sign_and_a_flag_its_value() {
        let text =
            "for a drive that is steady, add --set precondition.pattern=steady to 18.1 % of all";
        for width in 45..90 {
            let fitted = wrapped(text, Some(width), 4);
            assert!(fitted.contains("--set precondition.pattern=steady"), "{width}: {fitted}");
            assert!(fitted.contains("18.1 %"), "{width}: {fitted}");
        }
    }

    #[test]
    fn lines_of_a_command_end_in_a_backslash_and_flags_keep_their_values() {
        let command = "fowler explain --device nvme-pm9a3 --trace 'it'\\''s a trace, mine.csv' \
                       --remap compact --slowest 5";
        for width in [50, 60, 80, 200] {
            let text = wrapped_command(command, Some(width), 10, 10);
            let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
            assert!(columns(first) + 10 <= width && rest.lines().all(|it| columns(it) <= width));
            assert!(text.contains(r"'it'\''s a trace, mine.csv'"), "{width}: {text}");
            assert!(!text.contains("--remap \\"), "{width}: {text}");
            let joined = text.replace("\\\n", "");
            let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
            assert_eq!(words(&joined), words(command), "{width}");
        }
        assert_eq!(wrapped_command(command, None, 10, 10), command);
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
