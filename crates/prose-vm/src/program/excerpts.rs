//! What events show of a statement: where it stands, its first line, and its whole text.
//!
//! Loops and calls execute a statement many times, so each of these is computed once.

use std::sync::{Arc, OnceLock};

use prose_analysis::model::StmtId;
use smol_str::SmolStr;

use super::{At, Program, TopLevel};
use crate::place::Site;

/// What events show of a statement.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    /// Its place in the started program.
    site: OnceLock<Site>,
    header: OnceLock<SmolStr>,
    text: OnceLock<Arc<str>>,
}

impl TopLevel {
    fn excerpt(&self, stmt: StmtId) -> &Excerpt {
        &self.excerpts[stmt.index() as usize]
    }
}

impl Program {
    /// The place of a statement in the text; `program` is the number of the execution.
    pub(crate) fn site(&self, program: u32, at: At) -> Site {
        let top = &self.statements[at.top as usize];
        let site = *top.excerpt(at.stmt).site.get_or_init(|| {
            let range = self.range(at, top.body[at.stmt].range);
            let (start, end) = (u32::from(range.start()), u32::from(range.end()));
            let last = if end > start { end - 1 } else { end };
            Site { program: 0, start, end, line: self.line(start), last_line: self.line(last) }
        });
        Site { program, ..site }
    }

    /// The first line of a statement, without the colon of its body and without what follows a comment sign.
    pub(crate) fn header(&self, at: At) -> SmolStr {
        let top = &self.statements[at.top as usize];
        let header = top.excerpt(at.stmt).header.get_or_init(|| {
            let source = self.source(at, top.body[at.stmt].range);
            let line = source.lines().next().unwrap_or_default();
            let opens_body = top.body.lists().any(|(_, list)| list.owner == at.stmt);
            let line = without_comment(line).trim_end();
            if opens_body { line.strip_suffix(':').unwrap_or(line).into() } else { line.into() }
        });
        header.clone()
    }

    /// A statement with its properties or its body, indented as if it stood alone.
    pub(crate) fn statement_source(&self, at: At) -> Arc<str> {
        let top = &self.statements[at.top as usize];
        Arc::clone(top.excerpt(at.stmt).text.get_or_init(|| self.dedented_source(at)))
    }

    fn dedented_source(&self, at: At) -> Arc<str> {
        let range = self.range(at, self.body(at)[at.stmt].range);
        let start = usize::from(range.start());
        let text = self.text.get(start..usize::from(range.end())).unwrap_or_default().trim_end();
        let line = self.text.get(..start).map_or(start, |before| before.rfind('\n').map_or(0, |at| at + 1));
        let indent = self.text.get(line..start).unwrap_or_default();
        if indent.is_empty() || !indent.trim().is_empty() || !text.contains('\n') {
            return text.into();
        }
        let mut lines = text.lines();
        let mut out = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            out.push('\n');
            out.push_str(line.strip_prefix(indent).unwrap_or(line));
        }
        out.into()
    }
}

/// A line up to a comment. A `#` inside quotes or discretion marks is none.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' if !escaped => quoted = !quoted,
            '#' if !quoted && line[..at].matches("**").count().is_multiple_of(2) => return &line[..at],
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_of_headers() {
        assert_eq!(without_comment("session \"a # b\" # c"), "session \"a # b\" ");
        assert_eq!(
            without_comment("loop until **issue #3 is closed**:"),
            "loop until **issue #3 is closed**:"
        );
    }
}
