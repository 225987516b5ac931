//! Phrases of a prompt that refer to something the reader must have been given: `the draft`, `your research`, `these`.
//!
//! Only the first sentence is read: what later ones refer to is mostly in the prompt itself. The words are those of English.

use std::ops::Range;

use prose_syntax::lines::size;
use prose_syntax::{TextRange, TextSize};
use smol_str::SmolStr;

/// A phrase that refers to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    /// Its place, relative to the statement.
    pub(super) range: TextRange,
    /// What follows the determiner, in lower case.
    pub(super) words: Vec<SmolStr>,
    /// Whether it can only mean the result of earlier work. The other phrases do if a variable has that name.
    pub(super) is_work: bool,
    /// Whether it means several results.
    pub(super) is_plural: bool,
}

/// What sessions are asked to make, and other sessions to continue with.
const WORK: &[&str] = &[
    "analyses",
    "analysis",
    "article",
    "assessment",
    "assessments",
    "brainstorm",
    "comparison",
    "conclusions",
    "corrections",
    "critique",
    "critiques",
    "diagnosis",
    "draft",
    "drafts",
    "essay",
    "evaluation",
    "evaluations",
    "feedback",
    "finding",
    "findings",
    "haiku",
    "insights",
    "outline",
    "poem",
    "proposal",
    "proposals",
    "recommendations",
    "report",
    "reports",
    "research",
    "results",
    "review",
    "reviews",
    "revisions",
    "story",
    "suggestions",
    "summaries",
    "summary",
    "tagline",
    "taglines",
    "translation",
    "translations",
];

/// What else is earlier work where it is that of the reader: `your plan`.
const YOURS: &[&str] = &[
    "answer",
    "answers",
    "hypotheses",
    "hypothesis",
    "ideas",
    "investigation",
    "notes",
    "plan",
    "response",
    "responses",
];

/// What earlier work is called as a part of the program.
const STEPS: &[&str] = &[
    "agent",
    "agents",
    "answer",
    "answers",
    "attempt",
    "discussion",
    "iteration",
    "output",
    "outputs",
    "phase",
    "response",
    "responses",
    "round",
    "session",
    "sessions",
    "stage",
    "step",
    "steps",
    "work",
];

/// Verbs whose object is a text. That of others may be what an agent has before it: `Publish it`.
const WORDING: &[&str] = &[
    "combine",
    "compare",
    "condense",
    "critique",
    "edit",
    "expand",
    "extend",
    "improve",
    "merge",
    "paraphrase",
    "polish",
    "proofread",
    "refine",
    "rephrase",
    "revise",
    "rewrite",
    "shorten",
    "summarise",
    "summarize",
    "translate",
];

/// Verbs whose object comes to be by the session itself.
const MAKING: &[&str] = &[
    "begin",
    "build",
    "choose",
    "collect",
    "compile",
    "compose",
    "conduct",
    "create",
    "decide",
    "deliver",
    "describe",
    "design",
    "determine",
    "develop",
    "do",
    "document",
    "draft",
    "explain",
    "fetch",
    "find",
    "gather",
    "generate",
    "get",
    "give",
    "identify",
    "log",
    "make",
    "output",
    "perform",
    "pick",
    "plan",
    "prepare",
    "produce",
    "provide",
    "record",
    "return",
    "run",
    "save",
    "select",
    "share",
    "start",
    "state",
    "store",
    "submit",
    "write",
];

/// Words that end a noun phrase.
const ENDS: &[&str] = &[
    "about",
    "above",
    "again",
    "against",
    "and",
    "are",
    "as",
    "at",
    "be",
    "before",
    "below",
    "but",
    "by",
    "can",
    "carefully",
    "collected",
    "critically",
    "for",
    "found",
    "from",
    "further",
    "gathered",
    "has",
    "have",
    "if",
    "in",
    "into",
    "is",
    "it",
    "of",
    "on",
    "once",
    "or",
    "produced",
    "so",
    "than",
    "that",
    "then",
    "thoroughly",
    "through",
    "to",
    "together",
    "under",
    "until",
    "using",
    "was",
    "were",
    "when",
    "where",
    "which",
    "while",
    "who",
    "with",
    "without",
    "written",
    "you",
];

/// Words before the first verb.
const LEADS: &[&str] =
    &["also", "carefully", "finally", "first", "in", "lastly", "next", "now", "please", "then"];

/// Words after a noun that say which one is meant: `the results of the survey`.
const SPECIFYING: &[&str] = &["about", "on", "of", "that", "which"];

fn is_determiner(word: &str) -> bool {
    matches!(word, "the" | "this" | "that" | "these" | "those" | "your" | "our" | "my" | "both" | "all")
}

/// A word of the sentence, or a sign between words.
struct Token {
    range: Range<usize>,
    /// In lower case; empty for a sign.
    word: SmolStr,
    /// Whether the words from here on are another clause.
    starts_clause: bool,
}

/// The words of the first sentence. None if it introduces a text that follows it.
fn first_sentence(text: &str) -> Option<Vec<Token>> {
    let start = text.len() - text.trim_start().len();
    let mut tokens: Vec<Token> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'');
    let mut at = start;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + c.len_utf8()..];
        let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
        match c {
            _ if is_word(c) => {
                let len = text[at..].find(|c| !is_word(c)).unwrap_or(text.len() - at);
                let word = SmolStr::new(text[at..at + len].to_lowercase());
                tokens.push(Token { range: at..at + len, word, starts_clause: false });
                at += len;
                continue;
            }
            ':' if ends => return None,
            '.' | '!' | '?' if ends => break,
            ';' => break,
            '\\' if rest.starts_with('n') => break,
            '\n' if rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r', '-', '*', '#', '1']) => {
                break;
            }
            _ if c.is_whitespace() => {}
            _ => tokens.push(Token {
                range: at..at + c.len_utf8(),
                word: SmolStr::default(),
                starts_clause: false,
            }),
        }
        at += c.len_utf8();
    }
    Some(tokens)
}

/// The phrases that refer to something, of a text that starts at a place in a statement.
pub(super) fn phrases(text: &str, start: TextSize) -> Vec<Phrase> {
    let Some(mut tokens) = first_sentence(text) else { return Vec::new() };
    mark_clauses(&mut tokens);
    // What is read from a file is given by its path.
    let names_source = tokens.iter().any(|token| {
        let sign = text[token.range.clone()].chars().next().unwrap_or(' ');
        matches!(sign, '/' | '`') || (sign == '.' && token.word.is_empty())
    });
    let verb = tokens
        .iter()
        .position(|token| !token.word.is_empty() && !LEADS.contains(&token.word.as_str()))
        .unwrap_or(0);
    let mut clause = 0;
    let mut found: Vec<Phrase> = Vec::new();
    for at in 0..tokens.len() {
        clause += usize::from(tokens[at].starts_clause && at > verb);
        let is_first_clause = clause == 0 && !names_source;
        let earlier = previous_work(&tokens, at).or_else(|| pronoun(&tokens, at, verb));
        if let Some(phrase) = earlier.filter(|_| is_first_clause) {
            found.push(phrase);
        } else if let Some(mut phrase) = noun_phrase(&tokens, at) {
            phrase.is_work &= is_first_clause;
            found.push(phrase);
        }
    }
    found.iter_mut().for_each(|phrase| phrase.range += start);
    found
}

/// Marks where clauses start: after a comma, and after `and` or `then` where no further noun follows.
fn mark_clauses(tokens: &mut [Token]) {
    for at in 1..tokens.len() {
        let before = tokens[at - 1].word.as_str();
        let is_noun = |word: &str| is_determiner(word) || WORK.contains(&word) || STEPS.contains(&word);
        let after_break = matches!(before, "and" | "then" | "or" | "but" | "");
        let word = tokens[at].word.as_str();
        tokens[at].starts_clause = after_break && !word.is_empty() && !is_noun(word);
    }
}

fn word(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.word.as_str())
}

fn before(tokens: &[Token], at: usize, back: usize) -> &str {
    at.checked_sub(back).map_or("", |at| word(tokens, at))
}

fn phrase(tokens: &[Token], first: usize, last: usize, is_plural: bool) -> Phrase {
    let words = tokens[first + 1..=last.max(first)].iter().map(|token| token.word.clone()).collect();
    let range = TextRange::new(size(tokens[first].range.start), size(tokens[last].range.end));
    Phrase { range, words, is_work: true, is_plural }
}

fn is_plural(word: &str) -> bool {
    word.ends_with('s') && !word.ends_with("ss") && !matches!(word, "analysis" | "diagnosis")
}

/// `the previous step`, `earlier findings`, `the above`.
fn previous_work(tokens: &[Token], at: usize) -> Option<Phrase> {
    let next = word(tokens, at + 1);
    let first = if is_determiner(before(tokens, at, 1)) { at - 1 } else { at };
    match word(tokens, at) {
        "previous" | "earlier" | "prior" | "preceding" if WORK.contains(&next) || STEPS.contains(&next) => {
            Some(phrase(tokens, first, at + 1, is_plural(next)))
        }
        "above" => {
            let is_noun = next.is_empty() || ENDS.contains(&next) || WORK.contains(&next);
            let is_said = matches!(
                before(tokens, at, 1),
                "described" | "discussed" | "found" | "given" | "listed" | "mentioned" | "shown"
            );
            (is_said || before(tokens, at, 1) == "the" && is_noun).then(|| phrase(tokens, first, at, false))
        }
        _ => None,
    }
}

/// `Summarize this`, `Based on these`.
fn pronoun(tokens: &[Token], at: usize, verb: usize) -> Option<Phrase> {
    let pronoun = word(tokens, at);
    if !matches!(pronoun, "this" | "that" | "these" | "those" | "it" | "them") {
        return None;
    }
    let next = word(tokens, at + 1);
    let is_alone =
        next.is_empty() || (ENDS.contains(&next) && !matches!(next, "is" | "was" | "are" | "were" | "can"));
    let is_pointer = matches!(pronoun, "this" | "that" | "these" | "those");
    let takes_object = match is_pointer {
        true => {
            !matches!(word(tokens, verb), "" | "do" | "say" | "repeat" | "consider" | "make" | "keep" | "is")
        }
        false => WORDING.contains(&word(tokens, verb)),
    };
    let is_object = at == verb + 1 && takes_object;
    let is_source = is_pointer
        && (matches!(before(tokens, at, 1), "using" | "given" | "from") && at <= verb + 1
            || before(tokens, at, 1) == "on" && before(tokens, at, 2) == "based");
    (is_alone && (is_object || is_source))
        .then(|| phrase(tokens, at, at, matches!(pronoun, "these" | "those" | "them")))
}

/// `the final draft`, `both analyses`, `your research`.
fn noun_phrase(tokens: &[Token], at: usize) -> Option<Phrase> {
    const MAX_WORDS: usize = 4;
    let determiner = word(tokens, at);
    let is_second = is_determiner(before(tokens, at, 1))
        || before(tokens, at, 1) == "of" && is_determiner(before(tokens, at, 2));
    if !is_determiner(determiner) || is_second {
        return None;
    }
    // What the session itself makes is not an earlier work.
    if MAKING.contains(&before(tokens, at, 1)) && !matches!(determiner, "both" | "all" | "these" | "those") {
        return None;
    }
    let mut first = at + 1;
    if determiner == "all" && word(tokens, first) == "of" {
        first += 1;
    }
    if is_determiner(word(tokens, first)) {
        first += 1;
    }
    let is_part = |at: usize| {
        let word = word(tokens, at);
        !(word.is_empty() || ENDS.contains(&word) || is_determiner(word))
    };
    let end = (first..first + MAX_WORDS).find(|at| !is_part(*at)).unwrap_or(first + MAX_WORDS);
    let head = word(tokens, end.checked_sub(1)?);
    if end == first || SPECIFYING.contains(&word(tokens, end)) {
        return None;
    }
    let is_several = matches!(determiner, "both" | "all" | "these" | "those");
    let mut phrase = phrase(tokens, at, end - 1, is_several || is_plural(head));
    phrase.words = tokens[first..end].iter().map(|token| token.word.clone()).collect();
    let is_yours = determiner == "your" && YOURS.contains(&head);
    phrase.is_work = (WORK.contains(&head) || is_yours) && (determiner != "all" || is_plural(head));
    Some(phrase)
}

#[cfg(test)]
mod tests {
    use prose_syntax::TextSize;

    use super::phrases;

    /// The phrases that mean earlier work.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = phrases(text, TextSize::new(0));
        let found: Vec<&str> =
            found.iter().filter(|phrase| phrase.is_work).map(|phrase| &text[phrase.range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn results_of_earlier_work() {
        check("Summarize your research", &["your research"]);
        check("Translate the poem into French.", &["the poem"]);
        check("Combine both analyses", &["both analyses"]);
        check("Combine the research and the analysis", &["the research", "the analysis"]);
        check("Put the three reviews into one list, the gravest findings first.", &["the three reviews"]);
        check("Summarize the key findings in 3 bullet points", &["the key findings"]);
        check("Write an article based on all of the findings", &["all of the findings"]);
        check("Now, improve the draft", &["the draft"]);
        check("Implement the first step of your plan.", &["your plan"]);
        check("\n    Review the\n    draft and mark mistakes.\n", &["the\n    draft"]);
    }

    #[test]
    fn what_came_before() {
        check("Continue from the previous step", &["the previous step"]);
        check("Summarize the above", &["the above"]);
        check("Check prior findings for gaps", &["prior findings"]);
        check("Use the questions listed above", &["above"]);
    }

    #[test]
    fn pronouns() {
        check("Summarize this", &["this"]);
        check("Translate it into French", &["it"]);
        check("Based on these, choose one", &["these"]);
        check("Merge them into one document", &["them"]);
    }

    #[test]
    fn what_the_session_makes_itself() {
        check("Write the report", &[]);
        check("Research tides and summarize the findings", &[]);
        check("Draft the outline, then improve the outline", &[]);
        check("Conduct the research", &[]);
        check("Get the summary", &[]);
    }

    #[test]
    fn what_is_not_in_the_program() {
        check("Review this codebase", &[]);
        check("Look at the previous quarter", &[]);
        check("Summarize this: the sea rises", &[]);
        check("Summarize the results of the survey", &[]);
        check("Read the report in notes/report.md", &[]);
        check("Keep all temperatures above zero", &[]);
        check("This is a test", &[]);
        check("Publish it", &[]);
        check("Design the report template", &[]);
        check("Ask the research team", &[]);
        check("", &[]);
    }
}
