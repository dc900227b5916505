//! The rate at which a made drive saturates, by a short simulation, and the drive whose rate is the
//! one that its data sheet implies.

use super::medians::Medians;
use super::preset::{self, Made};
use super::sheet::Sheet;
use crate::protocol::{Addresses, Bench, Effort, Job, KERNEL, Length, Needs, State, StreamPlan};
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::image_cache::ImageCache;
use fowler_experiment::progress::Control;
use fowler_experiment::scheme::Scheme;
use fowler_metrics::Kind;

/// Threads of the load, requests in flight of each thread, and share of reads in the simulation
/// that finds the rate at which a drive made from a data sheet saturates. In saturated measurements
/// of latency under load, the probe's reads are 5 to 9 % of the requests.
const THREADS: usize = 6;
const DEPTH: u32 = 64;
const READS: f64 = 0.07;
/// Amount that is written in the simulation that finds the highest random write rate of a drive
/// made from a data sheet, in capacities of its scaled-down simulated drive, and the share (0 to 1)
/// of that amount after which writes are counted.
const TIMES: f64 = 0.7;
const COUNTED_FROM: f64 = 0.2;
/// Largest relative distance of the simulated write rate at saturation from the implied one that
/// ends the search for a spare capacity, and largest number of simulations in that search.
const WITHIN: f64 = 0.02;
const TRIES: usize = 3;

/// Returns a drive made from a data sheet, with the spare capacity at which its simulated rate of
/// random writes at saturation is nearest to the rate that the data sheet implies.
///
/// # Errors
/// If no drive follows from the numbers.
pub(super) fn drive(
    sheet: &Sheet,
    medians: &Medians,
    control: Control<'_>,
) -> Result<Made, Diagnostics> {
    let images = crate::protocol::images();
    let mut correction = 1.0;
    let mut made = preset::make(sheet, medians, correction);
    let mut drive = resolve(&made)?;
    let Some(target) = made.target else { return Ok(made) };
    let mut best: Option<(f64, Made)> = None;
    for _ in 0..TRIES {
        let Some(rate) = rate(&drive, &images, control) else { break };
        let off = rate / target;
        made.say_simulated(rate, target);
        let nearer = best.as_ref().is_none_or(|(least, _)| (off - 1.0).abs() < (least - 1.0).abs());
        if nearer {
            best = Some((off, made));
        }
        if (off - 1.0).abs() < WITHIN {
            break;
        }
        correction *= off;
        made = preset::make(sheet, medians, correction);
        // A spare capacity that no drive has: the nearest one stays.
        let Ok(next) = resolve(&made) else { break };
        drive = next;
    }
    Ok(best.map_or_else(|| made_without(sheet, medians), |(_, made)| made))
}

/// Returns the drive with the spare capacity that is computed from the data sheet, without a
/// simulation to correct it.
fn made_without(sheet: &Sheet, medians: &Medians) -> Made {
    let mut made = preset::make(sheet, medians, 1.0);
    made.say("no random writes were simulated: the spare capacity is the computed one".into());
    made
}

/// Returns the drive, with every configuration key, that the text of a drive file made from a data
/// sheet describes.
fn resolve(made: &Made) -> Result<Resolved, Diagnostics> {
    let spec = DeviceSpec {
        device: made.drive.model.clone(),
        text: Some(made.drive.text.clone()),
        ..DeviceSpec::default()
    };
    device_spec::resolve(&spec.source()?, &Scheme::none(), &spec)
}

/// Returns the random writes per second that a simulated drive completes at saturation, with 7 %
/// reads; `None` if the scaled-down drive cannot run the simulation, or if the user stopped it.
fn rate(drive: &Resolved, images: &ImageCache, control: Control<'_>) -> Option<f64> {
    let stream =
        StreamPlan { reads: READS, ..StreamPlan::writes(Addresses::Uniform, 4_096, DEPTH, KERNEL) };
    let job = Job {
        name: "saturation".into(),
        state: State::Steady,
        streams: vec![stream; THREADS],
        length: Length::Moved { times: TIMES, counted_from: COUNTED_FROM },
        needs: Needs::Blocks,
    };
    let bench = Bench::new(drive, Effort::BRIEF, images);
    let findings = bench.run(&job, control).ok()??;
    Some(findings.iops(None, Kind::Write, (COUNTED_FROM, 1.0)).value)
}
