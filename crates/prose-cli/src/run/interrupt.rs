//! What ends a run from outside: the person, the system, and the time.

use std::time::Duration;

use super::Ended;

/// Is ready when the run has to stop, with the reason. A second Ctrl-C ends the process at once.
pub(crate) async fn interrupted(timeout: Option<Duration>) -> String {
    let over = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let reason = tokio::select! {
        reason = signal() => reason,
        () = over => "its time is over (`--timeout`)".to_owned(),
    };
    // The run still has to be recorded as stopped. Who is in a hurry says so once more; nothing that was recorded is lost.
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(signal());
            std::process::exit(Ended::Interrupted as i32);
        }
    });
    reason
}

#[cfg(unix)]
async fn signal() -> String {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = |kind: SignalKind| async move {
        match signal(kind) {
            Ok(mut signal) => _ = signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => "Ctrl-C was pressed".to_owned(),
        () = wait(SignalKind::terminate()) => "the system asked it to end (SIGTERM)".to_owned(),
        () = wait(SignalKind::hangup()) => "its terminal was closed".to_owned(),
    }
}

#[cfg(not(unix))]
async fn signal() -> String {
    match tokio::signal::ctrl_c().await {
        Ok(()) => "Ctrl-C was pressed".to_owned(),
        Err(_) => std::future::pending().await,
    }
}
