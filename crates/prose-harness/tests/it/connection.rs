//! Connections with programs, played by shells.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use prose_harness::drivers::connection::{Connection, End, Endings, MAX_LINE_BYTES, Program};
use serde_json::{Value, json};
use tempfile::TempPath;

use crate::support::{runs, until};

/// A shell that runs a script in a folder.
fn shell(script: &str, folder: &Path) -> Program {
    Program {
        program: "sh".to_owned(),
        arguments: ["-c", script].map(str::to_owned).to_vec(),
        folder: folder.to_owned(),
        variables: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        files: Vec::new(),
    }
}

async fn start(script: &str, folder: &Path, endings: &Arc<Endings>) -> Connection {
    let supervisor = Path::new(env!("CARGO_BIN_EXE_supervisor-for-tests"));
    Connection::start(shell(script, folder), Some(supervisor), endings).await.unwrap()
}

/// Runs the script with a supervisor and without one.
async fn both(script: &str) -> [Connection; 2] {
    let endings = Arc::default();
    let direct = Connection::start(shell(script, Path::new("/")), None, &endings).await.unwrap();
    [start(script, Path::new("/"), &endings).await, direct]
}

fn exit(code: i32) -> End {
    End::Exited(ExitStatus::from_raw(code << 8))
}

#[tokio::test]
async fn values_go_both_ways_until_the_input_is_closed() {
    for mut connection in both("while read -r line; do echo \"[$line]\"; done; exit 3").await {
        for number in 1..4 {
            connection.send(&json!({ "number": number }));
            assert_eq!(connection.receive().await, Ok(json!([{ "number": number }])));
        }
        connection.close();
        connection.send(&json!("too late"));
        assert_eq!(connection.receive().await, Err(exit(3)));
        assert_eq!(connection.receive().await, Err(exit(3)));
    }
}

#[tokio::test]
async fn a_long_value_goes_both_ways() {
    let text = Value::from("tide ".repeat(100_000));
    for mut connection in both("exec cat").await {
        connection.send(&text);
        assert_eq!(connection.receive().await.as_ref(), Ok(&text));
    }
}

#[tokio::test]
async fn what_is_not_json_is_kept_for_messages() {
    let script =
        r#"echo '{"a":1}'; echo 'Loading'; printf '\033[31mError:\033[0m no key\n' >&2; printf 2; exit 1"#;
    for mut connection in both(script).await {
        assert_eq!(connection.receive().await, Ok(json!({ "a": 1 })));
        assert_eq!(connection.receive().await, Ok(json!(2)), "the last line needs no line break");
        assert_eq!(connection.exited().await, exit(1));
        let said = connection.said();
        let mut said: Vec<_> = said.lines().collect();
        said.sort_unstable();
        assert_eq!(said, ["Error: no key", "Loading"]);
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_not_started() {
    let missing = Program { program: "no-such-program".to_owned(), ..shell("", Path::new("/")) };
    let supervisor = Path::new(env!("CARGO_BIN_EXE_supervisor-for-tests"));
    for supervisor in [Some(supervisor), None] {
        let started = Connection::start(missing.clone(), supervisor, &Arc::default()).await;
        assert_eq!(started.err().unwrap().kind(), std::io::ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn an_endless_line_is_an_error() {
    let endless = format!("head -c {} /dev/zero | tr '\\0' a; sleep 60", MAX_LINE_BYTES + 1);
    let mut connection = start(&endless, Path::new("/"), &Arc::default()).await;
    assert_eq!(connection.receive().await, Err(End::LineTooLong));
}

#[tokio::test]
async fn receiving_can_be_given_up_without_loss() {
    let script = r#"printf '{"half":'; read -r line; echo '"done"}'"#;
    for mut connection in both(script).await {
        let nothing = tokio::time::timeout(std::time::Duration::from_millis(50), connection.receive()).await;
        assert!(nothing.is_err());
        connection.send(&json!("go on"));
        assert_eq!(connection.receive().await, Ok(json!({ "half": "done" })));
    }
}

#[tokio::test]
async fn a_dropped_connection_ends_the_program_with_all_it_has_started() {
    let folder = prose_fixture::tempdir().unwrap();
    let endings = Arc::default();
    let script = "echo $$ > own; sleep 60 & echo $! > child; echo 1; wait";
    let mut connection = start(script, folder.path(), &endings).await;
    assert_eq!(connection.receive().await, Ok(json!(1)));
    drop(connection);
    endings.settled().await;
    assert!(!runs(&folder.path().join("own")));
    assert!(!runs(&folder.path().join("child")));
}

#[tokio::test]
async fn the_files_of_a_program_are_removed_after_its_end() {
    let folder = prose_fixture::tempdir().unwrap();
    let supervisor = Path::new(env!("CARGO_BIN_EXE_supervisor-for-tests"));
    for supervisor in [Some(supervisor), None] {
        for script in ["cat file; exit", "cat file; sleep 60"] {
            let file = folder.path().join("file");
            fs::write(&file, "1\n").unwrap();
            let files = vec![Arc::new(TempPath::try_from_path(&file).unwrap())];
            let program = Program { files, ..shell(script, folder.path()) };
            let endings = Arc::default();
            let mut connection = Connection::start(program, supervisor, &endings).await.unwrap();
            assert_eq!(connection.receive().await, Ok(json!(1)));
            drop(connection);
            endings.settled().await;
            until(|| !file.exists()).await;
        }
    }
}

#[tokio::test]
async fn a_supervisor_removes_the_files_of_its_program_when_its_parent_is_gone() {
    let folder = prose_fixture::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let (ours, of_supervisor) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut supervisor = std::process::Command::new(env!("CARGO_BIN_EXE_supervisor-for-tests"))
        .arg(prose_harness::supervisor::COMMAND)
        .arg(&file)
        .args(["--", "sleep", "60"])
        .stdin(std::os::fd::OwnedFd::from(of_supervisor))
        .spawn()
        .unwrap();
    drop(ours);
    assert!(supervisor.wait().unwrap().success());
    assert!(!file.exists());
}

#[tokio::test]
async fn the_input_of_a_program_that_is_being_stopped_stays_open() {
    let script = "trap '' TERM; echo 1; cat > /dev/null; echo > ended";
    let (supervised, direct) = (prose_fixture::tempdir().unwrap(), prose_fixture::tempdir().unwrap());
    let endings = Arc::default();
    let program = shell(script, direct.path());
    let connections = [
        start(script, supervised.path(), &endings).await,
        Connection::start(program, None, &endings).await.unwrap(),
    ];
    for mut connection in connections {
        assert_eq!(connection.receive().await, Ok(json!(1)));
    }
    endings.settled().await;
    for folder in [supervised, direct] {
        assert!(!folder.path().join("ended").exists(), "it has read the end of its input");
    }
}

#[tokio::test]
async fn a_program_does_not_outlive_its_supervisor() {
    let folder = prose_fixture::tempdir().unwrap();
    let endings = Arc::default();
    let mut connection = start("echo $$ > own; echo $PPID; sleep 60", folder.path(), &endings).await;
    let supervisor = connection.receive().await.unwrap();
    std::process::Command::new("kill").args(["-9", &supervisor.to_string()]).status().unwrap();
    assert_eq!(connection.receive().await, Err(End::Lost("its supervisor process has exited".into())));
    drop(connection);
    endings.settled().await;
    assert!(!runs(&folder.path().join("own")));
}

#[tokio::test]
async fn what_a_program_leaves_running_is_not_ended() {
    let folder = prose_fixture::tempdir().unwrap();
    let endings = Arc::default();
    let mut connection = start("sleep 30 & echo $! > server", folder.path(), &endings).await;
    assert_eq!(connection.exited().await, exit(0));
    drop(connection);
    endings.settled().await;
    assert!(runs(&folder.path().join("server")));
    let number = fs::read_to_string(folder.path().join("server")).unwrap();
    std::process::Command::new("kill").arg(number.trim()).status().unwrap();
}

#[tokio::test]
async fn the_program_of_a_sender_that_is_kept_ends_all_the_same() {
    let folder = prose_fixture::tempdir().unwrap();
    let endings = Arc::default();
    let connection = start("echo $$ > own; cat", folder.path(), &endings).await;
    until(|| folder.path().join("own").exists()).await;
    let sender = connection.sender().unwrap();
    drop(connection);
    endings.settled().await;
    sender.send(&json!("nobody receives this"));
    assert!(!runs(&folder.path().join("own")));
}
