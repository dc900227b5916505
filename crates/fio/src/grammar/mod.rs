//! The grammar of a job file: sections, lines, comments, included files, variables, and the values
//! of options.

mod arithmetic;
mod lines;
mod value;

pub(crate) use lines::{Given, Section, read};
pub(crate) use value::{Value, Wrong, is_misleading};

/// Returns the known word (such as the name of a fio option) that `text` misspells by at most two
/// edits, the nearest of `words`; `None` if none is so near.
pub(crate) fn nearest<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const EDITS: usize = 2;
    // The distance takes quadratic time, and is at least the difference of the lengths.
    let length = text.chars().count();
    words
        .into_iter()
        .filter(|word| word.len().abs_diff(length) <= EDITS)
        .map(|word| (strsim::damerau_levenshtein(word, text), word))
        .filter(|&(distance, word)| distance <= EDITS && distance < word.len())
        .min()
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelled_word_is_near() {
        let words = ["rw", "iodepth", "iodepth_low", "bs"];
        for (text, expected) in [
            ("iodetph", Some("iodepth")),
            ("iodepth_lo", Some("iodepth_low")),
            ("iodept", Some("iodepth")),
            ("r", Some("rw")),
            // A word of two letters has no letter left after two edits.
            ("xy", None),
            ("depth", Some("iodepth")),
            ("pth", None),
            ("", None),
            (&"x".repeat(1 << 20), None),
        ] {
            assert_eq!(nearest(text, words), expected, "{:.20}", text);
        }
    }
}
