//! Records the version of the compiler and the build profile, on which instruction counts depend.

#![allow(clippy::print_stdout, reason = "how a build script speaks")]
#![allow(clippy::disallowed_methods, reason = "how cargo speaks to a build script")]

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = std::process::Command::new(rustc).arg("--version").output();
    let version = version.map_or_else(
        |_| "an unknown compiler".into(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_string(),
    );
    println!("cargo::rustc-env=FOWLER_RUSTC={version}");
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=FOWLER_PROFILE={profile}");
    println!("cargo::rerun-if-changed=build.rs");
}
