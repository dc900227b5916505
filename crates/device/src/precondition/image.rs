//! A preconditioned drive, to begin many runs from: ageing one takes longer than many a run.

use crate::config::layout::Refusal;
use crate::config::{BufferConfig, Config};
use crate::core::Core;
use crate::gc::Gc;
use crate::policy::placement;
use crate::precondition::{Preconditioned, UNWATCHED, Watch};

/// Where the data of a drive lie after preconditioning, before anything happened.
#[derive(Clone, Debug)]
pub struct PreconditionedImage {
    config: Config,
    core: Core,
    gc: Gc,
    preconditioned: Preconditioned,
}

impl Config {
    /// Whether preconditioning leaves the data of both where they lie alike: they may differ in
    /// nothing that it looks at. Die order, suspension, operating times, queues, the link and how
    /// the buffer answers may differ; so may what is made of kinds of data and of blocks
    /// (preconditioning writes plain data into blocks that are all alike), but for the reserve of
    /// open blocks that it takes.
    pub fn ages_like(&self, other: &Config) -> bool {
        let open = |its: &Config| its.placement.streams(its.hotness.tags());
        let alike = Config {
            timing: other.timing,
            program_erase: other.program_erase,
            queue: other.queue,
            host: other.host,
            buffer: BufferConfig { size: self.buffer.size, ..other.buffer },
            unwritten_reads: other.unwritten_reads,
            partial_writes: other.partial_writes,
            die_order: other.die_order,
            suspension: other.suspension,
            hotness: other.hotness,
            placement: placement::Params { dies: self.placement.dies, ..other.placement },
            step: other.step,
            sensing: other.sensing,
            voltage: other.voltage,
            replacement: other.replacement,
            reliability: other.reliability.clone(),
            throttle: other.throttle,
            life: other.life.clone(),
            policies: other.policies.clone(),
            ..self.clone()
        };
        alike == *other && open(self) == open(other)
    }
}

impl PreconditionedImage {
    /// Preconditions a drive.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn new(config: &Config) -> Result<PreconditionedImage, Vec<Refusal>> {
        let image = PreconditionedImage::watched(config, UNWATCHED)?;
        Ok(image.expect("nobody stops it"))
    }

    /// The same, reporting to `watch`; none if it was stopped.
    ///
    /// # Errors
    /// As [`PreconditionedImage::new`].
    pub fn watched(
        config: &Config,
        watch: Watch<'_>,
    ) -> Result<Option<PreconditionedImage>, Vec<Refusal>> {
        let layout = config.layout()?;
        let (mut core, mut gc) = (Core::new(config, &layout), Gc::new(config, &layout));
        let done = super::run(config, &mut core, &mut gc, watch);
        Ok(done.map(|preconditioned| PreconditionedImage {
            config: config.clone(),
            core,
            gc,
            preconditioned,
        }))
    }

    /// What the drive had been through.
    pub fn preconditioned(&self) -> &Preconditioned {
        &self.preconditioned
    }

    /// Core and garbage collection of the drive of `config` over the data as they lie here.
    pub(crate) fn data_for(&self, config: &Config) -> Result<(Core, Gc), Vec<Refusal>> {
        assert!(config.ages_like(&self.config), "another drive's data");
        let layout = config.layout()?;
        Ok((Core::with_data_of(config, &layout, &self.core), self.gc.clone()))
    }
}
