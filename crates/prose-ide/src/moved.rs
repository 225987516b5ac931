//! Updating the paths of imports when files are moved.

use std::path::{Component, Path, PathBuf};

use prose_analysis::imports::reference;
use prose_analysis::location::Origin;
use prose_analysis::location::local_path;
use prose_analysis::model::*;
use prose_analysis::statements::{body, statements};
use prose_analysis::{Db, SourceFile};
use prose_reference::Reference;
use prose_syntax::{TextEdit, TextSize};

/// The edits after which the `use` paths of a file name the same programs as before, once files were moved; the file may be one of them.
/// `moved` returns the new path of a path.
pub fn moved_imports(db: &dyn Db, file: SourceFile, moved: impl Fn(&Path) -> PathBuf) -> Vec<TextEdit> {
    if *file.origin(db) != Origin::Local {
        return Vec::new();
    }
    let (before, after) = (file.path(db), moved(file.path(db)));
    let mut edits = Vec::new();
    for placed in &statements(db, file).list {
        let (body, start) = (body(db, placed.statement), TextSize::from(placed.start));
        for (_, data) in body.stmts() {
            let Stmt::Use { path: Some(path), .. } = data.stmt else { continue };
            let (Some(written), Some(text)) = (body.string(path), body.text(path)) else { continue };
            let Ok(Reference::Local(local)) = reference(db, file, written) else { continue };
            let target = moved(&local_path(before, Path::new(&local)));
            if target == local_path(&after, Path::new(&local)) {
                continue;
            }
            let Some(new_text) = path_from(&after, &target) else { continue };
            edits.push(TextEdit { range: text.content + start, new_text });
        }
    }
    edits.sort_by_key(|edit| edit.range.start());
    edits
}

/// How a program names another one (decision 16); none if there is no way from one to the other, or none that a text can hold.
fn path_from(importer: &Path, target: &Path) -> Option<String> {
    let path = relative(importer.parent()?, target)?;
    let is_path =
        matches!(Reference::parse(&path), Ok(Reference::Local(_))) && !path.contains(['"', '\\', '{']);
    is_path.then_some(path)
}

/// The way from a folder to a file, with `/` between its parts; none where there is none.
pub(crate) fn relative(folder: &Path, file: &Path) -> Option<String> {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared);
    let up: Option<String> = up.map(|part| matches!(part, Component::Normal(_)).then_some("../")).collect();
    let down = file.components().skip(shared).map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let up = up.map(|up| if up.is_empty() { "./".to_owned() } else { up })?;
    Some(up + &down.collect::<Option<Vec<_>>>()?.join("/"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::analysed;

    /// Moves files at or below `from`, and shows all files whose paths change.
    #[track_caller]
    fn check(fixture: &str, from: &str, to: &str, expected: Expect) {
        let analysed = analysed(fixture);
        let db = analysed.host.db();
        let moved = |path: &Path| match path.strip_prefix(from) {
            Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from(to),
            Ok(rest) => Path::new(to).join(rest),
            Err(_) => path.to_owned(),
        };
        let mut shown = String::new();
        for file in &analysed.files {
            for edit in moved_imports(db, *file, moved) {
                shown += &format!("{} -> {}\n", analysed.show(*file, edit.range), edit.new_text);
            }
        }
        expected.assert_eq(&shown);
    }

    const PROGRAMS: &str = r#"
        //- /main.prose
        $0use "./flows/find.prose"
        use "flows/find.prose" as same
        use "alice/research"
        use "https://example.com/flows/find.prose"
        let found = session "use ./flows/find.prose"
        //- /flows/find.prose
        use "./parts/read.prose"
        use "../main.prose"
        use "./gone.prose"
        //- /flows/parts/read.prose
        session "Read"
        "#;

    #[test]
    fn those_who_import_a_moved_program_follow_it() {
        check(
            PROGRAMS,
            "/flows/parts/read.prose",
            "/flows/read-it.prose",
            expect![[r#"
            /flows/find.prose:1: use "«./parts/read.prose»" -> ./read-it.prose
        "#]],
        );
        check(
            PROGRAMS,
            "/main.prose",
            "/flows/main.prose",
            expect![[r#"
            /main.prose:1: use "«./flows/find.prose»" -> ./find.prose
            /main.prose:2: use "«flows/find.prose»" as same -> ./find.prose
            /flows/find.prose:2: use "«../main.prose»" -> ./main.prose
        "#]],
        );
    }

    #[test]
    fn a_moved_folder_keeps_what_is_inside_of_it() {
        check(
            PROGRAMS,
            "/flows",
            "/deep/inside/flows",
            expect![[r#"
            /main.prose:1: use "«./flows/find.prose»" -> ./deep/inside/flows/find.prose
            /main.prose:2: use "«flows/find.prose»" as same -> ./deep/inside/flows/find.prose
            /flows/find.prose:2: use "«../main.prose»" -> ../../../main.prose
        "#]],
        );
    }

    #[test]
    fn a_path_that_no_use_can_name_stays() {
        check(PROGRAMS, "/flows/find.prose", "/flows/find it.prose", expect![[r#""#]]);
        check(PROGRAMS, "/flows/find.prose", "/flows/{find}.prose", expect![[r#""#]]);
    }
}
