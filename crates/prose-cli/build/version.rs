//! Which commit a build is made from.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable in which packagers pass the commit, if they build outside of a clone.
pub(crate) const COMMIT: &str = "PROSE_COMMIT";

/// The variable in which packagers pass the date, as seconds since 1970. Reproducible builds of all projects use it.
pub(crate) const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The file into which `git archive` writes the commit, and so do the archives of a release that Git hosts offer.
pub(crate) const ARCHIVE: &str = "build/commit.txt";

/// How many digits of a commit are shown. Git would choose a number by the size of the clone, and two builds would differ.
const SHOWN_DIGITS: usize = 9;

/// The commit of a build and its time, as far as they are known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    commit: Option<String>,
    /// Seconds since 1970.
    time: Option<i64>,
}

impl Source {
    fn new(commit: &str, time: &str) -> Self {
        let commit = commit.trim();
        let is_hash = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        Self { commit: is_hash.then(|| commit.to_ascii_lowercase()), time: time.trim().parse().ok() }
    }

    /// What packagers say.
    pub(crate) fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self::new(&variable(COMMIT).unwrap_or_default(), &variable(EPOCH).unwrap_or_default())
    }

    /// The text of [`ARCHIVE`]. In a clone, it has only places that `git archive` fills in.
    pub(crate) fn of_archive(text: &str) -> Self {
        let (commit, time) = text.trim().split_once(' ').unwrap_or_default();
        Self::new(commit, time)
    }

    /// The last commit of the clone that this folder is a part of.
    pub(crate) fn of_git(folder: &Path) -> Self {
        // The sources may have been unpacked inside the clone of something else.
        if git(folder, &["ls-files", "--error-unmatch", "Cargo.toml"]).is_none() {
            return Self::default();
        }
        Self::of_archive(
            &git(folder, &["log", "-1", "--no-show-signature", "--format=%H %ct"]).unwrap_or_default(),
        )
    }

    /// This, and where something is missing, the other.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { commit: self.commit.or(other.commit), time: self.time.or(other.time) }
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        self.commit.is_none() || self.time.is_none()
    }

    /// The version with what is known: `0.1.0 (0123abcde 2026-01-31)`.
    pub(crate) fn version(&self, number: &str, is_release: bool) -> String {
        let commit =
            self.commit.as_deref().map(|commit| commit.get(..SHOWN_DIGITS).unwrap_or(commit).to_owned());
        let known: Vec<String> = commit.into_iter().chain(self.time.map(date)).collect();
        match (known.is_empty(), is_release) {
            (false, _) => format!("{number} ({})", known.join(" ")),
            (true, true) => number.to_owned(),
            (true, false) => format!("{number} (debug build)"),
        }
    }
}

/// The files that change with the current commit of a clone.
pub(crate) fn files_of_head(folder: &Path) -> Vec<PathBuf> {
    let branch = git(folder, &["rev-parse", "--symbolic-full-name", "HEAD"]).unwrap_or_default();
    // The log has a line for each commit and checkout, but may be turned off.
    ["HEAD", "logs/HEAD", "packed-refs", branch.trim()]
        .iter()
        .filter(|name| !name.is_empty())
        .filter_map(|name| git(folder, &["rev-parse", "--git-path", name]))
        .map(|path| folder.join(path.trim_end()))
        // A missing file would run the build script each time.
        .filter(|path| path.is_file())
        .collect()
}

/// What Git answers, unless it fails.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The day of a time in UTC, as `2026-01-31`.
fn date(seconds: i64) -> String {
    // Years begin in March here, so that the day that some years have comes last. 400 years, an era, have the same number of days each.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
