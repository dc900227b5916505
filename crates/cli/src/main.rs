//! The program `fowler`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(fowler_cli::main(std::env::args_os()))
}
