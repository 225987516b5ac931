//! The decision whether a test file can be run, the same for `prose test` and for editors.

use std::path::Path;

use prose_syntax::{Code, Diagnostic};

use crate::file::TestFile;
use crate::subject::{Subject, Unloadable};

/// Why the cases of a test file cannot be run.
#[derive(Debug, Clone, Default)]
pub struct Faulty {
    /// What is wrong, with its place in the test file. It is never empty.
    pub problems: Vec<Diagnostic>,
    /// The program, if the problem is that it cannot be loaded.
    pub program: Option<Box<Unloadable>>,
}

impl TestFile {
    /// The program of the file, if its cases can be run. `load` loads it from its path, unless the file itself has mistakes already.
    pub fn check(
        &self,
        load: impl FnOnce(&Path) -> Result<Subject, Box<Unloadable>>,
    ) -> Result<Subject, Faulty> {
        if !self.problems.is_empty() {
            return Err(Faulty { problems: self.problems.clone(), program: None });
        }
        let subject = match load(&self.program) {
            Ok(subject) => subject,
            Err(unloadable) => {
                let range = self.program_range.unwrap_or_default();
                let message = format!("`{}` {}", self.program_name().display(), unloadable.reason);
                let problems = vec![Diagnostic::new(Code::E151, range, message)];
                return Err(Faulty { problems, program: Some(unloadable) });
            }
        };
        let problems = self.problems_with(&subject);
        if problems.is_empty() { Ok(subject) } else { Err(Faulty { problems, program: None }) }
    }

    /// The program as the file names it: relative to the folder of the file.
    fn program_name(&self) -> &Path {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        self.program.strip_prefix(folder).unwrap_or(&self.program)
    }
}
