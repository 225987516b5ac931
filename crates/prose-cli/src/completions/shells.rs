//! What is particular to shells.
//!
//! The scripts of `clap_complete` for Bash and Zsh split words at `=`, put a space after `topic=` and lose file names with spaces; it has none for Nushell that
//! asks `prose`. Those for fish and PowerShell are used as they are.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine::{CompletionCandidate, complete};
use clap_complete::env::EnvCompleter;

use crate::candidates::keep_words;

/// Bash, from version 3.2 on.
pub(super) struct Bash;

/// A shell with the script of `clap_complete`, which reads lines of a value, a tab and what it means.
pub(super) struct Described(pub(super) &'static dyn EnvCompleter);

/// Zsh.
pub(super) struct Zsh;

/// Nushell, by its external completer, which it has in all versions since 0.70.
pub(super) struct Nushell;

// `COMP_WORDS` has `=` and `:` as words; one at the cursor is not in `$2`. Up to Bash 3.2 there is no `compopt`, so no candidate is followed by a space there.
const BASH: &str = r#"_prose_complete() {
    local word words=("${COMP_WORDS[@]:0:COMP_CWORD+1}")
    [[ ${words[COMP_CWORD]} == [=:] ]] || words[COMP_CWORD]=$2
    compopt +o nospace 2>/dev/null
    COMPREPLY=()
    while IFS= read -r word; do
        [[ $word == *[=/:] ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("$word")
    done < <(VARIABLE=bash COMPLETER -- "${words[@]}" 2>/dev/null)
}
complete -o nospace -o bashdefault -o nosort -F _prose_complete prose 2>/dev/null ||
    complete -o nospace -o bashdefault -F _prose_complete prose
"#;

// The first character of a line says whether a space may follow. As a file of `$fpath`, the script is itself the function at the first completion.
const ZSH: &str = r#"#compdef prose
_prose() {
    local -a all open whole
    all=("${(@f)$(VARIABLE=zsh COMPLETER -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    open=("${(@)${(M)all:#+*}#+}")
    whole=("${(@)${(M)all:# *}# }")
    [[ -n ${open[1]} ]] && _describe -V 'values' open -S ''
    [[ -n ${whole[1]} ]] && _describe -V 'values' whole
}
if [[ ${funcstack[1]} == _prose ]]; then
    _prose "$@"
else
    compdef _prose prose
fi
"#;

const NUSHELL: &str = r#"let prose_next_completer = $env.config.completions.external.completer?
$env.config.completions.external.enable = true
$env.config.completions.external.completer = {|spans|
    if ($spans | first) == "prose" {
        with-env { VARIABLE: nushell } { ^COMPLETER -- ...$spans } | complete | get stdout | from json
    } else if $prose_next_completer != null {
        do $prose_next_completer $spans
    }
}
"#;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == self.name()
    }

    fn write_registration(
        &self,
        variable: &str,
        _name: &str,
        _bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(filled(BASH, variable, &quoted_for_posix(completer)).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Line { words, shown_from, is_quoted } = Line::of(words);
        for candidate in candidates(command, words, here)? {
            let value = candidate.get_value().to_string_lossy();
            if let Some(value) = value.get(shown_from..) {
                let value = if is_quoted { value.to_owned() } else { escaped_for_bash(value) };
                writeln!(out, "{value}")?;
            }
        }
        Ok(())
    }
}

impl EnvCompleter for Described {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn is(&self, name: &str) -> bool {
        self.0.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.0.write_registration(variable, name, bin, completer, out)
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for candidate in candidates(command, words, here)? {
            write!(out, "{}", candidate.get_value().to_string_lossy())?;
            match help(&candidate) {
                Some(help) => writeln!(out, "\t{help}")?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }
}

impl EnvCompleter for Zsh {
    fn name(&self) -> &'static str {
        "zsh"
    }

    fn is(&self, name: &str) -> bool {
        name == self.name()
    }

    fn write_registration(
        &self,
        variable: &str,
        _name: &str,
        _bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(filled(ZSH, variable, &quoted_for_posix(completer)).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for candidate in candidates(command, words, here)? {
            let value = candidate.get_value().to_string_lossy();
            let first = if value.ends_with(['=', '/', ':']) { '+' } else { ' ' };
            let value = value.replace('\\', "\\\\").replace(':', "\\:");
            write!(out, "{first}{value}")?;
            match help(&candidate) {
                Some(help) => writeln!(out, ":{}", help.replace('\\', "\\\\"))?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }
}

impl EnvCompleter for Nushell {
    fn name(&self) -> &'static str {
        "nushell"
    }

    fn is(&self, name: &str) -> bool {
        matches!(name, "nushell" | "nu")
    }

    fn write_registration(
        &self,
        variable: &str,
        _name: &str,
        _bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // A string of JSON is one of Nushell.
        let completer = match completer {
            "prose" => completer.to_owned(),
            path => serde_json::to_string(path)?,
        };
        out.write_all(filled(NUSHELL, variable, &completer).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        here: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let candidates = candidates(command, words, here)?;
        let candidates: Vec<_> = candidates
            .iter()
            .map(|candidate| {
                let value = candidate.get_value().to_string_lossy();
                serde_json::json!({ "value": value, "description": help(candidate) })
            })
            .collect();
        serde_json::to_writer(out, &candidates).map_err(io::Error::from)
    }
}

/// The candidates for the last word. Options are not offered before somebody types a `-`, if there is anything else: a single run could not be completed.
fn candidates(
    command: &mut Command,
    words: Vec<OsString>,
    here: Option<&Path>,
) -> io::Result<Vec<CompletionCandidate>> {
    keep_words(&words);
    let last = words.len().saturating_sub(1);
    let is_empty = words.last().is_some_and(|word| word.is_empty());
    let mut candidates = complete(command, words, last, here)?;
    let is_option =
        |candidate: &CompletionCandidate| candidate.get_value().to_string_lossy().starts_with('-');
    if is_empty && !candidates.iter().all(is_option) {
        candidates.retain(|candidate| !is_option(candidate));
    }
    Ok(candidates)
}

/// The first line of what a candidate means.
fn help(candidate: &CompletionCandidate) -> Option<String> {
    Some(candidate.get_help()?.to_string().lines().next()?.to_owned())
}

fn filled(script: &str, variable: &str, completer: &str) -> String {
    script.replace("VARIABLE", variable).replace("COMPLETER", completer)
}

/// A word for Bash and Zsh.
fn quoted_for_posix(word: &str) -> String {
    match word {
        "prose" => word.to_owned(),
        path => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// A candidate as somebody would type it in Bash.
fn escaped_for_bash(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if character.is_ascii() && !character.is_ascii_alphanumeric() && !"/._-=:+,@%#~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// A command line of Bash up to the cursor.
#[derive(Debug, PartialEq)]
struct Line {
    /// Its words without quotes.
    words: Vec<OsString>,
    /// Where in the last word the part starts that Bash replaces, in bytes.
    shown_from: usize,
    /// Whether the last word has an open quote.
    is_quoted: bool,
}

impl Line {
    /// The line of the words that Bash has made of it: those around `=` and `:`, which are words of their own, are one.
    fn of(words: Vec<OsString>) -> Self {
        let mut line = Line { words: Vec::new(), shown_from: 0, is_quoted: false };
        let mut is_glued = false;
        for word in words {
            let Some(text) = word.to_str() else {
                (line.shown_from, is_glued) = (0, false);
                line.words.push(word);
                continue;
            };
            let is_separator =
                !text.is_empty() && text.chars().all(|character| matches!(character, '=' | ':'));
            line.is_quoted = text.starts_with(['"', '\'']);
            match line.words.last_mut() {
                Some(last) if is_separator || is_glued => {
                    if is_separator {
                        last.push(text);
                        line.shown_from = last.len();
                    } else {
                        last.push(unquoted(text));
                    }
                }
                _ => {
                    line.shown_from = 0;
                    line.words.push(unquoted(text).into());
                }
            }
            is_glued = is_separator;
        }
        line
    }
}

/// A word without its quotes and backslashes.
fn unquoted(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut characters = word.chars();
    let mut quote = None;
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', None | Some('"')) => plain.extend(characters.next()),
            ('"' | '\'', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            _ => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expected: &[&str], shown_from: usize, is_quoted: bool) {
        let words = words.iter().map(OsString::from).collect();
        let expected = expected.iter().map(OsString::from).collect();
        assert_eq!(Line::of(words), Line { words: expected, shown_from, is_quoted });
    }

    #[test]
    fn words_that_bash_has_split_are_one() {
        check(&["prose", "run", "a.prose"], &["prose", "run", "a.prose"], 0, false);
        check(&["prose", "--harness", "=", "cl"], &["prose", "--harness=cl"], 10, false);
        check(&["prose", "--level", "W101", "="], &["prose", "--level", "W101="], 5, false);
        check(&["prose", "--level", "=", "W101", "=", "o"], &["prose", "--level=W101=o"], 13, false);
        check(&["prose", "https", ":", "//x"], &["prose", "https://x"], 6, false);
    }

    #[test]
    fn quotes_are_removed() {
        check(&["prose", r"a\ b\'c"], &["prose", "a b'c"], 0, false);
        check(&["prose", "'a b"], &["prose", "a b"], 0, true);
        check(&["prose", r#""a \"b""#], &["prose", r#"a "b"#], 0, true);
        assert_eq!(escaped_for_bash("a b$(x).prose"), r"a\ b\$\(x\).prose");
    }
}
