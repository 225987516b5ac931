//! The arguments of `prose completions` and `prose man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Write a script that completes commands, options and values in a shell
///
/// In addition to commands and options, the shell then offers programs, the ids of runs, inputs and outputs of the program, harnesses and codes.
/// Completing writes, starts and fetches nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  source <(prose completions bash)                                             in ~/.bashrc
  source <(prose completions zsh)                                              in ~/.zshrc, after `compinit`
  prose completions fish > ~/.config/fish/completions/prose.fish
  prose completions powershell | Out-String | Invoke-Expression                in $PROFILE
  prose completions nushell | save ($nu.user-autoload-dirs.0)/prose.nu")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// A shell that can complete command lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    #[value(alias = "pwsh")]
    Powershell,
    /// Nushell
    #[value(alias = "nu")]
    Nushell,
}

/// Write manual pages
///
/// Without a folder, one page goes to standard output, for `man --local-file -`.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the pages were written
  2  wrong usage, or a file that could not be written

Examples:
  prose man | man -l -                                 read the page of `prose`
  prose man runs list | man -l -                       read the page of `prose runs list`
  prose man --output-dir ~/.local/share/man/man1       install all pages, for `man prose-run`")]
pub(crate) struct ManArgs {
    /// The command whose page to write; by default, `prose` itself
    #[arg(value_name = "COMMAND", conflicts_with = "output_dir")]
    pub(crate) command: Vec<String>,

    /// Write the pages of all commands into this folder, which is created if it does not exist
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) output_dir: Option<PathBuf>,
}
