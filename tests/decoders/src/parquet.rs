//! Decoder of Parquet files of rows.

use crate::point::WHOLE;
use crate::refused_in_words;
use fowler_columns::reread;

/// The rows of an accepted file, written as a file, read back the same.
pub fn check(input: &[u8]) -> bool {
    match reread(input.to_vec()) {
        Err(why) => refused_in_words(&why),
        Ok(file) => {
            assert!(reread(file.clone()) == Ok(file), "the same rows in the same bytes");
            true
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let parquet = WHOLE.files.iter().filter(|(path, _)| path.ends_with(".parquet"));
    parquet.map(|(_, bytes)| bytes.clone()).collect()
}
