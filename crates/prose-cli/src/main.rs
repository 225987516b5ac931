//! The `prose` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    prose_cli::main()
}
