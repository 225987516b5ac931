// Layout, literals, brackets, and keywords that are names: what a grammar without context cannot say.
//
// The rules are those of `crates/prose-syntax` (layout.rs, literals.rs, grammar.rs), which a test holds this against. All looking
// ahead is forward, and no text is looked at more than a few times, so that time grows with the length of the text.

#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"

#include <stddef.h>
#include <string.h>

#include "names.h"

// In the order of `externals` in grammar.js.
enum TokenType {
    NEWLINE,
    INDENT,
    DEDENT,
    PIPE_LINE,
    ARROW_LINE,
    IF_CLAUSE_LINE,
    TRY_CLAUSE_LINE,
    LINE_END,
    LAYOUT,
    KEYWORD_AS_NAME,
    QUOTE_OPEN,
    QUOTE_CLOSE,
    TRIPLE_OPEN,
    TRIPLE_CLOSE,
    DISCRETION_OPEN,
    DISCRETION_CLOSE,
    LONG_DISCRETION_OPEN,
    LONG_DISCRETION_CLOSE,
    CONTENT,
    ESCAPE_SEQUENCE,
    INTERPOLATION_OPEN,
    INTERPOLATION_CLOSE,
    PAREN_OPEN,
    CALL_OPEN,
    MODIFIERS_OPEN,
    BRACKET_OPEN,
    INDEX_OPEN,
    BRACE_OPEN,
    PAREN_CLOSE,
    BRACKET_CLOSE,
    BRACE_CLOSE,
    AT_STATEMENT,
    AT_KEY,
    REST_OF_LINE,
    ERROR_SENTINEL,
};

// Deeper indentation and brackets are not told apart any more, so that the state fits into the buffer it is kept in.
enum { MAX_DEPTH = 128 };

// An error may be found to end on each of this many characters of its line. Each time costs what all of them have cost, so what is
// left of a longer line is one token.
enum { MAX_ERROR_LENGTH = 200 };

// A line with so many literals and brackets is no code that a person reads, and what is left of it is one token, too.
enum { MAX_LINE_TOKENS = 1000 };

// After that many lines with an error, or literals without an end, a bracket is given up.
enum { MAX_BRACKET_ERRORS = 16 };

// How many columns a level has that is indented with tabs alone.
enum { LEVEL_COLUMNS = 2 };

enum Literal {
    NO_LITERAL,
    QUOTED,
    TRIPLE_QUOTED,
    DISCRETION,
    LONG_DISCRETION,
};

typedef struct {
    // Whether the end of a logical line has been passed, and the first token of the next one not yet.
    uint8_t is_between_lines;
    // What stands before the next line: `NEWLINE`, `INDENT` or one of the lines that go on with the statement above.
    uint8_t next_line;
    uint16_t next_column;
    // How many blocks end before the next line.
    uint8_t dedents;

    uint8_t literal;
    uint8_t is_in_interpolation;
    // Whether the literal's closing delimiter is missing. It then ends with its line, and goes on over deeper ones below
    // if it opened at the end of its own.
    uint8_t is_unterminated;
    uint8_t spans_lines;
    // Whether a triple-quoted string opened at the end of its line, whether no line of it so far is indented less than that, and
    // whether a nested one is open.
    uint8_t is_block;
    uint8_t is_inside;
    uint8_t is_nested;
    // Whether the quotes that come next stand where code opens a string, and the indentation of their line.
    uint8_t opens_here;
    uint16_t indent_here;

    uint8_t indentation_count;
    uint8_t bracket_count;
    uint8_t bracket_errors;
    uint8_t is_error_checked;
    // How many literals and brackets stand on the line so far.
    uint16_t line_tokens;
    uint16_t indentations[MAX_DEPTH];
    uint8_t brackets[MAX_DEPTH];
} Scanner;

// ---- Characters

static bool is_newline(int32_t c) {
    return c == '\n' || c == '\r';
}

static bool is_blank(int32_t c) {
    return c == ' ' || c == '\t' || c == '\f';
}

static bool is_digit(int32_t c) {
    return c >= '0' && c <= '9';
}

static bool is_at_end_of_line(TSLexer *lexer) {
    return is_newline(lexer->lookahead) || lexer->eof(lexer);
}

static void advance(TSLexer *lexer) {
    lexer->advance(lexer, false);
}

static void skip_blanks(TSLexer *lexer) {
    while (is_blank(lexer->lookahead)) advance(lexer);
}

static void skip_newline(TSLexer *lexer) {
    bool is_return = lexer->lookahead == '\r';
    advance(lexer);
    if (is_return && lexer->lookahead == '\n') advance(lexer);
}

static void skip_rest_of_line(TSLexer *lexer) {
    while (!is_at_end_of_line(lexer)) advance(lexer);
}

static bool starts_value(int32_t c) {
    return is_name_start(c) || is_digit(c) || c == '"' || c == '*' || c == '(' || c == '[' || c == '{' || c == '-';
}

// ---- Keywords

typedef enum {
    NO_KEYWORD,
    AGENT,
    ASSERT,
    BLOCK,
    BREAK,
    CATCH,
    CHOICE,
    CONST,
    CONTINUE,
    DO,
    ELIF,
    ELSE,
    FALSE_VALUE,
    FINALLY,
    FOR,
    IF,
    IMPORT,
    INPUT,
    LET,
    LOOP,
    NOT,
    NULL_VALUE,
    OPTION,
    OUTPUT,
    PARALLEL,
    REPEAT,
    RESUME,
    RETURN,
    SESSION,
    THROW,
    TRUE_VALUE,
    TRY,
    USE,
    KEYWORD_COUNT,
} Keyword;

// The keywords with which a statement, a clause or a value can start.
static const char *const KEYWORDS[KEYWORD_COUNT] = {
    "",      "agent", "assert", "block",  "break",  "catch",    "choice", "const",  "continue", "do",    "elif",
    "else",  "false", "finally", "for",   "if",     "import",   "input",  "let",    "loop",     "not",   "null",
    "option", "output", "parallel", "repeat", "resume", "return", "session", "throw", "true",   "try",   "use",
};

enum { LONGEST_KEYWORD = 8 };

// Passes the name that starts here, and tells which keyword it spells. Only as much of it is passed as that needs, unless it is one.
static Keyword scan_keyword(TSLexer *lexer) {
    char word[LONGEST_KEYWORD + 1] = {0};
    unsigned length = 0;
    while (lexer->lookahead >= 'a' && lexer->lookahead <= 'z') {
        if (length == LONGEST_KEYWORD) return NO_KEYWORD;
        word[length++] = (char)lexer->lookahead;
        advance(lexer);
    }
    if (length == 0 || is_name_part(lexer->lookahead)) return NO_KEYWORD;
    for (int keyword = 1; keyword < KEYWORD_COUNT; keyword++) {
        if (strcmp(word, KEYWORDS[keyword]) == 0) return (Keyword)keyword;
    }
    return NO_KEYWORD;
}

// Whether the `-` here belongs to the name before it.
static bool is_hyphen_of_name(TSLexer *lexer) {
    if (lexer->lookahead != '-') return false;
    advance(lexer);
    return is_name_part(lexer->lookahead);
}

// Whether the keyword before this place starts a statement or a clause, and is not the name of a variable or a block.
static bool starts_statement(TSLexer *lexer, Keyword keyword) {
    switch (lexer->lookahead) {
        case '|':
        case '?':
        case ',':
            return false;
        case '.':
            advance(lexer);
            return lexer->lookahead == '.';
        case '=':
            advance(lexer);
            if (lexer->lookahead == '=') return false;
            return keyword == LET || keyword == CONST || keyword == OUTPUT;
        case '!':
        case '<':
        case '>':
            advance(lexer);
            return lexer->lookahead != '=';
        case '(':
            return keyword == PARALLEL || keyword == LOOP || keyword == IF || keyword == ELIF || keyword == FOR ||
                   keyword == THROW || keyword == RETURN || keyword == ASSERT || keyword == OUTPUT || keyword == REPEAT ||
                   keyword == SESSION;
        case '[':
            return keyword == OUTPUT || keyword == RETURN || keyword == THROW || keyword == FOR;
        default:
            return true;
    }
}

// Whether the keyword before this place is one where a value is expected.
static bool starts_expression(TSLexer *lexer, Keyword keyword) {
    int32_t next = lexer->lookahead;
    switch (keyword) {
        case SESSION:
            return next == '"' || next == ':' || is_name_start(next) || is_at_end_of_line(lexer);
        case RESUME:
        case DO:
            return next == ':' || is_name_start(next);
        case PARALLEL:
            return next == ':' || next == '(' || is_name_start(next);
        case REPEAT:
            return is_digit(next) || is_name_start(next);
        case FOR:
            return is_name_start(next);
        case LOOP:
            return next == ':' || next == '(' || is_name_start(next);
        case TRY:
            return next == ':';
        case CHOICE:
        case IF:
            if (next != '*') return is_name_start(next);
            advance(lexer);
            return lexer->lookahead == '*';
        case INPUT:
            return next == '"';
        case NOT:
            return starts_value(next);
        case TRUE_VALUE:
        case FALSE_VALUE:
        case NULL_VALUE:
            return true;
        default:
            return false;
    }
}

// Gives the keyword that starts here as a name, where it is one (L14).
static bool scan_keyword_as_name(TSLexer *lexer, const bool *valid) {
    Keyword keyword = scan_keyword(lexer);
    if (keyword == NO_KEYWORD) return false;
    lexer->mark_end(lexer);
    lexer->result_symbol = KEYWORD_AS_NAME;
    if (lexer->lookahead == '-') {
        // A hyphen glued to it makes it part of a longer name, which the grammar's own lexer takes.
        if (is_hyphen_of_name(lexer) || valid[AT_STATEMENT]) return false;
        return keyword != NOT && keyword != TRUE_VALUE && keyword != FALSE_VALUE && keyword != NULL_VALUE;
    }
    skip_blanks(lexer);
    if (valid[AT_STATEMENT]) return !starts_statement(lexer, keyword);
    if (valid[AT_KEY] && lexer->lookahead == ':') return true;
    return !starts_expression(lexer, keyword);
}

// ---- Layout

static uint16_t top(const Scanner *scanner) {
    return scanner->indentations[scanner->indentation_count - 1];
}

// Where a tab at `column` leads: to the next level that the lines above are indented by.
static uint32_t tab_stop(const Scanner *scanner, uint32_t column) {
    for (unsigned level = 0; level < scanner->indentation_count; level++) {
        if (scanner->indentations[level] > column) return scanner->indentations[level];
    }
    uint32_t last = top(scanner);
    return last + ((column - last) / LEVEL_COLUMNS + 1) * LEVEL_COLUMNS;
}

// Passes blanks at the start of a line, and gives the column they lead to.
static uint16_t scan_column(const Scanner *scanner, TSLexer *lexer) {
    uint32_t column = 0;
    while (is_blank(lexer->lookahead)) {
        column = lexer->lookahead == '\t' ? tab_stop(scanner, column) : column + 1;
        advance(lexer);
    }
    return column < UINT16_MAX ? (uint16_t)column : UINT16_MAX;
}

// Which line starts here, as far as its first token tells.
static uint8_t scan_line_kind(TSLexer *lexer) {
    if (lexer->lookahead == '|') return PIPE_LINE;
    if (lexer->lookahead == '-') {
        advance(lexer);
        return lexer->lookahead == '>' ? ARROW_LINE : NEWLINE;
    }
    Keyword keyword = scan_keyword(lexer);
    if (keyword != ELIF && keyword != ELSE && keyword != CATCH && keyword != FINALLY) return NEWLINE;
    if (lexer->lookahead == '-') return NEWLINE;
    skip_blanks(lexer);
    if (!starts_statement(lexer, keyword)) return NEWLINE;
    return keyword == ELIF || keyword == ELSE ? IF_CLAUSE_LINE : TRY_CLAUSE_LINE;
}

// Finds out what stands before the line whose first token is here, at `column`.
static void scan_next_line(Scanner *scanner, TSLexer *lexer, uint16_t column) {
    uint8_t kind = scan_line_kind(lexer);
    bool goes_on = kind == PIPE_LINE || kind == ARROW_LINE;
    unsigned count = scanner->indentation_count;
    while (count > 1 && column < scanner->indentations[count - 1]) {
        // A column between two levels is taken for the inner one, but a line that goes on with a statement may stand anywhere.
        if (column > scanner->indentations[count - 2] && !goes_on) break;
        count--;
    }
    if (!goes_on && column > scanner->indentations[count - 1] && count < MAX_DEPTH) kind = INDENT;
    scanner->dedents = (uint8_t)(scanner->indentation_count - count);
    scanner->next_line = kind;
    scanner->next_column = column;
}

// Gives the end of a line. Where the lines below are some of the same statement, that is no token of the grammar.
static bool give_line_end(Scanner *scanner, TSLexer *lexer, const bool *valid) {
    uint8_t next = scanner->dedents > 0 ? DEDENT : scanner->next_line;
    bool goes_on = valid[ERROR_SENTINEL] ? next == INDENT : valid[next] || (next == INDENT && !valid[LINE_END]);
    lexer->result_symbol = goes_on ? LAYOUT : LINE_END;
    scanner->is_between_lines = true;
    scanner->bracket_count = 0;
    scanner->bracket_errors = 0;
    scanner->line_tokens = 0;
    return true;
}

// Ends the logical line at whose end the lexer is: behind it stand nothing, a comment or a newline.
static bool end_line(Scanner *scanner, TSLexer *lexer, const bool *valid) {
    for (;;) {
        if (lexer->lookahead == '#') skip_rest_of_line(lexer);
        if (lexer->eof(lexer)) {
            scanner->dedents = scanner->indentation_count;
            return give_line_end(scanner, lexer, valid);
        }
        skip_newline(lexer);
        uint16_t column = scan_column(scanner, lexer);
        if (!is_at_end_of_line(lexer) && lexer->lookahead != '#') {
            scan_next_line(scanner, lexer, column);
            return give_line_end(scanner, lexer, valid);
        }
    }
}

// Between the end of a line and the first token of the next one.
static bool scan_between_lines(Scanner *scanner, TSLexer *lexer, const bool *valid) {
    if (scanner->dedents > 0) {
        // Blocks end with their last statement, and not with the comments below it.
        scanner->dedents--;
        // The outermost level ends with the file.
        if (scanner->indentation_count > 1) scanner->indentation_count--;
        lexer->result_symbol = DEDENT;
        return true;
    }
    while (is_blank(lexer->lookahead) || is_newline(lexer->lookahead)) lexer->advance(lexer, true);
    if (lexer->lookahead == '#' || lexer->eof(lexer)) return false;
    lexer->mark_end(lexer);
    uint8_t kind = scanner->next_line;
    if (kind == INDENT) {
        scanner->indentations[scanner->indentation_count++] = scanner->next_column;
    } else if (!valid[kind]) {
        // Clauses and stages that belong to nothing are lines of their own.
        kind = NEWLINE;
    }
    scanner->is_between_lines = false;
    lexer->result_symbol = kind;
    return true;
}

// The first line decides which column is the outermost.
static bool start_file(Scanner *scanner, TSLexer *lexer) {
    scanner->indentation_count = 1;
    for (;;) {
        uint16_t column = scan_column(scanner, lexer);
        if (lexer->lookahead == '#') skip_rest_of_line(lexer);
        if (!is_newline(lexer->lookahead)) {
            scanner->indentations[0] = column;
            break;
        }
        skip_newline(lexer);
    }
    scanner->next_line = NEWLINE;
    scanner->is_between_lines = true;
    lexer->result_symbol = LAYOUT;
    return true;
}

// ---- Brackets

static bool open_bracket(Scanner *scanner, TSLexer *lexer, uint8_t closer, enum TokenType token) {
    if (scanner->bracket_count < MAX_DEPTH) scanner->brackets[scanner->bracket_count++] = closer;
    advance(lexer);
    lexer->mark_end(lexer);
    lexer->result_symbol = token;
    return true;
}

static bool close_bracket(Scanner *scanner, TSLexer *lexer, enum TokenType token) {
    uint8_t closer = (uint8_t)lexer->lookahead;
    for (unsigned open = scanner->bracket_count; open > 0; open--) {
        if (scanner->brackets[open - 1] == closer) {
            scanner->bracket_count = (uint8_t)(open - 1);
            break;
        }
    }
    advance(lexer);
    lexer->mark_end(lexer);
    lexer->result_symbol = token;
    return true;
}

// Passes newlines and blanks inside of brackets. Gives false where the next line cannot belong to the bracket that is open: it is
// indented no deeper than the line of the bracket, and closes none. A forgotten bracket costs one line then, and not the rest of
// the file.
static bool skip_newlines_in_bracket(Scanner *scanner, TSLexer *lexer, const bool *valid) {
    uint32_t column = 0;
    while (is_newline(lexer->lookahead) || is_blank(lexer->lookahead)) {
        column = lexer->lookahead == '\t' ? tab_stop(scanner, column) : is_blank(lexer->lookahead) ? column + 1 : 0;
        lexer->advance(lexer, true);
    }
    scanner->line_tokens = 0;
    int32_t c = lexer->lookahead;
    bool is_given_up = scanner->bracket_errors == MAX_BRACKET_ERRORS;
    bool closes = c == ')' || c == ']' || c == '}';
    if (c == '#' || (!is_given_up && (closes || (!lexer->eof(lexer) && column > top(scanner))))) {
        if (!valid[ERROR_SENTINEL] || is_given_up) return true;
        scanner->bracket_errors++;
        lexer->result_symbol = LAYOUT;
        return false;
    }
    if (lexer->eof(lexer)) {
        end_line(scanner, lexer, valid);
    } else {
        scan_next_line(scanner, lexer, (uint16_t)(column < UINT16_MAX ? column : UINT16_MAX));
        give_line_end(scanner, lexer, valid);
    }
    return false;
}

#include "literals.h"

// ---- The scanner

// Takes what is left of a line that is all error, if it is long, up to what may span lines. Else the mark stays where it is.
static bool scan_rest_of_line(TSLexer *lexer, bool is_quoted, unsigned least) {
    unsigned length = 0;
    while (!is_at_end_of_line(lexer)) {
        if (lexer->lookahead == '"') {
            if (scan_quotes(lexer) >= 3 && !is_quoted) break;
            is_quoted = !is_quoted;
            length += 4;
        } else {
            // The text of a string is one token.
            length += !is_quoted;
            advance(lexer);
        }
        if (length > least) lexer->mark_end(lexer);
    }
    if (length <= least) return false;
    lexer->result_symbol = REST_OF_LINE;
    return true;
}

static enum TokenType kind_of_paren(const bool *valid, bool is_glued) {
    // Behind the condition of a loop a parenthesis opens the modifiers, and only one that is glued to a name the arguments.
    if (valid[CALL_OPEN] && (is_glued || !valid[MODIFIERS_OPEN])) return CALL_OPEN;
    return valid[MODIFIERS_OPEN] ? MODIFIERS_OPEN : PAREN_OPEN;
}

static bool scan(Scanner *scanner, TSLexer *lexer, const bool *valid) {
    // Tokens without text stand at the end of what is before them.
    lexer->mark_end(lexer);
    if (scanner->literal != NO_LITERAL) return scan_literal(scanner, lexer);
    if (scanner->indentation_count == 0) return start_file(scanner, lexer);
    if (scanner->is_between_lines) return scan_between_lines(scanner, lexer, valid);

    bool is_glued = !is_blank(lexer->lookahead) && !is_newline(lexer->lookahead);
    bool starts_line = valid[AT_STATEMENT] && !valid[ERROR_SENTINEL];
    while (is_blank(lexer->lookahead)) lexer->advance(lexer, true);
    if (is_at_end_of_line(lexer) || lexer->lookahead == '#') {
        if (scanner->bracket_count == 0) return end_line(scanner, lexer, valid);
        if (!skip_newlines_in_bracket(scanner, lexer, valid)) return true;
    }
    bool is_error = valid[ERROR_SENTINEL];
    if (is_error && lexer->lookahead == '*') {
        // Whether a discretion is closed needs a look ahead of its own, so this one is a token of its own, without text.
        scanner->is_error_checked = !scanner->is_error_checked;
        if (scanner->is_error_checked) {
            if (!scan_rest_of_line(lexer, false, MAX_ERROR_LENGTH)) lexer->result_symbol = LAYOUT;
            return true;
        }
    }
    int32_t c = lexer->lookahead;
    if (c == '"' || c == '*' || c == '(' || c == '[' || c == '{') {
        if (scanner->line_tokens == MAX_LINE_TOKENS) return scan_rest_of_line(lexer, false, 0);
        scanner->line_tokens++;
    }
    bool is_found = true;
    bool is_string = false;
    switch (lexer->lookahead) {
        case '"':
            is_string = open_string(scanner, lexer, starts_line);
            break;
        case '*':
            return open_discretion(scanner, lexer, starts_line);
        case '(':
            open_bracket(scanner, lexer, ')', kind_of_paren(valid, is_glued));
            break;
        case '[':
            open_bracket(scanner, lexer, ']', is_glued && valid[INDEX_OPEN] ? INDEX_OPEN : BRACKET_OPEN);
            break;
        case '{':
            open_bracket(scanner, lexer, '}', BRACE_OPEN);
            break;
        case ')':
            close_bracket(scanner, lexer, PAREN_CLOSE);
            break;
        case ']':
            close_bracket(scanner, lexer, BRACKET_CLOSE);
            break;
        case '}':
            close_bracket(scanner, lexer, BRACE_CLOSE);
            break;
        default:
            if (!is_error) return valid[KEYWORD_AS_NAME] && scan_keyword_as_name(lexer, valid);
            is_found = false;
    }
    if (!is_error || scanner->literal == TRIPLE_QUOTED) return is_found;
    if (!scan_rest_of_line(lexer, is_string, MAX_ERROR_LENGTH)) return is_found;
    scanner->literal = NO_LITERAL;
    return true;
}

void *tree_sitter_prose_external_scanner_create(void) {
    return ts_calloc(1, sizeof(Scanner));
}

void tree_sitter_prose_external_scanner_destroy(void *payload) {
    ts_free(payload);
}

// The stacks are kept as far as they are filled: most states are a few bytes then.
unsigned tree_sitter_prose_external_scanner_serialize(void *payload, char *buffer) {
    const Scanner *scanner = payload;
    unsigned size = offsetof(Scanner, indentations);
    memcpy(buffer, scanner, size);
    unsigned indentations = scanner->indentation_count * sizeof *scanner->indentations;
    memcpy(buffer + size, scanner->indentations, indentations);
    memcpy(buffer + size + indentations, scanner->brackets, scanner->bracket_count);
    return size + indentations + scanner->bracket_count;
}

void tree_sitter_prose_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
    Scanner *scanner = payload;
    memset(scanner, 0, sizeof *scanner);
    unsigned size = offsetof(Scanner, indentations);
    if (length < size) return;
    memcpy(scanner, buffer, size);
    unsigned indentations = scanner->indentation_count * sizeof *scanner->indentations;
    memcpy(scanner->indentations, buffer + size, indentations);
    memcpy(scanner->brackets, buffer + size + indentations, scanner->bracket_count);
}

bool tree_sitter_prose_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
    return scan(payload, lexer, valid_symbols);
}
