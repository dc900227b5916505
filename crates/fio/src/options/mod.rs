//! Every option of fio: its effect here, no effect, or the reason why it cannot be simulated.

mod draft;
mod entry;
mod names;
mod output;
mod requests;
mod timing;

pub(crate) use draft::{Draft, Jobs};

use crate::grammar;
use entry::{Entry, Setter, flag, option};

/// Treatment of one of fio's options in the simulation.
pub(crate) enum Known {
    /// The option of fio has an effect on the simulated requests, their times or the output.
    Effect(&'static Entry),
    /// The option of fio concerns only the host computer, and has no effect on the simulated job.
    NoEffect,
    /// The option of fio cannot be simulated, for the reason given.
    Refused(&'static str),
}

/// Tables of the fio options that have an effect on the simulated job.
const TABLES: [&[Entry]; 3] = [requests::OPTIONS, timing::OPTIONS, output::OPTIONS];

/// Returns the treatment of an option of fio in the simulation; `None` if fio has no option of that
/// name.
pub(crate) fn find(name: &str) -> Option<Known> {
    let mut entries = TABLES.iter().flat_map(|table| table.iter());
    if let Some(entry) = entries.find(|entry| entry.names.contains(&name)) {
        return Some(Known::Effect(entry));
    }
    if let Some((_, why)) = names::REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Some(Known::Refused(why));
    }
    names::NO_EFFECT.contains(&name).then_some(Known::NoEffect)
}

/// Returns the name of an option that `name` misspells; `None` if there is none.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let known = TABLES.iter().flat_map(|table| table.iter());
    let known = known.flat_map(|entry| entry.names).chain(names::NO_EFFECT);
    grammar::nearest(&name.to_ascii_lowercase(), known.copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_thing() {
        let mut all: Vec<&str> = names::NO_EFFECT.to_vec();
        all.extend(names::REFUSED.iter().map(|(name, _)| *name));
        all.extend(TABLES.iter().flat_map(|table| table.iter()).flat_map(|entry| entry.names));
        let count = all.len();
        all.sort_unstable();
        let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(count > 250, "{count}");
    }
}
