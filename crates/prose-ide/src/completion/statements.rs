//! Statements: their keywords, with what usually follows.

use prose_syntax::{KEYWORDS, SyntaxKind, SyntaxKind::*, keywords};

use super::item::explained;
use super::{CompletionKind, Context, calls};
use crate::cursor::{Header, statement_start};

/// Where a statement can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Wherever statements are
    Anywhere,
    /// On the lines of the file itself
    File,
    /// In a loop
    Loop,
    /// Below one of these
    Below(&'static [SyntaxKind]),
}

/// A statement as it is usually written.
struct Form {
    keyword: SyntaxKind,
    /// Its label, if a keyword has several forms; the keyword otherwise.
    label: Option<&'static str>,
    snippet: &'static str,
    place: Place,
    /// Whether it has a value, and so can come after `=`.
    has_value: bool,
}

const fn form(keyword: SyntaxKind, snippet: &'static str, place: Place, has_value: bool) -> Form {
    Form { keyword, label: None, snippet, place, has_value }
}

/// Another form of a keyword.
const fn variant(
    label: &'static str,
    keyword: SyntaxKind,
    snippet: &'static str,
    place: Place,
    has_value: bool,
) -> Form {
    Form { keyword, label: Some(label), snippet, place, has_value }
}

/// The statements, the likeliest first.
const FORMS: &[Form] = &[
    form(ELIF_KW, "elif **$1**:\n  $0", Place::Below(&[IF_KW, ELIF_KW]), false),
    form(ELSE_KW, "else:\n  $0", Place::Below(&[IF_KW, ELIF_KW]), false),
    form(CATCH_KW, "catch as ${1:error}:\n  $0", Place::Below(&[TRY_KW]), false),
    form(FINALLY_KW, "finally:\n  $0", Place::Below(&[TRY_KW, CATCH_KW]), false),
    form(SESSION_KW, "session \"$1\"", Place::Anywhere, true),
    form(RESUME_KW, "resume: $1", Place::Anywhere, true),
    form(LET_KW, "let ${1:name} = $0", Place::Anywhere, false),
    form(CONST_KW, "const ${1:name} = $0", Place::Anywhere, false),
    form(OUTPUT_KW, "output ${1:name} = $0", Place::Anywhere, false),
    form(INPUT_KW, "input ${1:name}: \"${2:what it is for}\"", Place::Anywhere, false),
    form(USE_KW, "use \"$1\"", Place::File, false),
    form(AGENT_KW, "agent ${1:name}:\n  model: ${2:sonnet}\n  prompt: \"$0\"", Place::File, false),
    form(BLOCK_KW, "block ${1:name}($2):\n  $0", Place::File, false),
    form(DO_KW, "do:\n  $0", Place::Anywhere, true),
    form(PARALLEL_KW, "parallel:\n  $0", Place::Anywhere, true),
    variant(
        "parallel for",
        PARALLEL_KW,
        "parallel for ${1:item} in ${2:items}:\n  $0",
        Place::Anywhere,
        true,
    ),
    form(FOR_KW, "for ${1:item} in ${2:items}:\n  $0", Place::Anywhere, true),
    form(REPEAT_KW, "repeat ${1:3}:\n  $0", Place::Anywhere, true),
    form(LOOP_KW, "loop until **${1:it is done}** (max: ${2:5}):\n  $0", Place::Anywhere, true),
    form(IF_KW, "if **$1**:\n  $0", Place::Anywhere, true),
    form(CHOICE_KW, "choice **${1:which}**:\n  option \"${2:label}\":\n    $0", Place::Anywhere, true),
    form(TRY_KW, "try:\n  $1\ncatch as ${2:error}:\n  $0", Place::Anywhere, true),
    form(THROW_KW, "throw \"$1\"", Place::Anywhere, false),
    form(RETURN_KW, "return $0", Place::Anywhere, false),
    form(ASSERT_KW, "assert ${1:condition}: \"${2:message}\"", Place::Anywhere, false),
    form(BREAK_KW, "break", Place::Loop, false),
    form(CONTINUE_KW, "continue", Place::Loop, false),
];

/// Longer forms of statements, after all others.
const VARIANTS: &[Form] = &[
    variant("session, long prompt", SESSION_KW, "session \"\"\"\n  $1\n\"\"\"", Place::Anywhere, true),
    variant(
        "session, with retries",
        SESSION_KW,
        "session \"$1\"\n  retry: ${2:3}\n  backoff: ${3|exponential,linear,none|}",
        Place::Anywhere,
        true,
    ),
    variant(
        "agent, with memory",
        AGENT_KW,
        "agent ${1:name}:\n  model: ${2:sonnet}\n  persist: ${3|true,project,user|}\n  prompt: \"$0\"",
        Place::File,
        false,
    ),
    variant(
        "agent, with permissions",
        AGENT_KW,
        "agent ${1:name}:\n  model: ${2:sonnet}\n  prompt: \"$3\"\n  permissions:\n    read: [\"${4:docs/**}\"]\n    bash: ${5|deny,prompt,allow|}",
        Place::File,
        false,
    ),
    variant(
        "parallel, first or any",
        PARALLEL_KW,
        "parallel (\"${1|first,any,all|}\", on-fail: \"${2|continue,ignore,fail-fast|}\"):\n  $0",
        Place::Anywhere,
        true,
    ),
    variant(
        "for, with index",
        FOR_KW,
        "for ${1:item}, ${2:index} in ${3:items}:\n  $0",
        Place::Anywhere,
        true,
    ),
    variant(
        "loop while",
        LOOP_KW,
        "loop while **${1:something is open}** (max: ${2:5}):\n  $0",
        Place::Anywhere,
        true,
    ),
    variant("loop, ends with break", LOOP_KW, "loop (max: ${1:10}):\n  $0", Place::Anywhere, true),
    variant("if else", IF_KW, "if **$1**:\n  $2\nelse:\n  $0", Place::Anywhere, true),
    variant(
        "if elif else",
        IF_KW,
        "if **$1**:\n  $2\nelif **$3**:\n  $4\nelse:\n  $0",
        Place::Anywhere,
        true,
    ),
    variant("try finally", TRY_KW, "try:\n  $1\nfinally:\n  $0", Place::Anywhere, true),
];

/// The statements that can start at the cursor, without those that assign to a variable.
pub(super) fn complete(context: &mut Context<'_>) {
    let cursor = &context.cursor;
    let is_top_level = cursor.headers.is_empty();
    let in_loop = cursor.headers.iter().any(|header| {
        first_keyword(header).is_some_and(|keyword| matches!(keyword, LOOP_KW | REPEAT_KW | FOR_KW))
            || header.pieces.windows(2).any(|two| two[0].kind == PARALLEL_KW && two[1].kind == FOR_KW)
    });
    // Clauses start lines; after a colon there is no line above to belong to.
    let above = cursor.sibling.as_ref().filter(|_| cursor.pieces.is_empty()).and_then(first_keyword);
    let fits = |form: &&Form| match form.place {
        Place::Anywhere => true,
        Place::File => is_top_level && cursor.pieces.is_empty(),
        Place::Loop => in_loop,
        Place::Below(owners) => above.is_some_and(|keyword| owners.contains(&keyword)),
    };
    let forms: Vec<&Form> = FORMS.iter().filter(fits).collect();
    for form in forms {
        add(context, form);
    }
    calls::sessions_of_agents(context);
    calls::blocks_to_call(context, "do ");
    calls::programs_to_call(context);
    add_variants(context, is_top_level);
}

/// The longer forms, which only snippets can write.
fn add_variants(context: &mut Context<'_>, is_top_level: bool) {
    if !context.cursor.is_at_end() {
        return;
    }
    let is_in_file = is_top_level && context.cursor.pieces.is_empty();
    for form in VARIANTS.iter().filter(|form| form.place != Place::File || is_in_file) {
        add(context, form);
    }
}

/// The statements that have a value.
pub(super) fn with_value(context: &mut Context<'_>) {
    for form in FORMS.iter().filter(|form| form.has_value) {
        add(context, form);
    }
}

/// `session` and `resume`.
pub(super) fn sessions(context: &mut Context<'_>) {
    for form in FORMS.iter().filter(|form| matches!(form.keyword, SESSION_KW | RESUME_KW)) {
        add(context, form);
    }
    calls::sessions_of_agents(context);
}

/// `option "label":`
pub(super) fn option(context: &mut Context<'_>) {
    add(context, &form(OPTION_KW, "option \"$1\":\n  $0", Place::Anywhere, false));
}

fn add(context: &mut Context<'_>, form: &Form) {
    let word = text_of(form.keyword);
    let item = context.item(CompletionKind::Keyword, form.label.unwrap_or(word));
    let item = if context.cursor.is_at_end() { item.snippet(form.snippet) } else { item };
    let keyword = keywords::find(form.keyword);
    context.add(item.documentation(keyword.map(|k| explained(k.summary, k.docs)).unwrap_or_default()));
}

/// The keyword of the last statement of a line.
fn first_keyword(header: &Header<'_>) -> Option<SyntaxKind> {
    let colon = header.pieces.len() - usize::from(header.pieces.last()?.kind == COLON);
    let (start, _) = statement_start(&header.pieces[..colon]);
    header.pieces[..colon].get(start).map(|piece| piece.kind)
}

/// A keyword as it is written.
pub(super) fn text_of(keyword: SyntaxKind) -> &'static str {
    KEYWORDS.iter().find(|(_, kind)| *kind == keyword).map_or("", |(text, _)| text)
}
