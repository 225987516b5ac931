//! The arguments of the commands that run programs.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use prose_run::Right;
use prose_state::runs::RunState;

/// What the commands that run programs have in common.
#[derive(Debug, Args)]
pub(crate) struct RunnerArgs {
    /// Who answers sessions: `offline`, `script`, `claude`, `codex`, `opencode` or `command`
    ///
    /// Without it, `run.harness` of `prose.toml` says who does. `offline` makes plausible answers up, without any model.
    #[arg(long, value_name = "NAME")]
    pub(crate) harness: Option<String>,

    /// Take the answers from this file, which is the harness `script`
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) script: Option<PathBuf>,

    /// Write a script that gives the same answers again
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) record_script: Option<PathBuf>,

    /// Let `--record-script` write over a file
    #[arg(long, requires = "record_script")]
    pub(crate) force: bool,

    /// How many sessions run at the same time, at most, in place of `run.max-parallel` of `prose.toml`
    #[arg(long, value_name = "N")]
    pub(crate) max_parallel: Option<NonZeroUsize>,

    /// Stop when so many sessions have been started; `prose resume` goes on
    #[arg(long, value_name = "N")]
    pub(crate) max_sessions: Option<u32>,

    /// Stop after this time, such as `10m`; `prose resume` goes on
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,

    /// Write every event to standard output as a line of JSON, and nothing else there
    #[arg(long, conflicts_with = "narrate")]
    pub(crate) json: bool,

    /// Narrate the run on standard output
    #[arg(long, value_enum, value_name = "MARKERS")]
    pub(crate) narrate: Option<Narration>,

    /// Run sessions although the harness cannot see to it that they keep to their permissions
    #[arg(long)]
    pub(crate) allow_unenforced_permissions: bool,

    /// Let the program name places outside the project: folders for the memory of agents, and files to pass on
    #[arg(long)]
    pub(crate) allow_outside: bool,

    /// Trust the project, as `prose trust` does, and start the agent
    #[arg(long)]
    pub(crate) trust: bool,

    /// Let fetched programs use this right in this run, such as `files:docs/**` or `memory:project`; can be repeated
    ///
    /// A fetched program has its inputs and a folder of memory of its own. `[imports."handle/slug"]` of `prose.toml` grants it more for every run.
    #[arg(long, value_name = "RIGHT")]
    pub(crate) allow: Vec<Right>,

    /// Refuse imported programs that are not in `prose.lock`
    ///
    /// With or without it, a program that is in `prose.lock` runs only with the text that is pinned there.
    #[arg(long)]
    pub(crate) locked: bool,

    /// Fetch no imported program: what the cache has is used, however old
    #[arg(long)]
    pub(crate) offline: bool,

    /// How long the harness `offline` takes for each answer, such as `2s`
    #[arg(long, value_name = "TIME", value_parser = duration, hide = true)]
    pub(crate) delay: Option<Duration>,

    /// Show no progress, and no warnings about the program
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Run a program
#[derive(Debug, Args)]
#[command(after_help = "The outputs of the program go to standard output, everything else to standard error.

Exit status:
  0  the program came to its end
  1  the program failed
  2  the run was refused: errors in the program, wrong inputs, or something that cannot be read or written
  3  the run was interrupted; `prose resume` goes on
  4  the program came to its end, but that could not be recorded: only standard output has the outputs

Examples:
  prose run review.prose
  prose run review.prose --input topic=tides
  prose run alice/research --inputs inputs.toml --harness claude
  prose run review.prose --dry-run                what would be asked, without asking
  prose run tests/*.prose --quiet                 several, one after the other
  generate | prose run -                          a program from standard input
  prose run review.prose --state in-context       keep nothing but the narration")]
pub(crate) struct RunArgs {
    /// The program: a file, `-` for standard input, `handle/slug` of the registry, or an address; `README.md#2` is the second program of a Markdown
    /// document
    ///
    /// Several programs run one after the other, each as a run of its own, once all of them have been checked. Each receives the inputs that it
    /// declares. The exit status is the highest of theirs.
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<String>,

    /// An input of the program; can be repeated
    ///
    /// An input without a name goes by the variable that takes it, or by its number among such inputs.
    #[arg(short, long = "input", value_name = "NAME=VALUE", value_parser = input)]
    pub(crate) inputs: Vec<(String, String)>,

    /// A file with inputs, in TOML or JSON
    #[arg(long = "inputs", value_name = "FILE")]
    pub(crate) input_file: Option<PathBuf>,

    /// How the state is kept
    #[arg(long, visible_alias = "backend", value_enum, value_name = "STATE", default_value_t = State::Filesystem)]
    pub(crate) state: State,

    /// The same as `--state in-context`
    #[arg(long, conflicts_with = "state", hide = true)]
    pub(crate) in_context: bool,

    /// Ask nobody and keep nothing: write the prompts that would be sent to standard output
    ///
    /// The prompts are those for the harness that would run. Replies, conditions and choices are made up on the way, as the harness `offline` does.
    #[arg(long, conflicts_with_all = ["script", "record_script", "json", "narrate"])]
    pub(crate) dry_run: bool,

    /// What the harness `offline` makes its answers of: the same number gives the same answers
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
}

/// Go on with a run that stopped
#[derive(Debug, Args)]
#[command(
    after_help = "No session whose result was recorded is run again. Of a run that failed, the sessions that failed are.

Exit status: as of `prose run`

Examples:
  prose resume                                    the last run of this folder
  prose resume k3x9                               the run whose id contains this
  prose resume k3x9 --program flow.prose --harness claude
                                                  a run that somebody else has started
  prose resume --accept-changes                   after a change of the program: keep what still matches
  prose resume --transcript run.txt review.prose  go on from a narration"
)]
pub(crate) struct ResumeArgs {
    /// The run, by any part of its id; without it, the last one of this folder. With `--transcript`, the program
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// The program to go on with, where nothing confirms that you started the run with it on this machine
    #[arg(long, value_name = "PROGRAM", conflicts_with = "transcript")]
    pub(crate) program: Option<String>,

    /// Go on although the program has changed: results of sessions that are asked the same are kept
    #[arg(long)]
    pub(crate) accept_changes: bool,

    /// Recover the state from this narration; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "accept_changes")]
    pub(crate) transcript: Option<PathBuf>,

    /// An input that the run was waiting for; can be repeated
    #[arg(short, long = "input", value_name = "NAME=VALUE", value_parser = input)]
    pub(crate) inputs: Vec<(String, String)>,

    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
}

/// Trust a project: let its settings choose which agent is started and what it is given
///
/// A run that starts an agent needs a project that you trust; reading, checking and formatting programs does not, nor do runs with the harnesses `offline`
/// and `script`. What you trust is the folder together with its settings that start programs or pass something on. When one of these changes, you are
/// asked again.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the project is trusted, or not trusted any more
  2  wrong usage, or something that cannot be read or written

Examples:
  prose trust                    the project of the current folder
  prose trust ~/flows            another one
  prose trust --list             all projects that you trust
  prose trust --revoke ~/flows   trust it no longer")]
pub(crate) struct TrustArgs {
    /// The folder of the project
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// List the projects that you trust
    #[arg(long, conflicts_with_all = ["revoke", "dir"])]
    pub(crate) list: bool,

    /// Trust the project no longer
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// List, show and remove runs
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

/// What is done with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the runs of this folder, the last one first
    List(RunsListArgs),
    /// Show a run: how it stands, its outputs and its files
    Show {
        /// The run, by any part of its id; without it, the last one
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Narrate what a run does, as it does it
    Tail {
        /// The run, by any part of its id; without it, the last one
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// The markers of the narration
        #[arg(long, value_enum, value_name = "MARKERS", default_value_t = Narration::Brackets)]
        narrate: Narration,
        /// Stop at what has happened so far
        #[arg(long)]
        no_follow: bool,
    },
    /// Remove runs with all their files
    Rm {
        /// The runs, by any parts of their ids
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
}

/// Which runs are listed, and how.
#[derive(Debug, Args)]
pub(crate) struct RunsListArgs {
    /// Write them as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Only runs with this status; can be repeated
    #[arg(long = "status", value_name = "STATUS", value_parser = status_parser())]
    pub(crate) statuses: Vec<String>,

    /// Only runs of programs whose path contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) program: Option<String>,

    /// Only runs that started at most this long ago, such as `2h` or `7d`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) since: Option<Duration>,

    /// How many runs a page has [default: 20 in a terminal, else all]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,

    /// The page, counted from 1, which has the latest runs
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) page: NonZeroUsize,
}

fn status_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(RunState::NAMES)
}

/// List the examples that come with this command, or write one of them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prose examples                          list them
  prose examples hello > hello.prose      start from one")]
pub(crate) struct ExamplesArgs {
    /// The example to write to standard output
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// How the state of a run is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// In files below `.prose/runs`, so that the run can be resumed after anything
    #[value(alias = "filesystem+")]
    Filesystem,
    /// In the narration alone, for small programs
    #[value(alias = "in-context+")]
    InContext,
    /// In a database of the run, which is not built yet (R4)
    #[value(hide = true, alias = "sqlite+")]
    Sqlite,
    /// In a shared database, which is not built yet (R4)
    #[value(hide = true, alias = "postgres+")]
    Postgres,
}

/// How a narration marks its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Narration {
    /// `[Position]`, `[Binding]` and so on
    Brackets,
    /// One emoji each
    Emoji,
}

/// Reads `topic=tides`.
fn input(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("a name and a value are wanted, such as `topic=tides`".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; a time is written like `90s`, `10m` or `1h 30m`"))
}
