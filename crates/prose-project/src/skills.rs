//! The skills of agents: folders with a `SKILL.md`.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use prose_analysis::rights::skill_path;
use prose_analysis::skills::{MissingSkill, MissingSkills, NamedSkill};
use prose_config::{Config, NamedInSettings, Project};
use prose_rights::normalized;
use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Diagnostic, Fix};
use smol_str::SmolStr;

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// Where the agents of a harness find skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// They load none.
    None,
    /// It is not known, or they need none because no model is asked.
    Unknown,
    /// In these folders of the project and the folders above, and in these folders of the home folder.
    Folders { project: &'static [&'static str], home: &'static [&'static str] },
}

const OF_CLAUDE: Source = Source::Folders { project: &[".claude/skills"], home: &[".claude/skills"] };
const OF_CODEX: Source = Source::Folders {
    project: &[".agents/skills", ".codex/skills"],
    home: &[".agents/skills", ".codex/skills", ".codex/skills/.system"],
};
const OF_OPENCODE: Source = Source::Folders {
    project: &[".opencode/skill", ".opencode/skills", ".claude/skills", ".agents/skills"],
    home: &[".config/opencode/skill", ".config/opencode/skills", ".claude/skills", ".agents/skills"],
};
const OF_GEMINI: Source = Source::Folders {
    project: &[".gemini/skills", ".agents/skills"],
    home: &[".gemini/skills", ".agents/skills"],
};
const OF_QWEN: Source = Source::Folders {
    project: &[".qwen/skills", ".agents/skills"],
    home: &[".qwen/skills", ".agents/skills"],
};

/// The skills of each harness.
const SOURCES: &[(&str, Source)] = &[
    ("offline", Source::Unknown),
    ("script", Source::Unknown),
    ("claude", OF_CLAUDE),
    ("codex", OF_CODEX),
    ("opencode", OF_OPENCODE),
    ("claude-agent-acp", OF_CLAUDE),
    ("codex-acp", OF_CODEX),
    ("gemini", OF_GEMINI),
    ("opencode-acp", OF_OPENCODE),
    ("qwen", OF_QWEN),
    ("acp", Source::Unknown),
    ("command", Source::None),
    ("provider", Source::None),
];

/// Whether a skill is named by a path, and not by a name that agents look for.
pub fn is_path(skill: &str) -> bool {
    skill_path(skill).is_some()
}

/// What is wrong with a skill that a session names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillProblem {
    /// The agents of the harness load no skills.
    NotLoaded,
    /// The folder has no `SKILL.md`.
    NoFile(PathBuf),
    /// No skill has the name. The folder is the one in which it could be added.
    Unknown {
        /// The folder in the project.
        folder: &'static str,
    },
}

/// Finds the skills of agents that work in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skills {
    /// The folder of the project.
    pub root: PathBuf,
    /// The home folder of the user.
    pub home: Option<PathBuf>,
}

impl Skills {
    /// The skills in a project and in the home folder of the user.
    pub fn of(root: &Path) -> Self {
        Self { root: root.to_owned(), home: std::env::home_dir() }
    }

    /// What is wrong with a skill for the agents of a harness.
    pub fn problem(&self, harness: &str, name: &str) -> Option<SkillProblem> {
        let source = source(harness);
        if source == Source::None {
            return Some(SkillProblem::NotLoaded);
        }
        if let Some(path) = skill_path(name) {
            let file = skill_file(&self.root.join(path));
            let asks_model = !matches!(harness, "offline" | "script");
            return (asks_model && !file.is_file()).then_some(SkillProblem::NoFile(file));
        }
        let Source::Folders { project, .. } = source else { return None };
        // Skills of plugins have the name of their plugin before a colon.
        let is_known = name.contains(':') || self.folders(harness).any(|folder| has_skill(&folder, name));
        (!is_known).then_some(SkillProblem::Unknown { folder: project[0] })
    }

    /// The names of the skills that the agents of a harness find; `None` if that is not known.
    pub fn names(&self, harness: &str) -> Option<BTreeSet<String>> {
        match source(harness) {
            Source::None => Some(BTreeSet::new()),
            Source::Unknown => None,
            Source::Folders { .. } => {
                Some(self.folders(harness).flat_map(|folder| skills_in(&folder)).collect())
            }
        }
    }

    /// What is wrong with a skill for the agents of a harness, in one clause, with the skill that was probably meant.
    fn missing(&self, harness: &str, name: &str) -> Option<MissingSkill> {
        let near = self.near(harness, name).map(SmolStr::from);
        let hint = |hint: String| if near.is_some() { String::new() } else { hint };
        let message = match self.problem(harness, name)? {
            SkillProblem::NotLoaded => {
                let message = format!("harness `{harness}` loads no skills; `claude` and others do");
                return Some(MissingSkill { message, near: None });
            }
            SkillProblem::NoFile(_) => {
                let path = name.trim_end_matches('/').trim_end_matches(SKILL_FILE).trim_end_matches('/');
                format!("`{path}/{SKILL_FILE}` does not exist")
            }
            SkillProblem::Unknown { folder } => {
                let hint = hint(format!("; add `{folder}/{name}/{SKILL_FILE}`"));
                format!("skill `{name}` does not exist for harness `{harness}`{hint}")
            }
        };
        Some(MissingSkill { message, near })
    }

    /// The skill that was probably meant by a name, or by a path of a folder.
    fn near(&self, harness: &str, name: &str) -> Option<String> {
        let Some(path) = skill_path(name) else { return nearest(name, self.names(harness)?, |name| name) };
        let (parent, last) = path.trim_end_matches('/').rsplit_once('/')?;
        let near = nearest(last, skills_in(&self.root.join(parent)), |name| name)?;
        Some(format!("{parent}/{near}"))
    }

    /// The folders in the project, and above it up to that of the repository, that a name or a path of a skill stands for with the agents of any harness.
    /// Each comes with its path from the folder of a project in which they find it, too. Links that lead out of there do not count.
    pub fn folders_of(&self, skill: &str) -> Vec<(PathBuf, String)> {
        let above = self.above();
        let is_inside = |folder: &Path| {
            let folder = folder.canonicalize();
            folder.is_ok_and(|folder| above.last().is_some_and(|top| folder.starts_with(top)))
        };
        if let Some(path) = skill_path(skill) {
            let path = normalized(path);
            let path = path.strip_suffix(SKILL_FILE).map_or(&*path, |folder| folder.trim_end_matches('/'));
            let is_below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let folder = self.root.join(path);
            let is_skill = is_below && !path.is_empty() && has_skill(&self.root, path) && is_inside(&folder);
            return if is_skill { vec![(folder, path.to_owned())] } else { Vec::new() };
        }
        let places: BTreeSet<&str> = SOURCES
            .iter()
            .filter_map(|(_, source)| match source {
                Source::Folders { project, .. } => Some(*project),
                Source::None | Source::Unknown => None,
            })
            .flatten()
            .copied()
            .collect();
        let nearest = |place: &str| {
            let all = above.iter().map(|folder| folder.join(place));
            all.filter(|at| has_skill(at, skill)).map(|at| at.join(skill)).find(|folder| is_inside(folder))
        };
        places.into_iter().filter_map(|place| Some((nearest(place)?, format!("{place}/{skill}")))).collect()
    }

    /// The folders in which agents look for those of their skills: that of the project, and those above up to the folder of the repository.
    fn above(&self) -> Vec<PathBuf> {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let repository = root.ancestors().position(|folder| folder.join(".git").exists());
        root.ancestors().take(repository.map_or(1, |at| at + 1)).map(Path::to_owned).collect()
    }

    fn folders(&self, harness: &str) -> impl Iterator<Item = PathBuf> {
        let (project, home) = match source(harness) {
            Source::Folders { project, home } => (project, home),
            Source::None | Source::Unknown => (&[][..], &[][..]),
        };
        let of_project = self
            .above()
            .into_iter()
            .flat_map(move |folder| project.iter().map(move |name| folder.join(name)).collect::<Vec<_>>());
        let of_home = self.home.clone().into_iter();
        let of_home = of_home.flat_map(move |folder| home.iter().map(move |name| folder.join(name)));
        of_project.chain(of_home)
    }
}

/// The skills that cannot be used of those that programs of a project name, for the harnesses of its settings.
pub fn missing(config: &Config, root: &Path, named: &BTreeSet<NamedSkill>) -> MissingSkills {
    let skills = Skills::of(root);
    let missing = named.iter().filter_map(|skill| {
        let own = skill.agent.as_ref().and_then(|agent| config.agents.get(agent.as_str()));
        // The settings replace the skills of the program.
        if own.is_some_and(|own| own.skills.is_some()) {
            return None;
        }
        let harness = own.and_then(|own| own.harness).unwrap_or(config.run.harness);
        Some((skill.clone(), skills.missing(harness.as_str(), &skill.name)?))
    });
    Arc::new(missing.collect())
}

/// The skills of `[agents.NAME]` that cannot be used.
pub(crate) fn problems(project: &Project, root: &Path) -> Vec<Diagnostic> {
    let skills = Skills::of(root);
    let config = &project.config;
    let problems = project.named_skills.iter().filter_map(|NamedInSettings { agent, name, range }| {
        let own = config.agents.get(agent)?.harness;
        let harness = own.unwrap_or(config.run.harness);
        let MissingSkill { message, near } = skills.missing(harness.as_str(), name)?;
        let Some(near) = near else { return Some(Diagnostic::new(Code::W152, *range, message)) };
        let fix = Fix::change(*range, &format!("\"{near}\""));
        let message = format!("{message}; did you mean `{near}`?");
        Some(Diagnostic::new(Code::W152, *range, message).with_fix(fix))
    });
    problems.collect()
}

fn source(harness: &str) -> Source {
    SOURCES.iter().find(|(name, _)| *name == harness).map_or(Source::Unknown, |(_, source)| *source)
}

/// The names of the skills in a folder.
fn skills_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let skills = entries.filter(|entry| skill_file(&entry.path()).is_file());
    skills.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn has_skill(folder: &Path, name: &str) -> bool {
    skill_file(&folder.join(name)).is_file()
}

/// The file of a skill in a folder, or the file itself.
fn skill_file(path: &Path) -> PathBuf {
    match path.file_name().is_some_and(|name| name == SKILL_FILE) {
        true => path.to_owned(),
        false => path.join(SKILL_FILE),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::expect;

    use super::*;

    fn project(skills: &[&str]) -> (tempfile::TempDir, Skills) {
        let folder = tempfile::tempdir().unwrap();
        let (root, home) = (folder.path().join("project/deep"), folder.path().join("home"));
        fs::create_dir_all(folder.path().join("project/.git")).unwrap();
        fs::create_dir_all(&root).unwrap();
        for skill in skills {
            let path = folder.path().join(skill);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join(SKILL_FILE), "---\nname: x\n---\n").unwrap();
        }
        (folder, Skills { root, home: Some(home) })
    }

    #[test]
    fn skills_are_found_where_the_agent_looks() {
        let (_folder, skills) = project(&[
            "project/deep/.claude/skills/review",
            "project/.claude/skills/style",
            "home/.claude/skills/mine",
            "home/.agents/skills/theirs",
        ]);
        let names = |harness: &str| {
            let names = skills.names(harness).unwrap();
            names.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("claude"), "mine review style");
        assert_eq!(names("codex"), "theirs");
        assert_eq!(names("opencode"), "mine review style theirs");
        assert_eq!(skills.names("acp"), None);
        assert_eq!(skills.problem("claude", "review"), None);
        assert_eq!(skills.problem("claude", "plugin:review"), None);
        assert_eq!(
            skills.problem("codex", "review"),
            Some(SkillProblem::Unknown { folder: ".agents/skills" })
        );
        assert_eq!(skills.problem("provider", "review"), Some(SkillProblem::NotLoaded));
        assert_eq!(skills.problem("offline", "anything"), None);
    }

    #[test]
    fn missing_skills_of_programs_and_settings_come_with_the_similar_ones() {
        let (_folder, skills) = project(&["project/deep/.claude/skills/review", "project/deep/tools/tables"]);
        let settings = r#"
[run]
harness = "claude"
[agents.writer]
skills = ["reviw", "review", "./tools/table"]
[agents.clerk]
harness = "provider"
"#;
        let settings = Project::parse(None, settings.to_owned());
        let named = |agent: &str, name: &str| NamedSkill { agent: Some(agent.into()), name: name.into() };
        let programs = BTreeSet::from([
            named("reader", "reviw"),
            named("reader", "review"),
            named("reader", "charts"),
            named("reader", "./tools/tabels"),
            named("clerk", "review"),
            // The settings have others.
            named("writer", "charts"),
        ]);
        let missing = missing(&settings.config, &skills.root, &programs);
        let missing: Vec<_> = missing
            .iter()
            .map(|(skill, missing)| {
                let near = missing.near.as_deref().unwrap_or("-");
                format!("{}: {} ({near})", skill.agent.as_deref().unwrap_or("-"), missing.message)
            })
            .collect();
        expect![[r#"
            clerk: harness `provider` loads no skills; `claude` and others do (-)
            reader: `./tools/tabels/SKILL.md` does not exist (./tools/tables)
            reader: skill `charts` does not exist for harness `claude`; add `.claude/skills/charts/SKILL.md` (-)
            reader: skill `reviw` does not exist for harness `claude` (review)"#]].assert_eq(&missing.join("\n"));
        let problems: Vec<_> = problems(&settings, &skills.root)
            .into_iter()
            .map(|problem| format!("{}: {}", &settings.text[problem.range], problem.message))
            .collect();
        expect![[r#"
            "reviw": skill `reviw` does not exist for harness `claude`; did you mean `review`?
            "./tools/table": `./tools/table/SKILL.md` does not exist; did you mean `./tools/tables`?"#]]
        .assert_eq(&problems.join("\n"));
    }

    #[test]
    fn names_and_paths_stand_for_folders_wherever_agents_look() {
        let (folder, skills) = project(&[
            "project/deep/.claude/skills/review",
            "project/.claude/skills/review",
            "project/.agents/skills/review",
            "project/deep/tools/tables",
            "project/outside",
            "home/.claude/skills/mine",
        ]);
        let project = folder.path().canonicalize().unwrap().join("project");
        let found = |skill: &str| -> Vec<String> {
            let found = skills.folders_of(skill).into_iter().map(|(from, to)| {
                let from = from.canonicalize().unwrap();
                format!("{} as {to}", from.strip_prefix(&project).unwrap().display())
            });
            found.collect()
        };
        let review = [
            ".agents/skills/review as .agents/skills/review",
            "deep/.claude/skills/review as .claude/skills/review",
        ];
        assert_eq!(found("review"), review);
        assert_eq!(found("./tools/tables"), ["deep/tools/tables as tools/tables"]);
        assert_eq!(found("tools/tables/SKILL.md"), ["deep/tools/tables as tools/tables"]);
        for nothing in ["mine", "plugin:review", "../outside", "./nothing", "./", "~/x", "/etc"] {
            assert_eq!(found(nothing), [""; 0], "{nothing}");
        }
    }

    #[test]
    fn a_path_names_a_folder_of_the_project() {
        let (_folder, skills) = project(&["project/deep/tools/tables"]);
        assert_eq!(skills.problem("claude", "./tools/tables"), None);
        assert_eq!(skills.problem("acp", "tools/tables/SKILL.md"), None);
        let missing = skills.root.join("./tools/chairs").join(SKILL_FILE);
        assert_eq!(skills.problem("codex", "./tools/chairs"), Some(SkillProblem::NoFile(missing)));
    }
}
