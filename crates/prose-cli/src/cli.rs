//! The arguments of the command line.

pub(crate) mod run;

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use prose_config::CodePattern;
use prose_syntax::codes::UnknownCode;
use prose_syntax::{Code, Level, Profile, suggest};

/// What standard input is called where no name is given for it.
pub(crate) const STDIN: &str = "<stdin>";

/// What the language greets with (R3).
///
/// Only the help shows it: what other commands write is read by programs too, and a run would show it again and again.
const BANNER: &str = "┌──────────────────────────────┐
│       ◇ OpenProse VM ◇       │
│    A new kind of computer    │
└──────────────────────────────┘";

/// Tools for OpenProse programs (`.prose` files): run them, check them, explain what is wrong, serve editors.
#[derive(Debug, Parser)]
#[command(
    name = "prose",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    before_help = BANNER
)]
#[command(after_help = "Examples:
  prose run review.prose         run a program
  prose check                    check every program below the current folder
  prose check deploy.prose       check one program
  prose fmt                      put every program below the current folder into the one style
  prose explain E001             say what a code means, with an example
  prose lock                     pin the imported programs to the texts they have now
  prose lsp                      serve an editor, which starts this itself")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours
    ///
    /// `auto` uses them on a terminal, unless `NO_COLOR` is set, and elsewhere only if `CLICOLOR_FORCE` is set.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub(crate) color: ColorWhen,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::RunArgs),
    Resume(run::ResumeArgs),
    Runs(run::RunsArgs),
    Trust(run::TrustArgs),
    Examples(run::ExamplesArgs),
    Check(CheckArgs),
    Compile(CompileArgs),
    Fmt(FmtArgs),
    Explain(ExplainArgs),
    Doctor(DoctorArgs),
    Lsp(LspArgs),
    Replay(ReplayArgs),
    Fetch(FetchArgs),
    Lock(LockArgs),
    Outdated(OutdatedArgs),
    Vendor(VendorArgs),
    Cache(CacheArgs),
    ServeRegistry(ServeRegistryArgs),
    /// Bring what earlier versions have left in `.prose` to where it belongs now
    ///
    /// `.prose/state.json` becomes lines of `.prose/.env`, the runs in `.prose/execution` go to `.prose/runs`, and `.prose/agents` is made. What is
    /// there already is never written over.
    Update,
}

/// Report the mistakes in programs
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  no errors (there may be warnings)
  1  at least one error, or more warnings than --max-warnings; with --diff, at least one program that --fix would change
  2  wrong usage, or a file that could not be read or written; the others are still checked

Examples:
  prose check                                  every program below the current folder
  prose check a.prose flows/                   one program and a folder
  prose check --output-format concise flows/   one line for each finding
  prose check --output-format sarif > out.sarif
  prose check --profile strict --level W101=off
  prose check --diff                           show what --fix would change
  prose check --fix --unsafe-fixes flows/      fix all that can be fixed, guesses too
  git show HEAD:a.prose | prose check - --stdin-filename a.prose")]
pub(crate) struct CheckArgs {
    /// Programs and folders to check; `-` is standard input
    ///
    /// In folders, files named `*.prose` are checked, except hidden ones and those that `.gitignore` or `.ignore` files
    /// exclude. A file that is named here is always checked; of a Markdown document, its `prose` blocks are. The settings of the
    /// programs, each `prose.toml` that counts for one of them, are checked as well, and can be named here, too.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// Change the programs: apply the fixes that can be made without asking
    ///
    /// What remains is reported. With `-`, the fixed program goes to standard output and the findings to standard error.
    #[arg(long)]
    pub(crate) fix: bool,

    /// Apply guesses too, which somebody should look at
    ///
    /// Without `--fix` and `--diff` it changes nothing but the number of fixes that are said to be available.
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,

    /// Change nothing and show what `--fix` would change, as a unified diff
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) diff: bool,

    /// How to write the findings to standard output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Full)]
    pub(crate) output_format: OutputFormat,

    /// The set of levels to start from, in place of that of `prose.toml`
    ///
    /// `default` reports no error on a program that works; `strict` takes the language reference at its word.
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser())]
    pub(crate) profile: Option<Profile>,

    /// The level of a code, in place of that of `prose.toml` and the profile; can be repeated
    ///
    /// Levels are `error`, `warning`, `info`, `hint` and `off`. `prose explain` lists the codes. A `*` at the end stands for all codes that start
    /// like this: `W*=off`. A later `--level` overrides an earlier one.
    #[arg(long = "level", value_name = "CODE=LEVEL", value_parser = parse_levels)]
    levels: Vec<(CodePattern, Level)>,

    /// Fail if there are more warnings than this
    #[arg(long, value_name = "N")]
    pub(crate) max_warnings: Option<usize>,

    /// Read the settings from this file, and not from the nearest `prose.toml` of each program
    #[arg(long, value_name = "PATH", conflicts_with = "no_config")]
    pub(crate) config: Option<PathBuf>,

    /// Read no settings
    #[arg(long)]
    pub(crate) no_config: bool,

    /// Fetch nothing: of imported programs, what the cache has is used, however old
    #[arg(long)]
    pub(crate) offline: bool,

    /// Report imported programs that are not in `prose.lock`
    ///
    /// The lock file lies beside `prose.toml`, or in the current folder. `prose lock` writes it.
    #[arg(long)]
    pub(crate) locked: bool,

    /// The name to show for standard input, whose folder is also where its settings and imports are looked for
    #[arg(long, value_name = "NAME", default_value = STDIN, hide_default_value = true)]
    pub(crate) stdin_filename: PathBuf,

    /// Write findings and failures, but no summary and no remarks
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// How many threads to use [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

fn profile_parser() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.iter().map(|profile| profile.as_str())).map(|name| {
        let named = |profile: &&Profile| profile.as_str() == name;
        Profile::ALL.iter().find(named).copied().unwrap_or_default()
    })
}

impl CheckArgs {
    /// The levels of single codes, in the order of the arguments.
    pub(crate) fn levels(&self) -> Vec<(Code, Level)> {
        let levels = self.levels.iter();
        levels.flat_map(|(pattern, level)| pattern.codes().map(|code| (code, *level))).collect()
    }
}

/// Reads `W101=off` and `W*=off`.
fn parse_levels(text: &str) -> Result<(CodePattern, Level), String> {
    let Some((code, level)) = text.split_once('=') else {
        return Err("a code and a level are wanted, such as `W101=off`".to_owned());
    };
    let (code, level) = (code.trim(), level.trim());
    let pattern = match code.parse::<Code>() {
        Ok(code) => CodePattern::Code(code),
        Err(unknown) => CodePattern::parse(code).ok_or_else(|| unknown_code(&unknown))?,
    };
    let named = Level::ALL.iter().find(|known| known.as_str() == level);
    let level = named.ok_or_else(|| {
        let near = suggest::nearest(level, Level::ALL, |level| level.as_str());
        let hint = near.map_or_else(
            || {
                let levels: Vec<String> = Level::ALL.iter().map(|level| format!("`{level}`")).collect();
                format!("the levels are {}", levels.join(", "))
            },
            |near| did_you_mean(near.as_str()),
        );
        format!("`{level}` is not a level; {hint}")
    })?;
    Ok((pattern, *level))
}

fn unknown_code(unknown: &UnknownCode) -> String {
    let near = suggest::nearest(&unknown.0, Code::ALL, |code| code.as_str());
    let hint =
        near.map_or_else(|| "`prose explain` lists all codes".to_owned(), |near| did_you_mean(near.as_str()));
    format!("{unknown}; {hint}")
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// Put programs into the one style
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the programs are formatted; with --check and --diff, they were before
  1  with --check and --diff, at least one program would be formatted
  2  wrong usage, or a file that could not be read or written; the others are still formatted

Examples:
  prose fmt                          every program below the current folder
  prose fmt --check                  change nothing, and fail where something would be
  prose fmt --diff flows/            show what would be changed
  prose fmt --lines 10-20 a.prose    only the statements of these lines
  prose fmt - < a.prose              from standard input to standard output")]
pub(crate) struct FmtArgs {
    /// Programs and folders to format; `-` is standard input
    ///
    /// In folders, files named `*.prose` are formatted, except hidden ones and those that `.gitignore` or `.ignore` files
    /// exclude. Texts and conditions are never touched, and what has mistakes in it stays as it is.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// Change nothing, and list the programs that would be changed
    #[arg(long)]
    pub(crate) check: bool,

    /// Change nothing, and show what would be changed, as a unified diff
    #[arg(long)]
    pub(crate) diff: bool,

    /// Format only the statements that these lines touch, such as `10-20`, counted from 1
    #[arg(long, value_name = "FIRST-LAST", value_parser = parse_lines)]
    pub(crate) lines: Option<RangeInclusive<usize>>,

    /// Write no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn parse_lines(lines: &str) -> Result<RangeInclusive<usize>, String> {
    const FORM: &str = "lines are two numbers such as 10-20, or one";
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|line| *line > 0).ok_or(FORM);
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last) = (number(first)?, number(last)?);
    if last < first {
        return Err(format!("line {last} stands before line {first}"));
    }
    Ok(first..=last)
}

/// Check a program and write it in its canonical form
///
/// That form has no comments, imports, inputs, agents and blocks before all else, arrow chains as the statements that they stand for, and the
/// one style of `prose fmt`. The program runs as before. It goes to standard output, and what is wrong with it to standard error.
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
    /// Of a Markdown document with several, it is `guide.md#2`.
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,

    /// Fetch nothing: of imported programs, what the cache has is used, however old
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Explain a diagnostic code
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prose explain          list every code
  prose explain E001     explain one
  prose explain --output-format json")]
pub(crate) struct ExplainArgs {
    /// The code, such as `E001`; without one, every code is listed
    pub(crate) code: Option<String>,

    /// How to write the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ExplainFormat::Text)]
    pub(crate) output_format: ExplainFormat,
}

/// Say what is wrong with the set-up
///
/// Looks at the settings, the agent that answers sessions, the folders for runs and for fetched programs, and what editors will start.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  nothing is wrong
  1  something is")]
pub(crate) struct DoctorArgs {
    /// Ask the registry, too, whether it can be reached
    #[arg(long)]
    pub(crate) online: bool,
}

/// Fetch imported programs into the cache
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  everything is there
  1  something was not found, is no program, could not be reached or is not allowed
  2  wrong usage, or a file that could not be read

Examples:
  prose fetch                    all that the programs below the current folder import
  prose fetch flows/             those of one folder
  prose fetch alice/research     one program, and what it imports")]
pub(crate) struct FetchArgs {
    /// Programs and folders whose imports to fetch, or what a `use` would name, such as `handle/slug`
    ///
    /// What is imported is fetched with all that it imports itself. Hosts are asked also for what the cache has; what has not changed is not
    /// sent again.
    #[arg(value_name = "PATH|REFERENCE", default_value = ".")]
    pub(crate) what: Vec<String>,
}

/// Pin imported programs to the texts they have now
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  prose.lock is up to date
  1  something was not found or differs; prose.lock is as it was
  2  wrong usage, or a file that could not be read or written

Examples:
  prose lock                            pin what is new, forget what is not used any more
  prose lock --update                   pin everything to the texts of today
  prose lock --update=alice/research    pin one program to its text of today")]
pub(crate) struct LockArgs {
    /// Programs and folders whose imports to pin
    ///
    /// `prose.lock` is written beside their `prose.toml`, or into the current folder. It belongs into version control. Pins that nothing uses are
    /// removed if the whole folder is looked at.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// Take the texts of today, for everything or for these references
    ///
    /// Without it, what is pinned stays as it is.
    #[arg(long, value_name = "REFERENCE", num_args = 0.., require_equals = true, value_delimiter = ',')]
    pub(crate) update: Option<Vec<String>>,
}

/// List the pinned programs whose hosts have another text now
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  everything is as it is pinned
  1  something has another text now, or is gone
  2  wrong usage, or no prose.lock that could be read")]
pub(crate) struct OutdatedArgs {
    /// Folders of projects
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
}

/// Copy imported programs into a folder, for machines without network
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the copies are written
  1  something was not found; nothing is written
  2  wrong usage, or a file that could not be read or written

Example:
  prose vendor vendor            and `vendor = \"vendor\"` below [registry] in prose.toml")]
pub(crate) struct VendorArgs {
    /// The folder for the copies; those of an earlier time are replaced
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Programs and folders whose imports to copy
    ///
    /// What `prose.lock` pins is copied as it is pinned.
    #[arg(value_name = "PATH", default_value = ".")]
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
    /// Print the folder
    Dir,
    /// List the programs, a line each
    List,
    /// Forget all programs
    Clean,
}

/// Serve the programs of a folder as a registry, for development
#[derive(Debug, Args)]
#[command(
    after_help = "For `handle/slug`, the file `handle/slug.prose`, `handle/slug/index.prose` or `handle/slug` is given. Only this machine \
can ask.

Example:
  prose serve-registry ./registry --port 8000"
)]
pub(crate) struct ServeRegistryArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// The port on 127.0.0.1 [default: one that is free]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
}

/// Serve an editor over standard input and output
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the editor ended the session
  1  the editor went away without ending the session
  2  the server could not be started")]
pub(crate) struct LspArgs {
    /// Append the log to a file; warnings always go to standard error
    #[arg(long, value_name = "PATH")]
    pub(crate) log_file: Option<PathBuf>,

    /// How much goes to the log file
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Trace, requires = "log_file")]
    pub(crate) log_level: LogLevel,

    /// Write every message of the session to a file, for `prose replay`
    ///
    /// It has a line of JSON for each message, with its time, and holds the texts of all documents that were open.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Has no effect: many editors pass it, and there is no other way to talk to the server
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// Compare a recorded session with what the server says now
///
/// The recording is one of `prose lsp --record`. What the editor said is said again to a fresh server, in the order of the recording, and each answer and all
/// diagnostics are compared. Programs are not run, and nothing is fetched because of a command. Files that were not open have to lie where they lay.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the server says the same
  1  it says something else, and the first difference is shown
  2  wrong usage, or a file that could not be read or written")]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Write what the server says now into the recording
    #[arg(long)]
    pub(crate) write: bool,
}

/// How much `prose lsp` logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What went wrong in the server
    Error,
    /// And what the editor did wrong
    Warn,
    /// And how the session began and ended
    Info,
    /// And what was ignored
    Debug,
    /// And every message
    Trace,
}

/// How `prose check` writes its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The source line, what is wrong with it and how to mend it
    Full,
    /// One line each: `path:line:column: error[E001]: message`
    Concise,
    /// An array of objects
    Json,
    /// Annotations of GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning services
    Sarif,
}

/// How `prose explain` writes its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On terminals that can show them
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
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
        expect_test::expect_file!["../../../docs/cli.md"].assert_eq(&with_fenced_examples(&page));
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
