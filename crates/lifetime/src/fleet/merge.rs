//! Merges the shards of a fleet into the fleet that one process would draw.

use super::Fleet;
use super::draw::horizon;
use super::drawn_drives::{DrawnDrives, years};
use super::fleet_file::{FLEET, Held};
use crate::Lifetime;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics, printable};
use fowler_experiment::disk;
use fowler_experiment::numbers::counted;
use fowler_experiment::sealed_file::Refused;
use fowler_experiment::shard::{Shard, ranges};
use fowler_experiment::workload::Control;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Means by which a caller follows and stops the merging of a fleet's shards (parts of the fleet
/// that were sampled separately).
#[derive(Clone, Copy)]
pub struct Merging<'a> {
    /// Set by the caller to stop merging the shards.
    pub control: Control<'a>,
    /// Called with the share (0 to 1) of the fleet's shards that have been read, after each shard.
    pub share: &'a (dyn Fn(f64) + Sync),
}

/// A shard of a fleet that was found in a folder.
struct Found {
    folder: PathBuf,
    held: Held,
}

/// Merges the shards of a fleet (parts that were sampled separately) in `folders`, in any order,
/// into a lifetime with the whole fleet. `None` if it was stopped.
///
/// # Errors
/// Everything that keeps the folders from being one fleet, at once: a folder without a shard,
/// shards of other fleets, versions or numbers, shards that are missing, there twice, damaged or
/// not finished.
pub fn merge(
    folders: &[PathBuf],
    watch: Merging<'_>,
) -> Result<Option<Box<Lifetime>>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut found = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        if watch.control.stopped() {
            return Ok(None);
        }
        let held = diagnostics.take(read(folder));
        found.extend(held.map(|held| Found { folder: folder.clone(), held }));
        (watch.share)((number + 1) as f64 / folders.len() as f64);
    }
    diagnostics.or(())?;
    one_fleet(&found)?;
    found.sort_by_key(|it| it.held.shard());
    let mut found = found.into_iter();
    let Some(Found { folder, held: Held { head, life, drawn, .. } }) = found.next() else {
        return Ok(None);
    };
    let mut life = Box::new(life.life()?);
    let mut all = DrawnDrives::nothing(horizon(&life));
    for next in std::iter::once(drawn).chain(found.map(|it| it.held.drawn)) {
        if next.by_year.len() != years(horizon(&life)) {
            let what = "is damaged: the years of its drives are not those of the simulated life";
            return Err(Diagnostic::new(folder.display().to_string(), what).into());
        }
        all.join(next);
    }
    life.fleet = Some(Fleet::of(&life, &head.spec, all));
    Ok(Some(life))
}

fn read(folder: &Path) -> Result<Held, Diagnostics> {
    let path = folder.join(FLEET);
    let refused = |what: String| Diagnostic::new(folder.display().to_string(), what);
    let expected = "a folder filled by `fowler lifetime ... --drives N --shard i/n --out DIR`";
    if disk::facts(&path)?.is_none() {
        let what = format!("is not the folder of a shard: {FLEET} is missing");
        return Err(refused(what).expected(expected).into());
    }
    let hint = "run the same shard again: it resumes".to_string();
    let held = match Held::read(&path) {
        Ok(held) => held,
        Err(Refused::Damaged(why)) => return Err(why.hint(hint).into()),
        Err(Refused::Other(why)) => return Err((*why).into()),
    };
    let Some(shard) = held.head.shard else {
        let what = "holds a whole fleet that is not finished, and no shard that could be merged"
            .to_string();
        return Err(refused(what).expected(expected).into());
    };
    if !held.is_whole() {
        let (there, of) = (held.drawn.drives.len(), held.places());
        let what = format!("is shard {shard}, and {there} of its {of} drives are drawn");
        return Err(refused(what).hint(hint).into());
    }
    Ok(held)
}

/// Checks that the shards are those of one fleet, each exactly once.
fn one_fleet(found: &[Found]) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let Some(first) = found.first() else { return Ok(()) };
    let (name, first_shard) = (first.folder.display(), first.held.shard());
    let mut numbers: BTreeMap<Shard, &Path> = BTreeMap::new();
    for Found { folder, held } in found {
        let (head, shard) = (&held.head, held.shard());
        let refused = |what: String| Diagnostic::new(folder.display().to_string(), what);
        if head.sources != first.held.head.sources {
            let [one, that] = [head, &first.held.head].map(|it| {
                let sources = it.sources.get(..8).unwrap_or(&it.sources);
                format!("{} ({})", printable(&it.version), printable(sources))
            });
            let what = format!(
                "has drives drawn by Fowler {one}, but those in {name} were drawn by Fowler \
                 {that}: different versions may draw different drives"
            );
            let hint = "draw all shards with one version of Fowler".to_string();
            diagnostics.push(refused(what).hint(hint));
        } else if head.spec != first.held.head.spec {
            let what = format!(
                "is of a fleet with other options (--drives and so on) than {name}: draw all \
                 shards with the same options"
            );
            diagnostics.push(refused(what));
        } else if held.identity != first.held.identity {
            let what = format!(
                "has drives drawn from another simulated life than {name}: draw all shards from one"
            );
            diagnostics.push(refused(what));
        } else if shard.of() != first_shard.of() {
            diagnostics.push(refused(format!("is shard {shard}, and {name} is {first_shard}")));
        } else if let Some(other) = numbers.insert(shard, folder) {
            diagnostics.push(refused(format!("is shard {shard}, as is {}", other.display())));
        }
    }
    let there: BTreeSet<u64> = numbers.keys().map(|it| it.number()).collect();
    // Shards that are refused are not missing as well.
    let missing: Vec<u64> = match diagnostics.0.is_empty() && there.len() as u64 != first_shard.of()
    {
        true => (1..=first_shard.of()).filter(|number| !there.contains(number)).collect(),
        false => Vec::new(),
    };
    if !missing.is_empty() {
        let (count, of) = (counted(missing.len() as u64, "shard"), first_shard.of());
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let what = format!("{count} of {of} {verb} missing: {}", ranges(&missing));
        diagnostics.push(
            Diagnostic::of(what)
                .expected(format!("the folders of all {of} shards (parts) of the fleet to merge")),
        );
    }
    diagnostics.or(())
}
