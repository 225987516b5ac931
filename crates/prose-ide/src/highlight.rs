//! Document highlights.

use prose_analysis::{Db, SourceFile};
use prose_syntax::TextSize;

use crate::references::{Reference, entities_at, references_in};

/// The references in the file to the entity at an offset, in the order of the text.
pub fn document_highlights(db: &dyn Db, file: SourceFile, offset: TextSize) -> Vec<Reference> {
    let entities = entities_at(db, file, offset);
    let mut found: Vec<Reference> =
        entities.iter().flat_map(|entity| references_in(db, file, entity)).collect();
    found.sort_by_key(|reference| (reference.range.start(), reference.range.end()));
    found.dedup_by_key(|reference| (reference.range, reference.access));
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::analysed;

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let shown: String = document_highlights(at.host.db(), at.file, at.offset)
            .iter()
            .map(|highlight| {
                let access = format!("{:?}", highlight.access).to_lowercase();
                format!("{access} {}\n", at.show(at.file, highlight.range))
            })
            .collect();
        expected.assert_eq(&shown);
    }

    #[test]
    fn values_are_read_and_written() {
        check(
            r#"
            let draft = session "Draft"
            repeat 3:
              draft = session "Improve {draft$0}"
            output text = draft
            "#,
            expect![[r#"
                write /main.prose:1: let «draft» = session "Draft"
                write /main.prose:3: «draft» = session "Improve {draft}"
                read /main.prose:3: draft = session "Improve {«draft»}"
                read /main.prose:4: output text = «draft»
            "#]],
        );
    }

    #[test]
    fn what_another_file_names_is_marked_in_this_one_alone() {
        check(
            r#"
            //- /main.prose
            use "./lib.prose" as lib
            let a = lib(topic: "x")
            let b = lib(to$0pic: "y")
            //- /lib.prose
            input topic: "x"
            "#,
            expect![[r#"
                write /main.prose:2: let a = lib(«topic»: "x")
                write /main.prose:3: let b = lib(«topic»: "y")
            "#]],
        );
    }

    #[test]
    fn a_word_that_means_nothing_marks_nothing() {
        check("session \"wo$0rd word\"\n", expect![[""]]);
        check("let x = 1 # x$0\n", expect![[""]]);
    }
}
