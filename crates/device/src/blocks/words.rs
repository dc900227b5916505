//! The words of a saved state: their sink, their source, and lists of superblocks among them.

/// A sink for words. Its error is the reason why it cannot take them.
pub type PutWords<'a> = &'a mut dyn FnMut(&[u32]) -> Result<(), String>;
/// A source of words, which fills the slice. Its error is the reason why it cannot.
pub type TakeWords<'a> = &'a mut dyn FnMut(&mut [u32]) -> Result<(), String>;

/// Reads a list of different superblocks: how many, then each.
pub(super) fn list(take: TakeWords<'_>, superblocks: u32) -> Result<Vec<u32>, String> {
    let mut count = [0];
    take(&mut count)?;
    if count[0] > superblocks {
        return Err("it lists more superblocks than the drive has".into());
    }
    let mut all = vec![0; count[0] as usize];
    take(&mut all)?;
    let mut seen = vec![false; superblocks as usize];
    for &number in &all {
        match seen.get_mut(number as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err("it lists a superblock twice, or one that is not there".into()),
        }
    }
    Ok(all)
}
