//! The arguments of `prose runs`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgGroup, Args, Subcommand, ValueEnum, ValueHint};
use prose_run::Point;
use prose_state::runs::RunState;

use crate::candidates;

use super::priority::RunPriority;
use super::run::{LimitArgs, Narration, RunnerArgs, duration, input};

/// List, show, watch, control and remove runs
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// The runs of a cluster instead of those in this folder: the address of its PostgreSQL server, or `-` for that of `OPENPROSE_POSTGRES_URL`
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) on: Option<String>,
    /// Do not show the output of `list`, `show` and `diff` in a pager
    ///
    /// At a terminal, these commands start the pager in `PAGER`, otherwise `less -FRX`. `PAGER=cat` does without one as well.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,

    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

/// The subcommands of `prose runs`.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the runs in this folder, latest first
    List(RunsListArgs),
    /// Show the status, outputs, census, sessions and files of a run
    Show {
        /// Any part of the id of the run; by default, the last run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: Option<String>,
        /// Print the view of the run as JSON, as editors receive it
        #[arg(long)]
        json: bool,
        /// List all sessions and failures of a long run
        #[arg(long, conflicts_with = "json")]
        all: bool,
        /// Show one session with its prompts and replies: its number as in `requests` of `--json`, its agent, or the name of its result
        #[arg(long, value_name = "SESSION", conflicts_with = "all")]
        session: Option<String>,
    },
    /// Narrate a run while it runs
    Tail {
        /// Any part of the id of the run; by default, the last run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: Option<String>,
        /// The markers of the narration
        #[arg(long, value_enum, value_name = "MARKERS", default_value_t = Narration::Brackets)]
        narrate: Narration,
        /// Print the events so far and exit
        #[arg(long)]
        no_follow: bool,
    },
    Answer(Box<AnswerArgs>),
    Fork(Box<ForkArgs>),
    /// Compare two runs: what each asked, what came of it, and what it used
    ///
    /// Sessions, conditions, choices, inputs, loops, handled errors and outputs are aligned by their place and by what was asked. The exit status is 0
    /// if nothing differs, 1 if something does, and 2 if a run cannot be read.
    Diff {
        /// The first run: any part of its id, or a file of `prose runs export`
        #[arg(value_name = "A", add = candidates::runs_and_files())]
        a: String,
        /// The second run
        #[arg(value_name = "B", add = candidates::runs_and_files())]
        b: String,
        /// Write both runs step by step as JSON
        #[arg(long)]
        json: bool,
        /// Show long texts in full
        #[arg(long, conflicts_with = "json")]
        all: bool,
    },
    /// Write a run to one file, to replay it elsewhere or to pass it on
    ///
    /// The file has the program and all events with their prompts, replies and values. Keys of the environment, variables that agents receive and the
    /// texts of `run.redact` in `prose.toml` are replaced.
    Export {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
        /// The file, such as `review.prose-run`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
    Report(ReportArgs),
    /// Add a run from a file of `prose runs export` to the runs in this folder
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Where to keep the state of the run; by default, as it was exported
        #[arg(long, value_enum, value_name = "STATE")]
        state: Option<ImportedState>,
    },
    /// Watch a run that another process executes, and answer its questions
    ///
    /// Shows what happens like `prose run`. The run continues when you leave with Ctrl-C. The exit status is 0 if the run completes, 1 if it fails,
    /// 2 if it stops or cannot be watched, and 3 if you leave.
    Attach {
        /// Any part of the id of the run; by default, the last run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: Option<String>,
        /// Only watch: do not ask the questions of the run
        #[arg(long)]
        read_only: bool,
        /// Write each event from the start of the run on as a line of JSON
        #[arg(long)]
        json: bool,
        /// Show progress as lines, also on a terminal
        #[arg(long)]
        plain: bool,
    },
    /// Pause a run: running sessions complete, and no new one starts
    Pause {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
    },
    /// Continue a paused run
    Continue {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
    },
    /// Stop a run; `prose resume` continues it
    Stop {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
    },
    /// End a session of a run with an empty result, with a warning
    Skip {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
        /// The number of the session, its agent, or the name of its result; by default, the only session
        #[arg(value_name = "SESSION", add = candidates::sessions())]
        session: Option<String>,
    },
    /// Cancel a session at work and start it again; what it has used counts
    Retry {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
        /// The number of the session, its agent, or the name of its result; by default, the only session at work
        #[arg(value_name = "SESSION", add = candidates::sessions())]
        session: Option<String>,
    },
    /// Raise or lower a limit of a run
    ///
    /// The limit replaces those of the run from flags and settings for the same thing, also when the run is resumed. Limits for agents and for the day
    /// stay.
    #[command(group = ArgGroup::new("limit").args(["max_cost", "max_tokens", "max_sessions"]).required(true).multiple(true))]
    SetLimit {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// Change the priority of a run of a cluster
    ///
    /// Sessions at work are completed. `prose run --priority` sets the priority of a new run.
    SetPriority {
        /// Any part of the id of the run
        #[arg(value_name = "RUN", add = candidates::runs())]
        run: String,
        /// The priority
        #[arg(value_enum, value_name = "PRIORITY")]
        priority: RunPriority,
    },
    Prune(PruneArgs),
    /// Remove runs with all their files
    Rm {
        /// Parts of the ids of the runs
        #[arg(value_name = "RUN", required = true, add = candidates::runs())]
        runs: Vec<String>,
    },
}

/// Write a report on a run: one HTML file that needs nothing else
///
/// The report has the timeline of the run, its flow, its program with what came of each line, its values, and each session with prompt, context, reply,
/// attempts, usage, cost and warnings. Of several runs it also has the differences to the first one. It redacts what `prose runs export` redacts.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the report is written
  2  wrong usage, or a run that could not be read or a file that could not be written

Examples:
  prose runs report                         the last run
  prose runs report k3x9 -o review.html     a run, to this file
  prose runs report k3x9 p7w2               two runs and their differences
  prose runs report review.prose-run        a file of `prose runs export`")]
pub(crate) struct ReportArgs {
    /// Any parts of the ids of runs, or files of `prose runs export`; by default, the last run
    #[arg(value_name = "RUN", add = candidates::runs_and_files())]
    pub(crate) runs: Vec<String>,

    /// The file; by default, the id of the first run with the ending `.html`. `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Answer a question of a run that waits, and resume the run
#[derive(Debug, Args)]
#[command(after_help = "The answer is recorded with your name. A run without a process is resumed here.

Exit status: the same as for `prose run`; 0 if the answer is only recorded, 2 if it is not one of those that the question offers

Examples:
  prose runs answer k3x9 yes                      the only question of the run
  prose runs answer k3x9 2 once                   question 2, as `prose runs show` lists it
  prose runs answer k3x9 topic \"the tides\"       the input `topic`
  prose runs answer k3x9 yes --no-resume          record the answer only")]
pub(crate) struct AnswerArgs {
    /// Any part of the id of the run
    #[arg(value_name = "RUN", add = candidates::runs())]
    pub(crate) run: String,

    /// The answer; before it, the number of the question or the name of the input, if the run has several questions
    #[arg(value_name = "ANSWER", num_args = 1..=2, required = true, add = candidates::answers())]
    pub(crate) answer: Vec<String>,

    /// Record the answer without resuming the run
    #[arg(long)]
    pub(crate) no_resume: bool,

    /// The program to resume with; required if the run was not started by you on this machine
    #[arg(long, value_name = "PROGRAM", add = candidates::programs())]
    pub(crate) program: Option<String>,

    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
}

/// Start a new run that keeps what a run did before a point, and asks what comes after it
#[derive(Debug, Args)]
#[command(
    after_help = "The original stays as it is, also if it has ended, failed or waits. Before it starts, the fork shows what it reuses and what it is expected to
ask; at a terminal it waits for a confirmation.

Exit status: the same as for `prose run`

Examples:
  prose runs fork k3x9 --from 12                      again from the first execution of line 12 on
  prose runs fork k3x9 --from lib.prose:12            from a line of an imported program, as `prose runs show` names it
  prose runs fork k3x9 --from s4/i2/1                 from a place that `prose runs show --json` lists
  prose runs fork k3x9 --from @340                    from an event
  prose runs fork k3x9 --from failure                 from the statement that failed
  prose runs fork k3x9 --from 12 --set topic=winds    with another value of a variable
  prose runs fork k3x9 --reply 7=\"Reject it\"          what if the session at line 7 had replied this
  prose runs fork k3x9 --from 12 --program new.prose  with an edited program"
)]
pub(crate) struct ForkArgs {
    /// Any part of the id of the run
    #[arg(value_name = "RUN", add = candidates::runs())]
    pub(crate) run: String,

    /// Where the fork leaves the run: a line of its program or of one that it imports, a place, an event, or where it failed
    ///
    /// A line stands for the first execution of its statement, and `failure` for the last one of the statement that failed. Without it, the fork starts after the last reply that `--reply` replaces; with
    /// `--program` alone, all answers are reused that still match.
    #[arg(long, value_name = "LINE|PLACE|@EVENT|failure", value_parser = point, add = candidates::fork_points())]
    pub(crate) from: Option<Point>,

    /// Give a variable another value at that point; can be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = input, requires = "from", add = candidates::variables())]
    pub(crate) variables: Vec<(String, String)>,

    /// Replace the reply of a session, which a line, a place or the event of its result names; can be repeated
    ///
    /// The place of a statement with one session stands for that session: `s3` for `s3/1`.
    #[arg(long = "reply", value_name = "PLACE=TEXT", value_parser = input)]
    pub(crate) replies: Vec<(String, String)>,

    /// Continue with this program
    #[arg(long, value_name = "PROGRAM", add = candidates::programs())]
    pub(crate) program: Option<String>,

    /// Start without a confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
}

/// Reads `12`, `lib.prose:12`, `@340` and `s4/i2/1`.
fn point(text: &str) -> Result<Point, String> {
    text.parse()
}

/// Remove old runs with all their files, after a confirmation
///
/// Only runs that all given options apply to are removed. Runs that are being executed or wait for an answer stay, and so do runs that a remaining fork
/// or replay continues from.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("rules").args(["older", "failed", "keep"]).required(true).multiple(true),
    after_help = "Exit status:
  0  the runs are removed, or there is none to remove
  2  wrong usage, or a run that could not be removed

Examples:
  prose runs prune --older 30d              runs that ended at least 30 days ago
  prose runs prune --keep 20                all but the latest 20 runs
  prose runs prune --failed --older 7d      failed runs of more than a week ago
  prose runs prune --keep 20 --dry-run      list what would be removed"
)]
pub(crate) struct PruneArgs {
    /// Remove only runs that ended, or were last active, at least this long ago, such as `30d`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) older: Option<Duration>,

    /// Remove only runs that failed
    #[arg(long)]
    pub(crate) failed: bool,

    /// Keep the latest N runs
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,

    /// List what would be removed, without removing it
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Remove the runs without a confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// The filters and the format of `prose runs list`.
#[derive(Debug, Args)]
pub(crate) struct RunsListArgs {
    /// Write the list as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// List only runs with this status; can be repeated
    #[arg(long = "status", value_name = "STATUS", value_parser = status_parser())]
    pub(crate) statuses: Vec<String>,

    /// List only failed runs; the same as `--status failed`
    #[arg(long)]
    pub(crate) failed: bool,

    /// List only runs of programs whose path contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) program: Option<String>,

    /// List only runs started within this time, such as `2h` or `7d`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) since: Option<Duration>,

    /// The number of runs per page [default: 20 on a terminal, otherwise all]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,

    /// The page to show; page 1 has the latest runs
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) page: NonZeroUsize,
}

fn status_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(RunState::NAMES.map(|name| match name {
        // A name of several words is easier to type with hyphens.
        "completed with failures" => PossibleValue::new(name).alias("completed-with-failures"),
        name => PossibleValue::new(name),
    }))
}

/// Where the state of an imported run is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportedState {
    /// In files
    Filesystem,
    /// In a database of SQLite
    Sqlite,
    /// In the database of the PostgreSQL server that `OPENPROSE_POSTGRES_URL` names
    Postgres,
}
