//! The sample programs: sound ones that together use every construct, and ones with planted mistakes.

use std::path::Path;

pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) text: String,
}

pub(crate) fn sound() -> Vec<Program> {
    programs_in("tests/programs")
}

pub(crate) fn with_mistakes() -> Vec<Program> {
    programs_in("tests/programs/mistakes")
}

pub(crate) fn all() -> Vec<Program> {
    let mut programs = sound();
    programs.extend(with_mistakes());
    programs
}

fn programs_in(folder: &str) -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut programs: Vec<Program> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "prose"))
        .map(|path| Program {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            text: std::fs::read_to_string(&path).unwrap(),
        })
        .collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!programs.is_empty(), "no programs in {}", folder.display());
    programs
}
