//! The cells of a drive with superblocks whose data ages, and why they cannot work.

use crate::config::layout::{OLDEST_MOST, Refusals};
use crate::config::{AgingConfig, Coding, Config};
use crate::reliability::{ModelKind, StrengthSource};
use fowler_physics::multibit::{BITS_MOST, Cells, GrayCode, Window};
use fowler_physics::rber::ModelError;
use fowler_units::Span;

/// Largest number of entries of a retry table, after the usual read references: with these, each
/// entry has one bit in a word of 32.
const ENTRIES_MOST: u32 = 31;

const REFRESH_KEYS: [&str; 2] = ["aging.refresh_above", "aging.retry_entries"];

/// The longest configurable decoding overhead of a read retry, 100 ms: any error-correction decoder
/// has ended by then.
const OVERHEAD_MOST: Span = Span::ms(100);

impl Config {
    /// Returns the model of the cells (threshold voltages and bit errors) of a drive with
    /// superblocks whose data ages.
    ///
    /// # Errors
    /// The reason why the constants do not describe cells.
    ///
    /// # Panics
    /// If the data of the drive does not age.
    pub(super) fn aging_cells(&self) -> Result<Cells, ModelError> {
        self.cells_of_word_lines(match self.aging.coding {
            Coding::Off => unreachable!("its data does not age"),
            Coding::Balanced => GrayCode::Balanced,
            Coding::Reflected => GrayCode::Reflected,
        })
    }

    /// Returns the model of the cells of this drive. Each stores as many bits as a word line has
    /// pages, and the Gray code `code` maps bits to voltage states.
    ///
    /// # Errors
    /// The reason why the constants do not describe cells.
    pub(crate) fn cells_of_word_lines(&self, code: GrayCode) -> Result<Cells, ModelError> {
        let AgingConfig { voltage_window, erased_below, step_share, .. } = self.aging;
        let line = self.flash.word_line;
        if !(1..=BITS_MOST).contains(&line) {
            return Err(ModelError::Bits { asked: line });
        }
        let parameters = self.reliability.cells;
        let places = (voltage_window, erased_below);
        let widths = (step_share, parameters.erased_sd);
        let window = Window::even(line, code, places, widths);
        Cells::new(window, parameters)
    }

    /// Refuses settings of the bit error model by sensing level (`reliability.model`) that a drive
    /// with superblocks cannot simulate, or that exclude its model of data aging (`aging`).
    pub(super) fn refuse_errors_by_level(&self, refusals: &mut Refusals) {
        let params = &self.reliability;
        if params.model == ModelKind::Off {
            return;
        }
        refusals.unless_hinted(
            !self.aging.is_on(),
            &["reliability.model", "aging.coding"],
            || {
                "a page with too many errors is read again either at other references ([aging]) or \
                 with more of them (reliability.model)"
                    .into()
            },
            || "set aging.coding = \"off\", or leave out reliability.model".into(),
        );
        refusals.unless_hinted(
            params.strength == StrengthSource::Oracle,
            &["reliability.strength", "ftl.reclaim_unit"],
            || {
                "nothing reads the blocks of a drive with superblocks in idle time to measure them"
                    .into()
            },
            || "leave it out: the true strengths are known".into(),
        );
    }

    /// Refuses impossible voltages or widths of the cells' states, from which the bit errors of old
    /// data are computed. Returns false if there are any.
    fn refuse_states(&self, refusals: &mut Refusals) -> bool {
        let AgingConfig { voltage_window, erased_below, step_share, .. } = self.aging;
        let mut sane = true;
        for (key, value) in [
            ("aging.voltage_window", voltage_window),
            ("aging.erased_below", erased_below),
            ("aging.step_share", step_share),
        ] {
            let fits = value > 0.0 && value <= 100.0;
            sane &= fits;
            refusals.unless(fits, &[key], || {
                format!(
                    "{value} as a distance between two threshold-voltage states of a cell (V) or \
                     as an ISPP step (share of that distance); expected more than 0, up to 100"
                )
            });
        }
        sane
    }

    /// Refuses settings of data aging (the section `aging` of the configuration) that contradict
    /// each other or the flash.
    pub(super) fn refuse_aging(&self, refusals: &mut Refusals) {
        let states = self.refuse_states(refusals);
        if !self.aging.is_on() {
            return;
        }
        let AgingConfig { correctable, retry_entries, retry_shift, retry_overhead, .. } =
            self.aging;
        let line = self.flash.word_line;
        let cells = (1..=BITS_MOST).contains(&line);
        refusals.unless_hinted(
            cells,
            &["aging.coding", "flash.word_line"],
            || format!("word lines of {line} pages; expected cells of 1 to {BITS_MOST} bits"),
            || "set flash.word_line = 3 (TLC), or aging.coding = \"off\"".into(),
        );
        let shifts = retry_shift > 0.0 && retry_shift <= 100.0;
        refusals.unless(shifts, &["aging.retry_shift"], || {
            format!(
                "references that shift by {retry_shift} V per retry; expected more than 0, up to \
                 100 V"
            )
        });
        let rate = correctable > 0.0 && correctable < 0.5;
        refusals.unless(rate, &["aging.correctable"], || {
            format!(
                "a code that corrects a bit error rate of {correctable}; expected a rate above 0 \
                 and below 0.5"
            )
        });
        refusals.unless(
            (1..=ENTRIES_MOST).contains(&retry_entries),
            &["aging.retry_entries"],
            || format!("{retry_entries}; expected 1 to {ENTRIES_MOST}"),
        );
        let refresh_above = self.aging.refresh_above;
        refusals.unless(refresh_above < retry_entries, &REFRESH_KEYS, || {
            format!(
                "refresh of data read beyond entry {refresh_above} of a retry table whose last \
                 entry is {retry_entries}; expected 0 (no refresh), or less than that last entry"
            )
        });
        refusals.unless(retry_overhead <= OVERHEAD_MOST, &["aging.retry_overhead"], || {
            format!("{retry_overhead}; expected at most {OVERHEAD_MOST}")
        });
        let oldest = self.reliability.oldest;
        refusals.unless(oldest <= OLDEST_MOST, &["reliability.oldest"], || {
            format!("data that is {oldest} old; expected at most five years")
        });
        if states
            && cells
            && let Err(why) = self.aging_cells()
        {
            let keys = ["aging.coding", "aging.voltage_window", "reliability.cells"];
            refusals.unless(false, &keys, || why.to_string());
        }
    }
}
