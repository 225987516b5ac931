//! Ignore comments: `# prose: ignore[E019, W105] reason`.
//!
//! At the end of a line the comment is for that line; on a line of its own it is for the next line of code. A text or a condition over
//! several lines has no place for comments inside, so all of its lines count as one. Above the first statement,
//! `# prose: ignore-file[…]` is for the whole file.
//!
//! Syntax errors can be ignored like everything else, since a session may understand a line that the grammar does not. Two cannot: after
//! them the text is not read as its author wrote it, and its other mistakes are not known.

use std::cell::Cell;

use prose_syntax::lines::{LINE_BREAKS, line_end, line_start, size};
use prose_syntax::{Code, Diagnostic, Fix, Parse, SyntaxKind, TextEdit, TextRange, TextSize, suggest};
use rustc_hash::{FxHashMap, FxHashSet};

/// What no comment switches off.
const NEVER_IGNORED: &[Code] = &[Code::E001, Code::E111];

/// In any case: a comment may begin like a sentence.
const MARK: &str = "prose:";
/// How the mark is looked for in a whole text.
const SPELLINGS: [&str; 3] = [MARK, "Prose:", "PROSE:"];
const IGNORE: &str = "ignore";
const IGNORE_FILE: &str = "ignore-file";
/// An ignore comment.
struct Ignore {
    comment: TextRange,
    listed: Vec<Listed>,
    covers: TextRange,
}

/// A code in the brackets of a comment.
struct Listed {
    name: String,
    code: Option<Code>,
    range: TextRange,
}

/// What comments cover, in the order of the text. Comments that cover the same are one entry, so that a row of them above a line costs no more
/// than one of them.
struct Cover {
    covers: TextRange,
    /// The end of what this entry and those before it cover.
    farthest: TextSize,
    /// The codes that are ignored here, and whether one of them was reported.
    codes: FxHashMap<Code, bool>,
}

/// Finds the comments that cover a place, however many comments there are.
struct Covers {
    list: Vec<Cover>,
    /// The entry of each comment.
    of_comments: Vec<usize>,
}

impl Covers {
    fn new(ignores: &[Ignore]) -> Self {
        let mut order: Vec<usize> = (0..ignores.len()).collect();
        let key = |range: TextRange| (range.start(), range.end());
        order.sort_by_key(|at| key(ignores[*at].covers));
        let mut list: Vec<Cover> = Vec::new();
        let mut of_comments = vec![0; ignores.len()];
        for at in order {
            let covers = ignores[at].covers;
            if list.last().is_none_or(|last| last.covers != covers) {
                let before = list.last().map_or(TextSize::new(0), |last| last.farthest);
                list.push(Cover { covers, farthest: before.max(covers.end()), codes: FxHashMap::default() });
            }
            of_comments[at] = list.len() - 1;
            let codes = ignores[at].listed.iter().filter_map(|listed| listed.code);
            let codes = codes.filter(|code| !NEVER_IGNORED.contains(code)).map(|code| (code, false));
            if let Some(last) = list.last_mut() {
                last.codes.extend(codes);
            }
        }
        Self { list, of_comments }
    }

    /// Whether a comment switches the diagnostic off, which is noted for all that do.
    fn switch_off(&mut self, diagnostic: &Diagnostic) -> bool {
        let at = diagnostic.range.start();
        let mut is_ignored = false;
        let begun = self.list.partition_point(|cover| cover.covers.start() <= at);
        // Lines overlap only where a text goes over several of them, so few entries are looked at.
        for cover in self.list[..begun].iter_mut().rev().take_while(|cover| cover.farthest >= at) {
            if cover.covers.contains_inclusive(at)
                && let Some(used) = cover.codes.get_mut(&diagnostic.code)
            {
                *used = true;
                is_ignored = true;
            }
        }
        is_ignored
    }

    /// Whether a code of a comment has switched something off.
    fn is_used(&self, comment: usize, code: Code) -> bool {
        self.list[self.of_comments[comment]].codes.get(&code).copied().unwrap_or_default()
    }
}

/// Takes out what comments switch off, and reports comments that have no effect.
pub(crate) fn apply(text: &str, parse: &Parse, found: &mut Vec<Diagnostic>) {
    // Few programs have such a comment, and looking at every token of the others would cost more than all of the checks.
    if !SPELLINGS.iter().any(|mark| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some()) {
        return;
    }
    let source = Source::new(text, parse);
    let (mut ignores, mut problems) = (Vec::new(), Vec::new());
    for (comment, range) in &source.comments {
        match source.ignore(comment, *range) {
            Some(Ok(ignore)) => ignores.push(ignore),
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
    }
    // Those for the whole file cover what the others cover, too.
    let (of_file, of_lines): (Vec<Ignore>, Vec<Ignore>) =
        ignores.into_iter().partition(|ignore| ignore.covers.len() == TextSize::of(text));
    let mut ignores = [of_file, of_lines].map(|ignores| (Covers::new(&ignores), ignores));
    let is_ignored = |diagnostic: &Diagnostic, ignores: &mut [(Covers, Vec<Ignore>); 2]| {
        let [of_file, of_lines] = ignores.each_mut().map(|(covers, _)| covers.switch_off(diagnostic));
        of_file || of_lines
    };
    found.retain(|diagnostic| !is_ignored(diagnostic, &mut ignores));
    for (covers, ignores) in &ignores {
        for (at, ignore) in ignores.iter().enumerate() {
            source.report(ignore, |code| covers.is_used(at, code), &mut problems);
        }
    }
    // A program that ignores this code needs no reports about unused comments either.
    problems.retain(|problem| !is_ignored(problem, &mut ignores));
    if !problems.is_empty() {
        found.append(&mut problems);
        found.sort_by_key(|diagnostic| (diagnostic.range.start(), diagnostic.range.end(), diagnostic.code));
    }
}

/// A program as comments see it.
struct Source<'a> {
    text: &'a str,
    comments: Vec<(String, TextRange)>,
    /// Texts and conditions over several lines, in the order of the text.
    long_literals: Vec<TextRange>,
    first_statement: TextSize,
    /// Where the line of code starts that was last looked for below a comment.
    next_code: Cell<TextRange>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str, parse: &Parse) -> Self {
        let root = parse.syntax();
        let tokens = || root.descendants_with_tokens().filter_map(|element| element.into_token());
        let comments = tokens()
            .filter(|token| token.kind() == SyntaxKind::COMMENT && token.text().contains(':'))
            .map(|token| (token.text().to_owned(), token.text_range()));
        let long_literals = root
            .descendants()
            .filter(|node| matches!(node.kind(), SyntaxKind::STRING | SyntaxKind::DISCRETION))
            .map(|node| node.text_range())
            .filter(|range| text[std::ops::Range::<usize>::from(*range)].contains(LINE_BREAKS));
        Self {
            text,
            comments: comments.collect(),
            long_literals: long_literals.collect(),
            first_statement: tokens()
                .find(|token| !token.kind().is_trivia())
                .map_or(TextSize::of(text), |token| token.text_range().start()),
            next_code: Cell::new(TextRange::default()),
        }
    }

    /// The codes of an ignore comment, or what is wrong with it.
    fn ignore(&self, comment: &str, range: TextRange) -> Option<Result<Ignore, Diagnostic>> {
        let (mark, said) = comment.trim_start_matches('#').trim_start().split_at_checked(MARK.len())?;
        if !mark.eq_ignore_ascii_case(MARK) {
            return None;
        }
        let said = said.trim_start();
        let place = |part: &str| {
            let start = part.as_ptr() as usize - comment.as_ptr() as usize;
            TextRange::at(range.start() + size(start), TextSize::of(part))
        };
        let problem = |message: String| Diagnostic::new(Code::W137, range, message);

        let word_end = said.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(said.len());
        let (written, behind) = said.split_at(word_end);
        let same = |known: &&str| known.eq_ignore_ascii_case(written);
        let word = [IGNORE, IGNORE_FILE].into_iter().find(same).unwrap_or(written);
        let list = behind.trim_start().strip_prefix('[');
        if word != IGNORE && word != IGNORE_FILE {
            // Other comments may begin like this; one with brackets after a word that is nearly right is meant for us.
            let near = list.and_then(|_| suggest::nearest(word, [IGNORE, IGNORE_FILE], |word| word))?;
            let rename = Fix::safe(format!("Change to `{near}`"), TextEdit::replace(place(written), near));
            let message = format!("`{word}` has no effect; did you mean `{near}`?");
            return Some(Err(problem(message).with_fix(rename)));
        }
        let Some(list) = list else {
            let message = format!("expected codes to ignore: `# prose: {word}[W101] reason`");
            return Some(Err(problem(message)));
        };
        let Some(end) = list.find(']') else {
            return Some(Err(problem("expected `]` after the codes".to_owned())));
        };
        let names = list[..end].split(',').map(str::trim).filter(|name| !name.is_empty());
        let listed: Vec<Listed> = names
            .map(|name| Listed { name: name.to_owned(), code: name.parse().ok(), range: place(name) })
            .collect();
        if listed.is_empty() {
            return Some(Err(problem("expected a code between the brackets".to_owned())));
        }
        let covers = match word {
            IGNORE => self.covered(range),
            _ if range.start() <= self.first_statement => TextRange::up_to(TextSize::of(self.text)),
            _ => {
                let message = format!("`{IGNORE_FILE}` must come before the first statement");
                return Some(Err(problem(message)));
            }
        };
        Some(Ok(Ignore { comment: range, listed, covers }))
    }

    /// Reports codes that do not exist or have no effect.
    fn report(&self, ignore: &Ignore, is_used: impl Fn(Code) -> bool, problems: &mut Vec<Diagnostic>) {
        // A code has its effect where it is listed first.
        let mut listed_before = FxHashSet::default();
        let superfluous = ignore.listed.iter().map(|listed| match listed.code {
            Some(code) => !(listed_before.insert(code) && is_used(code)) && code != Code::W137,
            None => true,
        });
        let superfluous: Vec<bool> = superfluous.collect();
        let can_go = |(listed, is_superfluous): (&Listed, &bool)| {
            *is_superfluous && listed.code.is_some_and(|code| !NEVER_IGNORED.contains(&code))
        };
        if ignore.listed.iter().zip(&superfluous).all(can_go) {
            let message = match &ignore.listed[..] {
                [only] => format!("`{}` is not reported here, so the comment has no effect", only.name),
                _ => "none of these codes is reported here, so the comment has no effect".to_owned(),
            };
            let remove = Fix::safe("Remove the comment", TextEdit::delete(self.removable(ignore.comment)));
            problems.push(Diagnostic::new(Code::W137, ignore.comment, message).with_fix(remove));
            return;
        }
        for (index, listed) in ignore.listed.iter().enumerate().filter(|(index, _)| superfluous[*index]) {
            let name = &listed.name;
            let mut rename = None;
            let message = match listed.code {
                None => {
                    let near = suggest::nearest(name, Code::ALL.iter().copied(), |code| code.as_str());
                    rename = near.map(|near| Fix::change(listed.range, near.as_str()));
                    match near {
                        Some(near) => format!("`{name}` is not a diagnostic code; did you mean `{near}`?"),
                        None => format!("`{name}` is not a diagnostic code"),
                    }
                }
                Some(code) if NEVER_IGNORED.contains(&code) => {
                    format!("`{name}` cannot be ignored; the text after it is not parsed as written")
                }
                Some(_) => format!("`{name}` is not reported here, so it has no effect in this comment"),
            };
            let remove = (ignore.listed.len() > 1).then(|| {
                let edit = TextEdit::delete(entry(&ignore.listed, index));
                Fix::safe(format!("Remove `{name}`"), edit)
            });
            problems
                .push(Diagnostic::new(Code::W137, listed.range, message).with_fix(rename).with_fix(remove));
        }
    }

    /// What a comment is for: its line or, if nothing else is on that, the next line of code.
    fn covered(&self, comment: TextRange) -> TextRange {
        let (start, end) = (usize::from(comment.start()), usize::from(comment.end()));
        let own_line = line_start(self.text, start);
        if !self.text[own_line..start].trim().is_empty() {
            let first = self.long_literals.partition_point(|literal| usize::from(literal.end()) < own_line);
            let ends_here = |literal: &&TextRange| usize::from(literal.end()) < start;
            let first = self.long_literals.get(first).filter(ends_here);
            return range(
                line_start(self.text, first.map_or(own_line, |literal| literal.start().into())),
                end,
            );
        }
        match self.next_code(end) {
            Some(at) => range(at, self.statement_end(at)),
            None => TextRange::empty(TextSize::of(self.text)),
        }
    }

    /// Where the first line of code below an offset starts, which is the end of a comment.
    fn next_code(&self, offset: usize) -> Option<usize> {
        // Many comments may be above one line.
        let known = self.next_code.get();
        let mut at = offset;
        if !known.contains_range(TextRange::empty(size(offset))) {
            let code = self.text[offset..].split_inclusive(LINE_BREAKS).find(|line| {
                let code = line.trim();
                let is_code = !code.is_empty() && !code.starts_with('#');
                at += if is_code { 0 } else { line.len() };
                is_code
            });
            let found = if code.is_some() { at } else { self.text.len() };
            self.next_code.set(range(offset, found));
        }
        let found = usize::from(self.next_code.get().end());
        (found < self.text.len()).then_some(found)
    }

    /// The end of the line of an offset; if a text begins on it and continues below, that of the line where the text ends.
    fn statement_end(&self, offset: usize) -> usize {
        let mut end = line_end(self.text, offset);
        let first = self.long_literals.partition_point(|literal| usize::from(literal.start()) < offset);
        for literal in &self.long_literals[first..] {
            if usize::from(literal.start()) > end {
                break;
            }
            if usize::from(literal.end()) > end {
                end = line_end(self.text, literal.end().into());
            }
        }
        end
    }

    /// A comment with the space before it, or with its line if it has one of its own.
    fn removable(&self, comment: TextRange) -> TextRange {
        let (start, end) = (usize::from(comment.start()), usize::from(comment.end()));
        let own_line = line_start(self.text, start);
        let before = &self.text[own_line..start];
        if !before.trim().is_empty() {
            return range(own_line + before.trim_end().len(), end);
        }
        let behind = &self.text[end..];
        let line_break = ["\r\n", "\n", "\r"].into_iter().find(|line_break| behind.starts_with(line_break));
        range(own_line, end + line_break.map_or(0, str::len))
    }
}

/// A code of a list with the comma that goes with it.
fn entry(listed: &[Listed], index: usize) -> TextRange {
    let own = listed[index].range;
    match (listed.get(index + 1), index.checked_sub(1)) {
        (Some(next), _) => TextRange::new(own.start(), next.range.start()),
        (None, Some(previous)) => TextRange::new(listed[previous].range.end(), own.end()),
        (None, None) => own,
    }
}

fn range(start: usize, end: usize) -> TextRange {
    TextRange::new(size(start), size(end))
}
