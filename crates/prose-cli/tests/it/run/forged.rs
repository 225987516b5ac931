//! Journals that somebody has forged: what they say about the start of a run chooses nothing.

use std::fs;

use expect_test::expect;

use crate::common::{Run, Workspace};
use crate::run::TWO;

const SETTINGS: &str = "[run]\ncommand = [\"./agent.sh\"]\n";

/// A project that is trusted with an agent, and in which a run with the offline harness was stopped.
fn stopped() -> Workspace {
    let agent = "#!/bin/sh\ncat >> started.txt\necho answer\n";
    let evil = "session \"Do evil\"\n";
    let workspace = Workspace::new(&[
        ("main.prose", TWO),
        ("evil.prose", evil),
        ("prose.toml", SETTINGS),
        ("agent.sh", agent),
    ]);
    workspace.trust();
    workspace.prose(&["run", "main.prose", "-q", "--max-sessions", "1"]).ended(3);
    workspace
}

impl Workspace {
    /// Changes the start of the only run and gives its line a new checksum, as a forger would.
    fn forge(&self, changes: &[(&str, &str)]) {
        let path = self.run_folder().join("journal.jsonl");
        let journal = fs::read_to_string(&path).unwrap();
        let (head, rest) = journal.split_once('\n').unwrap();
        let mut body = head[r#"{"crc":"00000000","#.len()..].to_owned();
        for (from, to) in changes {
            assert!(body.contains(from), "{body}");
            body = body.replacen(from, to, 1);
        }
        let crc = crc32fast::hash(body.as_bytes());
        fs::write(path, format!("{{\"crc\":\"{crc:08x}\",{body}\n{rest}")).unwrap();
    }

    /// Takes the seal off the start of the only run, as earlier versions have none.
    fn unseal(&self) {
        let journal = fs::read_to_string(self.run_folder().join("journal.jsonl")).unwrap();
        let start = journal.find("\"seal\":\"").expect("it is sealed");
        let seal = &journal[start..start + "\"seal\":\"".len() + 64 + "\",".len()];
        self.forge(&[(seal, "")]);
    }

    /// What the agent was asked.
    fn asked(&self) -> String {
        fs::read_to_string(self.path("started.txt")).unwrap_or_default()
    }
}

const OFFLINE: &str = r#""harness":"offline""#;
const COMMAND: &str = r#""harness":"command""#;

#[test]
fn a_forged_journal_does_not_choose_the_harness() {
    let workspace = stopped();
    workspace.forge(&[(OFFLINE, COMMAND)]);
    workspace.refuses(
        &["resume", "--max-sessions", "9"],
        expect!["cannot confirm that you started run ID on this machine with the program `FOLDER/main.prose` and the harness `command`; if you did, run `prose resume ID --program FOLDER/main.prose --harness command`"],
    );
    assert_eq!(workspace.asked(), "");
    // The person may, who has to say which program is meant, too.
    workspace.refuses(
        &["resume", "--max-sessions", "9", "--harness", "command"],
        expect!["cannot confirm that you started run ID on this machine with the program `FOLDER/main.prose` and the harness `command`; if you did, run `prose resume ID --program FOLDER/main.prose --harness command`"],
    );
    assert_eq!(workspace.asked(), "");
    let run = workspace.prose(&[
        "resume",
        "--max-sessions",
        "9",
        "-q",
        "--program",
        "main.prose",
        "--harness",
        "command",
    ]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "text: answer\n"), "{run:?}");
    assert!(workspace.asked().starts_with("Second"), "{}", workspace.asked());
}

#[test]
fn a_forged_journal_does_not_choose_the_program() {
    let workspace = stopped();
    let evil = workspace.path("evil.prose");
    let sha256 = |run: Run| {
        let head = fs::read_to_string(workspace.run_folder().join("journal.jsonl")).unwrap();
        let at = head.find(r#""sha256":""#).unwrap() + r#""sha256":""#.len();
        assert_eq!(run.status, 3, "{run:?}");
        head[at..at + 64].to_owned()
    };
    let own = sha256(workspace.prose(&["resume", "--max-sessions", "0"]));
    // All of it fits: the program, its hash, and the copy.
    let other = Workspace::new(&[("evil.prose", "session \"Do evil\"\n")]);
    other.prose(&["run", "evil.prose", "-q", "--max-sessions", "0"]).ended(3);
    let others = fs::read_to_string(other.run_folder().join("journal.jsonl")).unwrap();
    let at = others.find(r#""sha256":""#).unwrap() + r#""sha256":""#.len();
    let main = workspace.path("main.prose").canonicalize().unwrap();
    let main = main.to_str().unwrap();
    workspace.forge(&[(OFFLINE, COMMAND), (main, evil.to_str().unwrap()), (&own, &others[at..at + 64])]);
    fs::copy(&evil, workspace.run_folder().join("program.prose")).unwrap();
    workspace.write("prose.toml", format!("{SETTINGS}harness = \"command\"\n").as_bytes());
    workspace.trust();
    workspace.refuses(
        &["resume"],
        expect!["cannot confirm that you started run ID on this machine with the program `FOLDER/evil.prose` and the harness `command`; if you did, run `prose resume ID --program FOLDER/evil.prose`"],
    );
    workspace.refuses(
        &["resume", "--accept-changes"],
        expect!["cannot confirm that you started run ID on this machine with the program `FOLDER/evil.prose` and the harness `command`; if you did, run `prose resume ID --program FOLDER/evil.prose`"],
    );
    assert_eq!(workspace.asked(), "");
}

#[test]
fn a_forged_journal_leads_to_no_program_outside_the_project() {
    let outside = Workspace::new(&[("deploy.prose", TWO)]);
    let workspace = stopped();
    let main = workspace.path("main.prose").canonicalize().unwrap();
    let deploy = outside.path("deploy.prose").canonicalize().unwrap();
    let deploy = deploy.to_str().unwrap();
    workspace.forge(&[(main.to_str().unwrap(), deploy)]);
    let run = workspace.prose(&["resume", "--max-sessions", "9"]);
    let stderr = workspace.masked(&run.stderr.replace(deploy, "DEPLOY"));
    workspace.shows(Run { stderr, ..run }, &expect![[r#"
        status: 2
        ---- stderr
        error: nothing confirms that you started the run ID on this machine with the program `DEPLOY`, which is not in the project. If that is right, say so: `prose resume ID --program DEPLOY`
    "#]]);
    workspace.forge(&[(deploy, "https://example.com/$(reboot).prose")]);
    workspace.refuses(
        &["resume", "--max-sessions", "9"],
        expect!["nothing confirms that you started the run ID on this machine with the program `https://example.com/$(reboot).prose`, which is not in the project. If that is right, say so: `prose resume ID --program 'https://example.com/$(reboot).prose'`"],
    );
    // The person may mean it.
    workspace.prose(&["resume", "--max-sessions", "9", "-q", "--program", "main.prose"]).ended(0);
}

#[test]
fn a_forged_journal_leads_to_no_script_outside_the_project() {
    let workspace = stopped();
    let outside = Workspace::new(&[("answers.toml", "unmatched = \"offline\"\n")]);
    let path = outside.path("answers.toml").canonicalize().unwrap();
    let path = path.to_str().unwrap();
    let script = format!(r#""harness":"script","script":{{"given":"answers.toml","path":"{path}"}}"#);
    workspace.forge(&[(OFFLINE, &script)]);
    let run = workspace.prose(&["resume", "--max-sessions", "9"]);
    let stderr = run.stderr.replace(path, "SCRIPT");
    workspace.shows(Run { stderr, ..run }, &expect![[r#"
        status: 2
        ---- stderr
        error: cannot confirm that you started run ID on this machine with the script `SCRIPT`; if you did, run `prose resume ID --script SCRIPT`
    "#]]);
    workspace.prose(&["resume", "--max-sessions", "9", "-q", "--script", path]).ended(0);
}

#[test]
fn a_run_of_an_earlier_version_goes_on_where_nothing_is_started() {
    let workspace = stopped();
    workspace.unseal();
    workspace.check(
        &["resume", "--max-sessions", "0"],
        expect![[r#"
            status: 3
            ---- stderr
            note: cannot confirm that you started run ID on this machine; it is resumed with the harness `offline`
            Run ID with offline (placeholder replies)
            … Second
            Recorded results reused; the run continues.
            the limit is 0 sessions now, set by ada on the command line
            Reused 1 result from the earlier execution, ran 0.
            Stopped: 1 session done, 1 not asked, 1 reused
            stopped: the limit of 0 sessions is reached (`--max-sessions`)
            help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
        "#]],
    );
    workspace.prose(&["resume", "--max-sessions", "9", "-q"]).ended(0);
}

#[test]
fn a_run_of_this_user_goes_on_as_it_was_started() {
    let workspace = stopped();
    let elsewhere = Workspace::new(&[("main.prose", TWO)]);
    let program = elsewhere.path("main.prose");
    let program = program.to_str().unwrap();
    let settings = "[run]\ncommand = [\"./agent.sh\"]\n";
    elsewhere.write("prose.toml", settings.as_bytes());
    fs::copy(workspace.path("agent.sh"), elsewhere.path("agent.sh")).unwrap();
    elsewhere.trust();
    let flags = ["--harness", "command", "-q", "--max-sessions", "1"];
    elsewhere.prose(&[&["run", program][..], &flags].concat()).ended(3);
    let run = elsewhere.prose(&["resume", "--max-sessions", "9", "-q"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "text: answer\n"), "{run:?}");
    assert!(!run.stderr.contains("confirm"), "{}", run.stderr);
}

#[test]
fn the_key_of_another_user_confirms_nothing() {
    let workspace = stopped();
    workspace.write("prose.toml", format!("{SETTINGS}harness = \"command\"\n").as_bytes());
    workspace.trust();
    fs::remove_file(workspace.state().join("run.key")).unwrap();
    workspace.prose(&["resume", "--harness", "command"]).ended(2);
    assert_eq!(workspace.asked(), "");
    // Nor does the seal of another run.
    workspace.prose(&["run", "evil.prose", "-q", "--max-sessions", "0"]).ended(3);
    let runs = workspace.runs();
    let other =
        runs.iter().find(|run| !fs::read_to_string(run.join("program.prose")).unwrap().contains("First"));
    let moved = workspace.path(".prose/runs/20990101-000000-aaaaaa");
    fs::rename(other.unwrap(), &moved).unwrap();
    let run = workspace.prose(&["resume", "2099"]);
    assert_eq!((run.status, workspace.asked().as_str()), (2, ""), "{run:?}");
}
