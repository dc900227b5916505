//! The superblocks that parity covers, by the rules of `policy.redundancy`, and the age of the
//! drive that those rules follow.
//!
//! A superblock has parity from the moment at which it is opened until it is erased, or it is
//! *bare*: the places of its parity hold data instead. A later stage of life that protects more
//! makes the bare superblocks that it protects due to be moved ([`super::renewals`]).
//!
//! Invariant: only full superblocks, and open ones, count as worn; a drive whose rules never change
//! and protect all superblocks, or none, has no bare ones.

use super::shape::Shape;
use crate::config::Config;
use crate::policy::redundancy::{
    Age, AnyRedundancy, Protects, Redundancy, RedundancyKind, Rules, Stage,
};
use crate::raid::StageChange;
use fowler_units::{Bytes, Id, IdVec, Nanos, RuId, Span};

/// Protection of superblocks by parity: the rules for it, and the superblocks that have none.
#[derive(Clone, Debug)]
pub(super) struct Coverage {
    policy: AnyRedundancy,
    pub(super) stage: Stage,
    pub(super) rules: Rules,
    pub(super) changes: Vec<StageChange>,
    worn_above: u32,
    /// Duration of the erase pulse of superblocks with a worn block; none if it is the usual one.
    worn_erase_pulse: Option<Span>,
    /// P/E cycles of the most worn block of each superblock before preconditioning.
    cycles: IdVec<RuId, u32>,
    /// P/E cycles of the most worn block of the drive.
    most_cycles: u32,
    /// In a lifetime simulation, where one simulated erase stands for several: the number of P/E
    /// cycles for each erase, and the erases of each superblock before the simulation began; `None`
    /// otherwise.
    life: Option<(u32, Vec<u32>)>,
    /// True for each superblock that is used without parity.
    pub(super) bare: IdVec<RuId, bool>,
    /// True for each superblock that is worn and open or full; and the number of these.
    worn: IdVec<RuId, bool>,
    worn_count: u32,
    /// The stripes of a superblock, each of which has a page of every command that it spans.
    pub(super) stripes: u32,
    /// The most superblocks with parity that were open at a time.
    pub(super) open_most: u32,
}

impl Config {
    /// Returns true if superblocks with and without parity can be on the drive together.
    pub(crate) fn parity_varies(&self) -> bool {
        self.ftl.has_superblocks()
            && matches!(self.redundancy.name, RedundancyKind::WearAware | RedundancyKind::ByStage)
    }

    /// Returns the number of commands of a stripe, parity included; 0 if no superblock ever has
    /// parity.
    pub(super) fn stripe_commands(&self) -> u32 {
        match self.redundancy.name {
            RedundancyKind::Unprotected | RedundancyKind::DisturbLimiting => 0,
            _ => self.superblocks.parity,
        }
    }
}

impl Coverage {
    /// Returns the rules by which superblocks of a fresh drive get parity; `None` if
    /// `policy.redundancy` has no parity.
    pub fn new(config: &Config, shape: &Shape) -> Option<Coverage> {
        if !config.redundancy.has_stripes() {
            return None;
        }
        let policy = AnyRedundancy::new(&config.redundancy, config.seed);
        let count = shape.superblocks as usize;
        let mut cycles = IdVec::filled(0, count);
        let blocks = config.initial_cycles(Shape::geometry_of(config).blocks());
        for (&before, superblock) in
            blocks.as_slice().iter().zip((0..shape.superblocks).map(RuId).cycle())
        {
            cycles[superblock] = before.max(cycles[superblock]);
        }
        let mut coverage = Coverage {
            rules: policy.rules(Stage::First),
            policy,
            stage: Stage::First,
            changes: Vec::with_capacity(2),
            worn_above: config.redundancy.worn_above,
            worn_erase_pulse: Some(config.redundancy.worn_erase_pulse)
                .filter(|&pulse| pulse != Span::ZERO),
            most_cycles: cycles.as_slice().iter().copied().max().unwrap_or(0),
            cycles,
            life: None,
            bare: IdVec::filled(false, count),
            worn: IdVec::filled(false, count),
            worn_count: 0,
            stripes: shape.stripes() * shape.pages_per_command,
            open_most: 0,
        };
        coverage.look_at_age(Nanos::ZERO);
        Some(coverage)
    }

    /// Returns the memory that the rules of parity and the wear of all superblocks take on the
    /// simulating machine.
    pub fn bytes(config: &Config, shape: &Shape) -> Bytes {
        let count = if config.redundancy.has_stripes() { shape.superblocks } else { 0 };
        Bytes::of::<(u32, bool, bool)>(count.into())
    }

    /// Returns the P/E cycles of the most worn block of a superblock; `erases` is the erase count
    /// of the superblock.
    pub(super) fn cycles_of(&self, superblock: RuId, erases: u32) -> u32 {
        let since = match &self.life {
            None => erases,
            Some((dilation, before)) => {
                before[superblock.index()]
                    + (erases - before[superblock.index()]).saturating_mul(*dilation)
            }
        };
        self.cycles[superblock].saturating_add(since)
    }

    /// Returns true if the present rules of `policy.redundancy` give parity to a superblock whose
    /// erase count is `erases`.
    pub(super) fn protects(&self, superblock: RuId, erases: u32) -> bool {
        match self.rules.protects {
            Protects::All => true,
            Protects::Worn => self.is_worn(superblock, erases),
            Protects::Nothing => false,
        }
    }

    /// A superblock with `erases` erases is opened: from now on it has parity or not, as the rules
    /// of `policy.redundancy` say. In SLC mode it has parity wherever a drive has any.
    pub(super) fn opened(&mut self, superblock: RuId, erases: u32, slc: bool) {
        self.bare[superblock] = !slc && !self.protects(superblock, erases);
        let worn = self.is_worn(superblock, erases);
        debug_assert!(!self.worn[superblock], "an erased superblock counts as worn");
        self.worn_count += u32::from(worn);
        self.worn[superblock] = worn;
    }

    /// Records the erase of a superblock, which has been erased `erases` times in all.
    pub(super) fn erased(&mut self, superblock: RuId, erases: u32) {
        self.worn_count -= u32::from(std::mem::take(&mut self.worn[superblock]));
        self.bare[superblock] = false;
        self.most_cycles = self.most_cycles.max(self.cycles_of(superblock, erases));
    }

    /// Returns the duration of the erase pulse of a superblock with `erases` erases; `None` if it
    /// is the usual one.
    pub(super) fn erase_pulse(&self, superblock: RuId, erases: u32) -> Option<Span> {
        self.worn_erase_pulse.filter(|_| self.is_worn(superblock, erases))
    }

    /// Returns true if a superblock with `erases` erases counts as worn for the redundancy policy:
    /// its most worn block has more P/E cycles than `policy.redundancy.worn_above`.
    pub(super) fn is_worn(&self, superblock: RuId, erases: u32) -> bool {
        self.cycles_of(superblock, erases) > self.worn_above
    }

    /// Returns the age of the drive as the redundancy policy sees it: the most P/E cycles of a
    /// block, and the number of worn stripes.
    pub(super) fn age(&self) -> Age {
        Age { cycles: self.most_cycles, worn_stripes: self.worn_count * self.stripes }
    }

    /// Moves the drive to later stages of life as far as its age calls for that. Returns true if
    /// the stage has changed.
    pub(super) fn look_at_age(&mut self, now: Nanos) -> bool {
        let before = self.stage;
        loop {
            let age = self.age();
            let stage = self.policy.stage(self.stage, &age);
            if stage == self.stage {
                return stage != before;
            }
            self.changes.push(StageChange { to: stage, at: now, age });
            self.stage = stage;
            self.rules = self.policy.rules(stage);
        }
    }

    /// Takes over, from a saved life, the stage of life and the superblocks without parity
    /// (`bare`). `erases` is the erase count of each superblock, and `in_use` is true for those
    /// that are open or full.
    ///
    /// # Errors
    /// The reason why the drive cannot have them.
    pub(super) fn resume(
        &mut self,
        (stage, bare): (Stage, &[RuId]),
        erases: &[u32],
        in_use: impl Fn(RuId) -> bool,
    ) -> Result<(), String> {
        self.bare.as_mut_slice().fill(false);
        for &superblock in bare {
            let known = self.bare.as_mut_slice().get_mut(superblock.index());
            *known.ok_or("a superblock has no parity that is not there")? = true;
        }
        self.worn_count = 0;
        for (superblock, &erases) in (0..).map(RuId).zip(erases) {
            let cycles = self.cycles_of(superblock, erases);
            let worn = cycles > self.worn_above && in_use(superblock);
            self.worn[superblock] = worn;
            self.worn_count += u32::from(worn);
            self.most_cycles = self.most_cycles.max(cycles);
        }
        if stage > self.stage {
            self.changes.push(StageChange { to: stage, at: Nanos::ZERO, age: self.age() });
        }
        (self.stage, self.rules) = (stage, self.policy.rules(stage));
        Ok(())
    }

    /// Begins a lifetime simulation, in which each simulated erase stands for `dilation` P/E
    /// cycles. `erases` are the erases of each superblock so far.
    pub(super) fn begin_life(&mut self, dilation: u32, erases: &[u32]) {
        self.life = Some((dilation.max(1), erases.to_vec()));
    }
}
