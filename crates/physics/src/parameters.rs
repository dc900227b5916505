//! Every constant of the models: its value, its unit, its source (or that it is assumed), and the
//! range to sweep.
//!
//! "V" means normalized volts: the papers print threshold voltages such as 1.17 and 3.54, which are
//! not those of a real chip.

/// Origin of a constant of the cell models: a paper, other people's code, or our own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Origin of a constant of the cell models: a paper that we read prints the value.
    Published,
    /// Origin of a constant of the cell models: the value was published, but we did not have the
    /// paper; value and citation come from other people's code or from memory.
    SecondHand,
    /// Origin of a constant of the cell models: no publication, so the value is our choice, with a
    /// range to sweep.
    Assumed,
}

impl Origin {
    /// Returns the word for the origin of a constant, such as `published`, in tables of constants.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Published => "published",
            Origin::SecondHand => "second-hand",
            Origin::Assumed => "assumed",
        }
    }
}

/// A constant of the models, with its source and range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Name of a constant of the cell models, as in the struct that holds its value.
    pub name: &'static str,
    /// Meaning of a constant of the cell models, in one sentence.
    pub about: &'static str,
    /// Default value of a constant of the cell models, in the constant's unit.
    pub value: f64,
    /// Unit of a constant of the cell models; empty for a plain number.
    pub unit: &'static str,
    /// Origin of the default value of a constant of the cell models.
    pub origin: Origin,
    /// Publication that gives the value of a constant of the cell models, or the reason for
    /// choosing this value.
    pub source: &'static str,
    /// Range of values, in the constant's unit, to sweep in sensitivity studies; `None` for
    /// published constants.
    pub sweep: Option<(f64, f64)>,
}

macro_rules! constants {
    (
        $(#[$doc:meta])* struct $kind:ident;
        $(#[$table_doc:meta])* const $table:ident;
        $(#[$default_doc:meta])* default;
        $($name:ident = $value:expr, $unit:literal, $origin:ident, $sweep:expr, $source:literal, $about:literal;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $kind {
            $(#[doc = $about] pub $name: f64,)*
        }

        $(#[$table_doc])*
        pub const $table: &[Constant] = &[$(Constant {
            name: stringify!($name),
            about: $about,
            value: $value,
            unit: $unit,
            origin: Origin::$origin,
            source: $source,
            sweep: $sweep,
        },)*];

        impl Default for $kind {
            $(#[$default_doc])*
            fn default() -> $kind {
                $kind { $($name: $value,)* }
            }
        }

        impl $kind {
            /// Returns these constants of the cell models with the one called `name` set to
            /// `value`; `None` if there is none of that name.
            pub fn with(mut self, name: &str, value: f64) -> Option<$kind> {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return None,
                }
                Some(self)
            }

            /// Returns the names and values of these constants of the cell models, in the order of
            /// their declaration.
            pub fn values(&self) -> Vec<(&'static str, f64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

constants! {
    /// The constants of a drive's cells. Units and sources: [`CONSTANTS`].
    struct Parameters;
    /// Constants of the model of a drive's cells, with value, unit, source and range of each, in
    /// the order of the fields of [`Parameters`].
    const CONSTANTS;
    /// Constants of two-bit cells whose threshold voltages are those of the HIRE paper's Table 1,
    /// and whose bit error rate grows with P/E cycles as in the RHIO paper.
    default;
    growth_mean = 3.7e-4, "per cycle", Published, None,
        "RHIO (MSST 2016), IV-A, after Pan et al. (TVLSI 2013)",
        "Mean rate at which the logarithm of a block's RBER grows with P/E cycles.";
    growth_sd = 9e-5, "per cycle", Published, None,
        "RHIO, IV-A, after Pan et al.",
        "Standard deviation of the growth rate, before truncation at the bounds.";
    growth_bound = 3.0, "sd", Assumed, Some((2.0, 4.0)),
        "RHIO says \"bounded\" but not where; at 3 the slowest growth is still above zero",
        "Distance of the growth rate's bounds from its mean.";
    rber_unworn = 1e-4, "", Assumed, Some((5e-5, 2e-4)),
        "with the growth rate, just-written pages exceed hard decision after 10,000 cycles",
        "RBER of a just-written page in an unworn block.";
    erased = 1.17, "V", Published, None,
        "HIRE (NPC 2016), Table 1, traditional voltages",
        "Mean threshold voltage of the erased state.";
    programmed_1 = 2.37, "V", Published, None,
        "HIRE, Table 1, traditional voltages",
        "Verify voltage of the lowest programmed state.";
    programmed_2 = 2.96, "V", Published, None,
        "HIRE, Table 1, traditional voltages",
        "Verify voltage of the middle programmed state.";
    programmed_3 = 3.54, "V", Published, None,
        "HIRE, Table 1, traditional voltages",
        "Verify voltage of the highest programmed state.";
    step = 0.25, "V", Published, None,
        "HIRE, 4.1",
        "Nominal ISPP step.";
    erased_sd = 0.25, "of the erased mean", SecondHand, Some((0.22, 0.26)),
        "Dong et al. (TVLSI 2012): 0.35 at a mean of 1.4, quoted from code; scaling with the voltages is assumed",
        "Standard deviation of the erased state.";
    retention_charge = 0.38, "", SecondHand, Some((0.19, 0.76)),
        "K_s of Dong et al. (TVLSI 2012), quoted from code",
        "Gain of all retention loss with the distance of a state from the erased state (K_s).";
    retention_shift = 4e-4, "", SecondHand, None,
        "K_d of Dong et al., quoted from code; matters only as a product with K_s",
        "Gain of the mean retention loss with the power of cycles and the logarithm of age (K_d).";
    retention_spread = 4e-6, "V", SecondHand, Some((2e-6, 8e-6)),
        "K_m of Dong et al., quoted from code",
        "Gain of the variance of retention loss with the power of cycles and the logarithm of age (K_m).";
    retention_onset = 3600.0, "s", SecondHand, Some((1800.0, 7200.0)),
        "t_0 of Dong et al., quoted from code",
        "Age at which retention loss begins; the loss is proportional to ln(1 + age / onset).";
    retention_shift_power = 0.5, "", SecondHand, Some((0.45, 0.55)),
        "Dong et al., quoted from code; half or twice the exponent would be a different law",
        "Exponent of cycles in the mean retention loss.";
    retention_spread_power = 0.6, "", SecondHand, Some((0.54, 0.66)),
        "Dong et al., quoted from code",
        "Exponent of cycles in the variance of retention loss.";
    disturb_slope = 1e-9, "per read", SecondHand, Some((5e-10, 2e-9)),
        "Cai et al. (DSN 2015), slope at 2,000 cycles, from memory",
        "RBER that one read adds to the block's other pages.";
    disturb_cycles = 2000.0, "cycles", SecondHand, None,
        "Cai et al. (DSN 2015), from memory",
        "Cycles at which `disturb_slope` was measured.";
    disturb_power = 1.46, "", SecondHand, Some((0.73, 2.92)),
        "fitted to both ends of Cai et al.: 1e-9 at 2,000 and 1.9e-8 at 15,000 cycles, from memory",
        "Exponent of cycles in the slope of read disturb.";
    correctable_3 = 4e-3, "", Assumed, Some((2e-3, 8e-3)),
        "hard decision; a code of rate 8/9 is bounded by 1.48e-2",
        "Highest RBER that LDPC corrects with 3 reference voltages.";
    correctable_9 = 1e-2, "", Assumed, Some((5e-3, 1.4e-2)),
        "three references for each boundary; bounded by 2.51e-2",
        "Highest RBER that LDPC corrects with 9 reference voltages.";
    correctable_21 = 1.5e-2, "", Assumed, Some((1.1e-2, 2.2e-2)),
        "seven references for each boundary; bounded by 2.82e-2",
        "Highest RBER that LDPC corrects with 21 reference voltages.";
    sense_us = 10.0, "us", Published, None,
        "HIRE, Table 1: 30/90/210 us are exactly 10 us for each of 3/9/21 references",
        "Time to sense one reference voltage.";
    transfer_us = 20.0, "us", Published, None,
        "HIRE, Table 1: 40/80/100 us are exactly 20 us for each of ceil(log2(N + 1)) bits",
        "Time to transfer one bit of each cell's reading.";
    program_us = 600.0, "us", Published, None,
        "HIRE, Table 1; RHIO, IV-A",
        "Program time of a page at the nominal step.";
    end_cycles = 3000.0, "cycles", Published, None,
        "READY (FAST 2012), section 2: 20 nm MLC",
        "P/E cycles that a block must endure.";
    end_age = 30.0, "days", Assumed, Some((15.0, 60.0)),
        "as if data were refreshed monthly; read references do not follow the data's age here",
        "Retention age at which data must still be readable at the end of life.";
    end_reads = 10_000.0, "reads", Assumed, Some((5_000.0, 20_000.0)),
        "far below the 46,000 reads at which DA-RAID-5 (DATE 2013) refreshes a block",
        "Reads since erase at which data must still be readable at the end of life.";
}

constants! {
    /// The constants of word lines of one to four pages: the voltages of their states, and the
    /// retry table of a controller. They are the defaults of the keys `aging.*`. Wear, retention
    /// and the width of the erased state are those of [`Parameters`]. Units and sources:
    /// [`WORD_LINE_CONSTANTS`].
    struct WordLine;
    /// Constants of the model of word lines of one to four pages, with value, unit, source and
    /// range of each, in the order of the fields of [`WordLine`].
    const WORD_LINE_CONSTANTS;
    /// States 0.8 V apart with three bits, and a retry table of 15 entries of a tenth of that.
    default;
    voltage_window = 4.8, "V", Assumed, Some((3.0, 6.0)),
        "0.8 V between the states of three bits, 0.34 V of four; published characterizations withhold volts",
        "Distance of the highest programmed state from the lowest.";
    erased_below = 2.4, "V", Assumed, Some((1.6, 3.2)),
        "half of the window; Cai et al. (Proc. IEEE 2017), Table 5, have 0.42 of it (quoted)",
        "Distance of the erased state below the lowest programmed one.";
    step_share = 0.15, "of a distance", Assumed, Some((0.05, 0.3)),
        "noise is what gives the growth law, so this says only how much of a width is noise",
        "ISPP step, as a share of the distance of two programmed states.";
    correctable = 4e-3, "", Assumed, Some((2e-3, 9e-3)),
        "hard decision, as correctable_3; Park et al. (ASPLOS 2021) have 72 bits per KiB, 8.8e-3 (quoted)",
        "Highest RBER that a try of the retry table corrects.";
    retry_entries = 15.0, "", Assumed, Some((7.0, 31.0)),
        "a drive's table is not published",
        "Entries of the retry table after the usual references.";
    retry_shift = 0.08, "V", Assumed, Some((0.04, 0.16)),
        "a tenth of the distance of two states of three bits",
        "Shift of the highest reference from one entry of the retry table to the next, downward.";
    retry_overhead = 1.0, "us", SecondHand, Some((0.0, 30.0)),
        "the longest SET FEATURES that ONFI allows, from Linux's NAND timings",
        "Time of a retry beyond sensing and transfer.";
}

impl Parameters {
    /// Returns the cells of RHIO, where a program at a step of 0.3 takes 600 us. RHIO prints no
    /// voltages, so these are HIRE's boosted set, which has that step (assumed).
    pub fn rhio() -> Parameters {
        Parameters {
            erased: 1.40,
            programmed_1: 2.85,
            programmed_2: 3.55,
            programmed_3: 4.25,
            step: 0.3,
            ..Parameters::default()
        }
    }

    /// Returns the equivalent cycles: the cycles of an average block that cause as much wear as
    /// `cycles` of a block whose rate grows by `growth` per cycle.
    pub fn equivalent(&self, growth: f64, cycles: f64) -> f64 {
        cycles * (growth / self.growth_mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_has_a_source_and_a_range() {
        let mut values = Parameters::default().values();
        values.extend(WordLine::default().values());
        let constants: Vec<&Constant> = CONSTANTS.iter().chain(WORD_LINE_CONSTANTS).collect();
        assert_eq!(values.len(), constants.len());
        for (constant, (name, value)) in constants.into_iter().zip(values) {
            assert_eq!((constant.name, constant.value), (name, value));
            assert!(constant.source.len() > 5 && constant.about.ends_with('.'), "{name}");
            match constant.sweep {
                Some((low, high)) => assert!(low < value && value < high, "{name}"),
                None => assert!(constant.origin != Origin::Assumed, "{name} is never swept"),
            }
        }
    }

    #[test]
    fn a_constant_is_changed_by_its_name() {
        let changed = Parameters::default().with("rber_unworn", 2e-4).unwrap();
        assert_eq!(changed, Parameters { rber_unworn: 2e-4, ..Parameters::default() });
        assert_eq!(changed.with("rber_unwron", 1.0), None);
        let changed = WordLine::default().with("retry_shift", 0.1).unwrap();
        assert_eq!(changed, WordLine { retry_shift: 0.1, ..WordLine::default() });
        assert_eq!(changed.with("rber_unworn", 1.0), None);
    }
}
