//! A probe that checks in which order the pages of a block are programmed.

use fowler_device::{
    Completion, Config, FlashEvent, FlashStep, Op, PlaneMode, Probe, Steps, Superblocks,
};
use fowler_units::{Geometry, Id};

/// Checks that the pages of a block are programmed in order after an erase, as flash demands: those
/// of the first passes of word lines, and those of the second ones if there are two. The drive
/// asserts itself that no word line gets its second pass before its first.
pub(crate) struct ProgramOrder {
    /// Number of pages of a block, of blocks of a plane, and of planes that are erased together.
    pages: usize,
    blocks: usize,
    planes: usize,
    passes: usize,
    /// For each page, how often it was programmed since its block was erased.
    programmed: Vec<usize>,
    /// For each pass and each block, the page after the last one that was programmed.
    next: Vec<Vec<usize>>,
    /// Name of the drive in messages.
    drive: String,
    /// Number of page programs that were checked.
    pub programs: u64,
}

impl ProgramOrder {
    pub fn new(config: &Config, drive: String) -> ProgramOrder {
        let Geometry { pages_per_block, blocks_per_plane, planes_per_die, .. } = config.geometry;
        // On a drive with an SLC cache, a word line has a page more: its only one in SLC mode.
        let word_lines = pages_per_block / config.flash.word_line;
        let pages = (pages_per_block + u32::from(config.slc.is_on()) * word_lines) as usize;
        let planes = match config.plane_mode {
            PlaneMode::Lockstep => planes_per_die as usize,
            PlaneMode::Independent => 1,
        };
        let all = config.geometry.blocks() as usize;
        let passes = config.flash.program_passes as usize;
        let (programmed, next) = (vec![0; all * pages], vec![vec![0; all]; passes]);
        let blocks = blocks_per_plane as usize;
        ProgramOrder { pages, blocks, planes, passes, programmed, next, drive, programs: 0 }
    }

    fn program(&mut self, page: usize) {
        let drive = &self.drive;
        let pass = self.programmed[page];
        assert!(pass < self.passes, "{drive}: page {page} was programmed {pass} times before");
        self.programmed[page] += 1;
        self.programs += 1;
        let next = &mut self.next[pass][page / self.pages];
        assert!(*next <= page, "{drive}: page {page} comes before page {next} in pass {pass}");
        *next = page + 1;
    }

    /// Forgets the blocks that an erase of one plane or of several empties.
    fn erase(&mut self, page: usize) {
        let ProgramOrder { pages, blocks, planes, .. } = *self;
        let block = page / pages;
        let (plane, index) = (block / blocks, block % blocks);
        let first = plane / planes * planes;
        for block in (first..first + planes).map(|plane| plane * blocks + index) {
            self.programmed[block * pages..][..pages].fill(0);
            self.next.iter_mut().for_each(|next| next[block] = 0);
        }
    }
}

impl Probe<Superblocks> for ProgramOrder {
    fn completed(&mut self, _: &Completion) {}

    fn watches_flash(&self) -> Steps {
        Steps::All
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        for step in steps.iter().filter(|step| step.event == FlashEvent::Done) {
            let page = step.operation.ppn.index();
            match step.operation.op {
                Op::Program => self.program(page),
                Op::Erase => self.erase(page),
                Op::Read => {}
            }
        }
    }
}
