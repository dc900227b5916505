//! Integration tests of the crate, linked as one program.

#[cfg(feature = "zstd")]
mod binary;
mod claims;
#[cfg(feature = "zstd")]
mod excerpts;
mod formats;
mod generators;
#[cfg(feature = "zstd")]
mod kernel_inputs;
#[cfg(feature = "zstd")]
mod kernel_tools;
#[cfg(feature = "zstd")]
mod mutations;
#[cfg(feature = "zstd")]
mod reading;
mod recognition;
