//! Results for people: pages, verdicts in sentences, differences between results, answers about a
//! trace, and the models of flash cells as tables and curves.
//!
//! **Owns** how results read: the charts, the tables and the words of a page, and every sentence
//! about runs. **May touch** outcomes, which it only reads, folders of results, and the files that
//! it is asked to write. Only `ask` runs anything. Lives, standards and real drives are above it:
//! they give it their tables and figures, and `ask` is given what it needs of long use.
//!
//! - [`verdict`]: what runs say, in sentences.
//! - [`diff`]: how two results differ, and why.
//! - [`passage`]: titled sentences for the head of a page.
//! - `pages`, `figures_folder`: report pages, and folders of tables and figures (feature `pages`).
//! - [`cell_models`]: the models of cells.
//! - [`ask`]: from a trace to four answers.

pub mod ask;
pub mod cell_models;
pub mod diff;
#[cfg(feature = "pages")]
pub mod figures_folder;
#[cfg(feature = "pages")]
pub mod pages;
pub mod passage;
pub mod verdict;
