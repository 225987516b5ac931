// Where strings and discretions end, and what stands in them. The rules are those of `crates/prose-syntax/src/literals.rs`.

// What is known of the present line up to the present place.
typedef struct {
    // Whether the line is known from its start.
    bool is_whole;
    bool is_empty;
    uint16_t indent;
    // The last character that is no blank, and the one right before it.
    int32_t last;
    int32_t before_last;
    bool ends_in_blank;
    // The last word, or the start of one that is too long to matter.
    char word[10];
    uint8_t word_length;
    unsigned quotes;
    bool has_triple_quotes;
} Line;

static Line new_line(bool is_whole) {
    return (Line){.is_whole = is_whole, .is_empty = true};
}

static void see(Line *line, int32_t c) {
    bool was_blank = line->ends_in_blank || line->is_empty;
    line->ends_in_blank = is_blank(c);
    if (is_blank(c)) {
        if (line->is_empty && line->indent < UINT16_MAX) line->indent++;
        return;
    }
    line->is_empty = false;
    line->before_last = was_blank ? 0 : line->last;
    line->last = c;
    line->quotes += c == '"';
    if (is_name_part(c) || c == '-') {
        if (was_blank || !(is_name_part(line->before_last) || line->before_last == '-')) line->word_length = 0;
        if (line->word_length < sizeof line->word) line->word[line->word_length++] = c < 0x80 ? (char)c : '?';
    } else {
        line->word_length = 0;
    }
}

static bool is_last_word(const Line *line, const char *const *words, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (strlen(words[i]) == line->word_length && memcmp(words[i], line->word, line->word_length) == 0) return true;
    }
    return false;
}

// Whether code that ends here would open a string.
static bool opens_string(const Line *line) {
    static const char *const WORDS[] = {"session", "output", "return", "throw", "input", "option"};
    if (line->last == '(' || line->last == '[') return true;
    if (!line->ends_in_blank) return false;
    if (line->last == ':') return line->before_last < 0x80 && is_name_part(line->before_last);
    return line->last == '=' || line->last == ',' || is_last_word(line, WORDS, sizeof WORDS / sizeof *WORDS);
}

// Whether code that ends here would open a discretion.
static bool opens_discretion(const Line *line) {
    static const char *const WORDS[] = {"if", "elif", "until", "while", "choice", "and", "or", "not"};
    switch (line->last) {
        case '(':
        case '[':
        case '{':
        case ',':
        case '?':
            return true;
        case ':':
        case '=':
            return line->ends_in_blank;
        default:
            return is_last_word(line, WORDS, sizeof WORDS / sizeof *WORDS);
    }
}

// Passes quotes, and tells how many there are.
static unsigned scan_quotes(TSLexer *lexer) {
    unsigned count = 0;
    while (lexer->lookahead == '"') {
        count++;
        advance(lexer);
    }
    return count;
}

static bool ends_line(TSLexer *lexer) {
    skip_blanks(lexer);
    return is_at_end_of_line(lexer);
}

// Goes to the next run of three quotes or more, and tells whether there is one. `line` is brought up to it; `is_inside` becomes
// false if a line above that of the run is indented less than `indent`.
static bool find_quotes(TSLexer *lexer, Line *line, uint16_t indent, bool *is_inside, unsigned *count) {
    while (!lexer->eof(lexer)) {
        int32_t c = lexer->lookahead;
        if (c == '"') {
            *count = scan_quotes(lexer);
            if (*count >= 3) return true;
            for (unsigned i = 0; i < *count; i++) see(line, c);
        } else if (is_newline(c)) {
            if (line->is_whole && !line->is_empty && line->indent < indent) *is_inside = false;
            skip_newline(lexer);
            *line = new_line(true);
        } else {
            see(line, c);
            advance(lexer);
            if (c == '\\' && (lexer->lookahead == '"' || lexer->lookahead == '\\')) {
                see(line, lexer->lookahead);
                advance(lexer);
            }
        }
    }
    return false;
}

// Whether the quotes that were just passed open a literal inside the text of this one (L10). `line` is what stands before them.
// Looks up to the quotes behind them, and tells whether those could close.
static bool opens_nested(const Scanner *scanner, TSLexer *lexer, const Line *line, unsigned count, bool *has_closer) {
    uint16_t outer = top(scanner);
    uint16_t least = outer > 1 ? outer : 1;
    bool can_nest = scanner->is_block && scanner->is_inside && count == 3 && line->is_whole && line->indent > outer;
    can_nest = ends_line(lexer) && can_nest;
    Line next = new_line(false);
    bool is_inside = true;
    unsigned next_count = 0;
    bool is_found = find_quotes(lexer, &next, least, &is_inside, &next_count);
    *has_closer = is_found && (!next.is_whole || !opens_string(&next));
    return is_found && can_nest && is_inside && next.is_whole && next.is_empty && next.indent == line->indent && ends_line(lexer);
}

// Looks for the end of the triple-quoted string whose opener was just passed. One that stands where code opens a string, and
// that has an end itself, is taken for what it looks like (decision 8).
static bool is_triple_string_closed(Scanner *scanner, TSLexer *lexer) {
    uint16_t outer = top(scanner);
    uint16_t least = outer > 1 ? outer : 1;
    Line line = new_line(false);
    bool is_inside = true;
    unsigned count = 0;
    Scanner probe = {.indentation_count = 1, .is_block = scanner->is_block};
    probe.indentations[0] = outer;
    while (find_quotes(lexer, &line, least, &is_inside, &count)) {
        if (!line.is_whole || !opens_string(&line)) return true;
        probe.is_inside = is_inside;
        bool opens_block = line.last == ':' || line.last == '=';
        Line before = line;
        bool has_closer = false;
        if (!opens_nested(&probe, lexer, &before, count, &has_closer)) {
            // The end of the file may follow: then this is the end, unless it is a header with its text below.
            return !has_closer && !opens_block;
        }
        line = new_line(false);
        is_inside = true;
    }
    return false;
}

static bool ends_header(TSLexer *lexer) {
    skip_blanks(lexer);
    int32_t c = lexer->lookahead;
    return is_at_end_of_line(lexer) || c == ':' || c == '(' || c == '#' || c == ')' || c == ']' || c == '}' || c == ',';
}

// Goes behind the next `length` asterisks in a row, and tells whether there are any.
static bool find_mark(TSLexer *lexer, unsigned length, Line *line, uint16_t indent, bool *is_inside) {
    unsigned asterisks = 0;
    while (!lexer->eof(lexer)) {
        int32_t c = lexer->lookahead;
        if (c == '*') {
            advance(lexer);
            if (++asterisks == length) return true;
            continue;
        }
        for (; asterisks > 0; asterisks--) see(line, '*');
        if (is_newline(c)) {
            if (line->is_whole && !line->is_empty && line->indent <= indent) *is_inside = false;
            if (line->has_triple_quotes) *is_inside = false;
            skip_newline(lexer);
            *line = new_line(true);
        } else if (c == '"') {
            unsigned quotes = scan_quotes(lexer);
            if (quotes >= 3 && (line->last == ':' || line->last == '=')) line->has_triple_quotes = true;
            for (unsigned i = 0; i < quotes; i++) see(line, c);
        } else {
            see(line, c);
            advance(lexer);
        }
    }
    return false;
}

// Looks for the end of the discretion whose opener was just passed.
static bool is_discretion_closed(Scanner *scanner, TSLexer *lexer, unsigned length, bool starts_line) {
    // The rest of the opener's line.
    Line line = new_line(false);
    unsigned asterisks = 0;
    while (!is_at_end_of_line(lexer)) {
        asterisks = lexer->lookahead == '*' ? asterisks + 1 : 0;
        if (asterisks == length) return true;
        see(&line, lexer->lookahead);
        advance(lexer);
    }
    // `if **the tests pass:` is a header whose marker was forgotten.
    scanner->spans_lines = line.is_empty && !starts_line;
    if (line.last == ':' || (line.is_empty && starts_line)) return false;

    bool is_inside = true;
    line = new_line(false);
    if (!find_mark(lexer, length, &line, top(scanner), &is_inside)) return false;
    if (opens_discretion(&line)) {
        Line next = new_line(false);
        bool ignored = true;
        if (find_mark(lexer, length, &next, 0, &ignored) && (!next.is_whole || !opens_discretion(&next))) return false;
    } else if (line.is_empty && ends_header(lexer)) {
        return line.quotes % 2 == 0;
    }
    return line.quotes % 2 == 0 && !line.has_triple_quotes && is_inside && line.indent > top(scanner);
}

// Passes what has the form of an interpolation behind its brace: a name, then `.name`, `[3]` or `[name]`, without spaces.
static bool scan_name(TSLexer *lexer, bool has_hyphens) {
    if (!is_name_start(lexer->lookahead)) return false;
    do {
        while (is_name_part(lexer->lookahead)) advance(lexer);
        if (!has_hyphens || lexer->lookahead != '-') return true;
        advance(lexer);
    } while (is_name_part(lexer->lookahead));
    return false;
}

static bool scan_interpolation(TSLexer *lexer) {
    if (!scan_name(lexer, true)) return false;
    for (;;) {
        switch (lexer->lookahead) {
            case '}':
                return true;
            case '.':
                advance(lexer);
                if (!scan_name(lexer, false)) return false;
                break;
            case '[':
                advance(lexer);
                if (is_digit(lexer->lookahead)) {
                    while (is_digit(lexer->lookahead)) advance(lexer);
                } else if (!scan_name(lexer, true)) {
                    return false;
                }
                if (lexer->lookahead != ']') return false;
                advance(lexer);
                break;
            default:
                return false;
        }
    }
}

static bool is_escape(int32_t c) {
    return c == '\\' || c == '"' || c == 'n' || c == 't' || c == '{' || c == '}';
}

// Opens the literal that starts here. `starts_line` tells whether it is the first token of its line.
static bool open_string(Scanner *scanner, TSLexer *lexer, bool starts_line) {
    advance(lexer);
    lexer->mark_end(lexer);
    lexer->result_symbol = QUOTE_OPEN;
    scanner->literal = QUOTED;
    scanner->is_unterminated = false;
    scanner->is_nested = false;
    if (lexer->lookahead != '"') return true;
    advance(lexer);
    if (lexer->lookahead != '"') return true;
    advance(lexer);
    lexer->mark_end(lexer);
    lexer->result_symbol = TRIPLE_OPEN;
    scanner->literal = TRIPLE_QUOTED;
    scanner->is_inside = true;
    scanner->is_block = ends_line(lexer);
    scanner->spans_lines = !starts_line;
    scanner->is_unterminated = !is_triple_string_closed(scanner, lexer);
    return true;
}

static bool open_discretion(Scanner *scanner, TSLexer *lexer, bool starts_line) {
    advance(lexer);
    if (lexer->lookahead != '*') return false;
    advance(lexer);
    lexer->mark_end(lexer);
    unsigned length = 2;
    bool is_empty = false;
    if (lexer->lookahead == '*') {
        advance(lexer);
        // `****` is empty. More of them are no discretion.
        if (lexer->lookahead == '*') {
            advance(lexer);
            if (lexer->lookahead == '*') return false;
            is_empty = true;
        } else {
            lexer->mark_end(lexer);
            length = 3;
        }
    }
    lexer->result_symbol = length == 2 ? DISCRETION_OPEN : LONG_DISCRETION_OPEN;
    scanner->literal = length == 2 ? DISCRETION : LONG_DISCRETION;
    scanner->spans_lines = false;
    scanner->is_unterminated = !is_empty && !is_discretion_closed(scanner, lexer, length, starts_line);
    return true;
}

// Gives the text up to the last mark, or ends the literal where there is none.
static bool give_content(Scanner *scanner, TSLexer *lexer, bool has_content) {
    if (has_content) {
        lexer->result_symbol = CONTENT;
    } else {
        scanner->literal = NO_LITERAL;
        if (scanner->bracket_count > 0 && scanner->bracket_errors < MAX_BRACKET_ERRORS) scanner->bracket_errors++;
        lexer->result_symbol = LAYOUT;
    }
    return true;
}

static bool close_literal(Scanner *scanner, TSLexer *lexer, enum TokenType token) {
    lexer->mark_end(lexer);
    scanner->literal = NO_LITERAL;
    lexer->result_symbol = token;
    return true;
}

// Passes the newline here and the next line that holds text, if that belongs to a literal without an end.
static bool goes_on_below(const Scanner *scanner, TSLexer *lexer) {
    if (!scanner->spans_lines) return false;
    while (is_newline(lexer->lookahead)) {
        skip_newline(lexer);
        uint16_t column = scan_column(scanner, lexer);
        if (is_newline(lexer->lookahead)) continue;
        if (lexer->eof(lexer) || column <= top(scanner)) return false;
        while (!is_at_end_of_line(lexer)) {
            if (scan_quotes(lexer) >= 3) return false;
            if (!is_at_end_of_line(lexer)) advance(lexer);
        }
        return true;
    }
    return false;
}

// Whether an unterminated discretion ends before this place, since what belongs to its header follows.
static bool is_at_end_of_header(TSLexer *lexer, bool is_behind_blank) {
    if (lexer->lookahead == ':') {
        advance(lexer);
        return ends_line(lexer);
    }
    advance(lexer);
    return is_behind_blank && scan_name(lexer, true) && lexer->lookahead == ':';
}

// Gives the next part of the literal that is open.
static bool scan_literal(Scanner *scanner, TSLexer *lexer) {
    if (scanner->is_in_interpolation) {
        if (lexer->lookahead != '}') return false;
        advance(lexer);
        lexer->mark_end(lexer);
        scanner->is_in_interpolation = false;
        lexer->result_symbol = INTERPOLATION_CLOSE;
        return true;
    }
    bool is_string = scanner->literal == QUOTED || scanner->literal == TRIPLE_QUOTED;
    bool opens_here = scanner->opens_here;
    uint16_t indent_here = scanner->indent_here;
    uint16_t least = top(scanner) > 1 ? top(scanner) : 1;
    scanner->opens_here = false;
    scanner->indent_here = 0;
    bool has_content = false;
    Line line = new_line(false);
    for (;; has_content = true) {
        int32_t c = lexer->lookahead;
        lexer->mark_end(lexer);
        if (lexer->eof(lexer)) return give_content(scanner, lexer, has_content);
        if (is_newline(c)) {
            if (scanner->literal == QUOTED) return give_content(scanner, lexer, has_content);
            if (scanner->is_unterminated) {
                if (!goes_on_below(scanner, lexer)) return give_content(scanner, lexer, has_content);
                continue;
            }
            if (line.is_whole && !line.is_empty && line.indent < least) scanner->is_inside = false;
            skip_newline(lexer);
            line = new_line(true);
        } else if (c == '"' && scanner->literal == QUOTED) {
            if (has_content) return give_content(scanner, lexer, true);
            advance(lexer);
            return close_literal(scanner, lexer, QUOTE_CLOSE);
        } else if (c == '"' && scanner->literal == TRIPLE_QUOTED) {
            unsigned count = scan_quotes(lexer);
            if (count < 3 || scanner->is_unterminated) {
                for (unsigned i = 0; i < count; i++) see(&line, c);
                continue;
            }
            if (has_content) {
                // What stands before the quotes tells what they are, and they are the next token.
                scanner->opens_here = line.is_whole && opens_string(&line);
                scanner->indent_here = line.indent;
                return give_content(scanner, lexer, true);
            }
            lexer->mark_end(lexer);
            bool is_nested = scanner->is_nested;
            scanner->is_nested = false;
            if (!is_nested && opens_here) {
                Line before = {.is_whole = true, .indent = indent_here};
                bool has_closer = false;
                scanner->is_nested = opens_nested(scanner, lexer, &before, count, &has_closer);
            }
            if (is_nested) scanner->is_inside = true;
            // Earlier quotes of a long run are content, strictly (L9); here they are some of the delimiter.
            if (!is_nested && !scanner->is_nested) return close_literal(scanner, lexer, TRIPLE_CLOSE);
            return give_content(scanner, lexer, true);
        } else if (c == '*' && !is_string) {
            unsigned length = scanner->literal == DISCRETION ? 2 : 3;
            unsigned count = 0;
            while (count < length && lexer->lookahead == '*') {
                count++;
                advance(lexer);
            }
            if (count < length || scanner->is_unterminated) continue;
            if (has_content) return give_content(scanner, lexer, true);
            return close_literal(scanner, lexer, length == 2 ? DISCRETION_CLOSE : LONG_DISCRETION_CLOSE);
        } else if (c == '\\' && is_string) {
            advance(lexer);
            see(&line, c);
            if (is_escape(lexer->lookahead)) {
                if (has_content) {
                    if (line.is_whole && line.indent < least) scanner->is_inside = false;
                    return give_content(scanner, lexer, true);
                }
                advance(lexer);
                lexer->mark_end(lexer);
                lexer->result_symbol = ESCAPE_SEQUENCE;
                return true;
            }
            if (scanner->literal == QUOTED && !is_at_end_of_line(lexer)) advance(lexer);
        } else if (c == '{') {
            advance(lexer);
            if (!has_content) lexer->mark_end(lexer);
            if (scan_interpolation(lexer)) {
                if (has_content) {
                    if (line.is_whole && line.indent < least) scanner->is_inside = false;
                    return give_content(scanner, lexer, true);
                }
                scanner->is_in_interpolation = true;
                lexer->result_symbol = INTERPOLATION_OPEN;
                return true;
            }
            see(&line, c);
        } else if (scanner->is_unterminated && !is_string && !scanner->spans_lines && (c == ':' || c == '(')) {
            if (is_at_end_of_header(lexer, line.ends_in_blank)) return give_content(scanner, lexer, has_content);
            see(&line, c);
        } else {
            see(&line, c);
            advance(lexer);
        }
    }
}
