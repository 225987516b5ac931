//! Skills that the harness of a project does not have, as a loader reports them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use crate::support::found;
use expect_test::{Expect, expect};
use prose_analysis::host::{LoadError, Loader};
use prose_analysis::skills::{MissingSkill, MissingSkills, NamedSkill};
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::{Code, Profile};

/// A harness that has the skill `review` and nothing else.
struct HasReview;

impl Loader for HasReview {
    fn file(&mut self, _: &Path) -> Result<String, LoadError> {
        Err(LoadError::Missing)
    }

    fn missing_skills(&mut self, _: &Path, named: &BTreeSet<NamedSkill>) -> MissingSkills {
        let missing = named.iter().filter(|skill| skill.name != "review").map(|skill| {
            let agent = skill.agent.as_deref().unwrap_or("no agent");
            let near = skill.name.starts_with("rev").then(|| "review".into());
            let message = format!("`{}` of {agent} does not exist", skill.name);
            (skill.clone(), MissingSkill { message, near })
        });
        Arc::new(missing.collect())
    }
}

#[track_caller]
fn check(program: &str, expected: Expect) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(program));
    host.load_imports_with(file, &mut HasReview);
    let mut shown = String::new();
    for (severity, found) in found(&host, file, Profile::Default) {
        let text = &program[std::ops::Range::<usize>::from(found.range)];
        let fix = found.fix.map(|fix| format!(" [{}]", fix.title)).unwrap_or_default();
        writeln!(shown, "{severity:?}[{}] {text}: {}{fix}", found.code, found.message).unwrap();
    }
    expected.assert_eq(&shown);
}

#[test]
fn skills_that_do_not_exist_are_reported_at_their_names() {
    check(
        r#"input name: "Which"

agent reviewer:
  prompt: "Review"
  skills: ["review", "reviw", "{name}"]

session: reviewer
  skills: ["web-search"]
session "Alone"
  skills: ["./tools/x"]
"#,
        expect![[r#"
            Information[W007] review: skill `review` is not imported; add `use "handle/review"` unless the host provides it
            Warning[W152] reviw: `reviw` of reviewer does not exist; did you mean `review`? [Change to `review`]
            Warning[W152] web-search: `web-search` of reviewer does not exist
            Warning[W152] ./tools/x: `./tools/x` of no agent does not exist
        "#]],
    );
}

#[test]
fn a_skill_that_exists_now_is_not_reported_any_more() {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new("session \"Look\"\n  skills: [\"x\"]\n"));
    let mut codes = |loads: &mut dyn FnMut(&mut AnalysisHost)| -> Vec<Code> {
        loads(&mut host);
        found(&host, file, Profile::Default).into_iter().map(|(_, found)| found.code).collect()
    };
    assert_eq!(codes(&mut |host| host.load_imports_with(file, &mut HasReview)), [Code::W152]);
    // That no import brings it is less than that it does not exist.
    assert_eq!(codes(&mut |host| host.load_imports(file, |_| None)), [Code::W007]);
}
