//! What commands do, as far as it is known from their words.

use super::shell::{Word, is_assignment};

/// What a simple command does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effects<'a> {
    /// Nothing beyond its output.
    Nothing,
    /// Changes the working folder.
    ChangesFolder(Option<&'a Word>),
    /// Reads and writes these files.
    Files { reads: Vec<&'a Word>, writes: Vec<&'a Word> },
    /// Uses the network, and more that is not known.
    Network,
    /// Runs a script whose text is known.
    Script(&'a str),
    /// Not known.
    Unknown,
}

/// Commands that only print what they are given.
const PRINTERS: &[&str] = &[
    "echo", "printf", "pwd", "true", "false", ":", "test", "[", "sleep", "exit", "basename", "dirname",
    "seq", "which",
];

/// Commands that read the files that they name and do nothing else, unless an option of [`RISKY`] says so.
const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "wc",
    "ls",
    "nl",
    "tac",
    "od",
    "hexdump",
    "grep",
    "egrep",
    "fgrep",
    "diff",
    "cmp",
    "stat",
    "file",
    "du",
    "cut",
    "tr",
    "md5sum",
    "sha256sum",
    "readlink",
    "realpath",
];

/// Readers whose first word is what they look for.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "tr"];

/// Commands that write the files that they name.
const WRITERS: &[&str] = &["rm", "rmdir", "mkdir", "touch", "tee", "mv", "unlink", "truncate"];

/// Commands that use the network.
const NETWORK: &[&str] = &[
    "curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "telnet", "ftp", "socat", "ping",
    "dig", "nslookup", "http", "https",
];

/// Shells, which run the text after `-c`.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh"];

/// Commands that run what follows them.
const WRAPPERS: &[&str] = &["time", "nohup", "command", "builtin", "env", "nice", "exec"];

/// Commands that run what they read or compute.
const LAUNCHERS: &[&str] = &[
    "xargs", "parallel", "sudo", "doas", "su", "eval", "source", ".", "ssh", "watch", "chroot", "unshare",
    "trap", "alias", "export", "set",
];

/// Options by which a command that is otherwise harmless writes a file or starts another program. Long ones may be abbreviated.
const RISKY: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-c",
            "-C",
            "-O",
            "-o",
            "--output",
            "--output-directory",
            "--ext-diff",
            "--textconv",
            "--open-files-in-pager",
            "--exec-path",
            "--git-dir",
            "--work-tree",
            "--config-env",
            "--upload-pack",
            "--receive-pack",
            "--exec",
        ],
    ),
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("make", &["-f", "-C", "-I", "--file", "--makefile", "--directory", "--eval", "--include-dir"]),
    (
        "tar",
        &[
            "-I",
            "-F",
            "--use-compress-program",
            "--to-command",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
        ],
    ),
    ("sed", &["-i", "-f", "-e", "--in-place", "--file", "--expression"]),
    ("awk", &["-f", "-i", "-e", "--file", "--include", "--source"]),
    ("sort", &["-o", "-T", "--output", "--compress-program", "--temporary-directory"]),
    ("rg", &["--pre", "--hostname-bin", "-f", "--file", "--search-zip", "-z"]),
    ("grep", &["-f", "-e", "--file", "--regexp"]),
    ("egrep", &["-f", "-e", "--file", "--regexp"]),
    ("fgrep", &["-f", "-e", "--file", "--regexp"]),
    ("tail", &["--follow", "--pid"]),
    ("wc", &["--files0-from"]),
    ("du", &["--files0-from", "-X", "--exclude-from"]),
    ("file", &["-f", "-m", "-C", "--files-from", "--magic-file", "--compile"]),
    ("diff", &["--from-file", "--to-file", "-X", "--exclude-from"]),
    ("python", &["-c", "-m"]),
    ("python3", &["-c", "-m"]),
    (
        "node",
        &[
            "-e",
            "-p",
            "-r",
            "--eval",
            "--print",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
        ],
    ),
    ("perl", &["-e", "-E", "-i", "-M", "-I"]),
    ("ruby", &["-e", "-i", "-r", "-I"]),
    ("cargo", &["--config", "-Z", "--manifest-path", "--target-dir", "-C"]),
    ("npm", &["--prefix", "--script-shell", "--node-options", "-C"]),
    ("go", &["-exec", "-toolexec", "-o", "-C", "-modfile", "-overlay"]),
    ("gcc", &["-o", "-B", "-fplugin", "-wrapper"]),
    ("curl", &["-o", "-O", "-T", "-K", "--output", "--remote-name", "--upload-file", "--config"]),
    (
        "wget",
        &[
            "-O",
            "-P",
            "-e",
            "-i",
            "--output-document",
            "--directory-prefix",
            "--execute",
            "--input-file",
            "--use-askpass",
            "--post-file",
            "--body-file",
        ],
    ),
    ("docker", &["-v", "--volume", "--mount", "--privileged"]),
];

/// Options of any other command that write a file or start another program.
const RISKY_ANYWHERE: &[&str] = &[
    "--output",
    "--exec",
    "--eval",
    "--config",
    "--require",
    "--plugin",
    "--pager",
    "--editor",
    "--init-file",
    "--rcfile",
    "-exec",
];

/// The name of the program that a command runs.
pub(super) fn program(words: &[Word]) -> Option<&str> {
    words.first().and_then(Word::literal)
}

fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The words of a command without those that only run the rest, such as `nohup`.
pub(super) fn unwrapped(mut words: &[Word]) -> &[Word] {
    loop {
        let Some(first) = program(words) else { return words };
        let is_plain = |word: Option<&Word>| {
            word.and_then(Word::literal).is_some_and(|text| !text.starts_with('-') && !is_assignment(text))
        };
        let is_duration = |word: Option<&Word>| {
            word.and_then(Word::literal).is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        };
        words = match name(first) {
            wrapper if WRAPPERS.contains(&wrapper) && is_plain(words.get(1)) => &words[1..],
            "timeout" if is_duration(words.get(1)) && is_plain(words.get(2)) => &words[2..],
            _ => return words,
        };
    }
}

/// Whether a command runs what it reads or computes.
pub(super) fn is_launcher(words: &[Word]) -> bool {
    program(words).is_none_or(|program| LAUNCHERS.contains(&name(program)))
}

/// What a command does.
pub(super) fn effects(words: &[Word]) -> Effects<'_> {
    let Some(first) = program(words) else { return Effects::Unknown };
    let arguments = &words[1..];
    if risky_option(words, &[]).is_some() {
        return if NETWORK.contains(&name(first)) { Effects::Network } else { Effects::Unknown };
    }
    // A program at a path may be another one than its name says.
    match first {
        "cd" => match arguments {
            [] => Effects::ChangesFolder(None),
            [folder] => Effects::ChangesFolder(Some(folder)),
            _ => Effects::Unknown,
        },
        _ if PRINTERS.contains(&first) => Effects::Nothing,
        _ if READERS.contains(&first) => {
            Effects::Files { reads: files(first, arguments), writes: Vec::new() }
        }
        _ if WRITERS.contains(&first) => {
            Effects::Files { reads: Vec::new(), writes: files(first, arguments) }
        }
        "uniq" => match files(first, arguments)[..] {
            [] => Effects::Nothing,
            [read] => Effects::Files { reads: vec![read], writes: Vec::new() },
            [read, written] => Effects::Files { reads: vec![read], writes: vec![written] },
            _ => Effects::Unknown,
        },
        "cp" if !arguments.iter().any(|word| is_option(word, "-t") || word.text.starts_with("--t")) => {
            let mut reads = files(first, arguments);
            let writes = reads.pop().into_iter().collect();
            Effects::Files { reads, writes }
        }
        _ if SHELLS.contains(&name(first)) => {
            let is_command = |word: &Word| {
                word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
            };
            match arguments {
                [option, script, ..] if is_command(option) => {
                    script.literal().map_or(Effects::Unknown, Effects::Script)
                }
                _ => Effects::Unknown,
            }
        }
        _ if NETWORK.contains(&name(first)) => Effects::Network,
        _ => Effects::Unknown,
    }
}

/// The words of a command that name files.
fn files<'a>(program: &str, arguments: &'a [Word]) -> Vec<&'a Word> {
    let mut are_options = true;
    let mut before = "";
    let mut files: Vec<&Word> = arguments
        .iter()
        .filter(|word| {
            let before = std::mem::replace(&mut before, word.text.as_str());
            if are_options && word.text == "--" {
                are_options = false;
                return false;
            }
            let is_option = are_options && word.text.starts_with('-') && !word.is_expanded;
            // The number of lines, as in `head -n 5`.
            let is_number = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
            !is_option && (!are_options || !is_number || !takes_number(program, before))
        })
        .collect();
    if SEARCHERS.contains(&program) && !files.is_empty() {
        files.remove(0);
    }
    files
}

/// Whether a number after an option may be its value. Otherwise, it is a file with a number as its name.
fn takes_number(program: &str, option: &str) -> bool {
    let ends_with = |letters: &[char]| !option.starts_with("--") && option.ends_with(letters);
    option.starts_with('-')
        && match program {
            "head" | "tail" | "cut" | "du" | "nl" | "od" | "hexdump" => true,
            "grep" | "egrep" | "fgrep" => ends_with(&['A', 'B', 'C', 'm']),
            "uniq" => ends_with(&['f', 's', 'w']),
            "truncate" => ends_with(&['s']),
            "mkdir" => ends_with(&['m']),
            _ => false,
        }
}

/// The first option that makes a command write a file or start another program, and that none of these words contains.
pub(super) fn risky_option<'a>(words: &'a [Word], named: &[&str]) -> Option<&'a str> {
    let program = name(program(words)?);
    let table =
        RISKY.iter().find(|(known, _)| *known == program).map_or(RISKY_ANYWHERE, |(_, options)| options);
    let options = words[1..].iter().map(|word| word.text.as_str()).take_while(|word| *word != "--");
    let mut options = options.filter(|word| word.starts_with('-') && word.len() > 1);
    options.find(|word| !named.contains(word) && table.iter().any(|risky| is_spelling(word, risky)))
}

/// Whether a word is an option, maybe abbreviated or with its value.
fn is_spelling(word: &str, option: &str) -> bool {
    let bare = word.split('=').next().unwrap_or(word);
    match option.strip_prefix("--") {
        Some(_) => {
            bare == option
                || bare.len() > 2 && option.starts_with(bare)
                || word.starts_with(option) && word[option.len()..].starts_with('=')
        }
        // A word that starts with one hyphen, such as `-exec`.
        None if option.len() > 2 => bare == option || bare.strip_prefix('-') == Some(option),
        None => !word.starts_with("--") && word.starts_with(option),
    }
}

fn is_option(word: &Word, option: &str) -> bool {
    word.text.starts_with(option)
}

/// Whether a pattern covers a command: word by word, and all other words if it ends with `*`. A pattern of one word stands for a program with any
/// words, by its name or by its path in the project.
pub(super) fn covers(pattern: &str, words: &[Word], program_paths: &[String]) -> bool {
    let pattern: Vec<&str> = pattern.split_whitespace().collect();
    let Some((program, rest)) = pattern.split_first() else { return false };
    let Some(first) = self::program(words) else { return false };
    let is_program = match *program {
        "*" | "**" => true,
        program if first.contains('/') => {
            program_paths.iter().any(|path| glob(program.strip_prefix("./").unwrap_or(program), path))
        }
        program => glob(program, first),
    };
    let arguments: Vec<&str> = words[1..].iter().map(|word| word.text.as_str()).collect();
    let matches = match rest.split_last() {
        None => true,
        Some((&"*", rest)) => arguments.len() >= rest.len() && zip(rest, &arguments[..rest.len()]),
        Some((last, _)) if last.ends_with('*') => {
            arguments.len() >= rest.len() && zip(rest, &arguments[..rest.len()])
        }
        Some(_) => zip(rest, &arguments),
    };
    is_program && matches
}

fn zip(patterns: &[&str], words: &[&str]) -> bool {
    patterns.len() == words.len() && patterns.iter().zip(words).all(|(pattern, word)| glob(pattern, word))
}

fn glob(pattern: &str, text: &str) -> bool {
    pattern == text
        || globset::GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .is_ok_and(|glob| glob.compile_matcher().is_match(text))
}
