//! Which statements and branches of programs the runs of tests executed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use prose_project::files::{identity, shown};
use prose_project::position::Positions;
use prose_syntax::TextRange;
use prose_vm::place::Site;
use prose_vm::program::{Coverable, Program};
use serde::Serialize;
use smol_str::SmolStr;

use crate::runner::{Summary, VariantResult};
use crate::subject::Subject;

/// The coverage of programs by tests: of those that are tested, and of those in their projects that they import.
#[derive(Debug, Default)]
pub struct Coverage {
    files: BTreeMap<PathBuf, Counted>,
    /// The paths of programs by where they were read from.
    paths: BTreeMap<String, PathBuf>,
}

#[derive(Debug)]
struct Counted {
    /// The path as the test file names it.
    shown: PathBuf,
    program: Arc<Program>,
    coverable: Arc<Coverable>,
    /// How often statements were executed, by their ranges.
    executed: BTreeMap<(u32, u32), u64>,
}

/// The coverage of a program.
#[derive(Debug, Clone, Serialize)]
pub struct FileCoverage {
    /// The path of the program.
    pub path: PathBuf,
    /// Its statements, in the order of the text.
    pub statements: Vec<StatementCoverage>,
    /// Its branches, in the order of the text.
    pub branches: Vec<BranchCoverage>,
}

/// How often a statement was executed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementCoverage {
    /// Its line, from 1.
    pub line: u32,
    /// Its column in characters, from 1.
    pub column: usize,
    /// Its bytes.
    #[serde(serialize_with = "bytes")]
    pub range: TextRange,
    /// How often it started.
    pub hits: u64,
}

/// How often a branch was taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BranchCoverage {
    /// The line of the statement that it belongs to, from 1.
    pub line: u32,
    /// The bytes of the statement that it belongs to.
    #[serde(serialize_with = "bytes")]
    pub of: TextRange,
    /// The condition or label as it is written, `else`, `catch`, `body`, or `no branch` where none is taken.
    pub name: SmolStr,
    /// How often it was taken.
    pub hits: u64,
}

fn bytes<S: serde::Serializer>(range: &TextRange, serializer: S) -> Result<S::Ok, S::Error> {
    [u32::from(range.start()), u32::from(range.end())].serialize(serializer)
}

impl Coverage {
    /// Adds a program and those in its project that it imports. Without a run, nothing of them is covered.
    pub fn add_subject(&mut self, subject: &Subject) {
        let path = identity(&subject.path);
        if self.paths.insert(subject.program.from.clone(), path.clone()).is_none() {
            for (path, program) in subject.local_imports() {
                if path.starts_with(&subject.root) {
                    let coverable = || Arc::new(program.coverable());
                    self.paths.insert(program.from.clone(), path.clone());
                    self.add_program(path.clone(), shown(&path), &program, coverable);
                }
            }
        }
        // What is tested itself has the name that its test file gives it.
        let shown = subject.path.clone();
        self.add_program(path.clone(), shown.clone(), &subject.program, || Arc::clone(&subject.coverable));
        if let Some(counted) = self.files.get_mut(&path) {
            counted.shown = shown;
        }
    }

    fn add_program(
        &mut self,
        path: PathBuf,
        shown: PathBuf,
        program: &Arc<Program>,
        coverable: impl FnOnce() -> Arc<Coverable>,
    ) {
        self.files.entry(path).or_insert_with(|| Counted {
            shown,
            program: Arc::clone(program),
            coverable: coverable(),
            executed: BTreeMap::new(),
        });
    }

    /// Adds the runs of a variant of a case of a program.
    pub fn add(&mut self, subject: &Subject, result: &VariantResult) {
        self.add_subject(subject);
        for (from, executed) in result.attempts.iter().flat_map(|attempt| &attempt.executed) {
            let counted = self.paths.get(from).and_then(|path| self.files.get_mut(path));
            let Some(counted) = counted else { continue };
            for (range, times) in executed {
                *counted.executed.entry(*range).or_default() += u64::from(*times);
            }
        }
    }

    /// The coverage of the programs of tests that have ended.
    pub fn of(summary: &Summary, subjects: &[Subject]) -> Self {
        let mut coverage = Self::default();
        for (file, subject) in summary.files.iter().zip(subjects) {
            coverage.add_subject(subject);
            file.results.iter().for_each(|result| coverage.add(subject, result));
        }
        coverage
    }

    /// The coverage of each program, by path.
    pub fn files(&self) -> Vec<FileCoverage> {
        self.files.values().map(Counted::of_file).collect()
    }

    /// The coverage in the format of LCOV, with paths as `name` gives them.
    pub fn lcov(&self, name: impl Fn(&std::path::Path) -> String) -> String {
        let mut out = String::new();
        for file in self.files() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "TN:\nSF:{}", name(&file.path));
            let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
            for statement in &file.statements {
                let hits = lines.entry(statement.line).or_default();
                *hits = (*hits).max(statement.hits);
            }
            let mut blocks: BTreeMap<u32, u32> = BTreeMap::new();
            for branch in &file.branches {
                let number = blocks.entry(branch.line).or_default();
                let is_reached = lines.get(&branch.line).is_some_and(|hits| *hits > 0);
                let taken = if is_reached { branch.hits.to_string() } else { "-".to_owned() };
                let _ = writeln!(out, "BRDA:{},0,{number},{taken}", branch.line);
                *number += 1;
            }
            let taken = file.branches.iter().filter(|branch| branch.hits > 0).count();
            let _ = writeln!(out, "BRF:{}\nBRH:{taken}", file.branches.len());
            for (line, hits) in &lines {
                let _ = writeln!(out, "DA:{line},{hits}");
            }
            let hit = lines.values().filter(|hits| **hits > 0).count();
            let _ = writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len());
        }
        out
    }
}

impl Counted {
    fn hits(&self, site: Site) -> u64 {
        self.executed.get(&(site.start, site.end)).copied().unwrap_or_default()
    }

    fn of_file(&self) -> FileCoverage {
        let range = |site: Site| TextRange::new(site.start.into(), site.end.into());
        let positions = Positions::new(&self.program.text);
        let statements = self.coverable.statements.iter().map(|site| StatementCoverage {
            line: site.line,
            column: positions.position(site.start.into()).column,
            range: range(*site),
            hits: self.hits(*site),
        });
        let mut branches = Vec::new();
        for decision in &self.coverable.decisions {
            let (line, of) = (decision.site.line, range(decision.site));
            let mut taken = 0;
            for branch in &decision.branches {
                let hits = self.hits(branch.first);
                taken += hits;
                branches.push(BranchCoverage { line, of, name: branch.name.clone(), hits });
            }
            if decision.may_skip {
                let hits = self.hits(decision.site).saturating_sub(taken);
                branches.push(BranchCoverage { line, of, name: "no branch".into(), hits });
            }
        }
        FileCoverage { path: self.shown.clone(), statements: statements.collect(), branches }
    }
}

impl FileCoverage {
    /// The number of executed statements.
    pub fn executed(&self) -> usize {
        self.statements.iter().filter(|statement| statement.hits > 0).count()
    }

    /// The number of taken branches.
    pub fn taken(&self) -> usize {
        self.branches.iter().filter(|branch| branch.hits > 0).count()
    }

    /// The lines with statements that were not executed, as in `3, 7-9`.
    pub fn missing_lines(&self) -> String {
        let mut lines: Vec<u32> = self
            .statements
            .iter()
            .filter(|statement| statement.hits == 0)
            .map(|statement| statement.line)
            .collect();
        lines.dedup();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for line in lines {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == line => *last = line,
                _ => ranges.push((line, line)),
            }
        }
        let shown = ranges.into_iter().map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}
