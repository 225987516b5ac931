//! The arguments of `prose check`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use prose_config::CodePattern;
use prose_project::load::STDIN;
use prose_syntax::codes::UnknownCode;
use prose_syntax::{Code, Level, Profile, suggest};

use crate::candidates;

/// Check programs for mistakes
#[derive(Debug, Clone, Args)]
#[command(after_help = "Exit status:
  0  no errors (there may be warnings)
  1  at least one error, or more warnings than --max-warnings; with --diff, at least one program that --fix would change
  2  wrong usage, or a file that could not be read or written; all other files are still checked

Examples:
  prose check                                  every program in the current folder
  prose check a.prose flows/                   one program and a folder
  prose check --output-format concise flows/   one line for each diagnostic
  prose check --output-format sarif > out.sarif
  prose check --select E,W1 --ignore W113
  prose check --statistics                     how often each code was found
  prose check --profile strict --level W101=off
  prose check --watch                          check again when a file changes
  prose check --diff                           show what --fix would change
  prose check --fix --unsafe-fixes flows/      apply all fixes, including unsafe ones
  git show HEAD:a.prose | prose check - --stdin-filename a.prose")]
pub(crate) struct CheckArgs {
    /// Programs and folders to check; `-` is standard input
    ///
    /// In folders, all `*.prose` files are checked, except hidden files and files excluded by `.gitignore` or `.ignore`. A file
    /// named here is always checked; in a Markdown document, its `prose` blocks are. Each `prose.toml` that applies to a checked
    /// program is checked as well, and can also be named here.
    #[arg(value_name = "PATH", default_value = ".", add = candidates::sources())]
    pub(crate) paths: Vec<PathBuf>,

    /// Apply safe fixes to the programs
    ///
    /// The remaining diagnostics are reported. With `-`, the fixed program goes to standard output and diagnostics to standard error.
    #[arg(long)]
    pub(crate) fix: bool,

    /// Also apply unsafe fixes, which need review
    ///
    /// Without `--fix` or `--diff`, it only changes the number of available fixes in the summary.
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,

    /// Show what `--fix` would change as a unified diff, without changing files
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) diff: bool,

    /// The format of the diagnostics on standard output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Full)]
    pub(crate) output_format: OutputFormat,

    /// The base set of severities; overrides `check.profile` in `prose.toml`
    ///
    /// `default` reports no errors for programs that work in practice; `strict` uses the severities of the language reference.
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser())]
    pub(crate) profile: Option<Profile>,

    /// The level of a code; overrides `prose.toml` and the profile; can be repeated
    ///
    /// Levels are `error`, `warning`, `info`, `hint` and `off`. `prose explain` lists the codes. A trailing `*` matches all codes with that
    /// prefix: `W*=off`. A later `--level` overrides an earlier one.
    #[arg(long = "level", value_name = "CODE=LEVEL", value_parser = parse_levels, add = candidates::levels())]
    levels: Vec<(CodePattern, Level)>,

    /// Report only these codes, or codes that start like this, such as `W1`; can be repeated, or separated by commas
    ///
    /// The levels of the codes stay as they are configured.
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = parse_codes, add = candidates::codes())]
    select: Vec<CodePattern>,

    /// Do not report these codes, or codes that start like this, also where `--select` names them
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = parse_codes, add = candidates::codes())]
    ignore: Vec<CodePattern>,

    /// Report only how often each code was found, the most frequent ones first
    #[arg(long, conflicts_with_all = ["diff", "hook"])]
    pub(crate) statistics: bool,

    /// Check the programs again whenever one of them, an import, a folder or the settings change
    #[arg(long, conflicts_with_all = ["diff", "hook"])]
    pub(crate) watch: bool,

    /// Fail if there are more than N warnings
    #[arg(long, value_name = "N")]
    pub(crate) max_warnings: Option<usize>,

    /// Read settings from this file instead of the nearest `prose.toml` of each program
    #[arg(long, value_name = "PATH", conflicts_with = "no_config")]
    pub(crate) config: Option<PathBuf>,

    /// Read no settings
    #[arg(long)]
    pub(crate) no_config: bool,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,

    /// Report imported programs that are not in `prose.lock`
    ///
    /// The lock file is next to `prose.toml`, or in the current folder. `prose lock` writes it.
    #[arg(long)]
    pub(crate) locked: bool,

    /// The name to show for standard input; settings and imports are found relative to its folder
    #[arg(long, value_name = "NAME", default_value = STDIN, hide_default_value = true)]
    pub(crate) stdin_filename: PathBuf,

    /// Write only diagnostics and errors, without a summary or notes
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Check the file that a coding agent has edited, which the JSON of its hook on standard input names
    ///
    /// Files other than programs are ignored. If there are errors, they go to standard error with status 2, which returns them to the agent.
    #[arg(long, conflicts_with_all = ["paths", "fix", "diff", "output_format"])]
    pub(crate) hook: bool,

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
    /// The levels of single codes; later ones override earlier ones. Those of `--level` are in the order of the arguments.
    pub(crate) fn levels(&self) -> Vec<(Code, Level)> {
        let levels =
            self.levels.iter().flat_map(|(pattern, level)| pattern.codes().map(|code| (code, *level)));
        let is_left_out = |code: &Code| {
            let is_among = |patterns: &[CodePattern]| patterns.iter().any(|pattern| pattern.matches(*code));
            !self.select.is_empty() && !is_among(&self.select) || is_among(&self.ignore)
        };
        let left_out = Code::ALL.iter().copied().filter(is_left_out).map(|code| (code, Level::Off));
        levels.chain(left_out).collect()
    }

    /// The error for options that do not fit together, depending on their values.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        use OutputFormat::{Concise, Full, Json};
        let reads_stdin = self.paths.iter().any(|path| path.as_os_str() == "-");
        match self.output_format {
            _ if self.watch && reads_stdin => {
                Some("`--watch` cannot check standard input, which does not change; name files and folders")
            }
            Full | Concise => None,
            _ if self.watch => Some("`--watch` has only the output formats `full` and `concise`"),
            Json => None,
            _ if self.statistics => {
                Some("`--statistics` has only the output formats `full`, `concise` and `json`")
            }
            _ => None,
        }
    }
}

/// Reads `W101`, `W1` and `W*`.
fn parse_codes(text: &str) -> Result<CodePattern, String> {
    let text = text.trim();
    let start = text.strip_suffix('*').unwrap_or(text);
    match text.parse::<Code>() {
        Ok(code) => Ok(CodePattern::Code(code)),
        Err(unknown) if start.is_empty() => Err(unknown_code(&unknown)),
        Err(unknown) => CodePattern::parse(&format!("{start}*")).ok_or_else(|| unknown_code(&unknown)),
    }
}

/// Reads `W101=off` and `W*=off`.
fn parse_levels(text: &str) -> Result<(CodePattern, Level), String> {
    let Some((code, level)) = text.split_once('=') else {
        return Err("expected a code and a level, such as `W101=off`".to_owned());
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
    let hint = near
        .map_or_else(|| "list all codes with `prose explain`".to_owned(), |near| did_you_mean(near.as_str()));
    format!("{unknown}; {hint}")
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// The output format of `prose check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The source line, the message and the fix
    Full,
    /// One line each: `path:line:column: error[E001]: message`
    Concise,
    /// An array of objects
    Json,
    /// Annotations for GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning services
    Sarif,
    /// A report of Code Quality, for GitLab
    Gitlab,
    /// The XML of JUnit, for CI servers: each diagnostic is a test that fails
    Junit,
    /// The XML of Checkstyle
    Checkstyle,
}
