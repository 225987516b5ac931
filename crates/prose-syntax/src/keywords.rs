//! The reference of the keywords: what each does, with an example.

use crate::SyntaxKind::{self, *};

/// The documentation of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keyword {
    /// The keyword.
    pub kind: SyntaxKind,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Details, as Markdown; may be empty.
    pub docs: &'static str,
    /// A program that uses it.
    pub example: &'static str,
}

impl Keyword {
    /// The keyword as it is written.
    pub fn text(&self) -> &'static str {
        crate::KEYWORDS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(text, _)| text)
    }
}

/// Returns the documentation of a keyword.
pub fn find(kind: SyntaxKind) -> Option<&'static Keyword> {
    REFERENCE.iter().find(|keyword| keyword.kind == kind)
}

macro_rules! reference {
    ($($kind:ident: $summary:literal, $docs:literal, $example:literal;)*) => {
        &[$(Keyword { kind: $kind, summary: $summary, docs: $docs, example: $example }),*]
    };
}

/// The reference of every keyword of [`crate::KEYWORDS`], in the same order.
pub const REFERENCE: &[Keyword] = reference! {
    USE_KW: "Imports another program, which can then be called by its name.",
    "The path names a local file (`./research.prose`), a program in a registry (`alice/research`), a file in a Git \
    repository (`github.com/owner/repo/research.prose`) or a URL (`https://…`). Without `as`, the name is the last part of the path.",
    "use \"./research.prose\" as research\n\nlet found = research(topic: \"tides\")\n";
    AS_KW: "Names an imported program, the index of a loop, or a caught error.",
    "",
    "use \"alice/research\" as research\n\nrepeat 3 as turn:\n  session \"Try number {turn}\"\n";
    IMPORT_KW: "Imports a skill from a source.",
    "Deprecated: import programs with `use`, and list skills in `skills:`.",
    "import \"web-search\" from \"github:alice/skills\"\n";
    FROM_KW: "Precedes the source of an `import`.",
    "",
    "import \"web-search\" from \"github:alice/skills\"\n";
    INPUT_KW: "Declares an input of the program.",
    "The text is the prompt that is shown when the input is requested; it is never the value. A caller passes the value by name. \
    An input whose text starts with \"Optional\" can be omitted.",
    "input topic: \"What the report is about\"\n\nsession \"Write a report on {topic}\"\n";
    OUTPUT_KW: "Returns a result of the program or block.",
    "A named output is a field of the result, and the program continues. An output without a name ends the program or block with the \
    value as its result. In a block, both define the result of the block.",
    "let draft = session \"Write a report on tides\"\n\noutput report = draft\n";
    AGENT_KW: "Defines an agent: a model with instructions and permissions.",
    "An agent does nothing by itself. `session: name` starts a session with it, and `resume: name` one that continues with its memory. \
    It can be defined before or after its uses.",
    "agent editor:\n  model: opus\n  prompt: \"You cut every word that carries nothing.\"\n\nsession: editor\n  prompt: \"Edit the \
    draft\"\n";
    BLOCK_KW: "Defines statements that `do` runs.",
    "Each call has its own variables. The result is an `output` without a name, the only named `output`, an object of several named \
    outputs, or else the value of the last statement. A block can be defined before or after its calls.",
    "block summary(text, words):\n  output session \"Sum up {text} in {words} words\"\n\nlet short = do summary(\"the minutes\", 50)\n";
    LET_KW: "Declares a variable.",
    "The variable can be assigned a new value later. Names in braces destructure a result.",
    "let draft = session \"Write a poem\"\ndraft = session \"Improve {draft}\"\n\nsession \"Recite {draft}\"\n";
    CONST_KW: "Declares a constant.",
    "",
    "const audience = \"children\"\n\nsession \"Explain tides to {audience}\"\n";
    SESSION_KW: "Gives a task to a model and waits for the reply.",
    "`session \"…\"` uses the default model of the harness; `session: name` uses an agent. Properties are indented on the lines after it. A \
    session sees only its prompt and the values in `context:`.",
    "let facts = session \"Collect facts about tides\"\n\nsession \"Write a poem\"\n  context: facts\n  retry: 2\n";
    RESUME_KW: "Gives a task to an agent, with its memory of earlier sessions.",
    "The agent must have `persist:`. If it has no memory yet, it starts without one.",
    "agent tutor:\n  persist: project\n  prompt: \"You teach arithmetic.\"\n\nresume: tutor\n  prompt: \"Go on where we stopped\"\n";
    DO_KW: "Runs a block, or groups statements.",
    "`do name(…)` calls a block. `do:` runs the indented statements one after another, for example as one branch of a `parallel`.",
    "block greet(name):\n  session \"Greet {name}\"\n\ndo greet(\"Ada\")\ndo:\n  session \"Set the table\"\n  session \"Serve\"\n";
    PARALLEL_KW: "Runs its branches at the same time and waits for them.",
    "`(\"first\")` waits for the first branch that ends, `(\"any\", count: 2)` for two that succeed; `on-fail:` sets what happens to the \
    other branches when one fails. `parallel for` runs its body for all items at the same time.",
    "parallel (on-fail: \"continue\"):\n  tides = session \"Read about tides\"\n  moon = session \"Read about the moon\"\n\nsession \
    \"Connect the two\"\n  context: { tides, moon }\n";
    REPEAT_KW: "Runs its body a number of times.",
    "The index after `as` counts from 0.",
    "repeat 3 as turn:\n  session \"Suggest a title that is unlike the {turn} before\"\n";
    FOR_KW: "Runs its body for each item of a collection.",
    "Items are processed one after another, or all at the same time with `parallel for`. The optional second name is the index, which counts from 0.",
    "for city, index in [\"Oslo\", \"Lima\"]:\n  session \"Stop {index}: what to see in {city}\"\n";
    IN_KW: "Precedes the collection of a `for`.",
    "",
    "for city in [\"Oslo\", \"Lima\"]:\n  session \"What to see in {city}\"\n";
    LOOP_KW: "Repeats its body.",
    "`until **…**` and `while **…**` are evaluated before each iteration. `max:` limits the number of iterations; reaching the limit is not \
    an error. Without a condition, the loop ends at `max:` or with `break`.",
    "let draft = session \"Write a slogan\"\nloop until **the slogan is catchy** (max: 5):\n  draft = session \"Improve {draft}\"\n\noutput \
    slogan = draft\n";
    UNTIL_KW: "Ends a loop when the condition is true.",
    "The condition is evaluated before each iteration, including the first.",
    "loop until **all tests pass** (max: 10):\n  session \"Fix the first failing test\"\n";
    WHILE_KW: "Repeats a loop while the condition is true.",
    "The condition is evaluated before each iteration, including the first.",
    "loop while **there are open questions** (max: 10):\n  session \"Answer one of the open questions\"\n";
    TRY_KW: "Runs statements and handles their errors.",
    "It is followed by `catch:`, `finally:` or both.",
    "try:\n  session \"Deploy\"\ncatch as problem:\n  session \"Say what went wrong: {problem}\"\n";
    CATCH_KW: "Handles errors of the preceding `try`.",
    "The name after `as` is bound to the error; `message` is its text. `throw` without a text throws the error again.",
    "try:\n  session \"Deploy\"\ncatch as problem:\n  session \"Say what went wrong: {problem.message}\"\n";
    FINALLY_KW: "Runs at the end of a `try`, whether or not it failed.",
    "It also runs when `return`, `break` or `throw` leaves the `try`.",
    "try:\n  session \"Run the load test\"\nfinally:\n  session \"Shut the test machines down\"\n";
    THROW_KW: "Throws an error.",
    "The enclosing `try` catches the error; without a `try`, the run fails. In a `catch`, `throw` without a text throws the caught error again.",
    "if **the report has no sources**:\n  throw \"The report has no sources\"\n";
    CHOICE_KW: "Lets a model choose one of several options.",
    "The text between the `**` markers is the criterion.",
    "choice **how severe the bug is**:\n  option \"severe\":\n    session \"Wake somebody up\"\n  option \"harmless\":\n    session \"Write a \
    ticket\"\n";
    OPTION_KW: "One option of a `choice`; its body runs if the option is chosen.",
    "",
    "choice **how severe the bug is**:\n  option \"severe\":\n    session \"Wake somebody up\"\n  option \"harmless\":\n    session \"Write a \
    ticket\"\n";
    IF_KW: "Runs its body if a condition is true.",
    "A model evaluates a condition between `**`, with all results so far as context; other conditions are computed. The first body whose \
    condition is true runs.",
    "let report = session \"Test the build\"\nif **a test failed**:\n  session \"Find out why\"\n    context: report\nelse:\n  session \
    \"Release it\"\n";
    ELIF_KW: "Adds a condition that is evaluated if all preceding conditions are false.",
    "",
    "if **the bug is severe**:\n  session \"Wake somebody up\"\nelif **the bug is old**:\n  session \"Close the ticket\"\nelse:\n  session \
    \"Write a ticket\"\n";
    ELSE_KW: "Runs its body if all preceding conditions are false.",
    "",
    "if **a test failed**:\n  session \"Find out why\"\nelse:\n  session \"Release it\"\n";
    RETURN_KW: "Ends the block or the program, optionally with a value.",
    "",
    "block check(text):\n  if **{text} is empty**:\n    return \"nothing to check\"\n  session \"Check {text}\"\n\ndo check(\"the \
    minutes\")\n";
    BREAK_KW: "Leaves the innermost loop.",
    "",
    "loop (max: 20):\n  session \"Take the next ticket\"\n  if **no ticket was left**:\n    break\n";
    CONTINUE_KW: "Continues with the next iteration of the innermost loop.",
    "",
    "for city in [\"Oslo\", \"Lima\"]:\n  if **{city} was visited already**:\n    continue\n  session \"What to see in {city}\"\n";
    ASSERT_KW: "Throws an error if a condition is false.",
    "",
    "let report = session \"Test the build\"\nassert **no test failed in {report}**\n";
    MAP_KW: "Computes a value for each item, one after another.",
    "The current item is `item`. The result is a list of the values in the order of the items.",
    "let cities = [\"Oslo\", \"Lima\"]\nlet tips = cities | map:\n  session \"What to see in {item}\"\n\noutput all = tips\n";
    FILTER_KW: "Keeps the items for which its body answers yes.",
    "The current item is `item`.",
    "let cities = [\"Oslo\", \"Lima\"]\nlet coastal = cities | filter:\n  session \"Does {item} lie at the sea? Answer yes or no.\"\n\noutput \
    all = coastal\n";
    PMAP_KW: "Computes a value for each item, all at the same time.",
    "The current item is `item`. The result is a list of the values in the order of the items.",
    "let cities = [\"Oslo\", \"Lima\"]\nlet tips = cities | pmap:\n  session \"What to see in {item}\"\n\noutput all = tips\n";
    REDUCE_KW: "Combines all items into one value.",
    "The first name is the accumulated value, which starts as the first item; the second is the next item.",
    "let cities = [\"Oslo\", \"Lima\", \"Cairo\"]\nlet route = cities | reduce(way, city):\n  session \"Add {city} to the route {way}\"\n\noutput \
    plan = route\n";
    AND_KW: "True if both sides are true.",
    "",
    "let ready = true\nif ready and **the weather is good**:\n  session \"Launch\"\n";
    OR_KW: "True if at least one side is true.",
    "",
    "let tries = 3\nif tries > 2 or **it is hopeless**:\n  session \"Give up politely\"\n";
    NOT_KW: "True if its operand is false.",
    "",
    "let ready = false\nif not ready:\n  session \"Say what is missing\"\n";
    IS_KW: "True if both sides are equal, like `==`.",
    "",
    "let mode = \"draft\"\nif mode is \"draft\":\n  session \"Mark it as a draft\"\n";
    TRUE_KW: "The boolean value true.",
    "",
    "agent tutor:\n  persist: true\n  prompt: \"You teach arithmetic.\"\n\nresume: tutor\n";
    FALSE_KW: "The boolean value false.",
    "",
    "let ready = false\nif not ready:\n  session \"Say what is missing\"\n";
    NULL_KW: "The absence of a value, such as an omitted optional input.",
    "",
    "let best = null\nif best == null:\n  session \"Say that nothing was found\"\n";
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KEYWORDS, NodeOrToken};

    #[test]
    fn every_keyword_has_its_reference() {
        let documented: Vec<_> = REFERENCE.iter().map(|keyword| (keyword.text(), keyword.kind)).collect();
        assert_eq!(documented, KEYWORDS);
        for keyword in REFERENCE {
            assert!(keyword.summary.ends_with('.') && !keyword.summary.contains('\n'), "{keyword:?}");
        }
    }

    #[test]
    fn every_example_is_right_and_uses_the_keyword() {
        for keyword in REFERENCE {
            let parse = crate::parse(keyword.example);
            let errors: Vec<_> = parse
                .diagnostics()
                .iter()
                .filter(|diagnostic| diagnostic.severity() == crate::Severity::Error)
                .collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", keyword.text());
            let uses = parse
                .syntax()
                .descendants_with_tokens()
                .filter_map(NodeOrToken::into_token)
                .any(|token| token.kind() == keyword.kind);
            assert!(uses, "the example of `{}` does not use it", keyword.text());
        }
    }
}
