//! Finds programs and their imports, for the commands about imports.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;
use prose_analysis::location::Remote;
use prose_config::FetchMode;
use prose_project::checker::{Checker, Context};
use prose_project::files::{read_program, shown};
use prose_project::imports::{ImportOptions, Imports, Needs, ProjectImports, block_on};
use prose_project::{Failure, Settings, walk};
use prose_registry::{Client, Freshness, Reference, Visited};

use crate::terminal::{Terminal, write_failures, write_remarks};

/// The imports of programs before they are fetched.
pub(crate) struct Gathered {
    imports: Imports,
    failures: Vec<Failure>,
    ignored: Vec<String>,
}

/// The fetched imports of a project: each program with its client, in order.
pub(crate) struct Walked {
    pub(crate) project: Arc<ProjectImports>,
    pub(crate) programs: Vec<(Client, Visited)>,
}

impl Gathered {
    /// Collects the imports of the programs at these paths, and these references.
    pub(crate) fn new(paths: &[PathBuf], references: Vec<Reference>, options: ImportOptions) -> Self {
        let mut failures = Vec::new();
        let mut settings = Settings::default();
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let mut walked = walk::programs(paths, threads);
        let files = walked.files(&mut settings);
        failures.extend(walked.failures);
        let programs: Vec<_> = files.into_iter().map(|path| (settings.of(&path), path)).collect();
        // A project without imports may have a lock file.
        let projects: Vec<_> = paths.iter().map(|path| settings.of(&inside(path))).collect();
        let here = settings.of(&inside(Path::new(".")));
        failures.extend(settings.take_failures());
        let ignored = settings.take_ignored();

        let context = Context::new(settings, Imports::new(options));
        for rules in projects.iter().chain(programs.iter().map(|(rules, _)| rules)) {
            context.imports.of(rules);
        }
        let mut checker = Checker::new(&context);
        for (rules, path) in &programs {
            match read_program(path) {
                Ok(text) => _ = checker.note_imports(path, &text, rules),
                Err(reason) => failures.push(Failure { path: path.clone(), reason }),
            }
        }
        if !references.is_empty() {
            let registry = here.meaning().registry;
            let remote = |reference| Remote { registry: registry.clone(), reference };
            let roots = references.into_iter().map(remote).collect();
            context.imports.of(&here).add(Needs { roots, are_unknown: true });
        }
        Self { imports: context.imports, failures, ignored }
    }

    /// The projects, sorted by path.
    pub(crate) fn projects(&self) -> Vec<Arc<ProjectImports>> {
        self.imports.projects()
    }

    /// Adds a failure.
    pub(crate) fn fail(&mut self, path: impl AsRef<Path>, reason: impl ToString) {
        self.failures.push(Failure { path: shown(path.as_ref()), reason: reason.to_string() });
    }

    /// Fetches everything.
    pub(crate) fn walk(&mut self) -> Vec<Walked> {
        let mut projects = self.projects();
        projects.retain(|project| {
            let why_not = match project.fetch() {
                _ if !project.has_remote_imports() => None,
                FetchMode::Off => Some("disables fetching: `registry.fetch` is \"off\""),
                _ if project.registry.url.is_empty() => {
                    Some("has no valid registry; run `prose check` for details")
                }
                FetchMode::Automatic | FetchMode::Manual => None,
            };
            if let Some(why_not) = why_not {
                self.fail(project.lock_path.with_file_name(prose_config::FILE_NAME), why_not);
            }
            why_not.is_none()
        });
        let walks = projects.iter().map(|project| project.walk(Freshness::Now));
        match block_on(join_all(walks.collect::<Vec<_>>())) {
            Ok(walked) => {
                let walked = projects.into_iter().zip(walked);
                walked.map(|(project, programs)| Walked { project, programs }).collect()
            }
            Err(error) => {
                self.fail(".", format!("has imports that cannot be resolved: {error}"));
                Vec::new()
            }
        }
    }

    /// Reports the failures. Returns whether a failure prevented some of the work.
    pub(crate) fn report(&mut self, terminal: &Terminal) -> io::Result<bool> {
        self.failures.extend(self.imports.take_failures());
        let mut remarks = std::mem::take(&mut self.ignored);
        remarks.extend(self.imports.take_remarks());
        write_failures(&mut terminal.stderr(), &self.failures)?;
        write_remarks(&mut terminal.stderr(), &remarks)?;
        Ok(!self.failures.is_empty())
    }
}

/// A path in the folder at a path, if that is a folder: settings are found from the folder of a program.
fn inside(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("program.prose") } else { path.to_owned() }
}
