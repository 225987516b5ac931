//! The table of the keys of test files. The reader, the JSON schema and the documentation of keys follow from it.

/// A table of a test file.
pub(crate) struct Table {
    /// How messages call it.
    pub(crate) name: &'static str,
    /// Its keys.
    pub(crate) keys: &'static [Key],
}

/// A key.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) about: &'static str,
}

/// What a value looks like.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// A text.
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A text, or a list of texts.
    OneOrMoreTexts,
    /// A whole number from 1.
    Count,
    /// A whole number from 0.
    Number,
    /// An amount in US dollars.
    Money,
    /// A duration such as `"30s"`.
    Duration,
    /// Any value.
    Any,
    /// A table of any values.
    Values,
    /// A table of lists of values.
    Lists,
    /// A number, or `at-least` and `at-most`.
    Bounds,
    /// A number, or a table of loops with numbers.
    Iterations,
    /// What a value is compared with.
    Matcher,
    /// A table of names and what their values are compared with.
    Matchers,
    /// A list of what each text of a list is compared with.
    MatcherList,
    /// A list of paths, or a table of paths and what the files are compared with.
    Files,
    /// A JSON schema, or the path of a file with one.
    JsonSchema,
    /// A table with keys of its own.
    Table(&'static Table),
    /// A number, or a table with keys of its own.
    NumberOr(&'static Table),
    /// A list of texts, or a table with keys of its own.
    TextsOr(&'static Table),
    /// Tables with keys of their own.
    Tables(&'static Table),
}

impl Table {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

macro_rules! keys {
    ($($name:literal: $shape:expr, $about:literal;)*) => {
        &[$(Key { name: $name, shape: $shape, about: $about }),*]
    };
}

/// The file.
pub(crate) const FILE: Table = Table {
    name: "a test file",
    keys: keys! {
        "program": Shape::Text, "The path of the program, relative to the test file. By default, the tests in `review.test.toml` are those of `review.prose`";
        "case": Shape::Tables(&CASE), "The cases, each with its answers and expectations";
    },
};

/// A case. The entries of scripts are added to these.
pub(crate) const CASE: Table = Table {
    name: "a `[[case]]`",
    keys: keys! {
        "name": Shape::Text, "The name of the case, which is unique in the file";
        "inputs": Shape::Values, "The inputs of the program";
        "recorded": Shape::Text, "An export of a run with the answers, written by `prose runs export` or by `prose test --update`, relative to the test file";
        "harness": Shape::Text, "The harness that answers, such as `claude`. With `recorded`, it is used by `prose test --update` only";
        "max-cost": Shape::Money, "The most that one run with the harness may cost, in US dollars";
        "model": Shape::Text, "The model of all sessions of the harness, instead of those in the program";
        "timeout": Shape::Duration, "The time after which a run of the case fails, such as \"30s\"";
        "repeat": Shape::Count, "How often the case runs";
        "at-least": Shape::Count, "How many of the repeated runs have to pass; by default, all";
        "skip": Shape::Text, "The reason why the case does not run at present";
        "matrix": Shape::Table(&MATRIX), "Values that the case runs with, in all combinations";
        "expect": Shape::Table(&EXPECT), "What the run has to fulfil";
    },
};

/// The matrix of a case.
pub(crate) const MATRIX: Table = Table {
    name: "`[case.matrix]`",
    keys: keys! {
        "inputs": Shape::Lists, "Values of inputs";
        "harness": Shape::Texts, "Harnesses";
        "model": Shape::Texts, "Models of all sessions";
    },
};

/// The expectations of a case.
pub(crate) const EXPECT: Table = Table {
    name: "`[case.expect]`",
    keys: keys! {
        "status": Shape::Word(&["completed", "failed", "interrupted", "waiting"]), "How the run ends; by default, it has to be completed";
        "outputs": Shape::Matchers, "The named outputs";
        "value": Shape::Matcher, "The unnamed output";
        "sessions": Shape::NumberOr(&SESSIONS), "How many sessions are asked, and which";
        "session": Shape::Tables(&SESSION), "Sessions with their prompts and contexts";
        "branches": Shape::TextsOr(&BRANCHES), "The branches that are taken: labels of options, conditions that are met, names of parallel branches";
        "iterations": Shape::Iterations, "The iterations of loops, by the header of the loop or `line N`";
        "error": Shape::Matcher, "The message of the error that ends a failed run";
        "errors": Shape::MatcherList, "The messages of all errors, also of those that the program handles, in any order";
        "warnings": Shape::MatcherList, "The warnings of the run, in any order";
        "max-cost": Shape::Money, "The most that all sessions together may cost, in US dollars";
        "max-tokens": Shape::Number, "The most tokens that all sessions together may use";
        "files": Shape::Files, "The files that are written, relative to the project";
    },
};

/// How many sessions, and which.
pub(crate) const SESSIONS: Table = Table {
    name: "`sessions`",
    keys: keys! {
        "count": Shape::Bounds, "How many sessions are asked";
        "names": Shape::Texts, "All sessions by the names of their results, their agents or the first lines of their tasks, in any order";
        "order": Shape::Texts, "Some of the sessions, in this order; others may come between them";
        "never": Shape::Texts, "Sessions that are not asked";
    },
};

/// Sessions of a kind.
pub(crate) const SESSION: Table = Table {
    name: "a `[[case.expect.session]]`",
    keys: keys! {
        "agent": Shape::Text, "The agent of the session";
        "name": Shape::Text, "The name of its result";
        "label": Shape::Text, "The first line of its task";
        "pattern": Shape::Text, "A regular expression that matches in its task";
        "count": Shape::Bounds, "How many such sessions are asked; by default, at least one";
        "prompt": Shape::Matcher, "The complete prompt of each of them";
        "system": Shape::Matcher, "The system part of each of them";
        "context": Shape::Matchers, "The values in the context of each of them";
        "model": Shape::Text, "The model of each of them";
    },
};

/// Branches.
pub(crate) const BRANCHES: Table = Table {
    name: "`branches`",
    keys: keys! {
        "taken": Shape::Texts, "The branches that are taken; others may be, too";
        "not-taken": Shape::Texts, "The branches that are not taken";
    },
};

/// What a value is compared with.
pub(crate) const MATCHER: Table = Table {
    name: "a comparison",
    keys: keys! {
        "equals": Shape::Any, "The value, as a text or as any other value of TOML";
        "contains": Shape::OneOrMoreTexts, "Texts that the value contains";
        "excludes": Shape::OneOrMoreTexts, "Texts that the value does not contain";
        "matches": Shape::OneOrMoreTexts, "Regular expressions that match in the value";
        "schema": Shape::JsonSchema, "A JSON schema that the value fulfils, or the path of a file with one";
        "judge": Shape::OneOrMoreTexts, "What a model says is true of the value, such as \"it names three sources\"";
    },
};

/// Bounds of a number.
pub(crate) const BOUNDS: Table = Table {
    name: "a number",
    keys: keys! {
        "at-least": Shape::Number, "The lowest number";
        "at-most": Shape::Number, "The highest number";
    },
};
