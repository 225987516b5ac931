//! The arguments of the command line.

pub(crate) mod check;
pub(crate) mod cluster;
pub(crate) mod init;
pub(crate) mod priority;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod test;
pub(crate) mod top;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::candidates;
use crate::color::ColorWhen;

/// What standard input is called where no name is given for it.
pub(crate) use prose_project::load::STDIN;

/// What the language greets with (R3).
///
/// Only the help shows it: what other commands write is read by programs too, and a run would show it again and again.
const BANNER: &str = "┌──────────────────────────────┐
│       ◇ OpenProse VM ◇       │
│    A new kind of computer    │
└──────────────────────────────┘";

/// The version for people: with the commit and its date, if the build script finds them. Programs and servers report `CARGO_PKG_VERSION`.
pub(crate) const VERSION: &str = env!("PROSE_VERSION");

/// Runs, checks and formats OpenProse programs (`.prose` files), and serves editors.
#[derive(Debug, Parser)]
#[command(
    name = "prose",
    version = VERSION,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    before_help = BANNER
)]
#[command(after_help = "Examples:
  prose new tides                set up a project in a new folder
  prose run review.prose         run a program
  prose test                     test programs with fixed answers
  prose check                    check every program in the current folder
  prose check deploy.prose       check one program
  prose fmt                      format every program in the current folder
  prose explain E001             explain a diagnostic code, with an example
  prose lock                     pin imported programs to their current texts
  prose lsp                      start the language server (editors start it themselves)")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours
    ///
    /// `auto` uses colours on a terminal unless `NO_COLOR` is set, and elsewhere only if `CLICOLOR_FORCE` is set.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub(crate) color: ColorWhen,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitArgs),
    New(init::NewArgs),
    Run(run::RunArgs),
    Resume(run::ResumeArgs),
    Estimate(run::EstimateArgs),
    Describe(run::DescribeArgs),
    Test(test::TestArgs),
    Runs(runs::RunsArgs),
    Top(top::TopArgs),
    Cluster(cluster::ClusterArgs),
    Worker(cluster::WorkerArgs),
    Trust(run::TrustArgs),
    Examples(run::ExamplesArgs),
    Check(check::CheckArgs),
    Compile(CompileArgs),
    Graph(GraphArgs),
    Fmt(FmtArgs),
    Explain(ExplainArgs),
    Doctor(DoctorArgs),
    Lsp(LspArgs),
    Mcp(serve::McpArgs),
    Acp(serve::AcpArgs),
    Dap(serve::DapArgs),
    Fetch(FetchArgs),
    Lock(LockArgs),
    Outdated(OutdatedArgs),
    Vendor(VendorArgs),
    Cache(CacheArgs),
    ServeRegistry(ServeRegistryArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
    /// Migrate `.prose` from earlier versions
    ///
    /// Converts `.prose/state.json` to lines of `.prose/.env`, moves runs from `.prose/execution` to `.prose/runs`, and creates `.prose/agents`.
    /// Existing files are never overwritten.
    Update,
}

/// Format programs
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the programs are formatted; with --check and --diff, they already were
  1  with --check and --diff, at least one program would be formatted
  2  wrong usage, or a file that could not be read or written; all other files are still formatted

Examples:
  prose fmt                          every program in the current folder
  prose fmt --check                  fail if a program is not formatted, without changing files
  prose fmt --diff flows/            show what would change
  prose fmt --lines 10-20 a.prose    only the statements on these lines
  prose fmt - < a.prose              from standard input to standard output")]
pub(crate) struct FmtArgs {
    /// Programs and folders to format; `-` is standard input
    ///
    /// In folders, all `*.prose` files are formatted, except hidden files and files excluded by `.gitignore` or `.ignore`.
    /// Texts, conditions and statements with syntax errors are never changed.
    #[arg(value_name = "PATH", default_value = ".", add = candidates::sources())]
    pub(crate) paths: Vec<PathBuf>,

    /// List the programs that would change, without changing files
    #[arg(long)]
    pub(crate) check: bool,

    /// Show what would change as a unified diff, without changing files
    #[arg(long)]
    pub(crate) diff: bool,

    /// Format only the statements on these lines, such as `10-20`, counted from 1
    #[arg(long, value_name = "FIRST-LAST", value_parser = parse_lines)]
    pub(crate) lines: Option<RangeInclusive<usize>>,

    /// Do not write a summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn parse_lines(lines: &str) -> Result<RangeInclusive<usize>, String> {
    const FORM: &str = "expected a line or a range of lines, such as 10-20";
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|line| *line > 0).ok_or(FORM);
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last) = (number(first)?, number(last)?);
    if last < first {
        return Err(format!("line {last} is before line {first}"));
    }
    Ok(first..=last)
}

/// Check a program and write its canonical form
///
/// The canonical form has no comments, puts imports, inputs, agents and blocks first, writes arrow chains as statements, and is formatted like
/// `prose fmt`. It runs the same. It goes to standard output, and diagnostics to standard error.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  no errors (there may be warnings); the canonical form is written
  1  at least one error; nothing is written
  2  wrong usage, or a file that could not be read

Examples:
  prose compile review.prose > compiled.prose
  prose compile - < review.prose")]
pub(crate) struct CompileArgs {
    /// The program; `-` is standard input
    ///
    /// `guide.md#2` is the second program of a Markdown document.
    #[arg(value_name = "PROGRAM", add = candidates::programs())]
    pub(crate) program: PathBuf,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Draw the flow of a program
///
/// The drawing has the statements in their order, parallel branches and alternatives side by side, and blocks and imported programs with their calls.
/// Nothing is fetched or run, and a program with errors is drawn as far as it is written.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the drawing is written
  2  wrong usage, or a file that could not be read or written

Examples:
  prose graph review.prose > review.svg
  prose graph review.prose -o review.svg
  prose graph review.prose --format mermaid
  prose graph review.prose --format dot | dot -Tpdf -o review.pdf
  prose graph guide.md#2")]
pub(crate) struct GraphArgs {
    /// The program; `-` is standard input
    ///
    /// `guide.md#2` is the second program of a Markdown document.
    #[arg(value_name = "PROGRAM", add = candidates::programs())]
    pub(crate) program: PathBuf,

    /// The format of the drawing; by default, that of the ending of FILE, else SVG
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<GraphFormat>,

    /// Write the drawing to this file; by default or with `-`, to standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// The format of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// An image that is light or dark as the system is
    Svg,
    /// A flowchart of Mermaid, which many Markdown viewers draw
    Mermaid,
    /// The DOT language of Graphviz
    Dot,
}

/// Explain a diagnostic code
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prose explain          list all codes
  prose explain E001     explain one code
  prose explain --output-format json")]
pub(crate) struct ExplainArgs {
    /// The code, such as `E001`; without it, all codes are listed
    #[arg(add = candidates::codes())]
    pub(crate) code: Option<String>,

    /// The format of the output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ExplainFormat::Text)]
    pub(crate) output_format: ExplainFormat,
}

/// Diagnose problems with the installation and the configuration
///
/// Checks the settings, the agent that runs sessions, the folders for runs and fetched programs, and the command that editors start.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  no problems
  1  at least one problem")]
pub(crate) struct DoctorArgs {
    /// Also check whether the registry can be reached
    #[arg(long)]
    pub(crate) online: bool,
}

/// Fetch imported programs into the cache
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  all imports are in the cache
  1  an import was not found, is not a program, could not be reached or is not allowed
  2  wrong usage, or a file that could not be read

Examples:
  prose fetch                    all imports of the programs in the current folder
  prose fetch flows/             the imports of the programs in another folder
  prose fetch alice/research     one program and its imports")]
pub(crate) struct FetchArgs {
    /// Programs and folders whose imports to fetch, or paths as in `use`, such as `handle/slug`
    ///
    /// Imports of imports are fetched too. Cached programs are revalidated with their hosts; unchanged texts are not downloaded again.
    #[arg(value_name = "PATH|REFERENCE", default_value = ".", add = candidates::sources())]
    pub(crate) what: Vec<String>,
}

/// Pin imported programs to their current texts
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  prose.lock is up to date
  1  an import was not found or differs; prose.lock is unchanged
  2  wrong usage, or a file that could not be read or written

Examples:
  prose lock                            pin new imports, remove unused pins
  prose lock --update                   pin all imports to their current texts
  prose lock --update=alice/research    pin one program to its current text")]
pub(crate) struct LockArgs {
    /// Programs and folders whose imports to pin
    ///
    /// `prose.lock` is written next to their `prose.toml`, or into the current folder. Commit it to version control. Unused pins are removed if
    /// the whole folder is checked.
    #[arg(value_name = "PATH", default_value = ".", add = candidates::sources())]
    pub(crate) paths: Vec<PathBuf>,

    /// Pin the current texts of all imports, or of these references
    ///
    /// Without it, existing pins stay unchanged.
    #[arg(long, value_name = "REFERENCE", num_args = 0.., require_equals = true, value_delimiter = ',')]
    pub(crate) update: Option<Vec<String>>,
}

/// List pinned programs whose current text differs from the pinned one
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  all pins are up to date
  1  at least one text has changed or was removed
  2  wrong usage, or prose.lock could not be read")]
pub(crate) struct OutdatedArgs {
    /// Folders of projects
    #[arg(value_name = "PATH", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Copy imported programs into a folder, for use without a network
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the copies are written
  1  an import was not found; nothing is written
  2  wrong usage, or a file that could not be read or written

Example:
  prose vendor vendor            then set `vendor = \"vendor\"` in [registry] of prose.toml")]
pub(crate) struct VendorArgs {
    /// The folder for the copies; earlier copies are replaced
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,

    /// Programs and folders whose imports to copy
    ///
    /// Pinned programs are copied with the text that `prose.lock` pins.
    #[arg(value_name = "PATH", default_value = ".", add = candidates::sources())]
    pub(crate) paths: Vec<PathBuf>,
}

/// Show or empty the cache of imported programs
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print the folder of the cache
    Dir,
    /// List the cached programs, one per line
    List,
    /// Remove all cached programs
    Clean,
}

/// Serve the programs of a folder as a registry, for development
#[derive(Debug, Args)]
#[command(
    after_help = "For `handle/slug`, it serves the file `handle/slug.prose`, `handle/slug/index.prose` or `handle/slug`. It is reachable only \
from this machine.

Example:
  prose serve-registry ./registry --port 8000"
)]
pub(crate) struct ServeRegistryArgs {
    /// The folder to serve
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,

    /// The port on 127.0.0.1 [default: any free port]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
}

/// Start the language server on standard input and output, or replay a recorded session
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the editor ended the session; with --replay, all responses are the same
  1  the editor disconnected without ending the session; with --replay, a response differs, and the first difference is shown
  2  the server could not be started, or a file could not be read or written")]
pub(crate) struct LspArgs {
    /// Append the log to a file; warnings always go to standard error
    #[arg(long, value_name = "PATH")]
    pub(crate) log_file: Option<PathBuf>,

    /// The level of detail in the log file
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Trace, requires = "log_file")]
    pub(crate) log_level: LogLevel,

    /// Write every message of the session to a file, for `--replay`
    ///
    /// It has one line of JSON per message, with its time, and contains the texts of all open documents.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Replay a session that was recorded with `--record`, and compare the responses
    ///
    /// Sends the editor's messages to a new server, in order, and compares each response and all diagnostics. Commands that run programs or fetch
    /// imports are not sent. Files that were not open must still be at the same paths.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "log_file"])]
    pub(crate) replay: Option<PathBuf>,

    /// Update the recording with the current responses
    #[arg(long, requires = "replay")]
    pub(crate) write: bool,

    /// Has no effect; accepted because many editors pass it
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// The level of detail in the log of `prose lsp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors in the server
    Error,
    /// Also protocol errors of the editor
    Warn,
    /// Also the start and end of the session
    Info,
    /// Also ignored messages
    Debug,
    /// Also every message
    Trace,
}

/// The output format of `prose explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn the_page_of_the_command_line_is_up_to_date() {
        let options = clap_markdown::MarkdownOptions::new()
            .title("The command line".to_owned())
            .show_footer(false)
            .show_aliases(true);
        // The banner is made for terminals.
        let command = super::Cli::command().before_help(None);
        let made = clap_markdown::help_markdown_command_custom(&command, &options);
        let note = "<!-- Made from the definition of the command line by a test: UPDATE_EXPECT=1 cargo test -p prose-cli page_of -->";
        let page = made.replacen('\n', &format!("\n\n{note}\n"), 1);
        prose_fixture::check_page("docs/cli.md", &with_fenced_examples(&page), "-p prose-cli page_of");
    }

    /// Examples are lines that belong below each other, which Markdown would make a paragraph of.
    fn with_fenced_examples(page: &str) -> String {
        let mut fenced = String::new();
        let mut inside = false;
        for line in page.lines() {
            if inside && !line.starts_with("  ") {
                inside = false;
                fenced += "```\n";
            }
            fenced += line;
            fenced.push('\n');
            if line == "Examples:" {
                inside = true;
                fenced += "\n```console\n";
            }
        }
        fenced
    }
}
