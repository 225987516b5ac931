//! A real editor: Neovim with the plugin of this repository opens a broken program, sees the mistake, types the fix and sees
//! it gone.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use prose_tests::{prose_binary, repository};
use serde_json::{Value, json};

/// The driver gives up on each of its steps long before that, and says which.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
#[ignore = "needs Neovim"]
fn a_missing_quote_is_shown_and_goes_when_it_is_typed() {
    let seen = edit("session \"Say hello\n", r#"A"<Esc>"#);

    assert_eq!(seen["filetype"], "prose");
    assert_eq!(seen["commentstring"], "# %s");
    assert_eq!(seen["shiftwidth"], 2);
    assert_eq!(seen["expandtab"], true);
    assert_eq!(seen["session_is_highlighted_as"], "proseSession");

    let (broken, fixed) = ("session \"Say hello", "session \"Say hello\"");
    assert_eq!(texts(&seen), [broken, fixed, broken, fixed]);
    assert_one_unterminated_literal(&seen, "opened", 0, 8);
    assert_clear(&seen, "fixed");
    assert_one_unterminated_literal(&seen, "undone", 0, 8);
    assert_clear(&seen, "redone");
}

/// The server counts columns in UTF-16 by default, the editor in bytes; the wave is two units there and four bytes here.
#[test]
#[ignore = "needs Neovim"]
fn positions_are_right_after_text_that_is_not_ascii() {
    let program = "# Grüße\nagent writer:\n  prompt: \"Write warmly\"\n\noutput reply = \"👋\" + \"Say hello\nsession: writer\n";
    let seen = edit(program, r#"/hello<CR>A"<Esc>"#);

    assert_one_unterminated_literal(&seen, "opened", 4, "output reply = \"👋\" + ".len());
    assert_clear(&seen, "fixed");
    assert_one_unterminated_literal(&seen, "undone", 4, "output reply = \"👋\" + ".len());
    assert_clear(&seen, "redone");
}

/// Opens the program in Neovim, types the keys of the fix once a mistake is shown, undoes and redoes it. Gives what the editor
/// showed at each step.
#[track_caller]
fn edit(program: &str, fix: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.prose");
    let seen = folder.path().join("seen.json");
    fs::write(&file, program).unwrap();

    let mut neovim = Neovim::start(folder.path(), &file, &seen, fix);
    let status = neovim.wait();
    let seen = fs::read_to_string(&seen).unwrap_or_else(|error| {
        panic!("Neovim ended, {status}, before anything was noted: {error}\n{}", neovim.output())
    });
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert!(
        seen.get("problem").is_none(),
        "{}\nseen so far: {:#}\nmessages: {}\nlog: {}",
        seen["problem"].as_str().unwrap_or_default(),
        seen["steps"],
        seen["messages"].as_str().unwrap_or_default(),
        seen["log"].as_str().unwrap_or_default(),
    );
    assert!(status.success(), "Neovim ended with {status}\n{}", neovim.output());
    if let Some(process) = seen["server_process"].as_u64() {
        assert_ends(process);
    }
    seen
}

struct Neovim {
    process: Child,
    output: PathBuf,
}

impl Neovim {
    fn start(folder: &Path, file: &Path, seen: &Path, fix: &str) -> Self {
        let scripts = repository().join("tests/tests/editor_neovim");
        let output = folder.join("output");
        let stderr = fs::File::create(&output).unwrap();
        let mut command = Command::new("nvim");
        command.args(["--headless", "-n", "-i", "NONE", "-u"]).arg(scripts.join("init.lua"));
        command.arg("-S").arg(scripts.join("driver.lua")).arg(file);
        // Nothing of the user's configuration or state is read or written.
        for home in [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
            "XDG_RUNTIME_DIR",
        ] {
            let home_folder = folder.join(home);
            fs::create_dir(&home_folder).unwrap();
            command.env(home, home_folder);
        }
        command.env_remove("NVIM").env_remove("NVIM_LISTEN_ADDRESS").env_remove("NVIM_LOG_FILE");
        command.env_remove("VIMINIT").env_remove("EXINIT").env_remove("NVIM_APPNAME");
        command.env("PROSE_PLUGIN", repository().join("editors/neovim"));
        command.env("PROSE_SERVER", prose_binary());
        command.env("PROSE_FIX", fix);
        command.env("PROSE_SEEN", seen);
        let process = command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .expect("`nvim` is on PATH; `tests/install/neovim` installs it");
        Self { process, output }
    }

    #[track_caller]
    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "Neovim does not end\n{}", self.output());
            sleep(Duration::from_millis(20));
        }
    }

    fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_default()
    }
}

impl Drop for Neovim {
    fn drop(&mut self) {
        // An error means that it has ended already, as it should. A server without an editor ends by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server goes with its editor.
#[track_caller]
fn assert_ends(process: u64) {
    let entry = PathBuf::from(format!("/proc/{process}"));
    let deadline = Instant::now() + Duration::from_secs(10);
    while entry.exists() {
        assert!(Instant::now() < deadline, "the server, process {process}, outlives the editor");
        sleep(Duration::from_millis(20));
    }
}

fn texts(seen: &Value) -> Vec<&str> {
    seen["steps"].as_array().unwrap().iter().map(|step| step["text"].as_str().unwrap()).collect()
}

#[track_caller]
fn step<'a>(seen: &'a Value, name: &str) -> &'a Value {
    let steps = seen["steps"].as_array().unwrap();
    steps.iter().find(|step| step["step"] == name).unwrap_or_else(|| panic!("no step {name} in {seen:#}"))
}

#[track_caller]
fn assert_one_unterminated_literal(seen: &Value, name: &str, line: usize, column: usize) {
    let diagnostics = &step(seen, name)["diagnostics"];
    let place: Vec<_> = diagnostics
        .as_array()
        .unwrap_or_else(|| panic!("{name}: nothing is shown"))
        .iter()
        .map(|one| json!([one["code"], one["severity"], one["line"], one["column"]]))
        .collect();
    assert_eq!(place, [json!(["E001", "ERROR", line, column])], "{name}: {diagnostics:#}");
}

#[track_caller]
fn assert_clear(seen: &Value, name: &str) {
    let diagnostics = &step(seen, name)["diagnostics"];
    assert_eq!(diagnostics, &json!({}), "{name}: something is still shown");
}
