//! Tells the crate what it is built of: a fingerprint of every source that a life depends on.

#[path = "../experiment/build/fingerprint.rs"]
mod fingerprint;

use std::path::Path;

/// Name of this crate's folder under `crates/`; the fingerprint covers the crate and all that it
/// depends on.
const TOP: &str = "lifetime";

#[allow(clippy::print_stdout, reason = "it is how a build script speaks to Cargo")]
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for place in fingerprint::places(&root, TOP) {
        println!("cargo:rerun-if-changed={}", root.join(place).display());
    }
    println!("cargo:rustc-env=FOWLER_LIVES_FINGERPRINT={}", fingerprint::of(&root, TOP));
}
