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

/// A model of cells, and the code that corrects their errors.
struct Cells {
    analytic: Analytic,
    model: Reliability,
    ldpc: Ldpc,
}

impl Cells {
    /// Returns the cells of the default constants, whose tests show that they are valid.
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

/// The result of writing the curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Plotted {
    /// The files, in the folder.
    pub files: Vec<String>,
    /// The figures that could not be drawn.
    pub warnings: Vec<String>,
}
