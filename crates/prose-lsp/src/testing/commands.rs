//! The commands about tests, with their argument.

use prose_test::VariantResult;
use serde::Deserialize;
use serde_json::Value;

use crate::protocol::answer::Answer;
use crate::protocol::uri::DocumentUri;

/// Run the cases of a test file.
pub(crate) const TEST: &str = "prose.test";
/// Stop the cases of a test file that are run.
pub(crate) const STOP_TESTS: &str = "prose.stopTests";

/// The names of the commands.
pub(crate) const COMMANDS: &[&str] = &[TEST, STOP_TESTS];

/// A command about tests.
pub(crate) struct TestCommand {
    pub(crate) stops: bool,
    pub(crate) given: TestArguments,
    pub(crate) answer: Answer,
}

/// The argument of a command, as docs/editor-commands.md describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestArguments {
    /// The test file, or a program that has one.
    pub(crate) uri: DocumentUri,
    /// The name of a case, or of a case with the values of its matrix; all cases without it.
    pub(crate) name: Option<String>,
}

impl TestArguments {
    /// Reads the parameters of `workspace/executeCommand`, and whether they are those of the command that stops; none if they name no command about tests.
    pub(crate) fn read(params: &Value) -> Option<Result<(bool, Self), String>> {
        let name = params.get("command").and_then(Value::as_str).unwrap_or_default();
        COMMANDS.contains(&name).then(|| {
            let argument = params.pointer("/arguments/0").unwrap_or(&Value::Null);
            let given = TestArguments::deserialize(argument).map_err(|problem| {
                format!("`{name}` takes one argument, such as {{ \"uri\": \"file:///…\" }}: {problem}")
            })?;
            Ok((name == STOP_TESTS, given))
        })
    }
}

/// A message to the owner about tests.
pub(crate) enum TestMessage {
    /// Run or stop tests.
    Command(TestCommand),
    /// The cases of a test file have ended.
    Ended {
        /// The test file.
        uri: DocumentUri,
        /// The number of this run of its cases.
        number: u64,
        /// The results, in the order of the file.
        results: Vec<VariantResult>,
        /// How many passed and failed, for the user.
        summary: String,
    },
}
