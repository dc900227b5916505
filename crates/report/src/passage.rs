//! Passages: titled sentences that stand at the head of a page.

/// A passage of a page: paragraphs under a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Title of the passage.
    pub title: String,
    /// Paragraphs, each with the words that introduce it; these may be empty.
    pub paragraphs: Vec<(String, String)>,
}
