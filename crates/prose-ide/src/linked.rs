//! Linked editing ranges.

use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextRange, TextSize};

use crate::rename::{prepare_rename, rename};

/// The places in a file that have to change together with the name at an offset, the one at the offset among them. None where typing at all of
/// them at once would not be a rename: where other files speak of the name, or more than the name has to change.
pub fn linked_ranges(
    db: &dyn Db,
    programs: &[SourceFile],
    file: SourceFile,
    offset: TextSize,
) -> Option<Vec<TextRange>> {
    let name = prepare_rename(db, file, offset).ok()?.placeholder;
    // What is going to be typed is not known. That any other name could be there is what makes the places linked.
    let other = format!("{name}_0");
    let files = rename(db, programs, file, offset, &other).ok()?;
    let [only] = files.as_slice() else { return None };
    let text = file.text(db).as_str();
    let is_name = |range: TextRange| text[range] == *name;
    let is_plain = only.file == file
        && only.edits.len() > 1
        && only.edits.iter().all(|edit| is_name(edit.range) && edit.new_text == other);
    is_plain.then(|| only.edits.iter().map(|edit| edit.range).collect())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::analysed;

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let ranges = linked_ranges(at.host.db(), &at.files, at.file, at.offset).unwrap_or_default();
        let shown: String = ranges.iter().map(|range| at.show(at.file, *range) + "\n").collect();
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_binding_and_its_interpolations_are_linked() {
        check(
            "let draft$0 = session \"Write\"\nsession \"Polish {draft}, not {drift}\"\n  context: draft\n",
            expect![[r#"
                /main.prose:1: let «draft» = session "Write"
                /main.prose:2: session "Polish {«draft»}, not {drift}"
                /main.prose:3: context: «draft»
            "#]],
        );
        check(
            "for x in [1]:\n  session \"{$0x}\"\n",
            expect![[r#"
                /main.prose:1: for «x» in [1]:
                /main.prose:2: session "{«x»}"
            "#]],
        );
    }

    #[test]
    fn what_more_than_a_name_depends_on_is_not_linked() {
        // The key of the entry stays.
        check("let a$0 = 1\nlet b = { a }\n", expect![[""]]);
        // Another file has to change, too.
        check(
            "//- /main.prose\ninput to$0pic: \"x\"\nsession \"{topic}\"\n//- /other.prose\nuse \"./main.prose\" as m\nlet r = m(topic: 1)\n",
            expect![[""]],
        );
        check("let alone$0 = 1\n", expect![[""]]);
        check("session \"{nob$0ody}\"\n", expect![[""]]);
    }
}
