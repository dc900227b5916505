//! Shows the models of flash cells: their curves as figures and columns, their constants, and how
//! the unpublished constants affect the results.
//!
//! The room uses only [`fowler_physics`], not a drive, and writes to the folder that it is given.

#[cfg(feature = "pages")]
mod plots;
mod tables;

use fowler_physics::ldpc::Ldpc;
use fowler_physics::parameters::Parameters;
use fowler_physics::rber::{Analytic, Reliability};
use fowler_physics::vth::Setting;

#[cfg(feature = "pages")]
pub use plots::{plot, recovery};
pub use tables::{agreement, constants, sensitivity};

/// The model of flash cells with its constants, and the error correction code.
struct Cells {
    analytic: Analytic,
    model: Reliability,
    ldpc: Ldpc,
}

impl Cells {
    /// Returns the model with the default constants, whose tests show that they are valid.
    fn new() -> Cells {
        let parameters = Parameters::default();
        let analytic = Analytic::new(parameters).expect("the default constants are valid");
        let ldpc = Ldpc::hire(&parameters).expect("levels that rise");
        let model = Reliability::Analytic(analytic.clone());
        Cells { analytic, model, ldpc }
    }

    fn nominal(&self) -> Setting {
        self.analytic.nominal()
    }
}

/// The files with the curves of the cell model that were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Plotted {
    /// Names of the files in the folder.
    pub files: Vec<String>,
    /// Warnings that name the figures that could not be drawn.
    pub warnings: Vec<String>,
}
