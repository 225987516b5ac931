//! The programs in a Markdown document: its fenced code blocks whose info string starts with `prose` or `openprose`.
//!
//! [`programs`] finds them by the rules of CommonMark. Each is a program of its own, whose text is that of the document without what stands
//! before it in each line: the mark of a block quote, the indentation of a list item or of the fence. So every line of a program is the end
//! of a line of the document, and a [`Fence`] maps between them: it turns places and edits in the program into such in the document, and places in the
//! document into such in the program.

mod fence;
mod find;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use prose_syntax::Code;

pub use fence::Fence;
pub use find::programs;

/// Whether a path names a Markdown document.
pub fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["md", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// What stands for a program in place of a path: `README.md#2` is the second program of `README.md`. Its folder is that of the document,
/// so that its imports are relative to the document.
pub fn path_of_program(document: &Path, number: usize) -> PathBuf {
    let mut path = OsString::from(document);
    path.push(format!("#{number}"));
    path.into()
}

/// The document and the number of the program that a path such as `README.md#2` stands for; none if it is no such path.
pub fn program_at_path(path: &Path) -> Option<(PathBuf, usize)> {
    let (document, number) = path.to_str()?.rsplit_once('#')?;
    let number = number.parse().ok().filter(|number| *number > 0)?;
    is_markdown(Path::new(document)).then(|| (document.into(), number))
}

/// Whether a diagnostic of that code is worth reporting in a document. Documents show parts of programs, so that nothing uses an agent is no
/// news there, while everything else that is wrong would mislead readers.
pub fn is_reported(code: Code) -> bool {
    !matches!(code, Code::W115 | Code::W116 | Code::W117 | Code::W119 | Code::W120)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_programs_lead_back_to_their_documents() {
        let path = path_of_program(Path::new("/docs/READ ME.md"), 12);
        assert_eq!(path, Path::new("/docs/READ ME.md#12"));
        assert_eq!(program_at_path(&path), Some(("/docs/READ ME.md".into(), 12)));
        for other in
            ["/docs/README.md", "/docs/README.md#", "/docs/a.md#0", "/docs/a.md#intro", "/a.prose#2", "#1"]
        {
            assert_eq!(program_at_path(Path::new(other)), None, "{other}");
        }
    }
}
