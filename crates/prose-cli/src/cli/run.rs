//! The arguments of the commands that run programs.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use prose_run::{Caps, Right};
use smol_str::SmolStr;

use crate::cli::priority::RunPriority;
use crate::{candidates, example};

/// The options that `prose run` and `prose resume` share.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunnerArgs {
    /// Whether the run is resumed because a question was answered: another process that resumes it at the same time uses the answer as well.
    #[arg(skip)]
    pub(crate) has_answered: bool,

    /// The backend that runs sessions: `offline`, `script`, an agent such as `claude` or `codex`, or `command`
    ///
    /// Overrides `run.harness` in `prose.toml`. `offline`, the default, generates placeholder replies without a model.
    #[arg(long, value_name = "NAME", add = candidates::harnesses())]
    pub(crate) harness: Option<String>,

    /// Take replies from this file; implies `--harness script`
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) script: Option<PathBuf>,

    /// Record the run as a script that gives the same replies again
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) record_script: Option<PathBuf>,

    /// Let `--record-script` overwrite an existing file
    #[arg(long, requires = "record_script")]
    pub(crate) force: bool,

    /// The maximum number of sessions that run at the same time; overrides `run.max-parallel` in `prose.toml`
    #[arg(long, value_name = "N")]
    pub(crate) max_parallel: Option<NonZeroU32>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Stop after this time, such as `10m`; `prose resume` continues the run
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    pub(crate) timeout: Option<Duration>,

    /// Write every event to standard output as one line of JSON, and nothing else
    #[arg(long, conflicts_with = "narrate")]
    pub(crate) json: bool,

    /// Write only this output of the program to standard output, without its name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "narrate"], add = candidates::outputs())]
    pub(crate) output: Option<SmolStr>,

    /// Narrate the run on standard output
    #[arg(long, value_enum, value_name = "MARKERS")]
    pub(crate) narrate: Option<Narration>,

    /// Run sessions even if the harness cannot enforce their permissions
    #[arg(long)]
    pub(crate) allow_unenforced_permissions: bool,

    /// Allow the program to use paths outside the project, for agent memory and for files in `context:`
    #[arg(long)]
    pub(crate) allow_outside: bool,

    /// Trust the project, as `prose trust` does, and start the agent
    #[arg(long)]
    pub(crate) trust: bool,

    /// Grant fetched programs a right for this run, such as `files:docs/**` or `memory:project`; can be repeated
    ///
    /// Without it, a fetched program can use only its inputs and its own memory folder. `[imports."handle/slug"]` in `prose.toml` grants rights
    /// for every run.
    #[arg(long, value_name = "RIGHT", add = candidates::rights())]
    pub(crate) allow: Vec<Right>,

    /// Refuse imported programs that are not in `prose.lock`
    ///
    /// Programs in `prose.lock` always run only with their pinned text.
    #[arg(long)]
    pub(crate) locked: bool,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,

    /// The time that the harness `offline` takes for each reply, such as `2s`
    #[arg(long, value_name = "TIME", value_parser = duration, hide = true)]
    pub(crate) delay: Option<Duration>,

    /// Exit with status 1 if the program completed with failures that it handled by `on-fail`, `catch` or `retry`
    ///
    /// `run.strict-exit` in `prose.toml` does so for every run.
    #[arg(long)]
    pub(crate) strict_exit: bool,

    /// Do not show progress, warnings about the program or the census at the end
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Show progress as lines, also on a terminal
    ///
    /// On a terminal, a run that takes longer than a moment has a screen with all its parts, what the selected session writes, and keys to answer, pause,
    /// skip and stop; `?` lists them.
    #[arg(long)]
    pub(crate) plain: bool,
}

/// Run a program
#[derive(Debug, Args)]
#[command(after_help = "The outputs of the program go to standard output, everything else to standard error.

Exit status:
  0  the program completed, also with failures that it handled
  1  the program failed, or with `--strict-exit` completed with failures
  2  the run was refused: errors in the program, wrong inputs, or a file that cannot be read or written
  3  the run was interrupted; `prose resume` continues it
  4  the program completed, but this could not be recorded; only standard output has the outputs
  5  the run waits for an answer; `prose runs answer` gives it and continues the run
  6  with `--replay`, the program asks something that the earlier run did not

Examples:
  prose run review.prose
  prose run review.prose --input topic=tides
  prose run alice/research --inputs inputs.toml --harness claude
  prose run review.prose --output summary         write one of its outputs, for other programs
  prose run review.prose --dry-run                print the prompts without calling an agent
  prose run review.prose --only 12                only the session at line 12, with the values of the last run
  prose run tests/*.prose --quiet                 several, one after the other
  generate | prose run -                          a program from standard input
  prose run review.prose --replay k3x9            run it with the answers of an earlier run
  prose run review.prose --state in-context       keep the state in the narration only")]
pub(crate) struct RunArgs {
    /// The program: a file, `-` for standard input, `handle/slug` of the registry, or an address; `README.md#2` is the second program of a Markdown
    /// document
    ///
    /// Several programs are all checked first and then run one after another, each as a separate run. Each receives the inputs that it declares.
    /// The exit status is the highest of all runs.
    #[arg(value_name = "PROGRAM", required = true, add = candidates::programs())]
    pub(crate) programs: Vec<String>,

    /// An input of the program; can be repeated
    ///
    /// For an input without a name, use the variable that it is assigned to, or its number among such inputs.
    #[arg(short, long = "input", value_name = "NAME=VALUE", value_parser = input, add = candidates::inputs())]
    pub(crate) inputs: Vec<(String, String)>,

    /// A file with inputs, in TOML or JSON
    #[arg(long = "inputs", value_name = "FILE")]
    pub(crate) input_file: Option<PathBuf>,

    /// Where to keep the state of the run
    ///
    /// The default is `run.state` in `prose.toml`, or `filesystem`. A run with `--replay` keeps it where the earlier run did.
    #[arg(long, visible_alias = "backend", value_enum, value_name = "STATE")]
    pub(crate) state: Option<State>,

    /// Run the program on the workers of a cluster: the address of its PostgreSQL server, or `-` for that of `OPENPROSE_POSTGRES_URL`
    ///
    /// The program, what it imports and the settings are sent to the server; values are passed as text, so that agents on other machines need no files of
    /// this one. The run continues after Ctrl-C.
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["state", "in_context", "dry_run", "only", "replay", "record_script", "narrate", "allow_outside"]
    )]
    pub(crate) on: Option<String>,

    /// With `--on`, let agents work in the git repository of the project
    ///
    /// Each session starts with the present commit, in a working tree of its own on the machine of a worker, and what it changes is pushed as a branch that its
    /// reply names. The commit has to be pushed, and the workers need access to the repository.
    #[arg(long, requires = "on")]
    pub(crate) git: bool,

    /// With `--on`, how urgent the run is: sessions of others wait while there are free ones of a higher priority
    #[arg(long, requires = "on", value_enum, value_name = "PRIORITY", default_value_t)]
    pub(crate) priority: RunPriority,

    /// With `--on`, print the id of the run and do not wait for it
    #[arg(long, requires = "on", conflicts_with_all = ["json", "output", "strict_exit"])]
    pub(crate) detach: bool,

    /// The same as `--state in-context`
    #[arg(long, conflicts_with = "state", hide = true)]
    pub(crate) in_context: bool,

    /// Print the prompts without calling an agent or writing files
    ///
    /// The prompts are the ones that the configured harness would receive. Replies, conditions and choices are generated as by the harness
    /// `offline`.
    #[arg(long, conflicts_with_all = ["script", "record_script", "json", "narrate", "output"])]
    pub(crate) dry_run: bool,

    /// Run only the session, condition, choice or block at this line, with the values of the last run
    ///
    /// Nothing else of the program runs. The variables that it uses have the values that the last run had there; `--input` gives other values, and
    /// values that are missing are asked for. A condition or a choice is decided, and what follows from it does not run. With `--dry-run`, prints its
    /// prompts.
    #[arg(long, value_name = "LINE", conflicts_with_all = ["in_context", "replay"], add = candidates::parts())]
    pub(crate) only: Option<NonZeroU32>,

    /// Take all answers from an earlier run, without agents, processes or connections
    ///
    /// RUN is any part of the id of a run in this folder, or a file of `prose runs export`. Inputs are those of the earlier run, unless they are given. If
    /// the program asks something that is not recorded, the run stops, shows it next to the most similar recorded request, and exits with status 6.
    #[arg(
        long,
        value_name = "RUN|FILE",
        conflicts_with_all = ["dry_run", "in_context", "script", "max_parallel", "record_script"],
        add = candidates::runs_and_files()
    )]
    pub(crate) replay: Option<String>,

    /// With `--replay`, ask the harness what is not recorded
    #[arg(long, requires = "replay")]
    pub(crate) live: bool,

    /// The seed of the harness `offline`: the same seed gives the same replies
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
}

/// Resume a run
#[derive(Debug, Args)]
#[command(after_help = "Sessions with recorded results do not run again. Failed and interrupted sessions do.

Exit status: the same as for `prose run`

Examples:
  prose resume                                    the last run in this folder
  prose resume k3x9                               the run whose id contains this
  prose resume k3x9 --program flow.prose --harness claude
                                                  a run that another user started
  prose resume --accept-changes                   resume a changed program; matching results are reused
  prose resume --transcript run.txt review.prose  resume from a narration")]
pub(crate) struct ResumeArgs {
    /// Any part of the id of the run; by default, the last run in this folder. With `--transcript`, the program
    #[arg(value_name = "RUN", add = candidates::runs())]
    pub(crate) run: Option<String>,

    /// The program to resume with; required if the run was not started by you on this machine
    #[arg(long, value_name = "PROGRAM", conflicts_with = "transcript", add = candidates::programs())]
    pub(crate) program: Option<String>,

    /// Resume although the program has changed: results of unchanged sessions are reused
    #[arg(long)]
    pub(crate) accept_changes: bool,

    /// Recover the state from this narration; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "accept_changes")]
    pub(crate) transcript: Option<PathBuf>,

    /// Resume a run on the workers of a cluster: the address of its PostgreSQL server, or `-` for that of `OPENPROSE_POSTGRES_URL`
    #[arg(long, value_name = "URL", conflicts_with_all = ["program", "accept_changes", "transcript", "inputs"])]
    pub(crate) on: Option<String>,

    /// An input that the run is waiting for; can be repeated
    #[arg(short, long = "input", value_name = "NAME=VALUE", value_parser = input, add = candidates::inputs())]
    pub(crate) inputs: Vec<(String, String)>,

    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
}

/// Estimate the sessions, tokens and cost of a run before it starts
#[derive(Debug, Args)]
#[command(
    after_help = "The least holds for every run that completes, the most for every run, as far as sessions and decisions are concerned. Tokens and cost are
estimated from the lengths of prompts, from earlier runs of the program in this folder, and from the prices of models.

Exit status:
  0  the program was estimated
  2  the program has errors, wrong inputs, or a file cannot be read

Examples:
  prose estimate review.prose
  prose estimate review.prose --harness claude --input topics='[\"tides\", \"winds\"]'
  prose estimate alice/research --json"
)]
pub(crate) struct EstimateArgs {
    /// The program: a file, `-` for standard input, `handle/slug` of the registry, or an address; `README.md#2` is the second program of a Markdown
    /// document
    #[arg(value_name = "PROGRAM", add = candidates::programs())]
    pub(crate) program: String,

    /// An input of the program; can be repeated. The length of a list is the number of iterations of loops over it
    #[arg(short, long = "input", value_name = "NAME=VALUE", value_parser = input, add = candidates::inputs())]
    pub(crate) inputs: Vec<(String, String)>,

    /// The backend to estimate for; overrides `run.harness` in `prose.toml`
    #[arg(long, value_name = "NAME", add = candidates::harnesses())]
    pub(crate) harness: Option<String>,

    /// Write the estimate as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Explain a program on one page of Markdown
///
/// The page has the inputs and outputs of the program, its agents with their rights and memories, its steps, the most that a run can ask for, and its
/// imports with the rights that they request. Nothing runs.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the page was written
  2  wrong usage, or the program has errors

Examples:
  prose describe review.prose
  prose describe alice/research --harness claude > research.md")]
pub(crate) struct DescribeArgs {
    /// The program: a file, `-` for standard input, `handle/slug` of the registry, or an address; `README.md#2` is the second program of a Markdown
    /// document
    #[arg(value_name = "PROGRAM", add = candidates::programs())]
    pub(crate) program: String,

    /// The backend to estimate for; overrides `run.harness` in `prose.toml`
    #[arg(long, value_name = "NAME", add = candidates::harnesses())]
    pub(crate) harness: Option<String>,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Trust a project, so that its programs can start agents
///
/// Runs that start an agent need a trusted project. Reading, checking and formatting programs does not, nor do runs with the harnesses `offline` and
/// `script`. Trust covers the folder together with the settings that start processes or pass on files and variables. When one of these settings
/// changes, you are asked again.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the project is trusted, or its trust is revoked
  2  wrong usage, or a file that cannot be read or written

Examples:
  prose trust                    trust the project of the current folder
  prose trust ~/flows            trust another project
  prose trust --list             list all trusted projects
  prose trust --revoke ~/flows   revoke the trust")]
pub(crate) struct TrustArgs {
    /// The folder of the project
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,

    /// List all trusted projects
    #[arg(long, conflicts_with_all = ["revoke", "dir"])]
    pub(crate) list: bool,

    /// Revoke the trust in the project
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// The limits of a run.
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitArgs {
    /// Stop once the run has cost so many US dollars, such as `2.50`; `prose resume` with a higher limit continues it
    ///
    /// Overrides `limits.run.max-cost` in `prose.toml`. Sessions at work are completed. If a model is asked and the run has no limit, 5 applies.
    #[arg(long, value_name = "DOLLARS", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,

    /// Stop once the run has used so many input and output tokens; `prose resume` with a higher limit continues it
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,

    /// Stop once the run has started N sessions, with those of earlier executions; `prose resume` with a higher limit continues it
    #[arg(long, value_name = "N")]
    pub(crate) max_sessions: Option<u32>,
}

impl LimitArgs {
    /// The limits for a run.
    pub(crate) fn caps(&self) -> Caps {
        Caps { cost: self.max_cost, tokens: self.max_tokens, sessions: self.max_sessions }
    }
}

/// List the built-in example programs, or print one
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prose examples                          list all examples
  prose examples hello > hello.prose      start from an example")]
pub(crate) struct ExamplesArgs {
    /// The example to print to standard output
    #[arg(value_name = "NAME", add = candidates::of(examples))]
    pub(crate) name: Option<String>,
}

/// The names of the examples, with what they show.
fn examples() -> Vec<(String, String)> {
    example::EXAMPLES.iter().map(|example| (example.name.to_owned(), example.summary().to_owned())).collect()
}

/// Where the state of a run is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// In files in `.prose/runs`; the run can be resumed after an interruption or a crash
    #[value(alias = "filesystem+")]
    Filesystem,
    /// In the narration on standard output only, for small programs
    #[value(alias = "in-context+")]
    InContext,
    /// In a database of SQLite in `.prose/runs`, which can be queried while the run is executed
    #[value(alias = "sqlite+")]
    Sqlite,
    /// In the database of the PostgreSQL server that `OPENPROSE_POSTGRES_URL` names, in `.prose/.env` or in the environment
    #[value(alias = "postgres+", alias = "postgresql")]
    Postgres,
}

/// The markers at the start of narrated lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Narration {
    /// `[Position]`, `[Binding]` and so on
    Brackets,
    /// One emoji per line
    Emoji,
}

/// Reads `topic=tides`.
pub(super) fn input(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("expected a name and a value, such as `topic=tides`".to_owned()),
    }
}

/// Reads `2.50` or `$2.50`.
pub(super) fn amount(text: &str) -> Result<f64, String> {
    let amount = text.trim().trim_start_matches('$').parse::<f64>().ok();
    amount
        .filter(|amount| amount.is_finite() && *amount >= 0.0)
        .ok_or_else(|| "expected an amount of US dollars, such as `2.50`".to_owned())
}

/// Reads `10m`. A run without any time would stop before its first session.
fn time_limit(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| match time.is_zero() {
        true => {
            Err("a run needs some time, such as `10m`; without `--timeout`, its time is not limited"
                .to_owned())
        }
        false => Ok(time),
    })
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; expected a time such as `90s`, `10m` or `1h 30m`"))
}
