//! Bringing the files of an earlier version of the language's tools to where they belong now (R123).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prose_files::private::{self, Restricted};
use prose_files::{Limit, read};
use serde_json::{Map, Value};

use crate::disk::is_absent;
use crate::env::EnvFile;
use crate::error::StateError;
use crate::folder::{PROSE_FOLDER, Project};

/// What was brought to where it belongs now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Migration {
    /// `.prose/state.json` has become lines of `.prose/.env`.
    pub settings: bool,
    /// What was in `.prose/execution` is in `.prose/runs`.
    pub runs: bool,
    /// There is a folder for agents that remember across runs, which was missing.
    pub agents: bool,
    /// What others could read of the project's files and of the person's.
    pub restricted: Restricted,
    /// Runs that stay in `.prose/execution`, as `.prose/runs` has something of that name.
    pub left: Vec<PathBuf>,
}

impl Project {
    /// Brings settings and runs of earlier versions to where they belong now. What is there already is never written over. A folder without
    /// `.prose` stays as it is.
    pub fn migrate(&self) -> Result<Migration, StateError> {
        let folder = self.root.join(PROSE_FOLDER);
        let mut done = Migration::default();
        if let Some(home) = &self.home {
            done.restricted = private::restrict(&home.join(PROSE_FOLDER));
        }
        if !folder.is_dir() {
            return Ok(done);
        }
        done.settings = self.migrate_settings(&folder.join("state.json"))?;
        (done.runs, done.left) = self.migrate_runs(&self.legacy_run(""))?;
        done.agents = !folder.join("agents").exists();
        // What this makes is private and left out of version control.
        let prose = self.make_prose_folder()?;
        if done.agents {
            prose.make_folder("agents")?;
        }
        done.restricted += private::restrict(prose.folder().path());
        Ok(done)
    }

    fn migrate_settings(&self, path: &Path) -> Result<bool, StateError> {
        let bytes = match read(path, Limit::SETTINGS) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => return Ok(false),
            Err(error) => return Err(StateError::io("read", path)(error.into())),
        };
        let refused = |why: String| StateError::refused(path.display().to_string(), why);
        let settings: Map<String, Value> = serde_json::from_slice(&bytes)
            .map_err(|error| refused(format!("it is not a JSON object with settings: {error}")))?;
        let mut env = EnvFile::read(self)?;
        for (key, value) in &settings {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Null => continue,
                Value::Array(_) | Value::Object(_) => {
                    return Err(refused(format!("`{key}` has several values, but a line of `.env` has one")));
                }
            };
            let is_key =
                !key.is_empty() && key.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
            if !is_key || value.contains(['\n', '\r']) {
                return Err(refused(format!("`{key}` cannot be a line `KEY=value` of `.env`")));
            }
            if env.get(key).is_none() {
                env.set(key, &value);
            }
        }
        env.write(self)?;
        // Only what is safe elsewhere is removed.
        fs::remove_file(path).map_err(StateError::io("remove", path))?;
        Ok(true)
    }

    fn migrate_runs(&self, from: &Path) -> Result<(bool, Vec<PathBuf>), StateError> {
        let entries = match fs::read_dir(from) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok((false, Vec::new())),
            Err(error) => return Err(StateError::io("read", from)(error)),
        };
        let runs = self.make_prose_folder()?.folder().make_folder(Path::new("runs"))?;
        let runs = runs.path();
        let (mut moved, mut left) = (false, Vec::new());
        for entry in entries {
            let entry = entry.map_err(StateError::io("read", from))?;
            let (old, new) = (entry.path(), runs.join(entry.file_name()));
            if new.symlink_metadata().is_ok() {
                left.push(old);
                continue;
            }
            fs::rename(&old, &new).map_err(StateError::io("move", &old))?;
            moved = true;
        }
        left.sort();
        match fs::remove_dir(from) {
            Ok(()) => moved = true,
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty || !left.is_empty() => {}
            Err(error) => return Err(StateError::io("remove", from)(error)),
        }
        Ok((moved, left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it is below the folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        let project = Project::new(folder.path());
        (folder, project)
    }

    #[track_caller]
    fn text(folder: &tempfile::TempDir, path: &str) -> String {
        fs::read_to_string(folder.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    #[test]
    fn settings_become_lines_and_keep_those_that_are_there() {
        let (folder, project) = workspace(&[
            (
                ".prose/state.json",
                r#"{"OPENPROSE_TELEMETRY": "enabled", "USER_ID": "user-1", "COUNT": 3, "NONE": null}"#,
            ),
            (".prose/.env", "# mine\nUSER_ID=user-2\n"),
        ]);
        let done = project.migrate().expect("it can be migrated");
        assert!(done.settings && done.agents && !done.runs, "{done:?}");
        let env = text(&folder, ".prose/.env");
        assert!(env.starts_with("# mine\nUSER_ID=user-2\n"), "{env}");
        assert!(env.contains("\nOPENPROSE_TELEMETRY=enabled\n") && env.contains("\nCOUNT=3\n"), "{env}");
        assert!(!env.contains("NONE") && !folder.path().join(".prose/state.json").exists(), "{env}");
        assert_eq!(project.migrate().expect("it can be migrated"), Migration::default());
    }

    #[test]
    fn settings_that_are_no_lines_stay() {
        for wrong in ["[1]", "{", r#"{"A": {"b": 1}}"#, r#"{"A": "b\nC=d"}"#, r#"{"A=B": "c"}"#] {
            let (folder, project) = workspace(&[(".prose/state.json", wrong)]);
            let error = project.migrate().expect_err(wrong).to_string();
            assert!(error.contains("state.json"), "{error}");
            assert_eq!(text(&folder, ".prose/state.json"), wrong);
            assert!(!folder.path().join(".prose/.env").exists());
        }
    }

    #[test]
    fn runs_are_moved_one_by_one_and_never_over_others() {
        let (folder, project) = workspace(&[
            (".prose/execution/run-1/program.prose", "old 1"),
            (".prose/execution/run-2/program.prose", "old 2"),
            (".prose/runs/run-2/program.prose", "new 2"),
            (".prose/agents/a/memory.md", "kept"),
        ]);
        let done =
            Migration { restricted: Restricted::default(), ..project.migrate().expect("it can be migrated") };
        let left = vec![folder.path().join(".prose/execution/run-2")];
        assert_eq!(done, Migration { runs: true, left: left.clone(), ..Migration::default() });
        assert_eq!(text(&folder, ".prose/runs/run-1/program.prose"), "old 1");
        assert_eq!(text(&folder, ".prose/runs/run-2/program.prose"), "new 2");
        assert_eq!(text(&folder, ".prose/execution/run-2/program.prose"), "old 2");
        // What is left is reported again, and nothing else happens.
        assert_eq!(
            project.migrate().expect("it can be migrated"),
            Migration { left, ..Migration::default() }
        );
    }

    #[test]
    fn the_folder_of_runs_goes_when_it_is_empty_and_agents_get_theirs() {
        let (folder, project) = workspace(&[(".prose/execution/run-1/program.prose", "old")]);
        let done =
            Migration { restricted: Restricted::default(), ..project.migrate().expect("it can be migrated") };
        assert_eq!(done, Migration { runs: true, agents: true, ..Migration::default() });
        assert!(!folder.path().join(".prose/execution").exists());
        assert!(folder.path().join(".prose/agents").is_dir());
    }

    #[test]
    fn a_folder_without_state_stays_as_it_is() {
        let (folder, project) = workspace(&[]);
        assert_eq!(project.migrate().expect("there is nothing to do"), Migration::default());
        assert!(!folder.path().join(".prose").exists());
    }

    #[test]
    #[cfg(unix)]
    fn what_others_could_read_is_private_afterwards() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, mut project) = workspace(&[
            (".prose/runs/1/journal.jsonl", "events"),
            (".prose/agents/a/memory.md", "kept"),
            ("home/.prose/agents/b/memory.md", "kept"),
            ("notes.md", "open"),
        ]);
        project.home = Some(folder.path().join("home"));
        let set = |path: &str, mode| {
            fs::set_permissions(folder.path().join(path), fs::Permissions::from_mode(mode))
                .expect("they are ours");
        };
        let mode = |path: &str| {
            let metadata = folder.path().join(path).metadata();
            metadata.unwrap_or_else(|error| panic!("{path}: {error}")).permissions().mode() & 0o777
        };
        let (folders, files) = (
            [".prose", ".prose/runs", ".prose/runs/1", ".prose/agents", ".prose/agents/a", "home/.prose"],
            [
                ".prose/runs/1/journal.jsonl",
                ".prose/agents/a/memory.md",
                "home/.prose/agents/b/memory.md",
                "notes.md",
            ],
        );
        for path in folders {
            set(path, 0o755);
        }
        for path in files {
            set(path, 0o644);
        }
        let done = project.migrate().expect("it can be migrated").restricted;
        assert!(done.changed >= 9 && done.left == 0, "{done:?}");
        for path in folders {
            assert_eq!(mode(path), 0o700, "{path}");
        }
        for path in &files[..3] {
            assert_eq!(mode(path), 0o600, "{path}");
        }
        assert_eq!(mode("notes.md"), 0o644);
        assert_eq!(text(&folder, ".prose/.gitignore"), "runs/\n.env\nagents.db\n");
        assert_eq!(mode(".prose/.gitignore"), 0o600);
        assert_eq!(project.migrate().expect("it can be migrated"), Migration::default());
    }

    #[test]
    fn a_list_of_what_version_control_leaves_out_is_never_written_over() {
        let (folder, project) = workspace(&[(".prose/.gitignore", "mine\n")]);
        project.migrate().expect("it can be migrated");
        assert_eq!(text(&folder, ".prose/.gitignore"), "mine\n");
    }
}
