//! Shows the models of flash cells: their curves as figures and columns, their constants, and how
//! the unpublished constants affect the results.
//!
//! The room uses only [`fowler_physics`], not a drive, and writes to the folder that it is given.

mod chip_measurements;
#[cfg(feature = "pages")]
mod plots;
mod tables;

use chip_measurements::{CAI_2017, CAI_CYCLES, States};
use fowler_physics::ldpc::Ldpc;
use fowler_physics::parameters::{Parameters, WordLine};
use fowler_physics::rber::{Analytic, Reliability};
use fowler_physics::vth::{Setting, State};
use fowler_physics::word_lines::{WordLines, days};

#[cfg(feature = "pages")]
pub use plots::{plot, recovery};
pub use tables::{agreement, constants, sensitivity, sensitivity_of_word_lines};

/// The model of flash cells with its constants, and the error correction code.
struct Cells {
    analytic: Analytic,
    model: Reliability,
    ldpc: Ldpc,
    /// Word lines of three-bit cells, and the retry table of their controller.
    lines: WordLines,
}

impl Cells {
    /// Returns the models of 2-bit and 3-bit cells with the default constants.
    fn new() -> Cells {
        let parameters = Parameters::default();
        let analytic = Analytic::new(parameters).expect("the default constants are valid");
        let ldpc = Ldpc::hire(&parameters).expect("levels that rise");
        let model = Reliability::Analytic(analytic.clone());
        let lines = WordLines::new(3, parameters, WordLine::default()).expect("states that rise");
        Cells { analytic, model, ldpc, lines }
    }

    /// Returns the threshold voltages of three-bit cells of [`CAI_CYCLES`] P/E cycles at an age in
    /// days, above the lowest programmed state of day-old data, in units of the mean distance of
    /// two programmed states of that data, to compare with the chip of Cai et al., 2017.
    fn states(&self, age: f64) -> States {
        let worn = self.lines.cells.worn(CAI_CYCLES);
        let young = |number| worn.state(number, days(CAI_2017[0].days)).mean;
        let gap = (young(7) - young(1)) / 6.0;
        std::array::from_fn(|number| {
            let State { mean, sd } = worn.state(number, days(age));
            State { mean: (mean - young(1)) / gap, sd: sd / gap }
        })
    }

    fn nominal(&self) -> Setting {
        self.analytic.nominal()
    }
}

/// Files with the curves of the cell models (such as bit error rate by P/E cycles) that were
/// written.
#[derive(Clone, Debug, PartialEq)]
pub struct Plotted {
    /// Names of the files with the curves of the cell models, relative to the folder in which they
    /// were written.
    pub files: Vec<String>,
    /// Warnings that name the figures that could not be drawn.
    pub warnings: Vec<String>,
}
