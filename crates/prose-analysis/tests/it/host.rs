//! What the host knows of programs, and what it looks for.

use std::path::Path;
use std::sync::Arc;

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::statements::parse;
use prose_analysis::{AnalysisHost, Text};

/// An editor and `prose check --fix` have texts that are newer than the files.
#[test]
fn a_program_that_was_given_is_not_read_again() {
    let mut host = AnalysisHost::default();
    let importer = host.set_text(Path::new("/a.prose"), Text::new("use \"./b.prose\" as b\n\noutput b()\n"));
    host.set_text(Path::new("/b.prose"), Text::new("output \"new\"\n"));
    let mut read = Vec::new();
    host.load_imports(importer, |path| {
        read.push(path.to_owned());
        Some("session 'old'\n".to_owned())
    });
    assert_eq!(read, <[&Path; 0]>::default());
    assert_eq!(importer.text(host.db()).as_str(), "use \"./b.prose\" as b\n\noutput b()\n");
    assert_eq!(diagnostics(host.db(), importer).len(), 0, "{:?}", diagnostics(host.db(), importer));
}

#[test]
fn a_program_that_is_given_while_it_is_looked_for_is_not_read_again() {
    let mut host = AnalysisHost::default();
    let importer = host.set_text(Path::new("/a.prose"), Text::new("use \"./b.prose\" as b\n\noutput b()\n"));
    diagnostics(host.db(), importer);
    let imported = host.set_text(Path::new("/b.prose"), Text::new("output \"new\"\n"));
    host.load_imports(importer, |path| panic!("{path:?} is known"));
    assert_eq!(imported.text(host.db()).as_str(), "output \"new\"\n");
}

#[test]
fn nothing_is_kept_of_a_program_that_was_removed() {
    let mut host = AnalysisHost::default();
    let path = Path::new("/a.prose");
    let file = host.set_text(path, Text::new("let x = session \"Go\"\n"));
    diagnostics(host.db(), file);
    let text = Arc::downgrade(&file.text(host.db()).shared());
    let tree = Arc::downgrade(parse(host.db(), file));
    assert!(text.upgrade().is_some() && tree.upgrade().is_some());
    host.remove(path);
    // What is thrown away is so with the next change.
    host.set_text(Path::new("/b.prose"), Text::new(""));
    assert!(text.upgrade().is_none() && tree.upgrade().is_none());
}
