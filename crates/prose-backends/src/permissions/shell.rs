//! Splits shell commands into simple ones, as far as their text alone shows what runs.
//!
//! This is not a shell: what it does not understand becomes a doubt, and the caller asks.

/// A script: its simple commands in order, and what is not understood in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) items: Vec<Item>,
    pub(super) doubts: Vec<String>,
    /// Whether a text is passed to a command as its input.
    has_document: bool,
}

/// A part of a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A subshell starts, in which the working folder may change.
    Enter,
    /// The subshell ends.
    Leave,
    Command(SimpleCommand),
}

/// A command without operators.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// Whether variables are assigned before it, as in `A=1 command`.
    pub(super) assigns: bool,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// Whether it is part of a pipeline, and so runs in a process of its own.
    pub(super) is_piped: bool,
}

/// A word after the removal of quotes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// The word as written.
    pub(super) source: String,
    /// Whether the shell replaces a part of it by a value that the text does not show.
    pub(super) is_expanded: bool,
    /// Whether it contains an unquoted `*`, `?` or `[`.
    pub(super) has_glob: bool,
    /// Whether it starts with an unquoted `~`.
    pub(super) starts_at_home: bool,
    is_quoted: bool,
}

impl Word {
    /// The text of a word that means itself.
    pub(super) fn literal(&self) -> Option<&str> {
        (!self.is_expanded && !self.has_glob && !self.starts_at_home).then_some(self.text.as_str())
    }
}

/// A redirection to or from a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) writes: bool,
    pub(super) file: Word,
}

/// The maximum nesting of substitutions.
const MAX_DEPTH: usize = 8;

/// The words that start compound commands.
const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "coproc", "[[", "repeat", "foreach", "end",
];

/// Splits a script.
pub(super) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    parse_into(text, &mut script, 0);
    script
}

fn parse_into(text: &str, script: &mut Script, depth: usize) {
    if depth > MAX_DEPTH {
        script.doubt("substitutions are nested too deeply");
        return;
    }
    let mut parser = Parser {
        chars: text.chars().collect(),
        at: 0,
        depth,
        script,
        command: SimpleCommand::default(),
        pipeline: Vec::new(),
        documents: Vec::new(),
        open: 0,
    };
    parser.script();
}

impl Script {
    /// Whether a program may run what another one writes, so that the simple commands do not show all that runs.
    pub(super) fn is_opaque(&self) -> bool {
        let is_piped = |item: &Item| matches!(item, Item::Command(command) if command.is_piped);
        self.has_document || self.items.iter().any(is_piped)
    }

    fn doubt(&mut self, what: &str) {
        if !self.doubts.iter().any(|known| known == what) {
            self.doubts.push(what.to_owned());
        }
    }
}

struct Parser<'a> {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    script: &'a mut Script,
    command: SimpleCommand,
    /// The items of the pipeline that is being read, by index.
    pipeline: Vec<usize>,
    /// Here-documents whose text starts on the next line: the delimiter, and whether the shell expands the text.
    documents: Vec<(String, bool)>,
    /// Subshells that are open.
    open: usize,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next = text.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c));
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    fn doubt(&mut self, what: &str) {
        self.script.doubt(what);
    }

    fn script(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\n' => {
                    self.at += 1;
                    self.end_pipeline();
                    self.skip_documents();
                }
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                ';' => {
                    if self.takes(";;") {
                        self.doubt("`case`");
                    } else {
                        self.at += 1;
                    }
                    self.end_pipeline();
                }
                '&' if matches!(self.peek(1), Some('>')) => {
                    self.at += 2;
                    _ = self.takes(">");
                    self.redirect(true);
                }
                '&' => {
                    _ = self.takes("&&") || self.takes("&");
                    self.end_pipeline();
                }
                '|' => {
                    if self.takes("||") {
                        self.end_pipeline();
                    } else {
                        _ = self.takes("|&") || self.takes("|");
                        self.end_command();
                    }
                }
                '(' => {
                    if self.takes("((") {
                        self.doubt("arithmetic");
                        continue;
                    }
                    self.at += 1;
                    if !self.command.words.is_empty() || self.command.assigns {
                        self.doubt("a function or an array");
                    }
                    self.end_command();
                    self.open += 1;
                    self.script.items.push(Item::Enter);
                }
                ')' => {
                    self.at += 1;
                    self.end_pipeline();
                    match self.open.checked_sub(1) {
                        Some(open) => {
                            self.open = open;
                            self.script.items.push(Item::Leave);
                        }
                        None => self.doubt("an unmatched `)`"),
                    }
                }
                '<' | '>' => self.redirection(),
                _ => self.word_of_command(),
            }
        }
        self.end_pipeline();
        if self.open > 0 {
            self.doubt("an unmatched `(`");
        }
        if !self.documents.is_empty() {
            self.doubt("a here-document without an end");
        }
    }

    fn word_of_command(&mut self) {
        let word = self.word();
        let is_first = self.command.words.is_empty();
        // The number of a file descriptor.
        let is_number = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !word.is_quoted && matches!(self.peek(0), Some('<' | '>')) {
            return;
        }
        if is_first && !word.is_quoted {
            match word.text.as_str() {
                "!" | "{" | "}" => return,
                keyword if KEYWORDS.contains(&keyword) => {
                    self.doubt(&format!("`{keyword}`"));
                    return;
                }
                text if is_assignment(text) => {
                    self.command.assigns = true;
                    return;
                }
                _ => {}
            }
        }
        self.command.words.push(word);
    }

    fn redirection(&mut self) {
        if self.takes("<<<") {
            self.blanks();
            _ = self.word();
            self.script.has_document = true;
            return;
        }
        if self.takes("<<") {
            self.script.has_document = true;
            _ = self.takes("-");
            self.blanks();
            let word = self.word();
            self.documents.push((word.text, !word.is_quoted));
            return;
        }
        if self.takes("<(") || self.takes(">(") {
            self.at -= 1;
            let start = self.at - 1;
            self.substitution();
            let source = self.chars[start..self.at.min(self.chars.len())].iter().collect();
            self.command.words.push(Word { source, is_expanded: true, ..Word::default() });
            return;
        }
        // Copies of file descriptors are no files.
        if self.takes(">&") || self.takes("<&") {
            let before = self.at;
            let word = self.word();
            let is_copy =
                word.text == "-" || word.text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
            if !word.text.is_empty() && is_copy && word.literal().is_some() {
                return;
            }
            self.at = before;
            return self.redirect(true);
        }
        let writes = self.peek(0) == Some('>') || self.peek(1) == Some('>');
        _ = self.takes(">>") || self.takes(">|") || self.takes("<>") || self.takes(">") || self.takes("<");
        self.redirect(writes);
    }

    fn redirect(&mut self, writes: bool) {
        self.blanks();
        let file = self.word();
        if file.text.is_empty() && !file.is_expanded {
            self.doubt("a redirection without a file");
        }
        self.command.redirects.push(Redirect { writes, file });
    }

    fn blanks(&mut self) {
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        let start = self.at;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                '(' => {
                    if !word.text.is_empty() && self.command.words.is_empty() {
                        // `name()`, which the caller reports.
                        break;
                    }
                    self.doubt("parentheses in a word");
                    self.at += 1;
                    word.is_expanded = true;
                }
                '\'' => {
                    word.is_quoted = true;
                    self.at += 1;
                    loop {
                        match self.peek(0) {
                            Some('\'') => break self.at += 1,
                            Some(c) => {
                                word.text.push(c);
                                self.at += 1;
                            }
                            None => break self.doubt("an unclosed quote"),
                        }
                    }
                }
                '"' => self.double_quoted(&mut word),
                '\\' => {
                    word.is_quoted = true;
                    self.at += 1;
                    match self.peek(0) {
                        Some('\n') => {}
                        Some(c) => word.text.push(c),
                        None => self.doubt("a `\\` at the end"),
                    }
                    self.at += 1;
                }
                '$' | '`' => self.expansion(&mut word),
                _ => {
                    match c {
                        '*' | '?' | '[' => word.has_glob = true,
                        // `{}` means itself.
                        '{' if self.peek(1) != Some('}') && self.at > start => word.is_expanded = true,
                        '{' if !matches!(self.peek(1), Some('}' | ' ' | '\t' | '\n') | None) => {
                            word.is_expanded = true
                        }
                        '~' if self.at == start => word.starts_at_home = true,
                        // zsh replaces `=name` by the path of the program.
                        '=' if self.at == start => word.is_expanded = true,
                        '\0' => self.doubt("a control character"),
                        _ => {}
                    }
                    word.text.push(c);
                    self.at += 1;
                }
            }
        }
        if self.at == start {
            // An operator is where a word is expected; the caller sees an empty word.
            return word;
        }
        word.source = self.chars[start..self.at.min(self.chars.len())].iter().collect();
        // `~user` is the home folder of another user.
        if word.starts_at_home && !(word.text == "~" || word.text.starts_with("~/")) {
            word.is_expanded = true;
        }
        word
    }

    fn double_quoted(&mut self, word: &mut Word) {
        word.is_quoted = true;
        self.at += 1;
        loop {
            match self.peek(0) {
                Some('"') => break self.at += 1,
                Some('\\') => {
                    self.at += 1;
                    match self.peek(0) {
                        Some('\n') => {}
                        Some(c @ ('"' | '\\' | '$' | '`')) => word.text.push(c),
                        Some(c) => word.text.extend(['\\', c]),
                        None => break self.doubt("an unclosed quote"),
                    }
                    self.at += 1;
                }
                Some('$' | '`') => self.expansion(word),
                Some(c) => {
                    word.text.push(c);
                    self.at += 1;
                }
                None => break self.doubt("an unclosed quote"),
            }
        }
    }

    /// `$` or a backtick.
    fn expansion(&mut self, word: &mut Word) {
        if self.peek(0) == Some('`') {
            self.at += 1;
            let mut inner = String::new();
            loop {
                match self.peek(0) {
                    Some('`') => break self.at += 1,
                    Some('\\') if matches!(self.peek(1), Some('`' | '\\' | '$')) => {
                        inner.extend(self.peek(1));
                        self.at += 2;
                    }
                    Some(c) => {
                        inner.push(c);
                        self.at += 1;
                    }
                    None => break self.doubt("an unclosed quote"),
                }
            }
            word.is_expanded = true;
            return self.nested(&inner);
        }
        match self.peek(1) {
            Some('(') => {
                if self.peek(2) == Some('(') {
                    self.doubt("arithmetic");
                }
                self.at += 1;
                word.is_expanded = true;
                self.substitution();
            }
            Some('{') => {
                word.is_expanded = true;
                while let Some(c) = self.peek(0) {
                    self.at += 1;
                    match c {
                        '}' => break,
                        '(' | '`' | '\'' | '"' => self.doubt("`${…}`"),
                        _ => {}
                    }
                }
            }
            Some('\'' | '"') => {
                // `$'\x2e'` has escapes of its own.
                self.at += 1;
                word.is_expanded = true;
                word.is_quoted = true;
                self.doubt("`$'…'`");
            }
            Some(c) if c == '_' || c.is_ascii_alphanumeric() || "?!#$@*-".contains(c) => {
                word.is_expanded = true;
                self.at += 2;
                while self.peek(0).is_some_and(|c| c == '_' || c.is_ascii_alphanumeric()) {
                    self.at += 1;
                }
            }
            _ => {
                word.text.push('$');
                self.at += 1;
            }
        }
    }

    /// A command in parentheses, whose `(` is next.
    fn substitution(&mut self) {
        self.at += 1;
        let start = self.at;
        let mut depth = 1;
        let mut quote = None;
        while let Some(c) = self.peek(0) {
            match (quote, c) {
                (Some('"') | None, '\\') => self.at += 1,
                (Some(open), c) if open == c => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') => depth -= 1,
                // Quotes and parentheses in a substitution within quotes have a count of their own.
                (Some('"'), '`') => self.doubt("nested substitutions"),
                (Some('"'), '$') if self.peek(1) == Some('(') => self.doubt("nested substitutions"),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            self.at += 1;
        }
        let end = self.at.min(self.chars.len());
        let inner: String = self.chars[start.min(end)..end].iter().collect();
        match depth {
            0 => self.at += 1,
            _ => self.doubt("an unmatched `(`"),
        }
        self.nested(&inner);
    }

    fn nested(&mut self, inner: &str) {
        self.script.items.push(Item::Enter);
        parse_into(inner, self.script, self.depth + 1);
        self.script.items.push(Item::Leave);
    }

    /// Skips the text of here-documents, which starts with the line that is next.
    fn skip_documents(&mut self) {
        for (delimiter, is_expanded) in std::mem::take(&mut self.documents) {
            let mut is_closed = false;
            while self.at < self.chars.len() && !is_closed {
                let rest = &self.chars[self.at..];
                let line: String = rest.iter().take_while(|c| **c != '\n').collect();
                self.at += (line.chars().count() + 1).min(rest.len());
                is_closed = line.trim_start_matches('\t') == delimiter;
                if is_expanded && !is_closed && (line.contains("$(") || line.contains('`')) {
                    self.doubt("a substitution in a here-document");
                }
            }
            if !is_closed {
                self.doubt("a here-document without an end");
            }
        }
    }

    fn end_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        if command != SimpleCommand::default() {
            self.script.items.push(Item::Command(command));
            self.pipeline.push(self.script.items.len() - 1);
        }
    }

    fn end_pipeline(&mut self) {
        self.end_command();
        let pipeline = std::mem::take(&mut self.pipeline);
        if pipeline.len() > 1 {
            for at in pipeline {
                if let Some(Item::Command(command)) = self.script.items.get_mut(at) {
                    command.is_piped = true;
                }
            }
        }
    }
}

/// Whether a word assigns a variable, as `A=1` does.
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split('[').next().unwrap_or_default();
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}
