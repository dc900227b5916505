//! Numbers of a measured row that its protocol needs as inputs.

use crate::measurements::{Arrivals, Pick};

/// Returns a number of the picked row of measurements by its key, such as `io_kib`; if the row
/// lacks the number, an error says so.
pub(super) fn number(pick: &Pick<'_>, key: &str) -> Result<f64, String> {
    let number = pick.row.number(key).filter(|number| number.is_finite());
    number.ok_or_else(|| format!("the measured row has no number `{key}`"))
}

/// Returns a number of the picked row of measurements by its key. The number must be above zero and
/// at most `most`.
pub(super) fn positive(pick: &Pick<'_>, key: &str, most: f64) -> Result<f64, String> {
    let number = number(pick, key)?;
    match number > 0.0 && number <= most {
        true => Ok(number),
        false => Err(format!("`{key}` is {number}; expected above 0, at most {most}")),
    }
}

/// Returns a number of the picked row of measurements by its key. The number must be whole and from
/// 1 to `most`.
pub(super) fn count(pick: &Pick<'_>, key: &str, most: u32) -> Result<u32, String> {
    pick.row.count(key, most).ok_or_else(|| {
        let value = pick.row.text(key).unwrap_or_else(|| "missing".into());
        format!("`{key}` is {value}; expected a whole number from 1 to {most}")
    })
}

/// Refuses a topic of a measurement's protocol that states an open loop.
pub(super) fn refuse_open_loop(pick: &Pick<'_>, topic: &str) -> Result<(), String> {
    match pick.file.facts(topic).arrivals {
        None | Some(Arrivals::Closed) => Ok(()),
        Some(Arrivals::Poisson | Arrivals::Fixed) => Err(format!(
            "`protocol.{topic}` states an open loop; only a closed loop (a fixed queue depth) can \
             be simulated for this kind of measurement"
        )),
    }
}

/// Returns the capacity in bytes that the measured drive shows to its host.
pub(super) fn user_bytes(pick: &Pick<'_>) -> Option<f64> {
    let exact = pick.drive.number("user_gib").map(|gib| gib * (1u64 << 30) as f64);
    let nominal = || pick.drive.number("capacity_gb").map(|gb| gb * 1e9);
    exact.or_else(nominal).filter(|bytes| *bytes > 0.0)
}
