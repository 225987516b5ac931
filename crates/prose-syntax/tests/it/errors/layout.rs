//! Indentation, empty bodies, and lines that are no part of a program.

use expect_test::expect;

use crate::shown::{check, check_text};

#[test]
fn layout() {
    check(expect![[r#"
        let a = 1
          session "x"
        ^^ error[E101] unexpected indentation; the line above does not open a block
          session "y"
        if **a**:
            session "x"
          session "y"
        ^^ error[E102] this line is indented by 2, but the lines above are indented by 0 and 4; indent it by one of the two
        guess: Indent by 4 => "    session \"y\""
        session "z"
    "#]]);
}

#[test]
fn a_first_line_that_is_indented() {
    check(expect![[r#"
          session "x"
        ^^ error[E101] the first line of a program must not be indented
        session "y"
    "#]]);
}

#[test]
fn tabs() {
    check_text(
        "repeat 3:\n\tsession \"x\"\n\trepeat 2:\n\t\tsession \"y\"\n",
        expect![[r#"
        repeat 3:
        	session "x"
        ^ error[E103] unexpected tab in the indentation; use spaces
        fix: Indent with spaces => "  session \"x\""
        	repeat 2:
        ^ error[E103] unexpected tab in the indentation; use spaces
        fix: Indent with spaces => "  repeat 2:"
        		session "y"
        ^^ error[E103] unexpected tab in the indentation; use spaces
        fix: Indent with spaces => "    session \"y\""
    "#]],
    );
}

#[test]
fn a_tab_before_the_first_line_is_one_mistake() {
    check_text(
        "\tsession \"x\"\nsession \"y\"\n",
        expect![[r#"
            	session "x"
            ^ error[E103] unexpected tab in the indentation; use spaces
            fix: Indent with spaces => "session \"x\""
            session "y"
        "#]],
    );
}

#[test]
fn statements_below_a_session() {
    check(expect![[r#"
        session: x
          session "foo"
          ^^^^^^^ error[E101] expected a property; indent a statement like the line it follows
          session "bar"
          prompt: "y"
        session "z"
    "#]]);
}

#[test]
fn empty_bodies() {
    check(expect![[r#"
        repeat 3:
        ^^^^^^ warning[W101] `repeat` has an empty body
        agent a:
        ^^^^^ warning[W101] `agent` has no properties
        if **x**:
        ^^ warning[W101] `if` has an empty body
          # nothing
        else:
          session "y"
    "#]]);
}

#[test]
fn markdown_fences() {
    check(expect![[r#"
        ```prose
        ^^^^^^^^ error[E004] unexpected Markdown fence; keep only the lines between the fences
        fix: Remove the fence => ""
        agent a:
          ```
          ^^^ error[E004] unexpected Markdown fence; keep only the lines between the fences
          fix: Remove the fence => ""
          model: opus
        let x = ```y
                ^^^ error[E004] unexpected ````` outside of a string
        ````
        ^^^^ error[E004] unexpected Markdown fence; keep only the lines between the fences
        fix: Remove the fence => ""
    "#]]);
}

#[test]
fn merge_conflicts() {
    check(expect![[r#"
        agent a:
        <<<<<<< HEAD
        ^^^^^^^^^^^^ error[E004] an unresolved merge conflict starts here; keep one side and remove this line
          model: opus
        ||||||| 1234567
        ^^^^^^^^^^^^^^^ error[E004] the common ancestor of an unresolved merge conflict starts here; remove it and this line
          model: haiku
        =======
        ^^^^^^^ error[E004] the other side of an unresolved merge conflict starts here; keep one side, remove this line
          model: sonnet
        >>>>>>> feature
        ^^^^^^^^^^^^^^^ error[E004] an unresolved merge conflict ends here; remove this line
          prompt: "x"
          <<<<<<< HEAD
          ^^^^^^^ error[E004] unexpected `<<<<<<<` outside of a string
        xs
        ^^ error[E107] `xs` is not a statement; a statement starts with a keyword such as `session`
          ======= y
          ^^^^^^^ error[E004] unexpected `=======` outside of a string
    "#]]);
}

#[test]
fn bodies_that_are_not_indented() {
    check(expect![[r#"
        for x in xs:
        session "say {x}"
        ^^^^^^^ error[E101] the body of `for` must be indented two spaces deeper than its header
        guess: Indent the body => "  session \"say {x}\""

        parallel:
        a = session "x"
        ^ error[E101] the body of `parallel` must be indented two spaces deeper than its header
        guess: Indent the body => "  a = session \"x\"\n  b = session \"y\""
        b = session "y"

        if **it is late**:
        session "x"
        ^^^^^^^ error[E101] the body of `if` must be indented two spaces deeper than its header
        fix: Indent the body => "  session \"x\"\n    model: opus\n  session \"y\""
          model: opus
        session "y"
        else:
          session "z"
        try:
        session "x"
        ^^^^^^^ error[E101] the body of `try` must be indented two spaces deeper than its header
        guess: Indent the body => "  session \"x\"\ncatch:\n  session \"y\""
        catch:
        session "y"

        choice **which one**:
        option "a":
        ^^^^^^ error[E101] the body of `choice` must be indented two spaces deeper than its header
        guess: Indent the body => "  option \"a\":\n    session \"x\"\n  option \"b\":\n    session \"y\""
        session "x"
        option "b":
          session "y"

        xs | map:
        # About each.
        session "x"
        ^^^^^^^ error[E101] the body of `map` must be indented two spaces deeper than its header
        guess: Indent the body => "  session \"x\""

        repeat 2:
          do:
          session "y"
          ^^^^^^^ error[E101] the body of `do` must be indented two spaces deeper than its header
          fix: Indent the body => "    session \"y\""
        repeat 3:
        for y in xs:
        ^^^ error[E101] the body of `repeat` must be indented two spaces deeper than its header
        guess: Indent the body => "  for y in xs:\n    session \"x\""
        session "x"
        output y

        block f():
        session "x"
        ^^^^^^^ error[E101] the body of `block` must be indented two spaces deeper than its header
        guess: Indent the body => "  session \"x\""
        do f()
    "#]]);
}

#[test]
fn headers_that_were_left_without_a_body() {
    check(expect![[r#"
        repeat 3:
        ^^^^^^ warning[W101] `repeat` has an empty body

        session "x"
        repeat 3:
        ^^^^^^ warning[W101] `repeat` has an empty body
          # nothing yet
        session "x"
        repeat 3:
        ^^^^^^ warning[W101] `repeat` has an empty body
        block f:
        ^^^^^ warning[W101] `block` has an empty body
        agent g:
        ^^^^^ warning[W101] `agent` has no properties
        session "x"
        try:
        ^^^ warning[W101] `try` has an empty body
        catch:
          session "y"
        parallel ("first"):
        ^^^^^^^^ warning[W101] `parallel` has an empty body
        parallel (on-fail: "continue"):
        ^^^^^^^^ warning[W101] `parallel` has an empty body
        repeat 3:
        ^^^^^^ warning[W101] `repeat` has an empty body
    "#]]);
}
