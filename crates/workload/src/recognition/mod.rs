//! How a file is recognised before any of it is replayed: the rules that a format's records keep
//! ([`plausibility`]), columns by the names of a header ([`header`]) or by their values
//! ([`column_guess`]), the units of times ([`time_unit`]), and files that look like traces and are
//! averages ([`fio_logs`], [`results`], [`smart_logs`]) or hold no requests at all ([`job_files`]).
//!
//! All of these examine only the first 64 KiB of a file. `detect` combines them. They know no
//! formats; each format states its own rules.

pub(crate) mod column_guess;
pub(crate) mod fio_logs;
pub(crate) mod generator;
pub(crate) mod header;
pub(crate) mod job_files;
pub(crate) mod jq;
pub(crate) mod json;
pub(crate) mod plausibility;
pub(crate) mod results;
pub(crate) mod roles;
pub(crate) mod smart_logs;
pub(crate) mod time_unit;
