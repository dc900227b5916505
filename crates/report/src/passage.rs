//! Passages: titled sentences that stand at the head of a page.

/// Titled paragraphs at the head of an HTML report page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Title above the paragraphs of this passage at the head of an HTML report page.
    pub title: String,
    /// Paragraphs at the head of an HTML report page, each with introductory words, which may be
    /// empty.
    pub paragraphs: Vec<(String, String)>,
}
