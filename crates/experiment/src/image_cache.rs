//! A cache of preconditioned drives: runs with the same initial state share one.

use crate::image_store;
use fowler_device::{Config, Device, PreconditionWatch, PreconditionedImage, Refusal, Superblocks};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A cached preconditioned drive: the first user computes it while others wait; `None` if the
/// computation was stopped.
type State = OnceLock<Result<Option<Image>, Vec<Refusal>>>;

/// Preconditioned data of a drive, by kind of mapping.
#[derive(Debug)]
enum Image {
    Pages(Box<PreconditionedImage>),
    Superblocks(Box<Superblocks>),
}

/// The preconditioned drives held in memory, each with its configuration, least recently used
/// first.
#[derive(Debug)]
pub struct ImageCache {
    states: Mutex<Vec<(Config, Arc<State>)>>,
    most: usize,
}

impl Default for ImageCache {
    /// Returns a cache that holds any number of preconditioned drives.
    fn default() -> ImageCache {
        ImageCache::of(usize::MAX)
    }
}

impl ImageCache {
    /// Returns a cache of at most `most` preconditioned drives, which evicts the least recently
    /// used one.
    pub fn of(most: usize) -> ImageCache {
        ImageCache { states: Mutex::default(), most }
    }

    /// Returns the preconditioned drive of `config`, at time zero. `None` if preconditioning was
    /// stopped; do not use the cache after that.
    pub fn device(
        &self,
        config: &Config,
        watch: PreconditionWatch<'_>,
    ) -> Result<Option<Device>, Vec<Refusal>> {
        let image = || image_store::image(config, watch);
        let image = || Ok(image()?.map(|image| Image::Pages(Box::new(image))));
        match self.state(config).get_or_init(image) {
            Ok(Some(Image::Pages(image))) => image.device_watched(config, watch),
            Ok(Some(Image::Superblocks(_))) => {
                unreachable!("drives with the same aging have the same mapping")
            }
            Ok(None) => Ok(None),
            Err(refusals) => Err(refusals.clone()),
        }
    }

    /// Returns the preconditioned drive of `config`, which has superblocks, from the cache if it
    /// has been created before. `None` if preconditioning was stopped.
    pub fn superblocks(
        &self,
        config: &Config,
        watch: PreconditionWatch<'_>,
    ) -> Result<Option<Superblocks>, Vec<Refusal>> {
        let image = || image_store::image(config, watch);
        let image = || Ok(image()?.map(|image| Image::Superblocks(Box::new(image))));
        match self.state(config).get_or_init(image) {
            Ok(Some(Image::Superblocks(image))) => image.with_data_for(config).map(Some),
            Ok(Some(Image::Pages(_))) => {
                unreachable!("drives with the same aging have the same mapping")
            }
            Ok(None) => Ok(None),
            Err(refusals) => Err(refusals.clone()),
        }
    }

    fn state(&self, config: &Config) -> Arc<State> {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let found = states.iter().position(|(other, _)| config.ages_like(other));
        let entry = match found {
            Some(index) => states.remove(index),
            None => (config.clone(), Arc::new(State::new())),
        };
        let state = Arc::clone(&entry.1);
        states.push(entry);
        if states.len() > self.most {
            states.remove(0);
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_spec::{DeviceSpec, resolve};
    use crate::scheme::Scheme;
    use fowler_device::Pattern::{Random, Rested, Sequential, Steady};
    use std::sync::atomic::AtomicBool;

    fn drive(fill: &str) -> Config {
        let small = ["geometry.blocks_per_plane=64", "gc.background_below=12"].map(String::from);
        let set = [&small[..], &[format!("precondition.fill={fill}")]].concat();
        let spec = DeviceSpec { device: "pes-slc".into(), set, ..DeviceSpec::default() };
        resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap().config
    }

    #[test]
    fn a_full_cache_forgets_what_nobody_asked_for_the_longest() {
        let [a, b, c] = ["0.1", "0.2", "0.3"].map(drive);
        let images = ImageCache::of(2);
        let first = Arc::as_ptr(&images.state(&a));
        images.state(&b);
        assert_eq!(Arc::as_ptr(&images.state(&a)), first, "it is cached");
        images.state(&c);
        let cached = |config: &Config| {
            let states = images.states.lock().unwrap();
            states.iter().any(|(other, _)| config.ages_like(other))
        };
        assert_eq!([&a, &b, &c].map(cached), [true, false, true]);
        let stop = AtomicBool::new(false);
        let watch = PreconditionWatch { stop: &stop, progress: &|_| () };
        let anew = images.device(&b, watch).unwrap().expect("nobody stopped it");
        let fresh = Device::new(&b).unwrap();
        assert_eq!(anew.preconditioned().to_string(), fresh.preconditioned().to_string());
        assert_eq!(images.states.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_state_that_is_stopped_is_no_drive() {
        let stop = AtomicBool::new(true);
        let watch = PreconditionWatch { stop: &stop, progress: &|_| () };
        for pattern in [Sequential, Random, Steady, Rested] {
            let images = ImageCache::default();
            let mut config = drive("0.5");
            config.precondition.pattern = pattern;
            assert!(images.device(&config, watch).unwrap().is_none(), "{pattern:?}");
        }
    }
}
