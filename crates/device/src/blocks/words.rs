//! 32-bit words of a saved state: the functions that write and read them, and lists of blocks or
//! superblocks among them.

/// A function that writes 32-bit words of a saved state. Its error is the reason why it cannot
/// write them.
pub type PutWords<'a> = &'a mut dyn FnMut(&[u32]) -> Result<(), String>;
/// A function that reads 32-bit words of a saved state into a slice. Its error is the reason why it
/// cannot read them.
pub type TakeWords<'a> = &'a mut dyn FnMut(&mut [u32]) -> Result<(), String>;

/// Reads a list of different blocks, or superblocks, all below `blocks`: their number, then each.
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

/// Returns the low and the high word of a 64-bit number.
pub fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Returns the 64-bit number of a low and a high word.
pub fn whole(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Number of 64-bit numbers of a saved state that are written or read in one call.
const AT_ONCE: usize = 1 << 12;

/// Writes 64-bit numbers, each as two words.
pub fn put_long(put: PutWords<'_>, numbers: &[u64]) -> Result<(), String> {
    for some in numbers.chunks(AT_ONCE) {
        let words: Vec<u32> = some.iter().flat_map(|&number| halves(number)).collect();
        put(&words)?;
    }
    Ok(())
}

/// Reads 64-bit numbers of a saved state, each stored as two 32-bit words, the low word first.
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
