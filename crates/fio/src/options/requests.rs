//! Options that decide which requests there are.

use super::{Draft, Entry, flag, option};
use crate::grammar::{Value, Wrong};
use crate::job::*;

/// Largest size of a job's file, in bytes.
const LARGEST_FILE: u64 = i64::MAX as u64;
/// The largest request, in bytes. fio has no such limit; a request here has 32 bits.
const LARGEST: u64 = 1 << 31;

pub(super) const OPTIONS: &[Entry] = &[
    option(&["rw", "readwrite"], rw),
    option(&["rw_sequencer"], |draft, value| {
        let words = [("sequential", Sequencer::Sequential), ("identical", Sequencer::Identical)];
        draft.job.sequencer = value.word(&words)?;
        Ok(())
    }),
    option(&["bs", "blocksize"], |draft, value| {
        let sizes = value.by_direction(block)?;
        for (block, size) in draft.blocks.iter_mut().zip(sizes) {
            *block = size.unwrap_or(*block);
        }
        Ok(())
    }),
    option(&["bsrange", "blocksize_range"], |draft, value| {
        let ranges = value.by_direction(range)?;
        for (own, range) in draft.ranges.iter_mut().zip(ranges) {
            *own = range.or(*own);
        }
        Ok(())
    }),
    option(&["bssplit"], split),
    option(&["ba", "blockalign"], |draft, value| {
        let aligns = value.by_direction(block)?;
        for (own, align) in draft.aligns.iter_mut().zip(aligns) {
            *own = align.or(*own);
        }
        Ok(())
    }),
    flag(&["bs_unaligned", "blocksize_unaligned"], |draft, _| {
        draft.job.unaligned = true;
        Ok(())
    }),
    option(&["bs_is_seq_rand"], |draft, value| {
        draft.job.blocks_by_order = value.switch()?;
        Ok(())
    }),
    option(&["rwmixread"], |draft, value| {
        draft.job.mix_read = value.up_to(100)? as u32;
        Ok(())
    }),
    option(&["rwmixwrite"], |draft, value| {
        draft.job.mix_read = 100 - value.up_to(100)? as u32;
        Ok(())
    }),
    option(&["percentage_random"], |draft, value| {
        let shares = value.by_direction(|value| Ok(value.up_to(100)? as u32))?;
        for (own, share) in draft.job.percent_random.iter_mut().zip(shares) {
            *own = share.unwrap_or(*own);
        }
        Ok(())
    }),
    option(&["random_distribution"], distribution),
    option(&["random_generator"], |draft, value| {
        draft.job.generator = value.word(&[
            ("tausworthe", Generator::Taus88),
            ("tausworthe64", Generator::Taus258),
            ("lfsr", Generator::Lfsr),
        ])?;
        draft.job.generator_given = true;
        Ok(())
    }),
    option(&["randrepeat"], |draft, value| {
        draft.randrepeat = value.switch()?;
        draft.last_randrepeat = draft.randrepeat;
        Ok(())
    }),
    option(&["allrandrepeat"], |draft, value| {
        draft.job.all_repeatable = value.switch()?;
        draft.last_randrepeat = draft.job.all_repeatable;
        Ok(())
    }),
    option(&["randseed"], |draft, value| {
        draft.job.seed = Some(value.number()?);
        Ok(())
    }),
    flag(&["norandommap"], |draft, _| {
        draft.job.no_map = true;
        Ok(())
    }),
    // A map always fits into memory here.
    option(&["softrandommap"], |_, value| value.switch().map(drop)),
    option(&["size"], |draft, value| {
        draft.job.size = Some(value.size()?);
        Ok(())
    }),
    option(&["io_size", "io_limit"], |draft, value| {
        draft.job.io_size = Some(value.size()?);
        Ok(())
    }),
    option(&["filesize"], |draft, value| {
        let (least, most) = value.text.split_once('-').unwrap_or((value.text, value.text));
        let [least, most] = [least, most].map(|text| Value { text, ..value }.number());
        draft.job.file_size = Some((least?, most?));
        Ok(())
    }),
    option(&["offset"], |draft, value| {
        draft.job.offset = value.size()?;
        Ok(())
    }),
    option(&["offset_align"], |draft, value| {
        draft.job.offset_align = Some(value.number()?);
        Ok(())
    }),
    option(&["offset_increment"], |draft, value| {
        draft.job.offset_increment = value.size()?;
        Ok(())
    }),
    option(&["number_ios"], |draft, value| {
        draft.job.number_ios = value.number()?;
        Ok(())
    }),
    option(&["fill_device", "fill_fs"], |draft, value| {
        draft.job.fill_device = value.switch()?;
        Ok(())
    }),
    option(&["loops"], |draft, value| {
        draft.job.loops = value.count()?.max(1);
        Ok(())
    }),
    option(&["filename"], |draft, value| {
        draft.filename = Some(value.text.into());
        Ok(())
    }),
    option(&["directory"], |draft, value| {
        draft.directory = Some(value.text.into());
        Ok(())
    }),
    option(&["filename_format"], |draft, value| {
        draft.filename_format = value.text.into();
        Ok(())
    }),
    option(&["nrfiles", "nr_files"], |draft, value| {
        draft.nr_files = value.within(1, 1 << 20)? as u32;
        Ok(())
    }),
    option(&["file_service_type"], file_service),
    option(&["fsync"], |draft, value| {
        draft.job.fsync = value.count()?;
        Ok(())
    }),
    option(&["fdatasync"], |draft, value| {
        draft.job.fdatasync = value.count()?;
        Ok(())
    }),
    option(&["end_fsync"], |draft, value| {
        draft.job.end_fsync = value.switch()?;
        Ok(())
    }),
    option(&["fsync_on_close"], |draft, value| {
        draft.fsync_on_close = value.switch()?;
        Ok(())
    }),
    option(&["sync"], |draft, value| {
        let words = [("0", false), ("none", false), ("1", true), ("sync", true), ("dsync", true)];
        draft.job.durable_writes = value.word(&words)?;
        Ok(())
    }),
    option(&["writefua"], |draft, value| {
        draft.job.durable_writes |= value.switch()?;
        Ok(())
    }),
    option(&["zonemode"], |draft, value| {
        let mode = value.word(&[("none", Some(false)), ("strided", Some(true)), ("zbd", None)])?;
        let zbd = || Wrong::new("zoned block devices are not simulated", "none or strided");
        draft.zone_mode = Some(mode.ok_or_else(zbd)?);
        Ok(())
    }),
    option(&["zonesize"], |draft, value| {
        draft.zone_size = value.up_to(LARGEST_FILE)?;
        Ok(())
    }),
    option(&["zonerange"], |draft, value| {
        draft.zone_range = value.up_to(LARGEST_FILE)?;
        Ok(())
    }),
    option(&["zoneskip"], |draft, value| {
        draft.zone_skip = value.up_to(LARGEST_FILE)?;
        Ok(())
    }),
    option(&["verify"], verify),
    option(&["do_verify"], |draft, value| {
        draft.job.verify.read_back = value.switch()?;
        Ok(())
    }),
    flag(&["verify_only"], |draft, _| {
        draft.job.verify.only = true;
        Ok(())
    }),
    option(&["experimental_verify"], |draft, value| {
        draft.job.verify.repeats = value.switch()?;
        Ok(())
    }),
    option(&["verify_fatal"], |draft, value| {
        if value.switch()? {
            draft.notes.push("verify_fatal: wrong data is counted, and ends no job".into());
        }
        Ok(())
    }),
    option(&["verify_backlog"], |draft, value| {
        draft.job.verify.backlog = value.number()?;
        Ok(())
    }),
    option(&["verify_backlog_batch"], |draft, value| {
        draft.job.verify.backlog_batch = value.number()?;
        Ok(())
    }),
    option(&["read_iolog"], |draft, value| {
        draft.iolog = Some(value.text.into());
        Ok(())
    }),
    option(&["replay_no_stall"], |draft, value| {
        draft.replay.no_stall = value.switch()?;
        Ok(())
    }),
    option(&["replay_redirect"], |draft, value| {
        draft.replay.redirect = Some(value.text.into());
        Ok(())
    }),
    option(&["replay_scale"], |draft, value| {
        draft.replay.scale = value.count()?.max(1);
        Ok(())
    }),
    option(&["replay_align"], |draft, value| {
        draft.replay.align = value.count()?;
        Ok(())
    }),
    option(&["replay_skip"], |draft, value| {
        draft.replay.skip = skipped(value.text)?;
        Ok(())
    }),
    option(&["replay_time_scale"], |draft, value| {
        draft.replay.time_scale = value.within(1, u64::from(u32::MAX))? as u32;
        Ok(())
    }),
];

/// Parses the list of operations of a log that are left out (`replay_skip`).
fn skipped(text: &str) -> Result<Vec<Op>, Wrong> {
    let mut skipped = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word {
            "read" => skipped.push(Op::Read),
            "write" => skipped.push(Op::Write),
            "trim" => skipped.push(Op::Trim),
            "sync" => skipped.extend([Op::Sync, Op::DataSync]),
            _ => {
                return Err(Wrong::new(
                    format!("unknown value `{word}`"),
                    "read, write, trim, sync",
                ));
            }
        }
    }
    Ok(skipped)
}

const KINDS: [(&str, [bool; 4]); 12] = [
    ("read", [true, false, false, false]),
    ("write", [false, true, false, false]),
    ("trim", [false, false, true, false]),
    ("randread", [true, false, false, true]),
    ("randwrite", [false, true, false, true]),
    ("randtrim", [false, false, true, true]),
    ("rw", [true, true, false, false]),
    ("readwrite", [true, true, false, false]),
    ("randrw", [true, true, false, true]),
    ("trimwrite", [false, true, true, false]),
    ("randtrimwrite", [false, true, true, true]),
    ("write,trim", [false, true, true, false]),
];

fn rw(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    let (word, more) = match value.text.split_once(':') {
        Some((word, more)) => (word, Some(more)),
        None => (value.text, None),
    };
    let text = word.trim_end_matches(',');
    let [reads, writes, trims, random] = Value { text, ..value }.word(&KINDS)?;
    draft.job.kind = Kind { reads, writes, trims, random };
    (draft.job.sequential_run, draft.job.sequential_add) = (1, 0);
    let Some(more) = more else { return Ok(()) };
    let (negative, digits) = match more.trim().strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, more.trim()),
    };
    let number = Value { text: digits, ..value }.up_to(i64::MAX as u64)? as i64;
    if !random {
        draft.job.sequential_add = if negative { -number } else { number };
    } else if negative || number == 0 || number > i64::from(u32::MAX) {
        return Err(Wrong::new(
            format!("`{more}` is not a number of requests for rw=MODE:N"),
            "1 or more",
        ));
    } else {
        draft.job.sequential_run = number as u32;
    }
    Ok(())
}

fn block(value: Value<'_>) -> Result<u32, Wrong> {
    Ok(value.within(1, LARGEST)? as u32)
}

fn range(value: Value<'_>) -> Result<(u32, u32), Wrong> {
    let Some((least, most)) = value.text.split_once(['-', ':']) else {
        return block(value).map(|size| (size, size));
    };
    let [least, most] = [least, most].map(|text| block(Value { text, ..value }));
    let (least, most) = (least?, most?);
    Ok((least.min(most), least.max(most)))
}

/// Splits a value into the parts of reads, writes and trims: one for all, or the last for the rest.
fn parts<'a>(text: &'a str) -> Result<ByDirection<&'a str>, Wrong> {
    match *text.split(',').map(str::trim).collect::<Vec<&'a str>>() {
        [all] => Ok([all; 3]),
        [reads, writes] => Ok([reads, writes, writes]),
        [reads, writes, trims] => Ok([reads, writes, trims]),
        _ => Err(Wrong::new(
            format!("`{text}` has more than three comma-separated values"),
            "a value, or values for reads, writes and trims",
        )),
    }
}

fn split(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    for (index, part) in parts(value.text)?.into_iter().enumerate().filter(|it| !it.1.is_empty()) {
        let entries: Result<Vec<(u64, Option<u64>)>, Wrong> =
            part.split(':').map(|text| entry(Value { text, ..value }, LARGEST, 1)).collect();
        let mut split: Vec<SizeShare> = shared_out(&entries?)?
            .map(|(bytes, percent)| SizeShare { bytes: bytes as u32, percent })
            .collect();
        if split.iter().all(|entry| entry.percent == 0) {
            return Err(Wrong::new("no size has a share", "a share above 0, such as 4k/60:8k/40"));
        }
        split.sort_by_key(|entry| entry.percent);
        let sizes = || split.iter().map(|entry| entry.bytes);
        draft.ranges[index] = sizes().min().zip(sizes().max());
        draft.splits[index] = split;
    }
    Ok(())
}

/// Parses an item `size/percent` or `size` of a list of sizes.
fn entry(value: Value<'_>, most: u64, least: u64) -> Result<(u64, Option<u64>), Wrong> {
    let (size, share) = match value.text.split_once('/') {
        Some((size, share)) => (size, Some(share)),
        None => (value.text, None),
    };
    let size = Value { text: size, ..value }.within(least, most)?;
    let share = share.filter(|share| !share.is_empty());
    let share = share.map(|text| Value { text, ..value }.up_to(100)).transpose()?;
    Ok((size, share))
}

/// Divides the percentage that is left equally among the request sizes (in `bssplit`) without a
/// share.
fn shared_out(
    entries: &[(u64, Option<u64>)],
) -> Result<impl Iterator<Item = (u64, u32)> + '_, Wrong> {
    let given: u64 = entries.iter().filter_map(|(_, share)| *share).sum();
    let missing = entries.iter().filter(|(_, share)| share.is_none()).count() as u64;
    if given > 100 {
        return Err(Wrong::new(format!("the shares sum to {given} %"), "100 % at most"));
    }
    let each = (100 - given).checked_div(missing).unwrap_or(0);
    Ok(entries.iter().map(move |(size, share)| (*size, share.unwrap_or(each) as u32)))
}

fn distribution(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    let (word, rest) = match value.text.split_once(':') {
        Some((word, rest)) => (word, Some(rest)),
        None => (value.text, None),
    };
    let kinds = ["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"];
    let kind = Value { text: word, ..value }.word(&kinds.map(|word| (word, word)))?;
    let real = |default: f64, least, most| -> Result<(f64, Option<f64>), Wrong> {
        let mut numbers = rest.unwrap_or("").split(':').filter(|text| !text.is_empty());
        let read = |text, least, most| Value { text, ..value }.real(least, most);
        let shape = numbers.next().map_or(Ok(default), |text| read(text, least, most))?;
        let center = numbers.next().map(|text| read(text, 0.0, 1.0)).transpose()?;
        Ok((shape, center))
    };
    draft.job.distribution = match kind {
        "zipf" => {
            let (theta, center) = real(1.1, 0.0, 1000.0)?;
            if theta == 1.0 {
                return Err(Wrong::new(
                    "`zipf` has no exponent of 1",
                    "another exponent, such as 1.1",
                ));
            }
            Distribution::Zipf { theta, center }
        }
        "pareto" => {
            let (h, center) = real(0.2, 0.0, 1.0)?;
            if h == 0.0 || h == 1.0 {
                return Err(Wrong::new("the skew is out of range", "above 0 and below 1"));
            }
            Distribution::Pareto { h, center }
        }
        "normal" => {
            let (deviation, center) = real(0.0, 0.0, 100.0)?;
            Distribution::Normal { deviation, center }
        }
        "zoned" => Distribution::Zoned(zones(value, rest, 100)?),
        "zoned_abs" => Distribution::ZonedBytes(zones(value, rest, u64::MAX)?),
        _ => Distribution::Uniform,
    };
    Ok(())
}

/// Parses zones `percent/size:percent/size`, for each direction.
fn zones(value: Value<'_>, rest: Option<&str>, most: u64) -> Result<ByDirection<Vec<Zone>>, Wrong> {
    let expected = "shares and sizes, such as zoned:60/10:40/90";
    let rest = rest.ok_or_else(|| Wrong::new("the zones are missing", expected))?;
    let mut all: ByDirection<Vec<Zone>> = [const { Vec::new() }; 3];
    for (own, part) in all.iter_mut().zip(parts(rest)?).filter(|(_, part)| !part.is_empty()) {
        for text in part.split(':') {
            let Some((share, size)) = text.split_once('/') else {
                return Err(Wrong::new(format!("`{text}` is no zone"), expected));
            };
            let percent = Value { text: share, ..value }.up_to(100)? as u32;
            let size = match size.trim_end_matches('%') {
                // A zone without a size takes the rest of the file.
                "" if most == 100 => 100 - own.iter().map(|zone| zone.size).sum::<u64>().min(100),
                text => Value { text, ..value }.up_to(most)?,
            };
            own.push(Zone { percent, size });
        }
        let share: u32 = own.iter().map(|zone| zone.percent).sum();
        if share != 100 {
            return Err(Wrong::new(
                format!("the shares of the zones sum to {share} %, not to 100 %"),
                "100 %",
            ));
        }
        let size = own.iter().fold(0_u64, |sum, zone| sum.saturating_add(zone.size));
        if most == 100 && size > 100 {
            return Err(Wrong::new(format!("the zones sum to {size} %"), "100 % at most"));
        }
        if size > LARGEST_FILE {
            return Err(Wrong::new("the zones are too large together", "less than 2^63 bytes"));
        }
    }
    Ok(all)
}

fn file_service(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    let (word, run) = match value.text.split_once(':') {
        Some((word, run)) => (word, Some(run)),
        None => (value.text, None),
    };
    draft.job.file_service = Value { text: word, ..value }.word(&[
        ("roundrobin", FileService::RoundRobin),
        ("random", FileService::Random),
        ("sequential", FileService::Sequential),
    ])?;
    let run = run.map(|text| Value { text, ..value }.within(1, u64::from(u32::MAX))).transpose()?;
    draft.job.file_service_run = run.unwrap_or(1) as u32;
    Ok(())
}

fn verify(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    const CHECKS: [(&str, bool); 26] = [
        ("0", false),
        ("none", false),
        ("md5", true),
        ("crc64", true),
        ("crc32", true),
        ("crc32c", true),
        ("crc32c-intel", true),
        ("crc16", true),
        ("crc7", true),
        ("sha1", true),
        ("sha256", true),
        ("sha512", true),
        ("sha3-224", true),
        ("sha3-256", true),
        ("sha3-384", true),
        ("sha3-512", true),
        ("xxhash", true),
        ("meta", true),
        ("pattern", true),
        ("pattern_hdr", true),
        ("null", true),
        ("crc64-nvme", true),
        ("str", true),
        ("1", true),
        ("hdr_only", true),
        ("header", true),
    ];
    let (text, _) = value.text.split_once(':').unwrap_or((value.text, ""));
    draft.job.verify.on = Value { text, ..value }.word(&CHECKS)?;
    Ok(())
}
