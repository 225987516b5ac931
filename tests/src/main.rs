//! The `prose` command, for the tests of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    prose_cli::main()
}
