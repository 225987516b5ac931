//! Folders of runs that somebody else made, or changed: what their traces say has not ended is asked, what they prove is not, and nothing leads
//! out of the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use prose_fixture::number;

use crate::foreign::imitated::{Program, Stopped};
use crate::foreign::{Foreign, ID};

/// How many programs are tried in a test of every day.
const QUICK: u64 = 15;

/// At how many places each of them stops.
const MAX_STOPS: usize = 8;

/// How many seconds each of the long tests takes; `PROSE_FORGED_SECONDS` says otherwise.
const LONG: u64 = 20;

/// The folder that a machine has left.
fn left(program: &Program, stopped: &Stopped) -> Foreign {
    let foreign = Foreign::new(&program.text, &stopped.state, &[]);
    for (file, text) in &stopped.files {
        foreign.write(&format!("bindings/{file}"), text);
    }
    foreign
}

/// Stops a program at some of the times at which its state was written, and goes on each time. Gives how many these were.
fn check_stops(seed: u64) -> u32 {
    let mut random = Rng::with_seed(seed);
    let program = Program::random(&mut random);
    let seed_of_run = random.u64(..);
    let count = (1..).take_while(|cut| program.stop_after(*cut, seed_of_run).is_stopped).count();
    let mut cuts: Vec<usize> = (1..=count).collect();
    random.shuffle(&mut cuts);
    cuts.truncate(MAX_STOPS);
    for &cut in &cuts {
        let stopped = program.stop_after(cut, seed_of_run);
        let went = left(&program, &stopped).resume().unwrap();
        let told = || {
            let files: Vec<&String> = stopped.files.keys().collect();
            format!(
                "seed {seed}, stop {cut}:\n{}\n{files:?}\nwent:\n{}",
                stopped.state,
                went.lines.join("\n")
            )
        };
        let mut asked: Vec<&str> =
            went.lines.iter().filter_map(|line| line.strip_prefix("asked T")).collect();
        asked.sort_unstable();
        let mut expected: Vec<&str> = stopped.asked.iter().map(|task| &task[1..]).collect();
        expected.sort_unstable();
        assert_eq!(asked, expected, "{}", told());
        for line in &went.lines {
            assert!(!line.starts_with("the program failed"), "{}", told());
            if let Some((task, value)) = line.strip_prefix("kept  ").and_then(|kept| kept.split_once(": ")) {
                // A loop that has ended in an earlier iteration is repeated once, whatever it did there.
                let is_known = value == format!("{task} in its file") || value == "(the result was not kept)";
                assert!(is_known, "{}", told());
            }
        }
    }
    cuts.len() as u32
}

/// Tries one seed after the other for as long as a long test takes; `PROSE_FORGED_SEED` is the first one.
#[allow(clippy::print_stderr, reason = "a long test says which seeds it has tried")]
fn try_many(check: impl Fn(u64)) {
    let first: u64 = number("PROSE_FORGED_SEED").unwrap_or(1000);
    let seconds = number("PROSE_FORGED_SECONDS").unwrap_or(LONG);
    let end = Instant::now() + Duration::from_secs(seconds);
    let last = (first..).find(|seed| {
        check(*seed);
        Instant::now() > end
    });
    eprintln!("PROSE_FORGED_SEED={first}, up to {}", last.unwrap_or(first));
}

#[test]
fn r104_wherever_another_machine_stopped_exactly_what_has_not_ended_is_asked() {
    let stops: u32 = (0..QUICK).map(check_stops).sum();
    assert!(stops > 100, "{stops}");
}

#[test]
#[ignore = "takes a minute"]
fn r104_wherever_another_machine_stopped_exactly_what_has_not_ended_is_asked_of_many_programs() {
    try_many(|seed| {
        check_stops(seed);
    });
}

/// Files that nobody who makes a folder may have read or changed.
struct Outside {
    folder: tempfile::TempDir,
}

const SECRET: &str = "a secret of elsewhere";

impl Outside {
    fn new() -> Self {
        let folder = prose_fixture::tempdir().unwrap();
        fs::create_dir(folder.path().join("bindings")).unwrap();
        for file in ["secret.md", "state.md", "program.prose", "bindings/v1.md"] {
            fs::write(folder.path().join(file), SECRET).unwrap();
        }
        Self { folder }
    }

    /// All files with what they hold.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn walk(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                match entry.path() {
                    path if path.is_dir() => walk(&path, files),
                    path => files.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        let mut files = Vec::new();
        walk(self.folder.path(), &mut files);
        files.sort();
        files
    }
}

/// Changes a text at random: bits, lines, numbers, marks.
fn mutate(text: &str, random: &mut Rng) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "# <-- EXECUTING",
        "# (complete)",
        "# [not yet entered]",
        "# --> bindings/../../secret.md",
        "# --> /etc/passwd",
        "# (failed: x)",
        "- iteration: 99999999999999999999/3",
        "- iteration: 4294967295",
        "### Loop (lines 0-0)",
        "### Parallel (lines 4294967295-1)",
        "| 4294967295 | b0 | 4294967295 | executing |",
        "| -1 | b0 | x | executing |",
        "## Call Stack",
        "## Active Constructs",
        "## Execution Trace",
        "```",
        "````prose",
        "\u{feff}",
        "\0",
        "\r",
        "\"\"\"",
        "---",
        "kind: input",
        "source:",
        "#",
        "program: ../../secret.md",
        "execution_id: 99",
    ];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(0..=lines.len());
        let word = WORDS[random.usize(0..WORDS.len())];
        match random.u8(0..8) {
            0 => lines.insert(at, word.to_owned()),
            1 if at < lines.len() => drop(lines.remove(at)),
            2 if at < lines.len() => lines.insert(at, lines[at].clone()),
            3 if at < lines.len() => lines[at] = format!("{}  {word}", lines[at]),
            4 if at < lines.len() => {
                let other = random.usize(0..lines.len());
                lines.swap(at, other);
            }
            5 => lines.truncate(at),
            6 if at < lines.len() => lines[at] = lines[at].replace(char::is_numeric, "9"),
            _ => lines.insert(at, word.repeat(random.usize(1..2000))),
        }
    }
    let mut bytes = lines.join("\n").into_bytes();
    for _ in 0..random.usize(0..4) {
        if !bytes.is_empty() {
            let at = random.usize(0..bytes.len());
            bytes[at] ^= 1 << random.u8(0..8);
        }
    }
    bytes
}

/// Puts something into the folder of a run that does not belong there.
fn intrude(foreign: &Foreign, outside: &Outside, random: &mut Rng) {
    let run = foreign.run_folder();
    let file = ["state.md", "bindings/v1.md", "bindings", "imports", "agents", "bindings/anon_001.md"]
        [random.usize(0..6)];
    let path = run.join(file);
    let clear = |path: &Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        drop(fs::remove_file(path).or_else(|_| fs::remove_dir_all(path)));
    };
    match random.u8(0..5) {
        0 => {
            clear(&path);
            fs::create_dir_all(path.join("deep/er")).unwrap();
        }
        1 => {
            clear(&path);
            fs::write(&path, "in the way").unwrap();
        }
        2 => {
            let mut deep = run.clone();
            (0..40).for_each(|_| deep.push("imports/a--b"));
            fs::create_dir_all(deep).unwrap();
        }
        3 => foreign.write(&format!("bindings/{}.md", "x".repeat(random.usize(1..200))), "long"),
        _ => {
            clear(&path);
            #[cfg(unix)]
            {
                let target =
                    outside.folder.path().join(["secret.md", "state.md", "bindings", ""][random.usize(0..4)]);
                std::os::unix::fs::symlink(target, &path).unwrap();
            }
            #[cfg(not(unix))]
            let _ = outside;
        }
    }
}

/// Goes on with a folder that somebody has changed at random. It may be refused; it never panics, and leaves everything outside alone.
fn check_forged(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let program = Program::random(&mut random);
    let seed_of_run = random.u64(..);
    let stopped = program.stop_after(random.usize(1..20), seed_of_run);
    let foreign = left(&program, &stopped);
    let outside = Outside::new();
    let before = outside.files();
    let state = mutate(&stopped.state, &mut random);
    fs::write(foreign.run_folder().join("state.md"), &state).unwrap();
    for (file, text) in &stopped.files {
        if random.u8(0..3) == 0 {
            fs::write(foreign.run_folder().join("bindings").join(file), mutate(text, &mut random)).unwrap();
        }
    }
    if random.bool() {
        intrude(&foreign, &outside, &mut random);
    }
    let told = || {
        let state = String::from_utf8_lossy(&state).into_owned();
        let lines = state.lines().map(|line| line.chars().take(100).collect::<String>());
        format!("seed {seed}:\n{}", lines.collect::<Vec<_>>().join("\n"))
    };
    if let Ok(went) = foreign.resume() {
        assert!(
            !went.lines.iter().chain(&went.notes).any(|line| line.contains(SECRET)),
            "{}\n{:?}",
            told(),
            went.lines
        );
    }
    assert_eq!(outside.files(), before, "{}", told());
    // Whatever it is, it can be listed and looked at.
    let project = prose_run::Project::new(foreign.project());
    assert!(project.list_runs().is_ok());
    let _ = project.show_run(ID);
}

#[test]
fn r104_folders_that_were_changed_at_random_never_lead_anywhere_else() {
    (0..5 * QUICK).for_each(check_forged);
}

#[test]
#[ignore = "takes a minute"]
fn r104_many_folders_that_were_changed_at_random_never_lead_anywhere_else() {
    try_many(check_forged);
}
