//! How fast each reader is, in megabytes of text per second on one core, from text to `HostIo`:
//! `cargo run --release -p fowler-workload --example read_speed`.

use fowler_units::Rng;
use fowler_workload::{Format, ReadOptions, TraceReader};
use std::fmt::Write;
use std::io::Cursor;
use std::time::Instant;

/// Lines of each synthetic text.
const LINES: u64 = 2_000_000;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 3;

fn text(format: Format) -> String {
    let mut rng = Rng::stream(1, format.name());
    let mut text = String::new();
    match format {
        Format::Native => text += "at_ns,op,offset,size\n",
        Format::Systor17 => text += "Timestamp,Response,IOType,LUN,Offset,Size\n",
        _ => {}
    }
    let mut at = 128_166_385_295_514_663u64 * u64::from(format == Format::Msr);
    for _ in 0..LINES {
        at += rng.below(200_000);
        let (read, sector, pages) = (rng.chance(0.6), rng.below(1 << 28), 1 + rng.below(16));
        let code = u8::from(read);
        let (whole, fraction) = (at / 1_000_000, at % 1_000_000);
        let bytes = pages * 4096;
        match format {
            Format::Native => {
                let op = if read { "read" } else { "write" };
                writeln!(text, "{at},{op},{},{bytes}", sector * 512)
            }
            Format::Spc => {
                let op = if read { 'r' } else { 'w' };
                writeln!(text, "0,{sector},{bytes},{op},{whole}.{fraction:06}")
            }
            Format::Msr => {
                let op = if read { "Read" } else { "Write" };
                writeln!(text, "{at},hm,0,{op},{},{bytes},{}", sector * 512, rng.below(9999))
            }
            Format::Mqsim | Format::SsdsimNs | Format::SsdsimUs => {
                writeln!(text, "{at} 0 {sector} {} {code}", pages * 8)
            }
            Format::SsdsimDigest => {
                writeln!(text, "{at} 0 {sector} {} {code} {:0256x}", pages * 8, rng.bits())
            }
            Format::Disksim => {
                writeln!(text, "{whole}.{fraction:06} 0 {sector} {} {code}", pages * 8)
            }
            Format::Flashsim => {
                writeln!(text, "{whole}.{fraction:06}\t0\t{sector}\t{pages}\t{code}")
            }
            Format::Blkparse => writeln!(
                text,
                "259,2    0 {at:8} {:5}.{:09}  4020  Q   R {sector} + {} [java]",
                at / 1_000_000_000,
                at % 1_000_000_000,
                pages * 8
            ),
            Format::Systor17 => {
                let (op, offset) = (if read { 'R' } else { 'W' }, sector * 512);
                writeln!(text, "{whole}.{fraction:06}000,0.000806000,{op},0,{offset},{bytes}")
            }
            Format::Alibaba => {
                let op = if read { 'R' } else { 'W' };
                writeln!(text, "419,{op},{},{bytes},{at}", sector * 512)
            }
            Format::FlashsimBytes => {
                writeln!(text, "{whole}.{:03} 0 {} {bytes} {code}", fraction / 1000, sector * 512)
            }
        }
        .expect("a string takes any text");
    }
    text
}

#[allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement needs the clock and a place to say what it found"
)]
fn main() {
    for &format in Format::ALL {
        let text = text(format);
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let stream = Box::new(Cursor::new(text.clone()));
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            let start = Instant::now();
            let reader = TraceReader::from_stream("text", stream, &options).expect("readable text");
            let sum = reader.fold(0u64, |sum, request| {
                sum ^ request.expect("a valid text").offset.rotate_left(1)
            });
            std::hint::black_box(sum);
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{:14} {:6.0} MB/s  {:5.1} ns per request",
            format.name(),
            text.len() as f64 / best / 1e6,
            best * 1e9 / LINES as f64
        );
    }
}
