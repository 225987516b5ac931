//! Notices the end of the process that started the server.

use waitpid_any::WaitHandle;

/// Calls `on_death` when the process `pid` ends.
///
/// An editor that is killed does not always close the pipe to its server, for example when another of its children holds it too.
pub(crate) fn watch(pid: i32, on_death: impl FnOnce() + Send + 'static) {
    let mut parent = match WaitHandle::open(pid) {
        Ok(parent) => parent,
        Err(error) => {
            // An editor outside the container that the server runs in has a number that means nothing in here, so this is no
            // reason to stop. The end of the input still ends the server.
            tracing::warn!("the editor's process {pid} cannot be watched: {error}");
            return;
        }
    };
    let watcher = std::thread::Builder::new().name("parent watch".to_owned()).spawn(move || {
        loop {
            match parent.wait() {
                Ok(()) => break on_death(),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!("the editor's process {pid} is no longer watched: {error}");
                    break;
                }
            }
        }
    });
    if let Err(error) = watcher {
        tracing::warn!("the editor's process {pid} cannot be watched: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Makes the child below a process that lives for as long as it is let.
    const WAIT: &str = "PROSE_TEST_WAIT_FOR_STANDARD_INPUT";

    #[test]
    fn waits_for_standard_input() {
        if std::env::var_os(WAIT).is_some() {
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
    }

    #[test]
    fn the_end_of_the_process_is_noticed_and_not_before() {
        // This test program is the one program that is certainly there on every system that runs the tests.
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "protocol::parent::tests::waits_for_standard_input", "--nocapture"])
            .env(WAIT, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (died, death) = mpsc::channel();
        watch(i32::try_from(child.id()).unwrap(), move || died.send(()).unwrap());

        assert_eq!(death.recv_timeout(Duration::from_millis(300)), Err(mpsc::RecvTimeoutError::Timeout));
        child.kill().unwrap();
        assert_eq!(death.recv_timeout(Duration::from_secs(10)), Ok(()));
        child.wait().unwrap();
    }
}
