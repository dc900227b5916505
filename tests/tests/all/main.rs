//! The rules of the repository, in one program.

mod selections;
mod tidy;
mod wording;
