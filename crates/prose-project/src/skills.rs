//! The skills of agents: folders with a `SKILL.md`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use prose_analysis::rights::skill_path;

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
                let entries = self.folders(harness).flat_map(|folder| {
                    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
                    entries.filter(|entry| skill_file(&entry.path()).is_file()).collect::<Vec<_>>()
                });
                Some(entries.filter_map(|entry| entry.file_name().into_string().ok()).collect())
            }
        }
    }

    fn folders(&self, harness: &str) -> impl Iterator<Item = PathBuf> {
        let (project, home) = match source(harness) {
            Source::Folders { project, home } => (project, home),
            Source::None | Source::Unknown => (&[][..], &[][..]),
        };
        // Agents look up to the folder of the repository.
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let repository = root.ancestors().position(|folder| folder.join(".git").exists());
        let above: Vec<PathBuf> =
            root.ancestors().take(repository.map_or(1, |at| at + 1)).map(Path::to_owned).collect();
        let of_project = above
            .into_iter()
            .flat_map(move |folder| project.iter().map(move |name| folder.join(name)).collect::<Vec<_>>());
        let of_home = self.home.clone().into_iter();
        let of_home = of_home.flat_map(move |folder| home.iter().map(move |name| folder.join(name)));
        of_project.chain(of_home)
    }
}

/// Whether the agents of a harness load skills; `None` if that is not known.
pub fn loads_skills(harness: &str) -> Option<bool> {
    match source(harness) {
        Source::None => Some(false),
        Source::Unknown => None,
        Source::Folders { .. } => Some(true),
    }
}

fn source(harness: &str) -> Source {
    SOURCES.iter().find(|(name, _)| *name == harness).map_or(Source::Unknown, |(_, source)| *source)
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
    fn a_path_names_a_folder_of_the_project() {
        let (_folder, skills) = project(&["project/deep/tools/tables"]);
        assert_eq!(skills.problem("claude", "./tools/tables"), None);
        assert_eq!(skills.problem("acp", "tools/tables/SKILL.md"), None);
        let missing = skills.root.join("./tools/chairs").join(SKILL_FILE);
        assert_eq!(skills.problem("codex", "./tools/chairs"), Some(SkillProblem::NoFile(missing)));
    }
}
