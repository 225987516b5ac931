//! Agents that are programs, played by shells.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use prose_harness::command::{Argument, Command, CommandSettings, PromptBy};
use prose_harness::decide::PromptedDecisions;
use prose_harness::supervisor::GRACE;
use prose_vm::effect::{Effect, Failure, Outcome, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Harness, RunFolders};
use tokio::time::{Instant, timeout};

use crate::support::*;

/// A shell that runs a script, with what else there is as `$1`, `$2` and so on.
fn shell(script: &str, arguments: &[&str]) -> CommandSettings {
    let mut all = vec!["-c".to_owned(), script.to_owned(), "agent".to_owned()];
    all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    CommandSettings { arguments: all.into_iter().map(Argument::One).collect(), ..CommandSettings::new("sh") }
}

fn harness(settings: CommandSettings) -> PromptedDecisions<Command> {
    harness_in(Path::new("/"), settings)
}

fn harness_in(root: &Path, settings: CommandSettings) -> PromptedDecisions<Command> {
    let supervisor = Some(env!("CARGO_BIN_EXE_supervisor-for-tests").into());
    PromptedDecisions::new(unsupervised(root, settings).supervised_by(supervisor))
}

fn unsupervised(root: &Path, settings: CommandSettings) -> Command {
    let folders = RunFolders { root: root.to_owned(), run: None };
    Command::new("shell", settings, folders).supervised_by(None)
}

async fn reply(harness: &dyn Harness, request: &Request) -> Result<Reply, Failure> {
    match answer(harness, request).await {
        Some(Outcome::Reply(reply)) => Ok(reply),
        Some(Outcome::Failed(failure)) => Err(failure),
        other => panic!("no answer to a session: {other:?}"),
    }
}

async fn says(settings: CommandSettings) -> String {
    said(&harness(settings), &session("s1", "Do it\nwell")).await
}

fn full_task() -> Request {
    let task = SessionTask {
        system: Some("You are $careful.".into()),
        model: Some("sonnet".into()),
        ..task("Say {model} \"as it is\"")
    };
    request("s1", Effect::Session(Arc::new(task)))
}

#[tokio::test]
async fn the_prompt_is_on_standard_input_and_the_reply_on_standard_output() {
    assert_eq!(says(shell("cat; echo; echo aside >&2", &[])).await, "Do it\nwell");
}

#[tokio::test]
async fn placeholders_are_filled_in_once() {
    let script = "printf '<%s>' \"$@\"; cat";
    let settings = CommandSettings {
        prompt: PromptBy::Argument,
        ..shell(script, &["--model={model}", "{prompt}", "{system}", "{other}"])
    };
    assert_eq!(
        said(&harness(settings), &full_task()).await,
        "<--model=sonnet><Say {model} \"as it is\"><You are $careful.><{other}>"
    );
}

#[tokio::test]
async fn r023_what_a_session_does_not_have_is_left_out_with_its_flag() {
    let mut settings = shell("printf '<%s>' \"$@\"; cat", &[]);
    for flag in [["--model", "{model}"], ["--system", "{system}"]] {
        settings.arguments.push(Argument::All(flag.map(str::to_owned).to_vec()));
    }
    assert_eq!(said(&harness(settings.clone()), &session("s1", "Go")).await, "<>Go");
    assert_eq!(
        said(&harness(settings), &full_task()).await,
        "<--model><sonnet><--system><You are $careful.>Say {model} \"as it is\""
    );
}

#[tokio::test]
async fn r026_the_system_part_is_in_the_prompt_where_there_is_no_flag_for_it() {
    assert_eq!(
        said(&harness(shell("cat", &[])), &full_task()).await,
        "Say {model} \"as it is\"\n\nSystem: You are $careful."
    );
    let settings = CommandSettings { prompt: PromptBy::Argument, ..shell("printf '<%s>' \"$@\"", &[]) };
    assert_eq!(
        said(&harness(settings), &full_task()).await,
        "<Say {model} \"as it is\"\n\nSystem: You are $careful.>"
    );
}

#[tokio::test]
async fn it_works_in_the_folder_of_the_project() {
    let folder = prose_fixture::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!(
        said(&harness_in(&folder, shell("pwd", &[])), &session("s1", "Go")).await,
        folder.to_str().unwrap()
    );
}

#[tokio::test]
async fn it_gets_only_the_variables_that_it_needs() {
    // Cargo sets these for tests.
    let names = ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"];
    assert!(names.iter().all(|name| std::env::var_os(name).is_some()));
    let script = "echo ${PATH:+path} ${NO_COLOR} $CARGO_PKG_NAME $CARGO_PKG_VERSION $CARGO_MANIFEST_DIR";
    assert_eq!(says(shell(script, &[])).await, "path 1");
    let variables = vec!["CARGO_PKG_NAM*".to_owned()];
    let settings = CommandSettings { variables, ..shell(script, &[]) };
    assert_eq!(says(settings).await, "path 1 prose-harness");
}

#[tokio::test]
async fn a_failure_tells_what_the_program_said_last() {
    let script = "seq 100 >&2; echo 'no key is set' >&2; exit 3";
    let Err(failure) = reply(&harness(shell(script, &[])), &session("s1", "Go")).await else { panic!() };
    assert_eq!(failure.kind, ErrorKind::Session);
    check(
        &failure.message,
        expect![[r#"
            shell exited with exit status: 3:
            94
            95
            96
            97
            98
            99
            100
            no key is set
            To test it, run `echo 'Say hello' | sh -c 'seq 100 >&2; echo '\''no key is set'\'' >&2; exit 3' agent`."#]],
    );
    let said = says(shell("echo 'only here'; exit 1", &[])).await;
    check(
        &said,
        expect![[r#"
            Session: shell exited with exit status: 1:
            only here
            To test it, run `echo 'Say hello' | sh -c 'echo '\''only here'\''; exit 1' agent`."#]],
    );
    check(
        &says(shell("exit 1", &[])).await,
        expect![
            "Session: shell exited with exit status: 1 and no output. To test it, run `echo 'Say hello' | sh -c 'exit 1' agent`."
        ],
    );
}

#[tokio::test]
async fn death_by_a_signal_is_a_failure() {
    let said = says(shell("kill -9 $$", &[])).await;
    assert!(said.contains("shell exited with signal: 9"), "{said}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    check(
        &says(CommandSettings::new("no-such-agent")).await,
        expect![
            "Session: program `no-such-agent` is not found; install it, or set another program in `run.command` in `prose.toml`"
        ],
    );
    let said = said(&harness_in(Path::new("/no/such/folder"), shell("cat", &[])), &session("s1", "Go")).await;
    check(&said, expect!["Session: the working folder `/no/such/folder` for shell does not exist"]);
    let said = says(CommandSettings::new("/etc/passwd")).await;
    assert!(said.contains("cannot start `/etc/passwd`: Permission denied"), "{said}");
}

#[tokio::test]
async fn an_argument_that_is_too_long_says_how_else_to_pass_it() {
    let settings = CommandSettings { prompt: PromptBy::Argument, ..shell("true", &[]) };
    let said = said(&harness(settings), &session("s1", &"x".repeat(200_000))).await;
    check(
        &said,
        expect![
            "Session: the prompt of 195 KiB is too long for an argument of `sh`; remove `{prompt}` from `run.command` in `prose.toml` to write it to standard input"
        ],
    );
}

#[tokio::test]
async fn a_long_prompt_and_a_reply_of_50_mb_go_through() {
    let text = "0123456789abcde\n".repeat(50 << 16);
    let got = said(&harness(shell("cat", &[])), &session("s1", &text)).await;
    assert_eq!(got.len(), text.len() - 1);
}

#[tokio::test]
async fn a_reply_without_end_is_cut_off() {
    let said = timeout(Duration::from_secs(60), says(shell("yes", &[]))).await.unwrap();
    assert!(said.contains("shell wrote more than 64 MiB, the limit for a reply, and was stopped"), "{said}");
    // What it complains about is thrown away but for its end.
    let script = "yes complaint | head -c 100000000 >&2; echo fine";
    assert_eq!(timeout(Duration::from_secs(60), says(shell(script, &[]))).await.unwrap(), "fine");
}

#[tokio::test]
async fn what_is_no_utf8_is_replaced_and_told() {
    let reply = reply(&harness(shell(r"printf 'a\377\376b'", &[])), &session("s1", "Go")).await.unwrap();
    assert_eq!(&*reply.text, "a\u{fffd}\u{fffd}b");
    assert_eq!(
        reply.warnings,
        ["the reply of shell is not valid UTF-8; invalid bytes are replaced with `\u{fffd}`"]
    );
}

#[tokio::test]
async fn a_program_that_never_reads_gets_to_its_end() {
    let prompt = session("s1", &"x".repeat(1 << 20));
    assert_eq!(said(&harness(shell("echo done", &[])), &prompt).await, "done");
    assert_eq!(said(&harness(shell("exec <&-; sleep 0.2; echo done", &[])), &prompt).await, "done");
}

/// Starts a script and drops it as soon as it has written a file `ready`. Returns how long it took until neither it nor what it started ran.
async fn cancelled(script: &str) -> Duration {
    let folder = prose_fixture::tempdir().unwrap();
    cancelled_by(folder.path(), &harness_in(folder.path(), shell(script, &[]))).await
}

/// The same where the process that starts the program ends it itself.
async fn cancelled_unsupervised(script: &str) -> Duration {
    let folder = prose_fixture::tempdir().unwrap();
    cancelled_by(folder.path(), &PromptedDecisions::new(unsupervised(folder.path(), shell(script, &[]))))
        .await
}

async fn cancelled_by(path: &Path, harness: &dyn Harness) -> Duration {
    let asked = session("s1", "Go");
    let start = {
        let running = answer(harness, &asked);
        tokio::select! {
            _ = running => panic!("it ended by itself"),
            () = until(|| path.join("ready").exists()) => {}
        }
        // The program is cancelled after this moment.
        Instant::now()
    };
    let (own, child) = (path.join("own"), path.join("child"));
    until(|| !runs(&own) && !runs(&child)).await;
    let took = start.elapsed();
    harness.settled().await;
    took
}

/// Checks that programs end before they would be killed: on a busy machine at least one of many does.
async fn end_by_themselves(mut cancelled: impl AsyncFnMut() -> Duration) {
    for _ in 0..20 {
        if cancelled().await < GRACE {
            return;
        }
    }
    panic!("they only end when they are killed");
}

#[tokio::test]
async fn a_cancelled_program_is_ended_with_all_it_has_started() {
    let script = "echo $$ > own; sleep 60 & echo $! > child; touch ready; wait";
    end_by_themselves(async || cancelled(script).await).await;
    end_by_themselves(async || cancelled_unsupervised(script).await).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_cancelled_program_is_ended_with_what_it_has_started_in_a_session_of_its_own() {
    let script = "echo $$ > own; setsid sh -c 'echo $$ > child; touch ready; sleep 60' & wait";
    end_by_themselves(async || cancelled(script).await).await;
    // It has no parent any more but the supervisor, and does not end when it is asked to.
    let daemon = "setsid sh -c 'echo $$ > child; trap \"\" TERM; touch ready; while :; do sleep 0.1; done' &";
    let script = format!("echo $$ > own; sh -c '{}'; sleep 60", daemon.replace('\'', r"'\''"));
    let took = cancelled(&script).await;
    assert!(took >= GRACE, "{took:?}");
}

#[tokio::test]
async fn a_program_may_clean_up_when_it_is_ended() {
    let folder = prose_fixture::tempdir().unwrap();
    let (ready, cleaned) = (folder.path().join("ready"), folder.path().join("cleaned"));
    // No program is being started when the signal comes: some shells lose it then.
    let script = "trap 'sleep 0.3; : > cleaned; exit' TERM; sleep 60 & : > ready; wait";
    let harness = harness_in(folder.path(), shell(script, &[]));
    let asked = session("s1", "Go");
    tokio::select! {
        _ = answer(&harness, &asked) => panic!("it ended by itself"),
        () = until(|| ready.exists()) => {}
    }
    assert!(!cleaned.exists());
    harness.settled().await;
    assert!(cleaned.exists());
}

#[tokio::test]
async fn what_does_not_end_is_killed_after_two_seconds() {
    let ignoring = "trap '' TERM; while :; do sleep 0.1; done";
    // The program itself, and one that outlives it.
    let script = format!("echo $$ > own; sh -c \"{ignoring}\" & echo $! > child; touch ready; {ignoring}");
    let took = cancelled(&script).await;
    assert!(took >= GRACE, "{took:?}");
    let script = format!("echo $$ > own; sh -c \"{ignoring}\" & echo $! > child; touch ready; wait");
    for took in [cancelled(&script).await, cancelled_unsupervised(&script).await] {
        assert!(took >= GRACE, "{took:?}");
    }
}

/// Has a program that ignores that it should end outlive the runtime that it was started in.
fn outliving(command: impl FnOnce(&Path, CommandSettings) -> Command) -> tempfile::TempDir {
    let folder = prose_fixture::tempdir().unwrap();
    let (own, ready) = (folder.path().join("own"), folder.path().join("ready"));
    let script = "trap '' TERM; echo $$ > own; touch ready; while :; do sleep 0.1; done";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let harness = PromptedDecisions::new(command(folder.path(), shell(script, &[])));
        let asked = session("s1", "Go");
        tokio::select! {
            _ = answer(&harness, &asked) => panic!("it ended by itself"),
            () = until(|| ready.exists()) => {}
        }
    });
    assert!(runs(&own));
    drop(runtime);
    folder
}

#[tokio::test]
async fn nothing_outlives_the_runtime() {
    let folder = tokio::task::spawn_blocking(|| outliving(unsupervised)).await.unwrap();
    until(|| !runs(&folder.path().join("own"))).await;
    // The supervisor does the same.
    let folder =
        tokio::task::spawn_blocking(|| outliving(|root, settings| harness_in(root, settings).sessions));
    let folder = folder.await.unwrap();
    until(|| !runs(&folder.path().join("own"))).await;
}

#[tokio::test]
async fn a_program_does_not_outlive_its_supervisor() {
    let folder = prose_fixture::tempdir().unwrap();
    let script = "echo $PPID > supervisor; echo $$ > own; touch ready; sleep 60";
    let harness = harness_in(folder.path(), shell(script, &[]));
    let asked = session("s1", "Go");
    let killed = async {
        until(|| folder.path().join("ready").exists()).await;
        let supervisor = fs::read_to_string(folder.path().join("supervisor")).unwrap();
        std::process::Command::new("kill").args(["-9", supervisor.trim()]).status().unwrap();
        std::future::pending::<()>().await;
    };
    let said = tokio::select! {
        said = said(&harness, &asked) => said,
        () = killed => unreachable!("it never ends"),
    };
    // On a busy machine, the program is ahead of the news that it was started.
    assert!(said.ends_with("its supervisor process has exited"), "{said}");
    harness.settled().await;
    assert!(!runs(&folder.path().join("own")));
}

#[tokio::test]
async fn what_a_program_leaves_running_neither_delays_its_reply_nor_is_ended() {
    let folder = prose_fixture::tempdir().unwrap();
    let harness = harness_in(folder.path(), shell("sleep 600 & echo $! > server; echo started", &[]));
    assert_eq!(said(&harness, &session("s1", "Start the server")).await, "started");
    assert!(runs(&folder.path().join("server")));
    let number = fs::read_to_string(folder.path().join("server")).unwrap();
    std::process::Command::new("kill").arg(number.trim()).status().unwrap();
}

#[tokio::test]
async fn r064_conditions_are_asked_of_the_program() {
    let script = "cat > prompt; echo 'VERDICT: yes'; echo 'REASON: because'";
    let folder = prose_fixture::tempdir().unwrap();
    let harness = harness_in(folder.path(), shell(script, &[]));
    assert_eq!(said(&harness, &condition("s1", "it is done")).await, "yes: because");
    assert!(fs::read_to_string(folder.path().join("prompt")).unwrap().contains("it is done"));
}

#[tokio::test]
async fn a_value_never_becomes_an_option() {
    let from_words = |words: &[&str]| CommandSettings::from_words(words.iter().copied()).unwrap();
    let task = |text: &str, model: &str| {
        let task = SessionTask { model: Some(model.into()), ..task(text) };
        request("s1", Effect::Session(Arc::new(task)))
    };
    let echo = harness(from_words(&["echo", "x", "{prompt}"]));
    check(
        &said(&echo, &task("--help\nme", "opus")).await,
        expect![
            "Session: the prompt starts with `-`, so `echo` would read it as an option: `--help me`; put `--` before `{prompt}` in `run.command` in `prose.toml`, or remove `{prompt}` to write the prompt to standard input"
        ],
    );
    let last = CommandSettings { prompt: PromptBy::Argument, ..from_words(&["echo", "x"]) };
    assert!(said(&harness(last), &task("-n", "opus")).await.contains("the prompt starts with `-`"));
    let split = harness(from_words(&["echo", "x", "--model", "{model}"]));
    check(
        &said(&split, &task("Go", "--yes")).await,
        expect![
            "Session: shell would read `--yes` as an option instead of the value of `{model}`; write it as `--flag={model}` in `run.command` in `prose.toml`"
        ],
    );
    // These can only be read as what they are.
    let joined = harness(from_words(&["echo", "x", "--model={model}"]));
    assert_eq!(said(&joined, &task("Go", "--yes")).await, "x --model=--yes");
    let after = harness(from_words(&["echo", "x", "--", "{prompt}"]));
    assert_eq!(said(&after, &task("- one\n- two", "opus")).await, "x -- - one\n- two");
    assert_eq!(said(&harness(from_words(&["cat"])), &task("- one", "opus")).await, "- one");
}

#[tokio::test]
async fn a_command_line_becomes_settings() {
    assert_eq!(CommandSettings::from_words([]), None);
    let echo = |words: &[&str]| CommandSettings::from_words(words.iter().copied()).unwrap();
    let settings = echo(&["echo", "-q", "--model", "{model}", "--", "{prompt}"]);
    assert_eq!(said(&harness(settings.clone()), &session("s1", "Go")).await, "-q -- Go");
    let shown = said(&harness(settings), &full_task()).await;
    assert!(shown.starts_with("-q --model sonnet -- Say {model}"), "{shown}");
    assert_eq!(said(&harness(echo(&["cat", "-"])), &session("s1", "Go")).await, "Go");
    // A value that stands in its flag is left out with it too.
    let settings = echo(&["echo", "-q", "--model={model}", "-x"]);
    assert_eq!(said(&harness(settings), &session("s1", "Go")).await, "-q -x");
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}
