//! Preconditioned drives that many runs begin from: each state is reached once.

use fowler_device::{Aged, Config, Device, Refusal};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A state that is reached by whoever needs it first, while others wait.
type State = OnceLock<Result<Aged, Vec<Refusal>>>;

/// The states so far, each with a configuration that reaches it.
#[derive(Debug, Default)]
pub(crate) struct Stock(Mutex<Vec<(Config, Arc<State>)>>);

impl Stock {
    /// The drive of `config`, preconditioned, at time zero.
    pub fn device(&self, config: &Config) -> Result<Device, Vec<Refusal>> {
        match self.state(config).get_or_init(|| Aged::new(config)) {
            Ok(aged) => aged.device(config),
            Err(refusals) => Err(refusals.clone()),
        }
    }

    fn state(&self, config: &Config) -> Arc<State> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, state)) = states.iter().find(|(other, _)| config.ages_like(other)) {
            return Arc::clone(state);
        }
        let state = Arc::new(State::new());
        states.push((config.clone(), Arc::clone(&state)));
        state
    }
}
