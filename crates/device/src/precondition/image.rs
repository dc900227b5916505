//! A preconditioned drive from which many runs can start: preconditioning takes longer than many
//! runs.

use crate::config::layout::Refusal;
use crate::config::{
    AgingConfig, BufferConfig, Config, FlashConfig, PreconditionConfig, ReclaimUnit, SlcConfig,
    SuperblockConfig,
};
use crate::core::Core;
use crate::gc::Gc;
use crate::policy::custom::Policies;
use crate::policy::placement;
use crate::precondition::{Preconditioned, UNWATCHED, Watch};

/// The state of a preconditioned drive before the first request, above all the placement of its
/// data.
#[derive(Clone, Debug)]
pub struct PreconditionedImage {
    pub(super) config: Config,
    pub(super) core: Core,
    pub(super) gc: Gc,
    pub(super) preconditioned: Preconditioned,
}

impl Config {
    /// Returns true if preconditioning (writing data before the first request) places data
    /// identically under both configurations. Options that only act later may differ: die order,
    /// suspension, operating times, queues, link, acknowledgment and warm-up. So may the division
    /// of data into streams and of blocks by strength, which preconditioning ignores, if both
    /// reserve as many open blocks; and custom policies other than that for GC victims.
    pub fn ages_like(&self, other: &Config) -> bool {
        self.aged_part(other) == *other && self.reserved_streams() == other.reserved_streams()
    }

    /// Returns `other` with all options on which the placement of data depends replaced by those of
    /// this configuration, and the number of streams for which open blocks are reserved. Two
    /// configurations place data alike if they give equal results for the same `other`.
    pub fn placement_identity(&self, other: &Config) -> (Config, u32) {
        (self.aged_part(other), self.reserved_streams())
    }

    /// Returns the number of streams for which preconditioning reserves open blocks. On a drive
    /// with superblocks, preconditioning does not depend on streams.
    fn reserved_streams(&self) -> u32 {
        match self.ftl.reclaim_unit {
            ReclaimUnit::Block => self.open_streams(),
            ReclaimUnit::Superblock => 0,
        }
    }

    fn aged_part(&self, other: &Config) -> Config {
        Config {
            timing: other.timing,
            flash: FlashConfig { word_line: self.flash.word_line, ..other.flash },
            // The cache is empty before the first request.
            superblocks: SuperblockConfig { parity: self.superblocks.parity, ..other.superblocks },
            slc: SlcConfig { fixed: self.slc.fixed, dynamic: self.slc.dynamic, ..other.slc },
            aging: AgingConfig { coding: self.aging.coding, ..other.aging },
            program_erase: other.program_erase,
            queue: other.queue,
            admission: other.admission,
            host: other.host,
            buffer: BufferConfig { size: self.buffer.size, ..other.buffer },
            precondition: PreconditionConfig {
                access_class: other.precondition.access_class,
                warm_up: other.precondition.warm_up,
                ..self.precondition
            },
            unwritten_reads: other.unwritten_reads,
            partial_writes: other.partial_writes,
            die_order: other.die_order,
            suspension: other.suspension,
            hotness: other.hotness,
            placement: placement::Params {
                dies: self.placement.dies,
                stripe_unit: self.placement.stripe_unit,
                ..other.placement
            },
            step: other.step,
            sensing: other.sensing,
            voltage: other.voltage,
            replacement: other.replacement,
            reliability: if self.parity_varies() {
                self.reliability.clone()
            } else {
                other.reliability.clone()
            },
            bad_blocks: other.bad_blocks,
            throttle: other.throttle,
            life: other.life.clone(),
            policies: Policies { victim: self.policies.victim.clone(), ..other.policies.clone() },
            ..self.clone()
        }
    }
}

impl PreconditionedImage {
    /// Creates the image of a drive by preconditioning it.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    pub fn new(config: &Config) -> Result<PreconditionedImage, Vec<Refusal>> {
        let image = PreconditionedImage::watched(config, UNWATCHED)?;
        Ok(image.expect("an unwatched run is never stopped"))
    }

    /// Creates the image of a drive by preconditioning it, and reports progress to `watch`; `None`
    /// if `watch` stopped it.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
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

    /// Returns the record of how the drive was preconditioned.
    pub fn preconditioned(&self) -> &Preconditioned {
        &self.preconditioned
    }

    /// Returns the mapping, blocks, buffer and garbage collection of the drive of `config`, with
    /// the data of this preconditioned drive.
    pub(crate) fn data_for(&self, config: &Config) -> Result<(Core, Gc), Vec<Refusal>> {
        assert!(config.ages_like(&self.config), "the image of another drive");
        let layout = config.layout()?;
        Ok((Core::with_data_of(config, &layout, &self.core), self.gc.clone()))
    }

    /// Returns the parts of this preconditioned drive: its configuration, its mapping, blocks and
    /// buffer, its garbage collection, and the record of preconditioning.
    pub(crate) fn into_data(self) -> (Config, Core, Gc, Preconditioned) {
        let PreconditionedImage { config, mut core, gc, preconditioned } = self;
        core.allocator = core.allocator.ruled_by(&config);
        (config, core, gc, preconditioned)
    }
}
