//! Runs the real binary in a folder of its own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use expect_test::Expect;
use tempfile::TempDir;

/// A folder with programs, to run `prose` in.
pub(crate) struct Workspace {
    folder: TempDir,
    /// Where it is remembered what is trusted.
    state: TempDir,
}

/// What a run of `prose` left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workspace {
    /// A folder with these files; a name may have folders in it.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = || prose_fixture::tempdir().expect("a temporary folder can be made");
        let workspace = Self { folder: folder(), state: folder() };
        for (name, text) in files {
            workspace.write(name, text.as_bytes());
        }
        workspace
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file. A script can be started.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("folders can be made");
        fs::write(&path, bytes).expect("files can be written");
        #[cfg(unix)]
        if bytes.starts_with(b"#!") {
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&path, executable).expect("it is ours");
        }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file can be read")
    }

    /// A command that is free of the settings of whoever runs the tests.
    pub(crate) fn command(&self) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_prose"))
    }

    /// Another command with the same environment.
    pub(crate) fn command_of(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE", "CI"] {
            command.env_remove(variable);
        }
        for variable in
            ["PROSE_OFFLINE", "PROSE_REGISTRY_TOKENS", "PROSE_CREDENTIALS_FILE", "PROSE_ALLOW_HTTP"]
        {
            command.env_remove(variable);
        }
        let of_telemetry = std::env::vars_os().map(|(name, _)| name);
        let of_telemetry = of_telemetry.filter(|name| name.to_string_lossy().starts_with("OTEL_"));
        for variable in of_telemetry.chain(["TRACEPARENT".into()]) {
            command.env_remove(variable);
        }
        command.env("PROSE_CACHE_DIR", self.folder.path().join("no-cache"));
        for variable in ["XDG_STATE_HOME", "LOCALAPPDATA"] {
            command.env(variable, self.state.path());
        }
        command.env_remove("SUDO_UID");
        // Answers and commands are attributed to the user.
        command.env("USER", "ada");
        // The global ignore file of Git belongs to these.
        for variable in ["HOME", "USERPROFILE", "XDG_CONFIG_HOME"] {
            command.env(variable, self.folder.path().join("no-home"));
        }
        command
    }

    pub(crate) fn prose(&self, arguments: &[&str]) -> Run {
        Run::of(self.command().args(arguments))
    }

    /// The same below `strace`. Returns the calls of these kinds, with the files in place of their numbers.
    #[cfg(target_os = "linux")]
    #[track_caller]
    pub(crate) fn traced(&self, calls: &str, arguments: &[&str]) -> String {
        let plain = self.command();
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-e", &format!("trace={calls}"), "-o", "trace.txt"]);
        command.arg(plain.get_program()).args(arguments).current_dir(self.folder.path());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Run::of(&mut command).ended(0);
        self.read("trace.txt")
    }

    /// Says that the project in the folder is trusted, as a person would.
    #[track_caller]
    pub(crate) fn trust(&self) {
        self.prose(&["trust"]).ended(0);
    }

    /// The folder of the user in which it is remembered what is trusted.
    pub(crate) fn state(&self) -> PathBuf {
        self.state.path().join("prose")
    }

    pub(crate) fn prose_with_input(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("standard input is piped");
        stdin.write_all(input).expect("the binary reads its input");
        drop(stdin);
        Run::from(child.wait_with_output().expect("the binary ends"))
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::from(command.output().expect("the binary starts"))
    }

    /// Says with which status it had to end.
    #[track_caller]
    pub(crate) fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Compares everything that a user would see.
    #[track_caller]
    pub(crate) fn check(&self, expected: Expect) {
        self.check_ref(&expected);
    }

    /// The same.
    #[track_caller]
    pub(crate) fn check_ref(&self, expected: &Expect) {
        expected.assert_eq(&self.shown());
    }

    /// Compares the line that is all that a user would see, on standard output.
    #[track_caller]
    pub(crate) fn printed(&self, line: Expect) {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{self:?}");
        line.assert_eq(self.stdout.strip_suffix('\n').unwrap_or(&self.stdout));
    }

    /// The same for standard error.
    #[track_caller]
    pub(crate) fn remarked(&self, line: Expect) {
        assert_eq!((self.status, self.stdout.as_str()), (0, ""), "{self:?}");
        line.assert_eq(self.stderr.strip_suffix('\n').unwrap_or(&self.stderr));
    }

    /// Compares the error that is all that a user would see of what was asked for.
    #[track_caller]
    pub(crate) fn refused(&self, error: Expect) {
        assert_eq!((self.status, self.stdout.as_str()), (2, ""), "{self:?}");
        let said = self.stderr.strip_prefix("error: ").and_then(|said| said.strip_suffix('\n'));
        error.assert_eq(said.unwrap_or(&self.stderr));
    }

    fn shown(&self) -> String {
        let mut shown = format!("status: {}\n", self.status);
        for (stream, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                shown.push_str(&format!("---- {stream}\n{text}"));
            }
        }
        shown
    }
}

impl From<std::process::Output> for Run {
    fn from(output: std::process::Output) -> Self {
        Self {
            status: output.status.code().expect("no signal ended the binary"),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

/// The output with the separators of Unix, so that one expectation serves every system.
fn text(bytes: &[u8]) -> String {
    let text = str::from_utf8(bytes).expect("output is UTF-8");
    if cfg!(windows) { text.replace('\\', "/").replace("prose.exe", "prose") } else { text.to_owned() }
}

/// A server of the programs in the folder `registry` of a workspace.
pub(crate) struct Server {
    process: Child,
    /// Its address, which ends with `/`.
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(workspace: &Workspace) -> Self {
        let mut command = workspace.command();
        command
            .args(["serve-registry", "registry", "--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("the binary starts");
        let stdout = process.stdout.take().expect("standard output is piped");
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let mut urls =
            lines.filter_map(|line| Some(line.strip_prefix("url = \"")?.trim_end_matches('"').to_owned()));
        let url = urls.next().expect("the server tells its address");
        // All of it has to be read: a server whose output nobody takes ends.
        std::thread::spawn(move || urls.count());
        Self { process, url }
    }

    pub(crate) fn stop(&mut self) {
        self.process.kill().expect("the server runs");
        self.process.wait().expect("the server ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
