//! Documentation of the word under the cursor, as Markdown.

mod names;
#[cfg(test)]
mod tests;
mod words;

use prose_analysis::statements::parse;
use prose_analysis::{Db, SourceFile};
use prose_syntax::SyntaxKind::COMMENT;
use prose_syntax::{TextRange, TextSize};

use crate::cursor::word_around;
use crate::element::{Element, ElementKind, element_at};

/// Documentation of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The bytes of the word.
    pub range: TextRange,
    /// The text, as Markdown.
    pub markdown: String,
}

/// Documentation of a code in a comment that switches it off.
fn ignored_code(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Hover> {
    let text = file.text(db).as_str();
    if !text.is_char_boundary(offset.into()) {
        return None;
    }
    let comment = parse(db, file).syntax().token_at_offset(offset).find(|token| token.kind() == COMMENT)?;
    if !comment.text().to_ascii_lowercase().contains("prose: ignore") {
        return None;
    }
    let range = word_around(text, offset.into());
    let code = text[range].parse().ok()?;
    Some(Hover { range, markdown: words::of_code(code) })
}

/// Documentation of the word at an offset.
pub fn hover(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Hover> {
    if let Some(hover) = ignored_code(db, file, offset) {
        return Some(hover);
    }
    let Element { range, kind } = element_at(db, file, offset)?;
    let markdown = match kind {
        ElementKind::Word(statement, word) => names::of_word(db, statement, &word)?,
        ElementKind::Path(statement, import) => names::of_path(db, statement, import)?,
        ElementKind::Property { parent, name } => words::of_property(parent.as_deref(), &name)?,
        ElementKind::Option { statement, name } => words::of_option(statement, &name)?,
        ElementKind::OptionValue { statement, option, value } => {
            words::of_option_value(statement, option.as_deref(), &value)?
        }
        ElementKind::PropertyValue { parent, name, value } => {
            words::of_property_value(parent.as_deref(), &name, &value)?
        }
        ElementKind::Model(name) => words::of_model(db, file, &name),
        ElementKind::Keyword(keyword) => words::of_keyword(keyword)?,
        ElementKind::DiscretionMark { is_description: false } => words::of_discretion(),
        ElementKind::DiscretionMark { is_description: true } => words::of_description(),
        ElementKind::Text => return None,
    };
    Some(Hover { range, markdown })
}
