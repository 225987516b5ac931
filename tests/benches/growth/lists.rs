//! Programs in which one list grows: everything that there can be many of.

use std::fmt::Write;

/// A program as a function of how long its list is.
pub(crate) struct List {
    /// What there are many of.
    pub(crate) name: &'static str,
    /// A program with so many.
    pub(crate) program: fn(usize) -> String,
    /// Whether the program can be run by agents that answer at once.
    pub(crate) runs: bool,
}

/// A list of a program without errors that ends when it is run.
const fn list(name: &'static str, program: fn(usize) -> String) -> List {
    List { name, program, runs: true }
}

/// A list that is only read: its program has errors, or needs more than agents that answer at once.
const fn read_only(name: &'static str, program: fn(usize) -> String) -> List {
    List { name, program, runs: false }
}

/// The line for each number up to `n`.
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0..n {
        writeln!(text, "{}", line(number)).expect("a string takes any text");
    }
    text
}

/// What is made for each number up to `n`, with commas between.
fn joined(n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(", ")
}

/// Lines that stand in each other, so deep that `n` of them have not much more than `n` bytes of indentation each.
fn nested(n: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0..n {
        writeln!(text, "{:2$}{}", "", line(number), 2 * number).expect("a string takes any text");
    }
    writeln!(text, "{:1$}session \"Go\"", "", 2 * n).expect("a string takes any text");
    text
}

/// All lists.
pub(crate) const LISTS: &[List] = &[
    // Lines that say nothing.
    list("blank lines", |n| format!("{}session \"Go\"\n", "\n".repeat(n))),
    list("comment lines", |n| format!("{}session \"Go\"\n", lines(n, |at| format!("# Line {at}")))),
    list("comment lines below", |n| format!("session \"Go\"\n{}", lines(n, |at| format!("# Line {at}")))),
    list("comment lines in a body", |n| {
        format!("do:\n{}  session \"Go\"\n", lines(n, |at| format!("  # Line {at}")))
    }),
    list("comments between statements", |n| lines(n, |at| format!("# Line {at}\nsession \"Go\""))),
    list("comments at ends of lines", |n| lines(n, |at| format!("session \"Go\"  # Line {at}"))),
    list("ignore comments on lines of their own", |n| {
        lines(n, |at| format!("# prose: ignore[W101]\nlet unused_{at} = 1"))
    }),
    list("ignore comments at ends of lines", |n| {
        lines(n, |at| format!("let unused_{at} = 1  # prose: ignore[W101]"))
    }),
    list("ignore comments in a row", |n| {
        format!("{}session \"Go\"\n", lines(n, |_| "# prose: ignore[W101]".to_owned()))
    }),
    list("codes of an ignore comment", |n| {
        format!("let unused = 1  # prose: ignore[{}]\n", joined(n, |at| format!("W{}", 101 + at % 30)))
    }),
    list("ignore comments for the file", |n| {
        format!("{}session \"Go\"\n", lines(n, |_| "# prose: ignore-file[W101]".to_owned()))
    }),
    list("ignore comments and long texts", |n| {
        lines(n, |at| format!("let unused_{at} = \"\"\"\n  a\n\"\"\"  # prose: ignore[W101]"))
    }),
    // Statements.
    list("sessions", |n| lines(n, |at| format!("session \"Step {at}\""))),
    list("variables", |n| lines(n, |at| format!("let v{at} = session \"Step {at}\""))),
    list("unused variables", |n| lines(n, |at| format!("let v{at} = {at}"))),
    list("variables that pass each other on", |n| {
        format!(
            "let v0 = session \"Start\"\n{}",
            lines(n, |at| format!("let v{} = session \"Go on\"\n  context: v{at}", at + 1))
        )
    }),
    list("assignments of one variable", |n| {
        format!("let v = 0\n{}", lines(n, |at| format!("v = session \"Step {at}\"\n  context: v")))
    }),
    list("sums into one variable", |n| format!("let v = 0\n{}", lines(n, |_| "v = v + 1".to_owned()))),
    list("uses of one variable", |n| {
        format!("let v = 1\n{}", lines(n, |_| "session \"Look at {v}\"\n  context: v".to_owned()))
    }),
    list("declarations of one name", |n| lines(n, |at| format!("let v = {at}"))),
    list("one name in bodies of their own", |n| {
        lines(n, |at| format!("do:\n  let v = session \"Step {at}\"\n  session \"Look at {{v}}\""))
    }),
    list("inputs", |n| format!("{}session \"Go\"\n", lines(n, |at| format!("input i{at}: \"Number {at}\"")))),
    list("outputs", |n| lines(n, |at| format!("output o{at} = session \"Step {at}\""))),
    list("destructured names", |n| {
        let (names, values) = (joined(n, |at| format!("v{at}")), joined(n, |at| format!("v{at}: {at}")));
        format!("let o = {{ {values} }}\nlet {{ {names} }} = o\nsession \"Go\"\n")
    }),
    // Definitions.
    list("agents", |n| {
        lines(n, |at| {
            format!("agent a{at}:\n  prompt: \"You are number {at}\"\nsession: a{at}\n  prompt: \"Go\"")
        })
    }),
    list("unused agents", |n| lines(n, |at| format!("agent a{at}:\n  prompt: \"You are number {at}\""))),
    list("sessions of one agent", |n| {
        format!(
            "agent a:\n  prompt: \"You help\"\n{}",
            lines(n, |at| format!("session: a\n  prompt: \"Step {at}\""))
        )
    }),
    list("resumes of one agent", |n| {
        format!(
            "agent a:\n  persist: true\n  prompt: \"You help\"\nsession: a\n  prompt: \"Begin\"\n{}",
            lines(n, |at| format!("resume: a\n  prompt: \"Step {at}\""))
        )
    }),
    read_only("properties of one agent", |n| {
        format!("agent a:\n{}session: a\n", lines(n, |_| "  model: sonnet".to_owned()))
    }),
    read_only("unknown properties of one agent", |n| {
        format!("agent a:\n{}session: a\n", lines(n, |at| format!("  colour{at}: \"red\"")))
    }),
    list("skills of one agent", |n| {
        format!(
            "agent a:\n  skills: [{}]\nsession: a\n  prompt: \"Go\"\n",
            joined(n, |at| format!("\"s{at}\""))
        )
    }),
    list("permissions of one agent", |n| {
        let paths = joined(n, |at| format!("\"src/{at}/**\""));
        format!("agent a:\n  permissions:\n    read: [{paths}]\nsession: a\n  prompt: \"Go\"\n")
    }),
    read_only("kinds of permissions", |n| {
        format!(
            "agent a:\n  permissions:\n{}session: a\n  prompt: \"Go\"\n",
            lines(n, |at| format!("    tool{at}: deny"))
        )
    }),
    read_only("imports", |n| {
        lines(n, |at| format!("use \"./p{at}.prose\" as p{at}\nlet r{at} = p{at}(topic: \"x\")"))
    }),
    read_only("imported skills", |n| lines(n, |at| format!("import \"skill{at}\" from \"./skills/{at}\""))),
    list("blocks", |n| lines(n, |at| format!("block b{at}(x):\n  session \"Do {{x}}\"\ndo b{at}({at})"))),
    list("unused blocks", |n| lines(n, |at| format!("block b{at}:\n  session \"Step {at}\""))),
    list("calls of one block", |n| {
        format!("block b(x):\n  session \"Do {{x}}\"\n{}", lines(n, |at| format!("do b({at})")))
    }),
    list("calls inside one block", |n| {
        format!("block leaf:\n  session \"Leaf\"\nblock b:\n{}do b\n", lines(n, |_| "  do leaf".to_owned()))
    }),
    list("a chain of calls", |n| {
        format!(
            "{}block b{n}:\n  session \"End\"\ndo b{}\n",
            lines(n, |at| format!("block b{at}:\n  do b{}", at + 1)),
            // Calls in each other have a limit.
            n.saturating_sub(50)
        )
    }),
    list("a chain of calls upwards", |n| {
        format!(
            "block b0:\n  session \"End\"\n{}do b50\n",
            lines(n, |at| format!("block b{}:\n  do b{at}", at + 1))
        )
    }),
    read_only("a cycle of calls", |n| {
        format!("{}do b0\n", lines(n, |at| format!("block b{at}:\n  do b{}", (at + 1) % n)))
    }),
    read_only("a cycle of calls behind conditions", |n| {
        format!("{}do b0\n", lines(n, |at| format!("block b{at}:\n  if **more**:\n    do b{}", (at + 1) % n)))
    }),
    read_only("cycles of calls of two", |n| {
        lines(n, |at| format!("block a{at}:\n  do b{at}\nblock b{at}:\n  do a{at}"))
    }),
    read_only("blocks that call themselves", |n| lines(n, |at| format!("block a{at}:\n  do a{at}"))),
    read_only("blocks that call all that is above them in turn", |n| {
        lines(n, |at| format!("block b{at}:\n  do b{}\n  do b{}", at / 2, at / 3))
    }),
    read_only("blocks of one name", |n| lines(n, |_| "block b:\n  session \"Go\"".to_owned())),
    read_only("agents of one name", |n| lines(n, |_| "agent a:\n  prompt: \"Go\"".to_owned())),
    list("parameters", |n| {
        format!(
            "block b({}):\n  session \"Do\"\ndo b({})\n",
            joined(n, |at| format!("p{at}")),
            joined(n, |at| at.to_string())
        )
    }),
    list("blocks in a block", |n| {
        format!(
            "block outer:\n{}  session \"Go\"\ndo outer\n",
            lines(n, |at| format!("  block b{at}:\n    session \"Step {at}\""))
        )
    }),
    // Values.
    list("items of an array", |n| format!("let v = [{}]\nsession \"Go\"\n", joined(n, |at| at.to_string()))),
    list("items of an array on lines", |n| {
        format!("let v = [\n{}]\nsession \"Go\"\n", lines(n, |at| format!("  {at},")))
    }),
    list("entries of an object", |n| {
        format!("let v = {{ {} }}\nsession \"Go\"\n", joined(n, |at| format!("k{at}: {at}")))
    }),
    list("entries of an object on lines", |n| {
        format!("let v = {{\n{}}}\nsession \"Go\"\n", lines(n, |at| format!("  k{at}: {at},")))
    }),
    read_only("entries of one key", |n| {
        format!("let v = {{ {} }}\nsession \"Go\"\n", joined(n, |at| format!("k: {at}")))
    }),
    list("a context list", |n| {
        format!(
            "{}session \"Go\"\n  context: [{}]\n",
            lines(n, |at| format!("let v{at} = {at}")),
            joined(n, |at| format!("v{at}"))
        )
    }),
    list("a context of one variable again and again", |n| {
        format!("let v = 1\nsession \"Go\"\n  context: [{}]\n", joined(n, |_| "v".to_owned()))
    }),
    list("a sum", |n| {
        format!("let v = {}\nsession \"Go\"\n", (0..n).map(|_| "1").collect::<Vec<_>>().join(" + "))
    }),
    list("a conjunction", |n| {
        format!("if {}:\n  session \"Go\"\n", (0..n).map(|_| "true").collect::<Vec<_>>().join(" and "))
    }),
    list("a chain of members", |n| format!("let o = {{}}\nlet v = o{}\nsession \"Go\"\n", ".a".repeat(n))),
    read_only("nested parentheses", |n| format!("let v = {}1{}\n", "(".repeat(n), ")".repeat(n))),
    read_only("open parentheses", |n| format!("let v = {}1\nsession \"Go\"\n", "(".repeat(n))),
    read_only("closing parentheses", |n| format!("let v = 1{}\nsession \"Go\"\n", ")".repeat(n))),
    read_only("nested arrays", |n| format!("let v = {}1{}\n", "[".repeat(n), "]".repeat(n))),
    read_only("open arrays", |n| format!("let v = {}\nsession \"Go\"\n", "[".repeat(n))),
    read_only("nested objects", |n| format!("let v = {}1{}\n", "{a: ".repeat(n), "}".repeat(n))),
    read_only("open braces", |n| format!("let v = {}\nsession \"Go\"\n", "{".repeat(n))),
    read_only("negations", |n| format!("let v = {}true\n", "not ".repeat(n))),
    read_only("nested conditional values", |n| format!("let v = {}3\n", "true ? 1 : ".repeat(n))),
    // Texts.
    list("letters of a text", |n| format!("session \"{}\"\n", "word ".repeat(n))),
    list("interpolations of a text", |n| format!("let v = 1\nsession \"{}\"\n", "a {v} ".repeat(n))),
    list("interpolations of different variables", |n| {
        let names = (0..n).map(|at| format!("{{v{at}}} ")).collect::<String>();
        format!("{}session \"{names}\"\n", lines(n, |at| format!("let v{at} = {at}")))
    }),
    read_only("interpolations of unknown names", |n| {
        let names = (0..n).map(|at| format!("{{v{at}}} ")).collect::<String>();
        format!("session \"{names}\"\n")
    }),
    read_only("braces in a text", |n| format!("session \"{}\"\n", "{".repeat(n))),
    read_only("closing braces in a text", |n| format!("session \"{}\"\n", "}".repeat(n))),
    list("escapes of a text", |n| format!("session \"{}\"\n", "\\n\\{a\\}".repeat(n))),
    read_only("wrong escapes of a text", |n| format!("session \"{}\"\n", "\\q".repeat(n))),
    list("lines of a long text", |n| {
        format!("session \"\"\"\n{}\"\"\"\n", lines(n, |at| format!("  Line {at} of {{it}}")))
    }),
    list("quotes in a long text", |n| {
        format!("session \"\"\"\n{}\"\"\"\n", lines(n, |at| format!("  \"quoted\" {at} \"\"")))
    }),
    list("texts of lines", |n| lines(n, |at| format!("session \"\"\"\n  Line {at}\n\"\"\""))),
    list("long texts in bodies", |n| {
        format!("do:\n{}", lines(n, |at| format!("  session \"\"\"\n    Line {at}\n  \"\"\"")))
    }),
    list("long texts indented otherwise", |n| {
        lines(n, |at| format!("if true:\n     session \"\"\"\n    Line {at}\n     \"\"\""))
    }),
    read_only("texts that are not closed", |n| lines(n, |at| format!("session \"Line {at}"))),
    read_only("long texts that are not closed", |n| lines(n, |at| format!("session \"\"\"Line {at}"))),
    read_only("stars", |n| format!("if {}:\n  session \"Go\"\n", "**".repeat(n))),
    read_only("conditions that are not closed", |n| {
        lines(n, |at| format!("if **Line {at}:\n  session \"Go\""))
    }),
    read_only("long conditions that are not closed", |n| {
        lines(n, |at| format!("if ***Line {at}:\n  session \"Go\""))
    }),
    list("lines of a condition", |n| {
        format!("if ***\n{}***:\n  session \"Go\"\n", lines(n, |at| format!("  Line {at}")))
    }),
    // Control.
    list("conditions", |n| lines(n, |at| format!("if **Line {at}**:\n  session \"Go\""))),
    list("an elif chain", |n| {
        format!(
            "if **first**:\n  session \"Go\"\n{}",
            lines(n, |at| format!("elif **Line {at}**:\n  session \"Go\""))
        )
    }),
    list("choice options", |n| {
        format!("choice **best**:\n{}", lines(n, |at| format!("  option \"Line {at}\":\n    session \"Go\"")))
    }),
    list("loops", |n| lines(n, |at| format!("repeat 1 as round{at}:\n  session \"Step {{round{at}}}\""))),
    list("loops of one name", |n| lines(n, |_| "for item in [1]:\n  session \"Step {item}\"".to_owned())),
    list("items of a loop", |n| {
        format!("for item in [{}]:\n  session \"Do {{item}}\"\n", joined(n, |at| at.to_string()))
    }),
    list("items of a parallel loop", |n| {
        format!("parallel for item in [{}]:\n  session \"Do {{item}}\"\n", joined(n, |at| at.to_string()))
    }),
    list("rounds of a loop", |n| {
        format!("let v = 0\nrepeat {n} as round:\n  v = session \"Do {{round}}\"\n")
    }),
    list("statements of a body", |n| format!("do:\n{}", lines(n, |at| format!("  session \"Step {at}\"")))),
    list("parallel branches", |n| {
        format!("parallel:\n{}", lines(n, |at| format!("  v{at} = session \"Step {at}\"")))
    }),
    list("parallel statements", |n| {
        lines(n, |at| format!("parallel:\n  a{at} = session \"One\"\n  b{at} = session \"Two\""))
    }),
    list("stages of a pipeline", |n| {
        format!("let v = [1]\n{}", lines(n, |_| "  | map:\n      session \"Do {item}\"".to_owned()))
    }),
    list("an arrow chain", |n| format!("session \"Start\"{}\n", " -> session \"Go on\"".repeat(n))),
    list("arrow chains", |n| lines(n, |_| "session \"One\" -> session \"Two\"".to_owned())),
    list("try statements", |n| {
        lines(n, |_| "try:\n  session \"Go\"\ncatch as problem:\n  session \"Mend {problem}\"".to_owned())
    }),
    read_only("statements that are not reached", |n| {
        format!("throw \"end\"\n{}", lines(n, |at| format!("session \"Step {at}\"")))
    }),
    read_only("throws", |n| lines(n, |at| format!("throw \"Number {at}\""))),
    read_only("returns in a block", |n| {
        format!("block b:\n{}do b\n", lines(n, |at| format!("  return {at}")))
    }),
    // What is wrong.
    read_only("lines that are not understood", |n| lines(n, |at| format!("?? {at} what is this"))),
    read_only("lines of prose", |n| lines(n, |at| format!("Please do number {at} of the list"))),
    read_only("wrong keywords", |n| lines(n, |at| format!("sesion \"Number {at}\""))),
    read_only("indentation too deep", |n| lines(n, |at| format!("session \"Go {at}\"\n    session \"Go\""))),
    read_only("missing colons", |n| lines(n, |_| "if **more**\n  session \"Go\"".to_owned())),
    read_only("tabs", |n| lines(n, |_| "if **more**:\n\tsession \"Go\"".to_owned())),
    read_only("unknown variables", |n| lines(n, |at| format!("session \"Go\"\n  context: name{at}"))),
    read_only("unknown variables near to others", |n| {
        lines(n, |at| format!("let variable_{at}x = {at}\nsession \"Go\"\n  context: variable_{at}y"))
    }),
    read_only("unknown variables near to all", |n| {
        lines(n, |at| format!("let v{at} = {at}\nsession \"Go\"\n  context: w{at}"))
    }),
    read_only("uses of one unknown variable", |n| {
        format!("let value = 1\n{}", lines(n, |_| "session \"Go\"\n  context: vaule".to_owned()))
    }),
    read_only("unknown agents", |n| {
        lines(n, |at| format!("agent agent_{at}x:\n  prompt: \"Go\"\nsession: agent_{at}y"))
    }),
    read_only("unknown blocks", |n| {
        lines(n, |at| format!("block block_{at}x:\n  session \"Go\"\ndo block_{at}y"))
    }),
    read_only("unknown functions", |n| lines(n, |at| format!("print{at}(\"x\")"))),
    read_only("uses before the declaration", |n| {
        format!(
            "{}{}",
            lines(n, |at| format!("session \"Go\"\n  context: v{at}")),
            lines(n, |at| format!("let v{at} = {at}"))
        )
    }),
    read_only("late inputs", |n| {
        format!("session \"Go\"\n{}", lines(n, |at| format!("input i{at}: \"Number {at}\"")))
    }),
    read_only("constants that change", |n| format!("const v = 1\n{}", lines(n, |at| format!("v = {at}")))),
    read_only("nested bodies", |n| nested(n, |_| "do:".to_owned())),
    read_only("nested conditions", |n| nested(n, |_| "if **more**:".to_owned())),
    read_only("nested loops", |n| nested(n, |at| format!("repeat 1 as r{at}:"))),
    read_only("nested bodies on one line", |n| format!("{}session \"Go\"\n", "do: ".repeat(n))),
    // Characters.
    read_only("one long word", |n| format!("{}\n", "a".repeat(n))),
    read_only("characters that are no part of the language", |n| format!("{}\n", "?".repeat(n))),
    read_only("quotes", |n| format!("{}\n", "\"".repeat(n))),
    read_only("single quotes", |n| lines(n, |_| "session 'Go'".to_owned())),
    read_only("colons", |n| format!("session{}\n", ":".repeat(n))),
    read_only("commas", |n| format!("let v = [{}]\n", ",".repeat(n))),
    read_only("spaces", |n| format!("session{}\"Go\"\n", " ".repeat(n))),
    read_only("carriage returns", |n| format!("{}session \"Go\"\n", "\r".repeat(n))),
];
