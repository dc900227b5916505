//! The words of a saved state: their sink, their source, and lists of blocks or superblocks among
//! them.

/// A sink for words. Its error is the reason why it cannot take them.
pub type PutWords<'a> = &'a mut dyn FnMut(&[u32]) -> Result<(), String>;
/// A source of words, which fills the slice. Its error is the reason why it cannot.
pub type TakeWords<'a> = &'a mut dyn FnMut(&mut [u32]) -> Result<(), String>;

/// Reads a list of different blocks, or superblocks, of `blocks` in all: how many, then each.
pub fn list(take: TakeWords<'_>, blocks: u32) -> Result<Vec<u32>, String> {
    let mut count = [0];
    take(&mut count)?;
    if count[0] > blocks {
        return Err("it lists more blocks than the drive has".into());
    }
    let mut all = vec![0; count[0] as usize];
    take(&mut all)?;
    let mut seen = vec![false; blocks as usize];
    for &number in &all {
        match seen.get_mut(number as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err("it lists a block twice, or one that is not there".into()),
        }
    }
    Ok(all)
}

/// Returns the low and the high word of a number.
pub fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Returns the number of a low and a high word.
pub fn whole(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Numbers passed on or read at once.
const AT_ONCE: usize = 1 << 12;

/// Passes on numbers of two words each.
pub fn put_long(put: PutWords<'_>, numbers: &[u64]) -> Result<(), String> {
    for some in numbers.chunks(AT_ONCE) {
        let words: Vec<u32> = some.iter().flat_map(|&number| halves(number)).collect();
        put(&words)?;
    }
    Ok(())
}

/// Reads numbers of two words each.
pub fn take_long(take: TakeWords<'_>, numbers: &mut [u64]) -> Result<(), String> {
    let mut words = vec![0; 2 * AT_ONCE.min(numbers.len())];
    for some in numbers.chunks_mut(AT_ONCE) {
        let words = &mut words[..2 * some.len()];
        take(words)?;
        let (pairs, _) = words.as_chunks::<2>();
        some.iter_mut().zip(pairs).for_each(|(number, &[low, high])| *number = whole(low, high));
    }
    Ok(())
}
