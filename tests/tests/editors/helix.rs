//! A real editor: Helix in a terminal of tmux, set up by `editors/helix/install`, as a user meets it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use prose_tests::{in_trixie, prose_binary, repository};
use tempfile::TempDir;

/// How long anything may take. Far more than it needs, since the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that asks for nothing, with a bracket that is missing at its end.
const PROGRAM: &str = r#"# Two opinions.
agent writer:
  model: sonnet
  prompt: "Write warmly"

let draft = session: writer
  prompt: "Write about tides"

output reply = session "Put it together"
  context: [draft
"#;

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn everything_is_installed() {
    let helix = Helix::install();
    let health = helix.run(&["hx", "--health", "prose"]);
    for part in [
        "prose-on-path/prose",
        "Tree-sitter parser: ✓",
        "Highlight queries: ✓",
        "Textobject queries: ✓",
        "Indent queries: ✓",
    ] {
        assert!(health.contains(part), "`{part}` is not in:\n{health}");
    }

    let languages = fs::read_to_string(helix.config().join("languages.toml")).unwrap();
    let grammar = repository().join("syntaxes/tree-sitter-prose");
    assert!(languages.contains(&format!("path = \"{}\"", grammar.display())), "{languages}");
    let again = helix.run(&[repository().join("editors/helix/install").to_str().unwrap()]);
    assert!(again.contains("is not changed"), "{again}");
    assert_eq!(fs::read_to_string(helix.config().join("languages.toml")).unwrap(), languages);
}

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn a_program_is_edited_and_run() {
    let helix = Helix::install();
    helix.open(PROGRAM);

    helix.wait_for("●  10    context: [draft");
    // What the tree-sitter queries tell apart has colours of its own; what they leave has that of plain text.
    let colours = helix.colours();
    let colour = |text: &str| {
        let found = colours.iter().find(|(_, shown)| shown.contains(text));
        found.unwrap_or_else(|| panic!("`{text}` is not in {colours:?}")).0.as_str()
    };
    let kinds = ["agent", "\"Write", "opinions.", "sonnet", "draft"];
    for (at, one) in kinds.iter().enumerate() {
        for other in &kinds[..at] {
            let (first, second) = (colour(other), colour(one));
            // Types and constants are both white in the theme, and not in use here.
            assert_ne!(first, second, "{other} and {one} look the same");
        }
    }
    assert_eq!(colour("agent"), colour("session"));

    helix.keys(&["g", "e", "A", "]", "Escape"]);
    helix.wait_until("the mistake is gone", |screen| screen.contains("[draft]") && !screen.contains('●'));

    helix.keys(&["/", "session: writer", "Enter"]);
    helix.wait_for(" 6:27");
    helix.ask(&["Space", "k"], "Model: sonnet", &["Escape"]);
    helix.keys(&["Escape"]);
    helix.wait_until("the explanation is gone", |screen| !screen.contains("Model: sonnet"));
    let line = ["g", "e", "o", "BSpace", "session \"About {dr"];
    helix.ask(&line, "draft variable", &["Escape", "Escape", "u"]);
    helix.keys(&["Escape", "Escape", "u"]);
    helix.wait_until("the line is gone", |screen| !screen.contains("About"));

    // Helix has no code lenses, so that programs are run by code actions.
    helix.ask(&["Space", "a"], "▶ Run program", &["Escape"]);
    helix.keys(&["Enter"]);
    helix.wait_for("program.prose is done: 2 sessions");
    let runs = fs::read_dir(helix.folder.path().join(".prose/runs")).unwrap().count();
    assert_eq!(runs, 1);
    helix.keys(&[":quit!", "Enter"]);
    helix.wait_for("Helix has ended");
}

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn a_program_is_debugged() {
    let helix = Helix::install();
    helix.open("let topic = \"tides\"\nlet draft = session \"Draft {topic}\"\nsession \"Print {draft}\"\n");
    helix.wait_for("let topic");
    // The menu of the debugger stays open.
    let debug = |key: &str| helix.keys(&["Escape", "Space", "G", key]);
    helix.keys(&["g", "e"]);
    helix.wait_for(" 3:1");
    debug("b");
    helix.wait_for("◯   3");
    debug("l");
    helix.wait_until("the templates", |screen| screen.contains("program") && screen.contains("run"));
    helix.keys(&["Enter"]);
    helix.wait_for("program:");
    helix.keys(&["program.prose", "Enter"]);
    helix.wait_for("stopped because of entry");
    helix.wait_for("●   3");
    helix.wait_for(" 1:1");

    debug("n");
    helix.wait_for(" 2:1");
    debug("v");
    helix.wait_for("topic: text = tides");
    helix.wait_for("prompt: text = Draft tides");
    helix.keys(&["Escape"]);
    debug("c");
    helix.wait_for("stopped because of breakpoint");
    helix.wait_for(" 3:1");
    debug("c");
    helix.wait_for("Terminated debugging session");
    let runs = helix.run(&["prose", "runs", "list"]);
    assert!(runs.contains("completed"), "{runs}");
    helix.keys(&["Escape", ":quit!", "Enter"]);
    helix.wait_for("Helix has ended");
}

struct Helix {
    folder: TempDir,
}

impl Helix {
    /// Installs OpenProse for Helix into a home of its own, as the guide says.
    fn install() -> Self {
        let helix = Self { folder: prose_fixture::tempdir().unwrap() };
        let path = helix.folder.path().join("prose-on-path");
        fs::create_dir(&path).unwrap();
        symlink(prose_binary(), path.join("prose")).unwrap();
        helix.run(&[repository().join("editors/helix/install").to_str().unwrap()]);
        helix
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("home/.config/helix")
    }

    fn command(&self) -> Command {
        let folder = self.folder.path();
        let mut command = in_trixie(&[prose_binary().parent().unwrap()]);
        command.current_dir(folder).env("HOME", folder.join("home"));
        command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor");
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMUX", "CC"] {
            command.env_remove(variable);
        }
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", folder.join("prose-on-path").display()));
        command
    }

    /// Runs a command beside Helix that must succeed, and returns what it writes.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command().args(arguments).output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?} failed, {}:\n{stdout}{stderr}", output.status);
        // Without colours, as they are written where nobody looks.
        stdout.split('\u{1b}').map(|part| part.strip_prefix('[').map_or(part, after_colour)).collect()
    }

    #[track_caller]
    fn tmux(&self, arguments: &[&str]) -> String {
        let socket = socket(self.folder.path());
        let output =
            self.command().args(["tmux", "-S", &socket, "-f", "/dev/null"]).args(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {arguments:?} failed, {}:\n{stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn open(&self, program: &str) {
        fs::write(self.folder.path().join("program.prose"), program).unwrap();
        // The terminal stays when Helix ends, so that its end is seen.
        let shell = "hx program.prose; echo Helix has ended; exec cat";
        self.tmux(&["new-session", "-d", "-x", "110", "-y", "30", shell]);
    }

    #[track_caller]
    fn keys(&self, keys: &[&str]) {
        // One by one, as a person types them: Helix takes what comes at once for one key with Alt.
        for key in keys {
            self.tmux(&["send-keys", key]);
        }
    }

    /// Asks the server for something. Helix drops an answer if the server tells it something else meanwhile; a person asks again then.
    #[track_caller]
    fn ask(&self, keys: &[&str], answer: &str, back: &[&str]) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.keys(keys);
            let again = Instant::now() + PATIENCE / 10;
            while Instant::now() < again {
                if self.tmux(&["capture-pane", "-p"]).contains(answer) {
                    return;
                }
                sleep(Duration::from_millis(50));
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain for: {answer}\n{}",
                self.tmux(&["capture-pane", "-p"])
            );
            self.keys(back);
        }
    }

    #[track_caller]
    fn wait_for(&self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    #[track_caller]
    fn wait_until(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if holds(&screen) {
                return;
            }
            assert!(Instant::now() < deadline, "waited in vain for: {what}\n{screen}");
            sleep(Duration::from_millis(50));
        }
    }

    /// The texts of the screen with the colour that each is in.
    #[track_caller]
    fn colours(&self) -> Vec<(String, String)> {
        let screen = self.tmux(&["capture-pane", "-p", "-e"]);
        let mut colour = String::new();
        let mut texts = Vec::new();
        for part in screen.split("\u{1b}[").skip(1) {
            let Some((code, text)) = part.split_once('m') else { continue };
            if let Some(found) = code.strip_prefix("38;2;") {
                colour = found.to_owned();
            }
            if !text.trim().is_empty() {
                texts.push((colour.clone(), text.to_owned()));
            }
        }
        texts
    }
}

impl Drop for Helix {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let socket = socket(self.folder.path());
        let _ = self.command().args(["tmux", "-S", &socket, "kill-server"]).output();
    }
}

fn socket(folder: &Path) -> String {
    folder.join("tmux").to_str().unwrap().to_owned()
}

fn after_colour(part: &str) -> &str {
    part.split_once('m').map_or(part, |(_, text)| text)
}
