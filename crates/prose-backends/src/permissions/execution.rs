//! Decides on shell commands: by what they run, read and write.

use std::path::{Path, PathBuf};

use prose_rights::About;
use prose_vm::effect::{Permission, PermissionRule};

use super::commands::{self, Effects};
use super::shell::{self, Item, SimpleCommand, Word};
use super::{Decision, Judge, Reach, denies, one_line, paths, written_part};

/// The maximum nesting of `sh -c`.
const MAX_SHELLS: usize = 4;

impl Judge<'_> {
    pub(super) fn command(&self, command: Option<&str>, places: &[String]) -> Decision {
        let mut rules = self.rules(About::Execute).peekable();
        if rules.peek().is_none() {
            return Decision::deny(
                "no rule allows shell commands; write `bash: allow`, or patterns such as `execute: [\"git log*\"]`, below `permissions:` of the agent \
                 or in `[run.permissions]` in `prose.toml`",
            );
        }
        if let Some(rule) = rules.find(|rule| rule.rule.denies_all()) {
            return Decision::deny(denies(rule));
        }
        let Some(command) = command else { return Decision::doubt("the tool shows no command") };
        let asked = self.rules(About::Execute).find(|rule| rule.rule == PermissionRule::Prompt);
        let asked = asked.map_or(Decision::Allow, |rule| Decision::Ask {
            rule: rule.rule.shown(&rule.about),
            is_written: true,
        });
        let place = places.iter().map(|place| self.file(About::Read, Path::new(place), place, true));
        let decision = place.fold(asked, Decision::and);
        decision.and(self.script(command, &mut self.folders.root.clone(), 0))
    }

    /// A word of a command without the folder of the project: where that lies, such as in `.prose`, says nothing about a file in it.
    fn inside<'w>(&self, word: &'w str) -> &'w str {
        written_part(&self.folders.root, Path::new(word), word)
    }

    /// Whether only certain commands may run.
    fn has_patterns(&self) -> bool {
        self.rules(About::Execute).any(|rule| matches!(rule.rule, PermissionRule::Patterns(_)))
    }

    /// A rule that a command could break without it being noticed.
    fn breakable(&self) -> Option<&Permission> {
        [About::Read, About::Write, About::Network].into_iter().find_map(|about| self.restricts(about))
    }

    fn script(&self, text: &str, folder: &mut PathBuf, depth: usize) -> Decision {
        if depth > MAX_SHELLS {
            return Decision::doubt("shells are nested too deeply");
        }
        let script = shell::parse(text);
        let mut decision = Decision::Allow;
        if let Some(doubt) = script.doubts.first() {
            decision = self.unknown(text, doubt);
        } else if script.is_opaque() && !self.has_patterns() && self.breakable().is_none() {
            decision = self.unknown(text, "a program that runs its input");
        }
        let start = folder.clone();
        let mut outer = Vec::new();
        for item in &script.items {
            match item {
                Item::Enter => outer.push(folder.clone()),
                Item::Leave => *folder = outer.pop().unwrap_or_else(|| start.clone()),
                Item::Command(command) => decision = decision.and(self.simple(command, folder, depth)),
            }
        }
        // Later commands of the agent may start where this one ends.
        let restricts = |about| self.restricts(about).is_some_and(|rule| rule.rule != PermissionRule::Prompt);
        if *folder != start && (restricts(About::Read) || restricts(About::Write)) {
            decision = decision.and(Decision::doubt("`cd` outside of parentheses; write `(cd FOLDER && …)`"));
        }
        decision
    }

    /// A command, or a part of one, whose effects are not known.
    fn unknown(&self, text: &str, what: &str) -> Decision {
        if self.has_patterns() {
            return Decision::doubt(format!("{what} cannot be compared with patterns"));
        }
        if let Some(rule) = self.breakable() {
            return Decision::doubt(format!("{what} might break `{}`", rule.rule.shown(&rule.about)));
        }
        // The text of a script may name protected files anywhere.
        let is_part = |c: char| c.is_alphanumeric() || "._-/\\~".contains(c);
        let mut words = text.split(|c| !is_part(c)).filter(|word| !word.is_empty());
        match words.find(|word| paths::needs_approval(self.inside(word), true)) {
            Some(word) => Decision::doubt(format!("a command names `{word}`, which is a protected file")),
            None => Decision::Allow,
        }
    }

    fn simple(&self, command: &SimpleCommand, folder: &mut PathBuf, depth: usize) -> Decision {
        let mut decision = Decision::Allow;
        for redirect in &command.redirects {
            let about = if redirect.writes { About::Write } else { About::Read };
            decision = decision.and(self.word_file(about, &redirect.file, folder));
        }
        if command.words.is_empty() {
            return decision;
        }
        let words = commands::unwrapped(&command.words);
        let shown_command =
            one_line(&command.words.iter().map(|word| word.source.as_str()).collect::<Vec<_>>().join(" "));
        if command.assigns && (self.has_patterns() || self.breakable().is_some()) {
            decision = decision.and(Decision::doubt(format!("variables are set for `{shown_command}`")));
        }
        let effects = commands::effects(words);
        match &effects {
            Effects::Nothing => return decision,
            Effects::Script(script) => {
                return decision.and(self.script(script, &mut folder.clone(), depth + 1));
            }
            Effects::ChangesFolder(target) => {
                return decision.and(self.change_folder(*target, command, folder));
            }
            _ => {}
        }
        for rule in self.rules(About::Execute) {
            if let PermissionRule::Patterns(patterns) = &rule.rule {
                decision = decision.and(self.covered(rule, patterns, words, folder, &shown_command));
            }
        }
        match effects {
            Effects::Files { reads, writes } => {
                for (about, files) in [(About::Read, reads), (About::Write, writes)] {
                    for file in files {
                        decision = decision.and(self.word_file(about, file, folder));
                    }
                }
            }
            Effects::Network | Effects::Unknown => {
                if effects == Effects::Network
                    && let Some(rule) = self.rules(About::Network).find(|rule| rule.rule.denies_all())
                {
                    return decision.and(Decision::deny(denies(rule)));
                }
                if !self.has_patterns()
                    && let Some(rule) = self.breakable()
                {
                    let rule = rule.rule.shown(&rule.about);
                    decision =
                        decision.and(Decision::doubt(format!("`{shown_command}` might break `{rule}`")));
                }
                let named = words
                    .iter()
                    .skip(1)
                    .flat_map(|word| word.text.split(['=', ':', ',', '@', ' ', '\'', '"', '(', ')']));
                if let Some(named) =
                    named.into_iter().find(|word| paths::needs_approval(self.inside(word), false))
                {
                    let named = one_line(named);
                    decision = decision.and(Decision::doubt(format!(
                        "a command names `{named}`, which is a protected file"
                    )));
                }
                // `git log *` may turn a name such as `--output=f` into an option; other words may stand for protected files.
                for word in words.iter().filter(|word| word.has_glob && !word.is_expanded) {
                    decision = decision.and(self.expanded_names(word, folder));
                }
            }
            Effects::Nothing | Effects::Script(_) | Effects::ChangesFolder(_) => {}
        }
        decision
    }

    /// Whether patterns cover a command.
    fn covered(
        &self,
        rule: &Permission,
        patterns: &[String],
        words: &[Word],
        folder: &Path,
        shown_command: &str,
    ) -> Decision {
        let root = &self.folders.root;
        let program_paths: Vec<String> = commands::program(words)
            .filter(|program| program.contains('/'))
            .and_then(|program| paths::resolve(folder, Path::new(program)).ok())
            .map(|path| paths::shown(root, &path))
            .into_iter()
            .collect();
        let is_covered = |pattern: &str| commands::covers(pattern, words, &program_paths);
        let covering = patterns.iter().find(|pattern| !pattern.starts_with('!') && is_covered(pattern));
        let is_excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!')).any(is_covered);
        let Some(pattern) = covering.filter(|_| !is_excluded) else {
            return Decision::deny(format!(
                "`{}` does not cover `{shown_command}`",
                rule.rule.shown(&rule.about)
            ));
        };
        let named: Vec<&str> = pattern.split_whitespace().collect();
        if let Some(option) = commands::risky_option(words, &named) {
            return Decision::doubt(format!(
                "`{}` of `{shown_command}` can write files or run programs",
                one_line(option)
            ));
        }
        if commands::is_launcher(words) {
            return Decision::doubt(format!("`{shown_command}` runs what it reads or computes"));
        }
        if words.iter().any(|word| word.is_expanded) {
            return Decision::doubt(format!("a value in `{shown_command}` is known only when it runs"));
        }
        Decision::Allow
    }

    fn change_folder(
        &self,
        target: Option<&Word>,
        command: &SimpleCommand,
        folder: &mut PathBuf,
    ) -> Decision {
        let target =
            target.and_then(Word::literal).filter(|target| !command.is_piped && !target.starts_with('-'));
        let resolved = target.and_then(|target| paths::resolve(folder, Path::new(target)).ok());
        match resolved {
            Some(resolved) if paths::relative(&self.folders.root, &resolved).is_some() => {
                *folder = resolved;
                Decision::Allow
            }
            Some(resolved) if !self.has_patterns() && self.breakable().is_none() => {
                *folder = resolved;
                Decision::Allow
            }
            _ if !self.has_patterns() && self.breakable().is_none() => Decision::Allow,
            _ => Decision::doubt("`cd` to a folder that is not known to be in the project"),
        }
    }

    /// A file that a word of a command names.
    fn word_file(&self, about: About, word: &Word, folder: &Path) -> Decision {
        const DEVICES: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"];
        let text = word.text.as_str();
        if DEVICES.contains(&text) && word.literal().is_some() {
            return Decision::Allow;
        }
        let is_free = !self.has_patterns() && self.restricts(about).is_none();
        if word.is_expanded {
            return match is_free {
                true => Decision::Allow,
                false => Decision::doubt(format!(
                    "the file `{}` is known only when the command runs",
                    one_line(text)
                )),
            };
        }
        if word.has_glob {
            let Some(files) = paths::expand(folder, text) else {
                return Decision::doubt(format!("`{}` matches too many files", one_line(text)));
            };
            let files =
                files.iter().map(|file| self.command_file(about, file, &file.to_string_lossy(), is_free));
            return files.fold(Decision::Allow, Decision::and);
        }
        let home = word.starts_at_home.then(std::env::home_dir).flatten();
        let path = match home {
            Some(home) => home.join(text.trim_start_matches('~').trim_start_matches('/')),
            None => folder.join(text),
        };
        self.command_file(about, &path, text, is_free)
    }

    /// A file that a command uses. A command without restrictions may use any file that is not protected, as it could anyway.
    fn command_file(&self, about: About, path: &Path, written: &str, is_free: bool) -> Decision {
        let is_search = about == About::Read && path.is_dir();
        let reach = if is_free { Reach::Everything } else { Reach::Project };
        self.file_within(about, path, written, is_search, reach)
    }

    /// The names that a word with `*` stands for.
    fn expanded_names(&self, word: &Word, folder: &Path) -> Decision {
        if self.has_patterns() && word.text.starts_with(['*', '?', '[']) {
            return Decision::doubt(format!("`{}` may expand to an option", one_line(&word.text)));
        }
        let files = paths::expand(folder, &word.text).unwrap_or_default();
        match files.iter().find(|file| {
            let inside = paths::relative(&self.folders.root, file);
            paths::needs_approval(&inside.as_deref().unwrap_or(file).to_string_lossy(), false)
        }) {
            Some(file) => Decision::doubt(format!(
                "`{}` matches `{}`, which is a protected file",
                one_line(&word.text),
                file.display()
            )),
            None => Decision::Allow,
        }
    }
}
