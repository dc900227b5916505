//! The memory that a drive takes on the machine that simulates it, known before anything is
//! allocated: each part reports the size of its columns.

use crate::config::Config;
use crate::config::layout::Layout;
use crate::core::Core;
use crate::flash::Flash;
use crate::gc::Gc;
use crate::host::FrontEnd;
use crate::precondition;
use crate::raid::Raid;
use crate::raid::lost_pages::LostPages;
use crate::superblocks::Superblocks;
use fowler_units::Bytes;

/// Memory that does not grow with the drive: the tables of the cell model, those of the random
/// order of preconditioning, and the agenda.
const FIXED: Bytes = Bytes(8 << 20);

/// The memory of a drive, in bytes of the simulating machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The location of all data; a preconditioned image of the drive takes as much.
    pub data: Bytes,
    /// Everything else that the drive takes while it serves requests.
    pub service: Bytes,
    /// Additional memory during preconditioning, freed before the first request.
    pub preconditioning: Bytes,
}

impl Memory {
    /// Returns the memory of the drive of `config`.
    pub fn of(config: &Config, layout: &Layout) -> Memory {
        let geometry = &layout.geometry;
        if config.ftl.has_superblocks() {
            return Memory {
                data: Superblocks::bytes(config),
                service: Flash::bytes(config, geometry, layout.transactions)
                    + FrontEnd::bytes(config),
                preconditioning: Bytes(0),
            };
        }
        Memory {
            data: Core::bytes(config, layout) + Gc::bytes(config, geometry),
            service: Flash::bytes(config, geometry, layout.transactions)
                + FrontEnd::bytes(config)
                + Raid::bytes(config, layout)
                + LostPages::bytes(config, layout),
            preconditioning: precondition::bytes(config, layout),
        }
    }

    /// Returns the memory of the drive while it serves requests.
    pub fn drive(&self) -> Bytes {
        FIXED + self.data + self.service
    }

    /// Returns the peak memory of the drive.
    pub fn most(&self) -> Bytes {
        FIXED + self.data + self.service.max(self.preconditioning)
    }
}
