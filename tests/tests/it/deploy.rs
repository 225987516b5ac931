//! The files in `deploy` can be read, and fit the command that they start.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use prose_tests::{prose_binary, repository};
use regex::Regex;
use saphyr::{LoadableYamlNode, Yaml};

const CHART: &str = "helm/prose";

fn read(path: &str) -> String {
    let path = repository().join("deploy").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn documents<'a>(name: &str, text: &'a str) -> Vec<Yaml<'a>> {
    Yaml::load_from_str(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
}

fn templates() -> Vec<(String, String)> {
    let folder = repository().join("deploy").join(CHART).join("templates");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
    paths.map(text).collect()
}

#[test]
fn the_server_and_the_workers_of_compose_share_a_password_in_a_file() {
    let text = read("compose.yaml");
    let compose = &documents("compose.yaml", &text)[0];
    let secret = compose["secrets"]["postgres-password"]["file"].as_str();
    assert_eq!(secret, Some("./postgres-password"));
    for service in ["database", "worker"] {
        let secrets = compose["services"][service]["secrets"].as_sequence().unwrap();
        assert_eq!(secrets[0].as_str(), Some("postgres-password"), "{service}");
    }
    let context = compose["services"]["worker"]["build"]["context"].as_str().unwrap();
    let dockerfile = compose["services"]["worker"]["build"]["dockerfile"].as_str().unwrap();
    assert!(repository().join("deploy").join(context).join(dockerfile).is_file());
}

#[test]
fn templates_of_the_chart_use_values_that_exist() {
    let text = read(&format!("{CHART}/values.yaml"));
    let values = &documents("values.yaml", &text)[0];
    let name = Regex::new(r"\.Values((?:\.\w+)+)").unwrap();
    let mut used = BTreeSet::new();
    for (path, template) in templates() {
        for found in name.captures_iter(&template) {
            let mut value = values;
            for part in found[1].split('.').skip(1) {
                let next = value.as_mapping_get(part);
                value = next.unwrap_or_else(|| panic!("{path}: `{}` is not in values.yaml", &found[0]));
            }
            used.insert(found[1].to_owned());
        }
    }
    assert!(used.len() > 15, "{used:?}");
}

#[test]
fn templates_of_the_chart_are_yaml_with_something_in_each_place() {
    let whole_line = Regex::new(r"(?m)^ *\{\{.*\}\} *$\n").unwrap();
    let place = Regex::new(r"\{\{.*?\}\}").unwrap();
    let mut kinds = BTreeSet::new();
    for (path, template) in templates().into_iter().filter(|(path, _)| path.ends_with(".yaml")) {
        // The key of a secret is a place, too.
        let without_lines = template.replace("  {{ .Values.database.secret.key }}:", "  key:");
        let text = whole_line.replace_all(&without_lines, "");
        let text = place.replace_all(&text, "place");
        for document in documents(&path, &text) {
            kinds.insert(document["kind"].as_str().unwrap().to_owned());
        }
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(kinds, ["Deployment", "Secret", "Service", "StatefulSet"]);
}

#[test]
fn workers_are_started_with_options_that_exist() {
    let help = Command::new(prose_binary()).args(["worker", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let option = Regex::new(r"--[a-z][a-z-]+").unwrap();
    let known: BTreeSet<&str> = option.find_iter(&help).map(|found| found.as_str()).collect();
    // From the place where the worker is started to the end of its command.
    for (path, begin, end) in [
        ("Dockerfile", "CMD [", "]"),
        ("compose.yaml", "prose worker", "\n"),
        ("prose-worker.service", "ExecStart=", "\n"),
        ("helm/prose/templates/workers.yaml", "args:", "env:"),
    ] {
        let text = read(path);
        let (_, command) = text.split_once(begin).unwrap_or_else(|| panic!("{path} has no `{begin}`"));
        let command = command.split(end).next().unwrap_or_default();
        let used: BTreeSet<&str> = option.find_iter(command).map(|found| found.as_str()).collect();
        assert!(used.contains("--on"), "{path}: {command}");
        assert!(used.is_subset(&known), "{path}: {used:?}, known: {known:?}");
    }
}
