//! The memory that a drive takes on the simulating machine, computed before anything is allocated:
//! each part of the drive reports the size of its columns.

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

/// Memory that does not grow with the drive: tables of the cell model, the random order of
/// preconditioning, and the queue of events.
const FIXED: Bytes = Bytes(8 << 20);

/// Memory that a drive takes on the simulating machine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of the simulating machine's memory for the tables that locate all data (mapping and
    /// block states). A preconditioned image of the drive takes the same amount.
    pub data: Bytes,
    /// Bytes of the simulating machine's memory for everything else that the drive needs while it
    /// serves requests, such as transactions in flight, the host interface and parity.
    pub service: Bytes,
    /// Additional bytes of the simulating machine's memory during preconditioning, freed before the
    /// first request.
    pub preconditioning: Bytes,
}

impl Memory {
    /// Returns the memory that the drive of `config` takes on the simulating machine.
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

    /// Returns the memory of the drive while it serves requests, in bytes.
    pub fn drive(&self) -> Bytes {
        FIXED + self.data + self.service
    }

    /// Returns the peak memory of the drive, preconditioning included, in bytes.
    pub fn most(&self) -> Bytes {
        FIXED + self.data + self.service.max(self.preconditioning)
    }
}
