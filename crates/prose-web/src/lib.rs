//! OpenProse in a browser: what the playground and Visual Studio Code for the Web know of the language.
//!
//! [`Language`] has the files of a page and the run of one of its programs, and answers requests in JSON, whose methods are the table in
//! `methods.rs`. It reads no file, starts no process and opens no connection. A run moves on only in the method `turn`, since a page has no thread to
//! spare: whoever calls it is the timer, and the clock is that of the host. In WebAssembly, [`abi`] exports it.

#[cfg(target_family = "wasm")]
pub mod abi;
mod files;
mod methods;
mod places;
mod programs;
mod questions;
mod run;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::files::Files;
use crate::methods::METHODS;
use crate::run::Run;

/// The files of a page, and the run of one of its programs.
#[derive(Default)]
pub struct Language {
    files: Files,
    /// The last run, which may have ended.
    run: Option<Run>,
}

/// A request.
#[derive(Deserialize)]
struct Request {
    method: String,
    #[serde(default)]
    params: Value,
}

/// The names of all methods.
pub fn methods() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|(name, _)| *name)
}

impl Language {
    /// Answers a request `{"method": …, "params": …}` with `{"result": …}`, or with `{"error": …}`, which says in a sentence what is wrong.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = match self.perform(request) {
            Ok(result) => json!({ "result": result }),
            Err(message) => json!({ "error": message }),
        };
        answer.to_string()
    }

    fn perform(&mut self, request: &str) -> Result<Value, String> {
        let Request { method, params } =
            serde_json::from_str(request).map_err(|error| format!("the request cannot be read: {error}"))?;
        let known = METHODS.iter().find(|(name, _)| *name == method);
        let (_, perform) = known.ok_or_else(|| format!("there is no method `{method}`"))?;
        perform(self, params)
    }
}
