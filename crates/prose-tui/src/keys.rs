//! The keys and what they do, for the lines of help and for the documentation.

/// A key, or several that belong together, with what it does.
#[derive(Debug, Clone, Copy)]
pub struct KeyHelp {
    /// The keys as they are named.
    pub keys: &'static str,
    /// What they do, in a few words.
    pub does: &'static str,
    /// The word in the last line of the screen; empty if the key is only in the help.
    pub short: &'static str,
}

const fn key(keys: &'static str, short: &'static str, does: &'static str) -> KeyHelp {
    KeyHelp { keys, does, short }
}

/// The keys in a run.
pub const KEYS: [KeyHelp; 16] = [
    key("a", "answer", "answer the question that the run waits for"),
    key("p", "pause", "pause the run: no new session starts; or continue it"),
    key("s", "skip", "skip the selected session: its result is empty"),
    key("r", "retry", "cancel the selected session, and start it again"),
    key("x", "stop", "stop the run after a confirmation; `prose resume` continues it"),
    key("f", "follow", "select what runs, as the run continues"),
    key("h", "hide complete", "hide or show what has ended well"),
    key("q", "leave", "leave the screen; the run continues"),
    key("?", "help", "show or hide this list"),
    key("↑ ↓", "", "select another part of the run"),
    key("← →", "", "fold or open the selected part"),
    key("PgUp PgDn", "", "select a part a page away"),
    key("Home End", "", "select the first or the last part"),
    key("J K", "", "scroll the text of the selected session"),
    key("Ctrl-C", "", "stop the run; that of another process continues"),
    key("Ctrl-Z", "", "go back to the shell; `fg` returns"),
];

/// The keys in the list of runs.
pub const TOP_KEYS: [KeyHelp; 6] = [
    key("Enter", "show", "show the selected run"),
    key("p", "pause", "pause the selected run, or continue it"),
    key("x", "stop", "stop the selected run, after a confirmation"),
    key("h", "hide ended", "hide or show runs that have ended"),
    key("↑ ↓", "", "select another run"),
    key("q", "leave", "leave the list"),
];
