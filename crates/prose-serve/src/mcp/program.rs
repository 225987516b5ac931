//! The program that a call names.

use std::path::PathBuf;

use prose_project::files::read_program;

use crate::folder::{Folder, UNNAMED};

/// A program by its path, its text, or both.
pub(super) struct Named {
    pub(super) path: Option<String>,
    pub(super) text: Option<String>,
}

impl Named {
    /// The file, and its text. A path with a number is that of a program in a document, whose other programs are left out.
    pub(super) fn read(self, folder: &Folder) -> Result<(PathBuf, String), String> {
        let named = match (self.path, &self.text) {
            (Some(path), _) => path,
            (None, Some(_)) => UNNAMED.to_owned(),
            (None, None) => return Err("pass the `path` of a program or its `text`".to_owned()),
        };
        let path = folder.place(&named)?;
        if let Some(text) = self.text {
            return Ok((path, text));
        }
        let numbered = prose_markdown::program_at_path(&path).filter(|_| !path.exists());
        let Some((document, number)) = numbered else {
            let text = read_program(&path).map_err(|reason| format!("`{named}` {reason}"))?;
            return Ok((path, text));
        };
        let text = read_program(&document).map_err(|reason| format!("`{named}` {reason}"))?;
        let part = prose_project::parts::part(&document, &text, Some(number));
        let text = part.map_err(|reason| format!("`{named}` {reason}"))?.text().to_owned();
        Ok((path, text))
    }
}
