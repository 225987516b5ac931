//! Judges with every agent: a condition or a choice changes nothing in the project, whatever its model calls and the project allows.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prose_tests::agents::{AgentProject, replies};
use prose_tests::drivers::{Driver, each_agent, output};
use prose_tests::rules::Wanted;
use prose_tests::tools::AgentModel;
use serde_json::{Value, json};

/// What the model wants to do in each question.
fn wanted(number: usize, root: &Path) -> Wanted {
    match number % 4 {
        0 => Wanted::Write(root.join(format!("made-{number}")).display().to_string()),
        1 => Wanted::Run(format!("echo x > made-{number}")),
        // Commands that some agents take for reading.
        2 => Wanted::Run(format!("uniq notes.md made-{number}")),
        _ => Wanted::Run(format!("sort --output=made-{number} notes.md")),
    }
}

/// The number of conditions before there is a long value.
const CONDITIONS: usize = 4;

/// The number of all questions: after the conditions, a choice; and once there is a long value, which judges read in a file, one of each again.
const QUESTIONS: usize = CONDITIONS + 3;

fn program() -> String {
    let condition = |number: usize| {
        format!(
            "if **tide number {number} is out**:\n  let seen{number} = \"yes\"\nelse:\n  throw \"tide number {number} is in\"\n"
        )
    };
    let choice = |number: usize| {
        format!(
            "choice **which is tide number {number}**:\n  option \"the ebb\":\n    let chosen{number} = \"ebb\"\n  option \"the flood\":\n    throw \"it is the flood\"\n"
        )
    };
    let conditions = |numbers: std::ops::Range<usize>| numbers.map(condition).collect::<String>();
    format!(
        "{}{}let log = session \"Write the log\"\n{}{}",
        conditions(0..CONDITIONS),
        choice(CONDITIONS),
        conditions(CONDITIONS + 1..QUESTIONS - 1),
        choice(QUESTIONS - 1)
    )
}

fn fixtures(model: &AgentModel, root: &Path) -> Vec<Value> {
    let questions = (0..QUESTIONS).flat_map(|number| {
        let (text, lines, object) = if [CONDITIONS, QUESTIONS - 1].contains(&number) {
            let object = json!({ "choice": "1", "reason": "it falls" });
            (format!("which is tide number {number}"), "CHOICE: 1\nREASON: it falls", object)
        } else {
            let object = json!({ "answer": "yes", "reason": "the sand is dry" });
            (format!("tide number {number} is out"), "VERDICT: yes\nREASON: the sand is dry", object)
        };
        model.calls_and_answers(&text, wanted(number, root), lines, &object)
    });
    // An agent ends a session whose model repeats itself.
    let log: String =
        (0..400).map(|hour| format!("At hour {hour}, the gauge shows {}.\n", hour * hour)).collect();
    let others = [
        replies("Write the log", &log),
        // `codex-acp` ends its turn when a change is denied, and is told to continue.
        replies(
            "The permissions of this session do not allow that",
            "VERDICT: yes\nCHOICE: 1\nREASON: the sand is dry",
        ),
        // For what an agent asks besides, such as for a title.
        json!({ "match": {}, "response": { "content": "Tides" } }),
    ];
    questions.chain(others).collect()
}

/// Settings that agents themselves write anew when they start.
const SETTINGS: &[&str] = &["opencode.json", ".qwen/settings.json"];

/// Settings of the project by which each agent may do everything without a question.
fn allow_everything(root: &Path) {
    let allowed = json!({ "*": "allow", "bash": "allow", "edit": "allow" });
    let opencode = json!({ "permission": allowed, "agent": { "build": { "permission": allowed } } });
    let of_claude =
        json!({ "permissions": { "allow": ["Bash", "Edit", "Write"], "defaultMode": "acceptEdits" } });
    let of_gemini = json!({
        "general": { "defaultApprovalMode": "auto_edit" },
        "tools": { "allowed": ["run_shell_command", "write_file"], "approvalMode": "yolo" },
        "permissions": { "allow": ["Bash", "Edit", "WriteFile"] },
    });
    let of_codex = "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n";
    for (file, text) in [
        ("notes.md", "ebb\nflood\n".to_owned()),
        ("opencode.json", opencode.to_string()),
        (".claude/settings.json", of_claude.to_string()),
        (".gemini/settings.json", of_gemini.to_string()),
        (".qwen/settings.json", of_gemini.to_string()),
        (".codex/config.toml", of_codex.to_owned()),
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The files of a folder with their content, without those of runs.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != ".prose" {
                found.extend(files(&path));
            }
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

/// What is wrong with the judges of an agent.
fn faults(driver: &Driver, model: &AgentModel) -> Vec<String> {
    let project = AgentProject::new(|root| fixtures(model, root));
    let root = project.root();
    allow_everything(&root);
    let mut run = driver.run(&project, &project.provider.address, "none", &program());
    let before = files(&root);
    let run = output(&mut run);
    let mut faults = Vec::new();
    if !run.status.success() {
        faults.push(format!("{}: {}", run.status, String::from_utf8_lossy(&run.stderr)));
    }
    let after = files(&root);
    let is_changed = |path: &PathBuf, text| {
        let is_settings = SETTINGS.iter().any(|settings| *path == root.join(settings));
        !(is_settings && before.contains_key(path)) && before.get(path) != Some(text)
    };
    let changed = after.iter().filter(|(path, text)| is_changed(path, text));
    faults.extend(changed.map(|(path, _)| format!("it has written {}", path.display())));
    faults.extend(
        before
            .keys()
            .filter(|path| !after.contains_key(*path))
            .map(|path| format!("it has removed {}", path.display())),
    );
    // Otherwise, it may only not have tried.
    let asked: Vec<String> =
        project.provider.requests(model.requests).iter().map(|request| request["body"].to_string()).collect();
    for number in 0..QUESTIONS {
        let about = format!("tide number {number}");
        let is_about =
            |body: &&String| body.contains(&format!("{about} ")) || body.contains(&format!("{about}\\n"));
        let count = asked.iter().filter(is_about).count();
        if count < 2 {
            faults.push(format!("the model was asked {count} times about {about}"));
        }
    }
    faults
}

#[test]
#[ignore = "needs npm"]
fn a_judge_changes_nothing_whatever_its_model_calls_and_the_project_allows() {
    each_agent(|driver, model| {
        let faults = faults(driver, model);
        assert!(faults.is_empty(), "{}:\n  {}\n", driver.title, faults.join("\n  "));
    });
}
