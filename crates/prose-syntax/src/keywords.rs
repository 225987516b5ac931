//! The reference of the keywords: what each does, with an example.

use crate::SyntaxKind::{self, *};

/// What a reader wants to know of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keyword {
    /// The keyword.
    pub kind: SyntaxKind,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// What else is worth knowing, as Markdown; may be empty.
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

/// What is to be known of a keyword.
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
    USE_KW: "Imports another program, which is then called by its name.",
    "The path is that of a local file (`./research.prose`), of a program in a registry (`alice/research`), of a file in a git \
    repository (`github.com/owner/repo/research.prose`) or an address (`https://…`). Without `as` the name is the last part of the path.",
    "use \"./research.prose\" as research\n\nlet found = research(topic: \"tides\")\n";
    AS_KW: "Gives a name: to an imported program, to the index of a loop, or to a caught error.",
    "",
    "use \"alice/research\" as research\n\nrepeat 3 as turn:\n  session \"Try number {turn}\"\n";
    IMPORT_KW: "Names a skill and where it comes from.",
    "This is an old form: programs are imported with `use`, and skills are named in `skills:`.",
    "import \"web-search\" from \"github:alice/skills\"\n";
    FROM_KW: "Stands before the source of an `import`.",
    "",
    "import \"web-search\" from \"github:alice/skills\"\n";
    INPUT_KW: "Declares a value that the program is given.",
    "The text says what is wanted; it is shown to whoever is asked and never taken as a value. A caller passes the value by name. \
    A text that begins with \"Optional\" lets a caller leave the value out.",
    "input topic: \"What the report is about\"\n\nsession \"Write a report on {topic}\"\n";
    OUTPUT_KW: "Gives a result to whoever runs or calls the program.",
    "With a name the program goes on, and a caller finds the result as a field. Without a name the program or block ends here with the \
    value as its result. In a block both give the result of the block.",
    "let draft = session \"Write a report on tides\"\n\noutput report = draft\n";
    AGENT_KW: "Defines an agent: a model with instructions, and what it may do.",
    "An agent does nothing by itself. `session: name` starts it with a task, `resume: name` goes on with its memory. It can be defined \
    before or behind its uses.",
    "agent editor:\n  model: opus\n  prompt: \"You cut every word that carries nothing.\"\n\nsession: editor\n  prompt: \"Edit the \
    draft\"\n";
    BLOCK_KW: "Defines statements that are run with `do`.",
    "Each call has variables of its own. The result is an `output` without a name, the only named `output`, an object of several named \
    ones, or else the value of the last statement. A block can be defined before or behind its calls.",
    "block summary(text, words):\n  output session \"Sum up {text} in {words} words\"\n\nlet short = do summary(\"the minutes\", 50)\n";
    LET_KW: "Declares a variable.",
    "The variable can be given another value later. Names in braces take the parts of a result apart.",
    "let draft = session \"Write a poem\"\ndraft = session \"Improve {draft}\"\n\nsession \"Recite {draft}\"\n";
    CONST_KW: "Declares a name whose value never changes.",
    "",
    "const audience = \"children\"\n\nsession \"Explain tides to {audience}\"\n";
    SESSION_KW: "Gives a task to a model, and waits for the answer.",
    "With a text it is a task for the model of the host, with `session: name` one for an agent. Properties stand indented below. A \
    session sees only its prompt and what `context:` passes.",
    "let facts = session \"Collect facts about tides\"\n\nsession \"Write a poem\"\n  context: facts\n  retry: 2\n";
    RESUME_KW: "Gives a task to an agent that remembers what it did before.",
    "The agent needs `persist:`. Without a memory yet it starts afresh.",
    "agent tutor:\n  persist: project\n  prompt: \"You teach arithmetic.\"\n\nresume: tutor\n  prompt: \"Go on where we stopped\"\n";
    DO_KW: "Runs a block, or groups statements.",
    "`do name(…)` calls a block, and `do:` runs the statements below it one after the other, as one branch of a `parallel` for instance.",
    "block greet(name):\n  session \"Greet {name}\"\n\ndo greet(\"Ada\")\ndo:\n  session \"Set the table\"\n  session \"Serve\"\n";
    PARALLEL_KW: "Runs its branches at the same time, and waits for them.",
    "`(\"first\")` goes on with the branch that ends first, `(\"any\", count: 2)` with two that succeed; `on-fail:` says what becomes of the \
    others when one fails. `parallel for` runs a body for all items at once.",
    "parallel (on-fail: \"continue\"):\n  tides = session \"Read about tides\"\n  moon = session \"Read about the moon\"\n\nsession \
    \"Connect the two\"\n  context: { tides, moon }\n";
    REPEAT_KW: "Runs its body a number of times.",
    "The index behind `as` counts from 0.",
    "repeat 3 as turn:\n  session \"Suggest a title that is unlike the {turn} before\"\n";
    FOR_KW: "Runs its body for each item of a collection.",
    "The items come one after the other, with `parallel for` all at once. A second name is the index, which counts from 0.",
    "for city, index in [\"Oslo\", \"Lima\"]:\n  session \"Stop {index}: what to see in {city}\"\n";
    IN_KW: "Stands before the collection of a `for`.",
    "",
    "for city in [\"Oslo\", \"Lima\"]:\n  session \"What to see in {city}\"\n";
    LOOP_KW: "Runs its body again and again.",
    "`until **…**` and `while **…**` are judged before each iteration. `max:` bounds the number of iterations; reaching it is no error. \
    Without a condition the loop ends at its `max:`, or with `break`.",
    "let draft = session \"Write a slogan\"\nloop until **the slogan is catchy** (max: 5):\n  draft = session \"Improve {draft}\"\n\noutput \
    slogan = draft\n";
    UNTIL_KW: "Ends a loop as soon as the condition holds.",
    "The condition is judged before each iteration, also before the first.",
    "loop until **all tests pass** (max: 10):\n  session \"Fix the first failing test\"\n";
    WHILE_KW: "Goes on with a loop as long as the condition holds.",
    "The condition is judged before each iteration, also before the first.",
    "loop while **there are open questions** (max: 10):\n  session \"Answer one of the open questions\"\n";
    TRY_KW: "Runs statements whose errors are handled below.",
    "A `catch:`, a `finally:` or both follow.",
    "try:\n  session \"Deploy\"\ncatch as problem:\n  session \"Say what went wrong: {problem}\"\n";
    CATCH_KW: "Handles an error of the `try` above it.",
    "The name behind `as` stands for the error, with its text in `message`. `throw` without a text hands the error on.",
    "try:\n  session \"Deploy\"\ncatch as problem:\n  session \"Say what went wrong: {problem.message}\"\n";
    FINALLY_KW: "Runs at the end of a `try`, whether it failed or not.",
    "It runs too when the `try` is left with `return`, `break` or `throw`.",
    "try:\n  session \"Run the load test\"\nfinally:\n  session \"Shut the test machines down\"\n";
    THROW_KW: "Raises an error.",
    "The `try` around it catches the error; without one the run fails. Without a text it hands on the error that is being handled.",
    "if **the report has no sources**:\n  throw \"The report has no sources\"\n";
    CHOICE_KW: "Has a model choose one of several options.",
    "The text between the markers says what decides.",
    "choice **how severe the bug is**:\n  option \"severe\":\n    session \"Wake somebody up\"\n  option \"harmless\":\n    session \"Write a \
    ticket\"\n";
    OPTION_KW: "Is one of the options of a `choice`, with what is done when it is chosen.",
    "",
    "choice **how severe the bug is**:\n  option \"severe\":\n    session \"Wake somebody up\"\n  option \"harmless\":\n    session \"Write a \
    ticket\"\n";
    IF_KW: "Runs its body if a condition holds.",
    "A condition between `**` is judged by a model, with all results so far in view; others are computed. The first body whose \
    condition holds is run.",
    "let report = session \"Test the build\"\nif **a test failed**:\n  session \"Find out why\"\n    context: report\nelse:\n  session \
    \"Release it\"\n";
    ELIF_KW: "Has another condition, for when those above it do not hold.",
    "",
    "if **the bug is severe**:\n  session \"Wake somebody up\"\nelif **the bug is old**:\n  session \"Close the ticket\"\nelse:\n  session \
    \"Write a ticket\"\n";
    ELSE_KW: "Runs its body if none of the conditions above it holds.",
    "",
    "if **a test failed**:\n  session \"Find out why\"\nelse:\n  session \"Release it\"\n";
    RETURN_KW: "Leaves the block or the program, with a value if there is one.",
    "",
    "block check(text):\n  if **{text} is empty**:\n    return \"nothing to check\"\n  session \"Check {text}\"\n\ndo check(\"the \
    minutes\")\n";
    BREAK_KW: "Leaves the innermost loop.",
    "",
    "loop (max: 20):\n  session \"Take the next ticket\"\n  if **no ticket was left**:\n    break\n";
    CONTINUE_KW: "Goes on with the next iteration of the innermost loop.",
    "",
    "for city in [\"Oslo\", \"Lima\"]:\n  if **{city} was visited already**:\n    continue\n  session \"What to see in {city}\"\n";
    ASSERT_KW: "Raises an error if a condition does not hold.",
    "",
    "let report = session \"Test the build\"\nassert **no test failed in {report}**\n";
    MAP_KW: "Makes a value of each item, one after the other.",
    "The item is called `item`. The result has the values in the order of the items.",
    "let cities = [\"Oslo\", \"Lima\"]\nlet tips = cities | map:\n  session \"What to see in {item}\"\n\noutput all = tips\n";
    FILTER_KW: "Keeps the items for which the answer of its body is yes.",
    "The item is called `item`.",
    "let cities = [\"Oslo\", \"Lima\"]\nlet coastal = cities | filter:\n  session \"Does {item} lie at the sea? Answer yes or no.\"\n\noutput \
    all = coastal\n";
    PMAP_KW: "Makes a value of each item, all at the same time.",
    "The item is called `item`. The result has the values in the order of the items.",
    "let cities = [\"Oslo\", \"Lima\"]\nlet tips = cities | pmap:\n  session \"What to see in {item}\"\n\noutput all = tips\n";
    REDUCE_KW: "Makes one value of all items.",
    "The first name is the value so far, which begins as the first item; the second is the next item.",
    "let cities = [\"Oslo\", \"Lima\", \"Cairo\"]\nlet route = cities | reduce(way, city):\n  session \"Add {city} to the route {way}\"\n\noutput \
    plan = route\n";
    AND_KW: "Holds if both sides hold.",
    "",
    "let ready = true\nif ready and **the weather is good**:\n  session \"Launch\"\n";
    OR_KW: "Holds if one of the sides holds.",
    "",
    "let tries = 3\nif tries > 2 or **it is hopeless**:\n  session \"Give up politely\"\n";
    NOT_KW: "Holds if what follows does not.",
    "",
    "let ready = false\nif not ready:\n  session \"Say what is missing\"\n";
    IS_KW: "Holds if both sides are equal, as `==` does.",
    "",
    "let mode = \"draft\"\nif mode is \"draft\":\n  session \"Mark it as a draft\"\n";
    TRUE_KW: "The value of what holds.",
    "",
    "agent tutor:\n  persist: true\n  prompt: \"You teach arithmetic.\"\n\nresume: tutor\n";
    FALSE_KW: "The value of what does not hold.",
    "",
    "let ready = false\nif not ready:\n  session \"Say what is missing\"\n";
    NULL_KW: "The value of what has none, such as an optional input that was left out.",
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
