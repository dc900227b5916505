//! The configurations and the workload of a page, to read and to download.
//!
//! The drives of a comparison differ in a few keys. The page has the first complete, and of each
//! other one only the lines that the first lacks; its script puts the complete file together.

use fowler_experiment::device_spec::{Axis, Resolved};
use fowler_experiment::outcome::Outcome;
use serde::Serialize;

/// A text on an HTML page, such as a configuration, to view and download.
pub struct Text {
    pub title: String,
    pub file: String,
    pub text: String,
    /// Texts similar to this text of the HTML page of the results, such as configurations of other
    /// drives. They can be downloaded, but the page does not show them.
    pub others: Vec<Other>,
}

/// A text that resembles another one on the page, and is stored as the difference to it.
pub struct Other {
    pub file: String,
    /// JSON description of a text that is similar to another one on the HTML page, as a list of
    /// pieces: runs of lines of that other text, and lines that only the described text has.
    pub delta: String,
}

/// Piece of a text on an HTML report page (such as a configuration) that is stored as its
/// difference from a similar text on that page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Piece {
    /// Consecutive lines that this text shares with the text from which it is stored as a
    /// difference (such as the configuration of another drive): index of the first line there, from
    /// 0, and number of lines.
    Lines(usize, usize),
    /// A line of this text that the text from which it is stored as a difference does not have.
    Own(String),
}

/// Returns the texts for the page of these runs: the complete configurations and the complete
/// description of the workload.
pub fn of(outcomes: &[Outcome]) -> Vec<Text> {
    let mut names: Vec<String> = Vec::new();
    for outcome in outcomes {
        let name = file_name(outcome.drive.label());
        // Two files of the same name in different folders.
        let taken = names.contains(&name);
        names.push(if taken { format!("{name}-{}", names.len() + 1) } else { name });
    }
    let Some(first) = outcomes.first() else { return Vec::new() };
    let file = |place: usize| format!("{}.toml", names[place]);
    let other = |(place, outcome): (usize, &Outcome)| Other {
        file: file(place),
        delta: serde_json::to_string(&delta(&first.drive.text, &outcome.drive.text))
            .expect("lines are text"),
    };
    let mut texts = vec![Text {
        title: match first.drive.axis() {
            Axis::Schemes => {
                format!("The drive {}, as a complete device file", first.drive.place())
            }
            Axis::Devices => format!("{}, as a complete device file", first.drive.label()),
        },
        file: file(0),
        text: first.drive.text.clone(),
        others: outcomes.iter().enumerate().skip(1).map(other).collect(),
    }];
    texts.extend(first.workload.generator.clone().map(|text| Text {
        title: "The workload".into(),
        file: "workload.toml".into(),
        text,
        others: Vec::new(),
    }));
    texts
}

/// Returns the complete configuration of a drive as a text on a page.
pub fn of_drive(drive: &Resolved) -> Text {
    Text {
        title: "The drive, as a complete device file".into(),
        file: format!("{}.toml", file_name(&drive.scheme)),
        text: drive.text.clone(),
        others: Vec::new(),
    }
}

/// Returns `text` in pieces: runs of lines that it shares with the similar text `base`, and lines
/// of its own.
fn delta(base: &str, text: &str) -> Vec<Piece> {
    let base: Vec<&str> = base.split('\n').collect();
    let mut pieces: Vec<Piece> = Vec::new();
    for line in text.split('\n') {
        // The line after the last one that was taken, if it is the same.
        if let Some(Piece::Lines(from, count)) = pieces.last_mut()
            && base.get(*from + *count) == Some(&line)
        {
            *count += 1;
            continue;
        }
        // A table's head is where the texts meet again after lines that only one of them has.
        let known = base.iter().position(|base_line| *base_line == line && !line.is_empty());
        pieces.push(known.map_or_else(|| Piece::Own(line.into()), |from| Piece::Lines(from, 1)));
    }
    pieces
}

/// Returns the file name of the configuration of a drive under a scheme: `dir/x.toml+rps` becomes
/// `x+rps`.
fn file_name(scheme: &str) -> String {
    let part = |part: &str| {
        let name = part.rsplit(['/', '\\']).next().unwrap_or(part);
        name.strip_suffix(".toml").unwrap_or(name).to_string()
    };
    scheme.split('+').map(part).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts a text together from its pieces, as the script of the page does.
    fn together(base: &str, pieces: &[Piece]) -> String {
        let base: Vec<&str> = base.split('\n').collect();
        let lines = pieces.iter().flat_map(|piece| match piece {
            Piece::Lines(from, count) => base[*from..from + count].to_vec(),
            Piece::Own(line) => vec![line.as_str()],
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_text_is_whole_again_and_its_pieces_are_few() {
        let base = "seed = 1\n\n[gc]\nbelow = 8\n\n[policy.wear]\nname = \"off\"\nd = 10\n";
        for (text, pieces) in [
            (base.to_string(), 1),
            (base.replace("off", "swap"), 3),
            (base.replace("below = 8\n", ""), 3),
            (base.replace("[gc]", "x = 1\n\n[gc]"), 4),
            (base.replace("seed = 1", "seed = 2"), 3),
            (String::new(), 1),
            ("\n\n".into(), 3),
        ] {
            let delta = delta(base, &text);
            assert_eq!(together(base, &delta), text);
            assert_eq!(delta.len(), pieces, "{text:?}: {delta:?}");
        }
    }

    #[test]
    fn what_is_downloaded_has_one_ending() {
        for (scheme, file) in [
            ("rps", "rps"),
            ("x.toml", "x"),
            ("my/x.toml+rps", "x+rps"),
            ("a/x.toml+b/y.toml", "x+y"),
        ] {
            assert_eq!(file_name(scheme), file);
        }
    }
}
