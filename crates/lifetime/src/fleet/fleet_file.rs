//! Saves the drives of a fleet beside the checkpoint of their life: those of an unfinished fleet,
//! or the result of a shard.
//!
//! The file also contains the life ([`SavedLife`]), so that resuming does not simulate it again,
//! and shards can be merged without the drive, the workload and the trace.

use super::Fleet;
use super::draw::{Drawing, horizon};
use super::drawn_drives::{DrawnDrives, years};
use super::spec::{FleetSpec, check};
use crate::checkpoint::{CACHED, FINGERPRINT, into_cache};
use crate::saved_life::SavedLife;
use crate::{Early, Ended, Lifetime, LifetimeSpec, SaveTo, Watch, live};
use fowler_experiment::atomic_file::unwritable;
use fowler_experiment::device_spec;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::disk::{self, unreadable};
use fowler_experiment::provenance::{VERSION, bytes_hash, text_hash};
use fowler_experiment::sealed_file::{self, Kind, Refused, SealedFile};
use fowler_experiment::shard::Shard;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Kind and format version of the file with the drives sampled for a fleet; increment the version
/// when the contents change.
const KIND: Kind = Kind { name: "fleet", format: 2 };
/// Name, in a folder of results, of the file with the drives sampled for a fleet.
pub(super) const FLEET: &str = "lifetime.fleet";
/// The most drives that are drawn between two saves of the fleet file; drawing that many takes
/// seconds.
const EVERY_MOST: u64 = 4_000_000;

/// A shard of a fleet to draw, and the folder from which the drive's life is taken.
#[derive(Clone, Debug)]
pub struct ShardSpec {
    /// Number of the shard of the fleet (a part that is drawn on its own), and number of all
    /// shards.
    pub shard: Shard,
    /// Folder of another shard whose simulated life is reused; `None` simulates the life.
    pub life_of: Option<PathBuf>,
}

/// Result of drawing a shard of a fleet.
#[derive(Clone, Debug)]
pub enum ShardDrawn {
    /// All drives of this shard (part of a fleet) were sampled.
    Drawn {
        /// Number of drives in the shard.
        drives: usize,
        /// Number of drives that this run has drawn; 0 if all were drawn before.
        new: usize,
    },
    /// The drawing of the shard's drives was stopped before its end.
    Stopped {
        /// True if the drives sampled for the fleet so far, or a checkpoint of the simulated life,
        /// are saved to resume from.
        saved: bool,
    },
}

/// Contents of a fleet file besides the life and the drives: versions, specification and shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    /// Version of Fowler, and a hash of the simulator's sources.
    pub version: String,
    pub sources: String,
    /// Hash of the specification of the drive's life.
    asked: String,
    pub spec: FleetSpec,
    /// The shard (part of the fleet) that this fleet file holds; `None` for a whole fleet.
    pub shard: Option<Shard>,
}

/// Contents of a fleet file: the simulated life of one drive, and the drives of the fleet that were
/// sampled from it.
pub(super) struct Held {
    /// Hash of the drive's life and of the fleet's specification, equal in all shards of one fleet.
    pub identity: String,
    pub head: Head,
    pub life: SavedLife,
    pub drawn: DrawnDrives,
}

impl Held {
    pub fn shard(&self) -> Shard {
        self.head.shard.unwrap_or(Shard::WHOLE)
    }

    /// Returns the number of slots (each holds one drive at a time) of the fleet or shard that the
    /// file belongs to, whether their drives are sampled yet or not.
    pub fn places(&self) -> usize {
        self.shard().places(self.head.spec.drives).len()
    }

    pub fn is_whole(&self) -> bool {
        self.drawn.drives.len() == self.places()
    }

    /// Reads a fleet file, which holds the drives sampled for a fleet and the simulated life that
    /// they are sampled from.
    pub fn read(path: &Path) -> Result<Held, Refused> {
        let mut opened = sealed_file::inspect(path, KIND)?;
        let mut body = Vec::new();
        let read = opened.body.read_to_end(&mut body);
        let unreadable = |error| Refused::Other(Box::new(first(unreadable(path, &error))));
        read.map_err(unreadable)?;
        let held = postcard::from_bytes(&body).ok().map(|(head, life, drawn)| {
            let identity = opened.identity;
            Held { identity, head, life, drawn }
        });
        let sound = |it: &Held| {
            it.head.shard.is_none_or(Shard::is_valid)
                && check(&it.head.spec).0.is_empty()
                && it.drawn.drives.len() <= it.places()
        };
        held.filter(sound).ok_or_else(|| {
            let what = "is damaged: its contents do not describe a valid fleet of drives";
            Refused::Damaged(Box::new(Diagnostic::new(path.display().to_string(), what)))
        })
    }
}

/// Returns the first of the errors of reading or writing a fleet file; there is at least one.
fn first(diagnostics: Diagnostics) -> Diagnostic {
    diagnostics.0.into_iter().next().unwrap_or_else(|| Diagnostic::of("failed"))
}

/// Returns the path of the file with the drives sampled for a fleet: it lies beside the checkpoint
/// of the lifetime and has its name.
fn beside(checkpoint: &Path) -> PathBuf {
    let name = checkpoint.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".checkpoint").unwrap_or(&name);
    checkpoint.with_file_name(format!("{stem}.fleet"))
}

/// A report on the file with the drives sampled for a fleet, in a folder of results.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Path of the file with the drives sampled for a fleet.
    pub file: PathBuf,
    /// Description, in words, of the contents of a file of sampled drives; or the reason why the
    /// contents are lost.
    pub holds: Result<String, String>,
}

/// Examines the file with the drives sampled for a fleet, in a folder of results; `None` if there
/// is no such file.
///
/// # Errors
///
/// If the file cannot be read, or a newer version of Fowler wrote it.
pub fn examine(folder: &Path) -> Result<Option<Examined>, Diagnostics> {
    let file = folder.join(FLEET);
    if disk::facts(&file)?.is_none() {
        return Ok(None);
    }
    if let Some(what) = disk::no_file(&file)? {
        return Ok(Some(Examined { file, holds: Err(what.into()) }));
    }
    let holds = match Held::read(&file) {
        Ok(held) => {
            let (there, of) = (held.drawn.drives.len(), held.places());
            let part = match held.head.shard {
                Some(shard) => format!("shard {shard} of a fleet"),
                None => "an unfinished fleet".into(),
            };
            Ok(format!("{part}: {there} of {of} drives"))
        }
        Err(Refused::Damaged(why)) => Err(why.what),
        Err(Refused::Other(why)) => return Err((*why).into()),
    };
    Ok(Some(Examined { file, holds }))
}

/// Returns a hash of the specification of a drive's life, which is known before the life is
/// simulated.
fn asked(spec: &LifetimeSpec) -> Result<String, Diagnostics> {
    let source = spec.device.source()?;
    let scheme = spec.device.scheme(spec.scheme.as_deref())?;
    let drive = device_spec::resolve(&source, &scheme, &spec.device)?;
    let LifetimeSpec { dilation, check, close_up, limit, .. } = spec;
    let (hash, workload) = (&drive.hash, spec.workload.identity()?);
    // A life that is taken over brings its names along.
    let names = (&spec.device.device, &spec.scheme);
    Ok(text_hash(&format!(
        "{FINGERPRINT} {hash} {names:?} {workload} {dilation:?} {check} {close_up:?} {limit:?}"
    )))
}

/// The file in which the drives sampled for a fleet are saved, and the contents that it had before
/// this run.
struct Store<'a> {
    path: Option<PathBuf>,
    watch: Watch<'a>,
    /// True if the file with the drives sampled for the fleet is in the cache folder, so that it
    /// may be replaced or lost.
    cached: bool,
    head: Head,
    found: Option<Held>,
    /// True if the existing file of sampled drives belongs to the fleet being simulated.
    own: bool,
    /// True if the existing file of sampled drives belongs to another fleet and is replaced.
    replaced: bool,
}

impl<'a> Store<'a> {
    fn open(
        spec: &LifetimeSpec,
        fleet: &FleetSpec,
        shard: Option<Shard>,
        watch: Watch<'a>,
    ) -> Result<Store<'a>, Diagnostics> {
        let asked = if spec.checkpoint.is_anywhere() { asked(spec)? } else { String::new() };
        let path = match &spec.checkpoint {
            SaveTo::Nowhere => None,
            SaveTo::File(path) => Some(beside(path)),
            SaveTo::Cache(folder) => Some(folder.join(format!("{CACHED}{asked}-fleet"))),
        };
        let (version, sources) = (VERSION.into(), FINGERPRINT.into());
        let head = Head { version, sources, asked, spec: *fleet, shard };
        let cached = matches!(spec.checkpoint, SaveTo::Cache(_));
        let mut store =
            Store { path, watch, cached, head, found: None, own: false, replaced: false };
        store.look()?;
        Ok(store)
    }

    /// Reads the existing file with the drives sampled for a fleet. If it is damaged, the drives
    /// are sampled again.
    fn look(&mut self) -> Result<(), Diagnostics> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        let held = match disk::facts(&path) {
            Ok(None) => return Ok(()),
            Ok(Some(_)) => Held::read(&path),
            Err(_) if self.cached => return self.go_without(&path),
            Err(why) => return Err(why),
        };
        match held {
            Ok(held) => self.found = Some(self.suits(&path, held)?),
            Err(Refused::Damaged(why)) => {
                (self.watch.warn)(&format!("{} {}: drawn again", path.display(), why.what));
            }
            Err(Refused::Other(_)) if self.cached => return self.go_without(&path),
            Err(Refused::Other(why)) => return Err((*why).into()),
        }
        Ok(())
    }

    /// Stops saving the drives sampled for the fleet, because their file in the cache folder cannot
    /// be read.
    fn go_without(&mut self, path: &Path) -> Result<(), Diagnostics> {
        let path = path.display();
        (self.watch.warn)(&format!(
            "{path} cannot be read, so the drives sampled for this fleet are not saved in it"
        ));
        self.path = None;
        Ok(())
    }

    /// Refuses a file with the result of another shard, which must not be replaced.
    fn suits(&self, path: &Path, held: Held) -> Result<Held, Diagnostics> {
        let (there, own) = (&held.head, &self.head);
        let other = match (there.shard, own.shard) {
            (Some(there), None) => format!("holds shard {there} of a fleet"),
            (Some(there), Some(own)) if there != own => {
                format!("holds shard {there} and not {own}")
            }
            (Some(shard), Some(_)) if (&there.asked, there.spec) != (&own.asked, own.spec) => {
                let version = if there.sources == own.sources {
                    ""
                } else {
                    ", or was drawn by another version"
                };
                format!("holds shard {shard} of another fleet than this one{version}")
            }
            (None, Some(_)) => "holds a whole fleet that is not finished".into(),
            _ => return Ok(held),
        };
        let folder = path.parent().unwrap_or(path).display().to_string();
        let hint = "give every shard a folder of its own".to_string();
        Err(Diagnostic::new(folder, other).hint(hint).into())
    }

    /// Returns a saved life from which this fleet's drives can be sampled: that in the fleet file
    /// beside the lifetime's checkpoint if its specification is the same, else that in the fleet
    /// file of the folder `of`; `None` without such a folder.
    fn life(&self, of: Option<&Path>) -> Result<Option<Lifetime>, Diagnostics> {
        if let Some(found) = self.found.as_ref().filter(|it| it.head.asked == self.head.asked) {
            return found.life.clone().life().map(Some);
        }
        let Some(folder) = of else { return Ok(None) };
        let path = folder.join(FLEET);
        if disk::facts(&path)?.is_none() {
            let what = format!(
                "has no life for the fleet: {FLEET}, which holds the simulated life, is missing"
            );
            let diagnostic = Diagnostic::new(folder.display().to_string(), what);
            return Err(diagnostic
                .expected(
                    "the results folder of another shard of this fleet, with the life saved there",
                )
                .into());
        }
        let held = Held::read(&path).map_err(|refused| match refused {
            Refused::Damaged(why) | Refused::Other(why) => Diagnostics::from(*why),
        })?;
        if held.head.asked != self.head.asked {
            let what = "has the life of another drive, workload, dilation or version of Fowler \
                        than this fleet";
            return Err(Diagnostic::new(folder.display().to_string(), what).into());
        }
        held.life.life().map(Some)
    }

    /// Returns the drives of this fleet that an earlier call drew and saved in the fleet file
    /// (found beside the checkpoint); no drives if the file is missing or belongs to another fleet.
    fn drawn(&mut self, identity: &str, life: &Lifetime) -> DrawnDrives {
        let nothing = DrawnDrives::nothing(horizon(life));
        let Some(found) = self.found.take() else { return nothing };
        if found.identity == identity && found.drawn.by_year.len() == years(horizon(life)) {
            self.own = true;
            return found.drawn;
        }
        if let (Some(path), false) = (&self.path, self.cached) {
            self.replaced = true;
            (self.watch.warn)(&format!(
                "{} belongs to another fleet: this one is drawn from the beginning",
                path.display()
            ));
        }
        nothing
    }

    fn save(
        &mut self,
        identity: &str,
        life: &SavedLife,
        drawn: &DrawnDrives,
    ) -> Result<(), Diagnostics> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        match self.write(&path, identity, life, drawn) {
            Err(why) if self.cached => {
                let what = why.0.first().map_or("", |it| &it.what);
                let path = path.display();
                (self.watch.warn)(&format!("drives are not saved: {path} {what}"));
                (self.path, self.own) = (None, false);
            }
            written => {
                written?;
                self.own = true;
            }
        }
        Ok(())
    }

    fn write(
        &self,
        path: &Path,
        identity: &str,
        life: &SavedLife,
        drawn: &DrawnDrives,
    ) -> Result<(), Diagnostics> {
        if self.cached {
            into_cache(path)?;
        }
        let body = postcard::to_stdvec(&(&self.head, life, drawn)).expect("memory takes it");
        let mut file = SealedFile::create(path, KIND, identity)?;
        file.write_all(&body).map_err(|error| unwritable(path, &error))?;
        file.finish(path)
    }
}

/// Returns the hash that all shards of one fleet share: of the drive's life and the fleet's
/// specification.
fn identity(life: &SavedLife, fleet: &FleetSpec) -> String {
    let life = bytes_hash(&postcard::to_stdvec(life).expect("memory takes it"));
    text_hash(&format!("{FINGERPRINT} {life} {fleet:?}"))
}

/// Outcome of drawing a fleet of drives, or a shard (part) of it: all drives drawn, or stopped
/// before.
enum Came<'a> {
    Whole { life: Box<Lifetime>, drawn: DrawnDrives, new: usize, store: Box<Store<'a>> },
    Stopped { saved: bool },
}

/// Simulates the drive's life unless it is saved, and draws the drives that are missing.
fn go_on<'a>(
    spec: &LifetimeSpec,
    fleet: &FleetSpec,
    shard: Option<&ShardSpec>,
    watch: Watch<'a>,
) -> Result<Came<'a>, Diagnostics> {
    let mut store = Store::open(spec, fleet, shard.map(|it| it.shard), watch)?;
    // A life that has a checkpoint resumes from that, and removes it in the end.
    let saved = match spec.checkpoint.is_there() {
        true => None,
        false => store.life(shard.and_then(|it| it.life_of.as_deref()))?,
    };
    let life = match saved.map(Box::new) {
        Some(life) => life,
        None => match live(spec, watch)? {
            Ended::Lived(life) => life,
            Ended::Stopped { saved } => return Ok(Came::Stopped { saved }),
        },
    };
    let own = shard.map_or(Shard::WHOLE, |it| it.shard);
    (watch.early)(Early::Drawing { drives: own.places(fleet.drives).len() });
    let saved = SavedLife::of(&life);
    let identity = identity(&saved, fleet);
    let mut drawn = store.drawn(&identity, &life);
    let before = drawn.drives.len();
    let every = spec.checkpoint_every.clamp(1, EVERY_MOST);
    let drawing = Drawing { shard: own, control: watch.control, share: watch.share, every };
    let mut save = |drawn: &DrawnDrives| store.save(&identity, &saved, drawn);
    if !drawing.complete(&mut drawn, &life, fleet, &mut save)? {
        let saved = store.own || !life.checkpoints.is_empty();
        return Ok(Came::Stopped { saved });
    }
    let new = drawn.drives.len() - before;
    // A shard has no other result. A fleet that took long may yet be killed before it has its own.
    if (shard.is_some() && !store.own) || (store.own && new > 0) {
        store.save(&identity, &saved, &drawn)?;
    }
    Ok(Came::Whole { life, drawn, new, store: Box::new(store) })
}

/// Simulates a drive's life and draws a fleet of drives like it. Drawn drives are saved beside the
/// checkpoint of the life, at intervals and when stopped.
///
/// # Errors
///
/// As [`live`] and [`super::draw()`], or if the drives cannot be saved.
pub fn with_life(
    spec: &LifetimeSpec,
    fleet: &FleetSpec,
    watch: Watch<'_>,
) -> Result<Ended, Diagnostics> {
    Ok(match go_on(spec, fleet, None, watch)? {
        Came::Stopped { saved } => Ended::Stopped { saved },
        Came::Whole { mut life, drawn, store, .. } => {
            life.fleet = Some(Fleet::of(&life, fleet, drawn));
            let Store { path, own, replaced, .. } = *store;
            life.checkpoints.extend(path.filter(|_| own || replaced));
            Ended::Lived(life)
        }
    })
}

/// Samples the drives of one shard of a fleet, saves them in a file, and then removes the
/// checkpoint of the simulated life from which they were sampled. [`super::merge()`] joins the
/// shards.
///
/// # Errors
/// As [`with_life`], or if the folder has another shard.
pub fn draw_shard(
    spec: &LifetimeSpec,
    fleet: &FleetSpec,
    shard: &ShardSpec,
    watch: Watch<'_>,
) -> Result<ShardDrawn, Diagnostics> {
    Ok(match go_on(spec, fleet, Some(shard), watch)? {
        Came::Stopped { saved } => ShardDrawn::Stopped { saved },
        Came::Whole { life, drawn, new, .. } => {
            life.remove_checkpoint()?;
            ShardDrawn::Drawn { drives: drawn.drives.len(), new }
        }
    })
}
