//! The size of a mapping unit and the number of pages per program command, and the reasons for
//! rejecting them.

use super::{Config, ProgramUnit};
use crate::config::layout::{PAGES_MAX, Refusals};
use fowler_units::Bytes;

/// Size of a sector in bytes; a mapping unit has a whole number of them.
const SECTOR: Bytes = Bytes(512);

/// Maximum number of mapping units in a page, whose validity is looked up at once.
const UNITS_OF_PAGE_MAX: u64 = 32;

impl Config {
    /// Returns the size of a mapping unit in bytes.
    pub fn unit(&self) -> Bytes {
        self.ftl.unit.unwrap_or(self.geometry.page_size)
    }

    /// Returns the number of pages that a command programs on each plane of a die.
    pub fn pages_of_program(&self) -> u32 {
        match self.ftl.program_unit {
            ProgramUnit::Page => 1,
            ProgramUnit::WordLine => self.flash.word_line,
        }
    }

    /// Returns the possible sizes of a mapping unit, from the page size down.
    fn possible_units(&self) -> impl Iterator<Item = Bytes> {
        let page = self.geometry.page_size.0;
        let divides = move |count: &u64| page.is_multiple_of(count * SECTOR.0);
        (1..=UNITS_OF_PAGE_MAX).filter(divides).map(move |count| Bytes(page / count))
    }

    /// Refuses a mapping unit that the drive cannot have. Returns true if its size is possible.
    pub(crate) fn refuse_unit(&self, refusals: &mut Refusals) -> bool {
        let Some(unit) = self.ftl.unit else { return self.geometry.page_size >= SECTOR };
        let page = self.geometry.page_size;
        let fits = self.possible_units().any(|possible| possible == unit);
        let nearest = self.possible_units().min_by_key(|possible| possible.0.abs_diff(unit.0));
        let instead = nearest.map_or("leave it out: a unit is a page".into(), |nearest| {
            format!("the nearest possible size of a mapping unit is \"{nearest}\"")
        });
        refusals.unless_hinted(
            fits,
            &["ftl.unit", "geometry.page_size"],
            || {
                let why = if unit > page {
                    "a unit is read from one page".into()
                } else if unit.0 == 0 || !unit.0.is_multiple_of(SECTOR.0) {
                    format!("a mapping unit must consist of whole sectors of {SECTOR}")
                } else if page.0.is_multiple_of(unit.0) {
                    format!("a page can have at most {UNITS_OF_PAGE_MAX} mapping units")
                } else {
                    "some units would lie in two pages".into()
                };
                format!("mapping units of {unit} in pages of {page}: {why}")
            },
            || instead,
        );
        refusals.unless_hinted(
            !fits || self.ftl.has_superblocks() || unit == page,
            &["ftl.unit", "ftl.reclaim_unit"],
            || {
                format!(
                    "mapping units of {unit} in pages of {page}: a drive that fills blocks binds data \
                     to a die when the die is free, one page at a time, and gathers no units for a \
                     page before that"
                )
            },
            || "leave it out, or set ftl.reclaim_unit = \"superblock\"".into(),
        );
        fits
    }

    /// Refuses a number of mapping units, in superblocks, that the map cannot address. Returns true
    /// if it can.
    pub(crate) fn refuse_number_of_units(&self, refusals: &mut Refusals) -> bool {
        let Some(pages) =
            self.geometry.pages_checked().filter(|pages| (1..=PAGES_MAX).contains(pages))
        else {
            return false; // The geometry is refused.
        };
        // In SLC mode, a word line has one page more.
        let each = u64::from(self.pages_of_program());
        let pages = pages / each * (each + u64::from(self.slc.is_on()));
        let count = |unit: Bytes| pages * (self.geometry.page_size.0 / unit.0);
        let fits = |unit: &Bytes| count(*unit) <= PAGES_MAX;
        let unit = self.unit();
        refusals.unless_hinted(
            fits(&unit),
            &["ftl.unit", "geometry"],
            || {
                let count = count(unit);
                format!(
                    "{count} mapping units of {unit}; the mapping table can number {PAGES_MAX} \
                     at most"
                )
            },
            || match self.possible_units().filter(fits).min() {
                Some(larger) => {
                    format!(
                        "set ftl.unit = \"{larger}\" for fewer mapping units, or use a \
                         smaller drive"
                    )
                }
                None => "use a smaller drive".into(),
            },
        );
        fits(&unit)
    }
}
