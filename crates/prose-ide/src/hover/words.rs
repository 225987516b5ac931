//! Words of the language.

use prose_analysis::{Db, SourceFile};
use prose_syntax::options::{self, FAILURE_POLICIES, Header, OptionValue, STRATEGIES};
use prose_syntax::properties::{self, Property};
use prose_syntax::{Code, SyntaxKind, keywords};

use crate::markdown::{fenced, inline, paragraphs};

/// Documentation of a keyword.
pub(super) fn of_keyword(kind: SyntaxKind) -> Option<String> {
    let keyword = keywords::find(kind)?;
    Some(entry(keyword.text(), keyword.summary, keyword.docs, keyword.example))
}

/// Documentation of a property, or of an entry of one.
pub(super) fn of_property(parent: Option<&str>, name: &str) -> Option<String> {
    let property = property(parent, name)?;
    Some(entry(&format!("{name}:"), property.summary, property.docs, property.example))
}

fn property(parent: Option<&str>, name: &str) -> Option<&'static Property> {
    match parent {
        None => properties::find(name),
        Some("permissions") => properties::find_permission(name),
        Some(_) => None,
    }
}

/// Documentation of a word that a property is set to.
pub(super) fn of_property_value(parent: Option<&str>, name: &str, value: &str) -> Option<String> {
    let word = property(parent, name)?.word(value)?;
    Some(format!("**{}** of {} — {}", inline(value), inline(&format!("{name}:")), word.summary))
}

fn entry(title: &str, summary: &str, docs: &str, example: &str) -> String {
    paragraphs([format!("**{}** — {summary}", inline(title)), docs.to_owned(), fenced("prose", example)])
}

/// Documentation of an option in the parentheses of a header.
pub(super) fn of_option(statement: SyntaxKind, name: &str) -> Option<String> {
    let header = match statement {
        SyntaxKind::PARALLEL => Header::Parallel,
        SyntaxKind::LOOP => Header::Loop,
        SyntaxKind::BLOCK_DEF => Header::Block,
        _ => return None,
    };
    let option = options::find(header, name)?;
    let values = match option.value {
        OptionValue::FailurePolicy => FAILURE_POLICIES
            .iter()
            .map(|policy| format!("- {} — {}", inline(&format!("\"{}\"", policy.name)), policy.summary))
            .collect::<Vec<_>>()
            .join("\n"),
        OptionValue::Count => "A whole number, at least 1.".to_owned(),
    };
    let title = inline(&format!("{name}:"));
    Some(paragraphs([format!("**{title}** of {} — {}", inline(header.keyword()), option.summary), values]))
}

/// Documentation of a word that an option is set to.
pub(super) fn of_option_value(statement: SyntaxKind, option: Option<&str>, value: &str) -> Option<String> {
    let words = match (statement, option) {
        (SyntaxKind::PARALLEL, None) => STRATEGIES,
        (SyntaxKind::PARALLEL, Some("on-fail")) => FAILURE_POLICIES,
        _ => return None,
    };
    let word = words.iter().find(|word| word.name == value)?;
    Some(format!("**{}** — {}", inline(&format!("\"{value}\"")), word.summary))
}

/// Documentation of the value of a `model:`.
pub(super) fn of_model(db: &dyn Db, file: SourceFile, name: &str) -> String {
    let title = format!("**{}**", inline(name));
    match file.project(db).models.get(name) {
        Some(model) if model.is_empty() => {
            format!("{title} — a model alias with an invalid value in `prose.toml`")
        }
        Some(model) => format!("{title} — an alias of the model {} in `prose.toml`", inline(model)),
        None if matches!(name, "sonnet" | "opus" | "haiku") => {
            format!("{title} — a built-in model. The host chooses the version.")
        }
        None => format!("{title} — a model id, passed to the host unchanged"),
    }
}

/// Documentation of the code of a diagnostic.
pub(super) fn of_code(code: Code) -> String {
    let info = code.info();
    paragraphs([format!("**{}** — {}", inline(info.name), info.title), info.explanation.to_owned()])
}

/// The documentation of the markers of a discretion.
pub(super) fn of_discretion() -> String {
    paragraphs([
        "**`**…**`** — A condition that a model judges.".to_owned(),
        "It is judged by its meaning, with all results so far in view. If the model is not sure, the condition does not hold. Names \
         in braces are interpolated. Between `***` the text may span several lines and contain `**`."
            .to_owned(),
        fenced(
            "prose",
            "if **the report names no sources**:\n  session \"Find sources for the report\"\n",
        ),
    ])
}

/// The documentation of the markers of the description of an input.
pub(super) fn of_description() -> String {
    paragraphs([
        "**`**…**`** — A description of the input, which a model may rephrase.".to_owned(),
        "A text in quotes is shown to the user unchanged. Names in braces are interpolated.".to_owned(),
    ])
}
