//! What ends a run from outside: the person, the system, and the time.

use std::sync::{Arc, mpsc};
use std::thread;

use prose_harness::supervisor;
use tokio::sync::{Notify, oneshot};

use crate::run::echo;
use crate::run::ended::Ended;
use crate::screen::window;

/// The reason that Ctrl-C gives.
const INTERRUPTED: &str = "interrupted by Ctrl-C";

/// Receives signals from its creation on: a run may be busy for long before it waits for anything.
pub(crate) struct Interrupts {
    reason: oneshot::Receiver<String>,
    interrupter: Interrupter,
}

/// Interrupts as Ctrl-C does, where a screen receives it as a key.
#[derive(Clone, Default)]
pub(crate) struct Interrupter(Arc<Notify>);

impl Interrupter {
    pub(crate) fn interrupt(&self) {
        // Kept until it is waited for.
        self.0.notify_one();
    }
}

impl Interrupts {
    /// Begins to listen. The first signal stops the run; a second one ends the process and its agents at once, and nothing that was recorded is lost.
    pub(crate) fn listen() -> Self {
        let (tell, reason) = oneshot::channel();
        let (ready, is_ready) = mpsc::channel();
        let interrupter = Interrupter::default();
        let pressed = interrupter.clone();
        // Where there is no thread for it, signals do what they do to any process.
        let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                let mut signals = Signals::new();
                _ = ready.send(());
                let mut next = async || {
                    tokio::select! {
                        reason = signals.next() => reason,
                        () = pressed.0.notified() => INTERRUPTED.to_owned(),
                    }
                };
                let reason = next().await;
                // Without a receiver, the run is stopping already, and a second signal means that it is urgent.
                if tell.send(reason).is_ok() {
                    next().await;
                }
                supervisor::kill_all();
                window::restore();
                echo::restore();
                std::process::exit(Ended::Interrupted as i32);
            });
        });
        // Without the thread, signals do what they do to any process.
        _ = is_ready.recv();
        Self { reason, interrupter }
    }

    /// What interrupts as Ctrl-C does.
    pub(crate) fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Calls something with the first signal, on a thread of its own, and keeps it until the process ends; a second signal ends the process.
    pub(crate) fn tell_first(mut self, mut tell: impl FnMut() + Send + 'static) {
        // Without the thread, signals do what they do to any process.
        let _ = thread::Builder::new().name("interrupts".to_owned()).spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(self.interrupted(std::future::pending()));
            tell();
            runtime.block_on(std::future::pending::<()>());
        });
    }

    /// Is ready when the run has to stop, with the reason: a signal, or that its time is over. After the reason was taken, nothing interrupts any more but
    /// the second signal.
    pub(crate) async fn interrupted(&mut self, over: impl Future<Output = ()>) -> String {
        let told = async {
            match (&mut self.reason).await {
                Ok(reason) => reason,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            reason = told => reason,
            () = over => "timed out (`--timeout`)".to_owned(),
        }
    }
}

#[cfg(unix)]
struct Signals(Vec<(tokio::signal::unix::Signal, &'static str)>);

#[cfg(unix)]
impl Signals {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let reasons = [
            (SignalKind::interrupt(), INTERRUPTED),
            (SignalKind::terminate(), "terminated by the system (SIGTERM)"),
            (SignalKind::hangup(), "the terminal was closed (SIGHUP)"),
        ];
        prose_state::end_waits_by_signals();
        let reasons =
            reasons.into_iter().filter(|(kind, _)| *kind != SignalKind::hangup() || !ignores_hangup());
        Self(reasons.filter_map(|(kind, reason)| Some((signal(kind).ok()?, reason))).collect())
    }

    async fn next(&mut self) -> String {
        std::future::poll_fn(|context| {
            let mut signals = self.0.iter_mut();
            match signals.find_map(|(signal, reason)| signal.poll_recv(context).is_ready().then_some(*reason))
            {
                Some(reason) => std::task::Poll::Ready(reason.to_owned()),
                None => std::task::Poll::Pending,
            }
        })
        .await
    }
}

/// Whether the process was started with SIGHUP ignored, as by `nohup`: its run continues after the terminal was closed.
#[cfg(target_os = "linux")]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is that of signal 1, which is SIGHUP.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

/// Whether the process was started with SIGHUP ignored, as by `nohup`. Only unsafe code can ask for it here, but a child has it as well.
#[cfg(all(unix, not(target_os = "linux")))]
fn ignores_hangup() -> bool {
    use std::process::{Command, Stdio};
    let mut child = Command::new("/bin/sh");
    child.args(["-c", "kill -HUP $$"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child.status().is_ok_and(|status| status.success())
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Self {
        prose_state::end_waits_by_signals();
        Self
    }

    async fn next(&mut self) -> String {
        match tokio::signal::ctrl_c().await {
            Ok(()) => INTERRUPTED.to_owned(),
            Err(_) => std::future::pending().await,
        }
    }
}
