//! Drives already drawn: those of the first places of the fleet or shard, so that drawing can
//! resume with the next.

use super::drive::{Drive, REPLACED_MOST, Replaced};
use super::laws::Laws;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::workload::Control;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Number of slots of the fleet that a thread draws at a time. A slot holds one drive and, one
/// after another, the drives that replace it.
const PIECE: u32 = 256;
/// Number of pieces (of [`PIECE`] slots of the fleet each) that each thread draws between two
/// reports of progress.
const AT_ONCE: usize = 8;

/// The drives of a fleet that are drawn so far, and counts of the drives that were replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct DrawnDrives {
    /// First drive in each slot of the fleet; a slot holds one drive and, one after another, the
    /// drives that replace it.
    pub drives: Vec<Drive>,
    /// Counts of the drives replaced in each year of the fleet.
    pub by_year: Vec<Replaced>,
    /// Counts of the drives replaced in all years.
    pub all: Replaced,
}

/// A part of a fleet that is being drawn.
pub(super) struct Part<'a> {
    pub laws: &'a Laws,
    pub places: Range<u32>,
    /// Time for which the drives of a fleet are sampled: the target lifetime, in years.
    pub horizon: f64,
    pub control: Control<'a>,
    /// Called with the share of this part of the fleet that is drawn, from 0 to 1.
    pub share: &'a (dyn Fn(f64) + Sync),
    /// Largest number of drives, replacements included, that are sampled for a fleet between two
    /// saves of its file.
    pub every: u64,
    pub save: &'a mut dyn FnMut(&DrawnDrives) -> Result<(), Diagnostics>,
}

/// The reason why a part of the fleet was not drawn.
enum Missing {
    Stopped,
    TooMany,
}

/// Returns the number of years in a lifetime of `horizon` years, of which the last may be a part of
/// a year.
pub(super) fn years(horizon: f64) -> usize {
    libm::ceil(horizon).max(1.0) as usize
}

impl DrawnDrives {
    pub fn nothing(horizon: f64) -> DrawnDrives {
        DrawnDrives { by_year: vec![Replaced::default(); years(horizon)], ..DrawnDrives::default() }
    }

    /// Appends the drives of the slots that follow those drawn so far.
    pub fn join(&mut self, next: DrawnDrives) {
        self.drives.extend(next.drives);
        self.all.join(next.all);
        self.by_year.iter_mut().zip(next.by_year).for_each(|(all, added)| all.join(added));
    }

    /// Draws the missing drives of a part of the fleet. Returns true if the part is complete; false
    /// if it was stopped, with the drives drawn so far saved.
    pub fn complete(&mut self, part: Part<'_>) -> Result<bool, Diagnostics> {
        let Part { laws, places, horizon, control, share, every, save } = part;
        let at_once = PIECE * (AT_ONCE * rayon::current_num_threads().min(1024)) as u32;
        let mut unsaved = 0;
        loop {
            let from = places.start + self.drives.len() as u32;
            if from >= places.end {
                share(1.0);
                return Ok(true);
            }
            if control.stopped() {
                save(self)?;
                return Ok(false);
            }
            let end = from.saturating_add(at_once).min(places.end);
            let starts: Vec<u32> = (from..end).step_by(PIECE as usize).collect();
            let piece =
                |&first: &u32| lived(laws, first..(first + PIECE).min(end), horizon, control);
            let pieces: Vec<_> = starts.par_iter().map(piece).collect();
            for piece in pieces {
                match piece {
                    Ok(piece) => {
                        unsaved += piece.drives.len() as u64 + piece.all.count;
                        self.join(piece);
                    }
                    Err(Missing::TooMany) => return Err(too_many(horizon)),
                    // Drives after a missing piece are not the next ones.
                    Err(Missing::Stopped) => break,
                }
            }
            share(self.drives.len() as f64 / places.len() as f64);
            if unsaved >= every {
                save(self)?;
                unsaved = 0;
            }
        }
    }
}

fn too_many(horizon: f64) -> Diagnostics {
    let what = format!(
        "a drive of the fleet is replaced more than {REPLACED_MOST} times in {horizon:.2} years"
    );
    let hint = "use fewer --years, or a load that the drive endures longer".to_string();
    Diagnostic::new("--drives", what).hint(hint).into()
}

/// Draws the drives of these slots of the fleet up to the horizon in years: in each slot, one drive
/// after another.
fn lived(
    laws: &Laws,
    places: Range<u32>,
    horizon: f64,
    control: Control<'_>,
) -> Result<DrawnDrives, Missing> {
    let mut piece = DrawnDrives::nothing(horizon);
    let mut counts = vec![0u32; piece.by_year.len()];
    piece.drives.reserve(places.len());
    for place in places {
        if control.stopped() {
            return Err(Missing::Stopped);
        }
        let mut rng = laws.stream(place);
        let mut of_blocks = laws.stream_of_blocks(place);
        let load = laws.load(&mut rng);
        counts.fill(0);
        let (mut age, mut number) = (0.0, 0);
        loop {
            let drive = laws.drive(load, &mut rng, &mut of_blocks);
            if number == 0 {
                piece.drives.push(drive);
            }
            age += drive.years();
            if age >= horizon {
                break;
            }
            number += 1;
            if number > REPLACED_MOST {
                return Err(Missing::TooMany);
            }
            counts[age as usize] += 1;
        }
        piece.all.add(number);
        piece.by_year.iter_mut().zip(&counts).for_each(|(all, &count)| all.add(count));
    }
    Ok(piece)
}
