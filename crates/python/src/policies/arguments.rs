//! Policies as they arrive from Python, and the slots that they fill.

use super::{Failure, Instance, admit, allows, classify, collect, pick, place};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::policies::{Maker, Policies};
use pyo3::prelude::*;
use std::sync::Arc;

/// A policy that was passed from Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PolicyArgs {
    name: String,
    label: String,
    methods: Vec<String>,
    object: Py<PyAny>,
}

impl PolicyArgs {
    /// Returns the name of the Python object and the custom policies that it implements, one for
    /// each of its policy methods, such as `pick`.
    pub fn policies(self, failure: &Arc<Failure>) -> Result<(String, Policies), Diagnostics> {
        let PolicyArgs { name, label, methods, object } = self;
        let prototype = Arc::new(Instance::new(object, name.clone(), failure));
        let mut policies = Policies::default();
        for method in methods {
            let prototype = Arc::clone(&prototype);
            match method.as_str() {
                "pick" => {
                    let make = move || Box::new(pick::Pick((*prototype).clone())) as Box<_>;
                    policies.die_order = Some(Maker::new(&label, make));
                }
                "allows" => {
                    let make = move || Box::new(allows::Allows((*prototype).clone())) as Box<_>;
                    policies.suspension = Some(Maker::new(&label, make));
                }
                "classify" => {
                    let make = move || Box::new(classify::Classify((*prototype).clone())) as Box<_>;
                    policies.hotness = Some(Maker::new(&label, make));
                }
                "admit" => {
                    let make = move || Box::new(admit::Admit((*prototype).clone())) as Box<_>;
                    policies.throttle = Some(Maker::new(&label, make));
                }
                "collect" => {
                    let make =
                        move || Box::new(collect::Collect::new((*prototype).clone())) as Box<_>;
                    policies.victim = Some(Maker::new(&label, make));
                }
                "stream" => {
                    let make = move || {
                        let instance = (*prototype).clone();
                        Box::new(place::Place { instance, streams: 0 }) as Box<_>
                    };
                    policies.placement = Some(Maker::new(&label, make));
                }
                other => {
                    let what = format!("no policy of a drive calls a method `{other}`");
                    return Err(Diagnostic::new(name, what).into());
                }
            }
        }
        Ok((name, policies))
    }
}
