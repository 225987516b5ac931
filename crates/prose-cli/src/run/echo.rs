//! What a terminal echoes of Ctrl-C.
//!
//! It writes `^C` after the last line of the progress. That line is as wide as the terminal, so the echo moves the cursor to the next one, and the
//! lines above are not found any more to take them away.

#[cfg(unix)]
pub(super) use self::unix::{Echo, hide_control_characters, restore};

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::process::getpgrp;
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};

    /// Whether the echo is to be restored.
    static IS_HIDDEN: AtomicBool = AtomicBool::new(false);

    /// Restores the echo when it is dropped.
    pub(in crate::run) struct Echo;

    impl Drop for Echo {
        fn drop(&mut self) {
            restore();
        }
    }

    /// Has the terminal echo no control characters.
    pub(in crate::run) fn hide_control_characters() -> Echo {
        if change(|modes| modes.contains(LocalModes::ECHOCTL).then(|| modes.difference(LocalModes::ECHOCTL)))
        {
            IS_HIDDEN.store(true, Ordering::Relaxed);
        }
        Echo
    }

    /// Has it echo them again, if it did before.
    pub(in crate::run) fn restore() {
        if IS_HIDDEN.swap(false, Ordering::Relaxed) {
            change(|modes| Some(modes.union(LocalModes::ECHOCTL)));
        }
    }

    /// Changes the modes of the terminal and returns whether that was done.
    fn change(modes: impl Fn(LocalModes) -> Option<LocalModes>) -> bool {
        let terminal = io::stderr();
        // A process in the background is stopped when it changes the terminal.
        if tcgetpgrp(&terminal).ok() != Some(getpgrp()) {
            return false;
        }
        let Ok(mut attributes) = tcgetattr(&terminal) else { return false };
        let Some(modes) = modes(attributes.local_modes) else { return false };
        attributes.local_modes = modes;
        tcsetattr(&terminal, OptionalActions::Now, &attributes).is_ok()
    }
}

#[cfg(not(unix))]
pub(super) use self::other::{Echo, hide_control_characters, restore};

#[cfg(not(unix))]
mod other {
    /// Nothing: consoles echo no control characters.
    pub(in crate::run) struct Echo;

    pub(in crate::run) fn hide_control_characters() -> Echo {
        Echo
    }

    pub(in crate::run) fn restore() {}
}
