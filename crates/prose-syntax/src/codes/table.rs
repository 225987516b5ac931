//! The rows of the table, in the order of the codes.
//!
//! Behind a code stand its levels: in the default profile; there too, in the cases that are known from programs that work; and
//! in the strict profile.

use super::{CodeInfo, Level, Tag};

macro_rules! tag {
    () => {
        None
    };
    ($tag:ident) => {
        Some(Tag::$tag)
    };
}

macro_rules! codes {
    ($($code:ident [$default:ident $lenient:ident $strict:ident] $($tag:ident)? $title:literal
        $explanation:literal
        wrong $wrong:literal
        right $right:literal)*) => {
        /// A diagnostic code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $code,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// The row of the table.
            pub fn info(self) -> &'static CodeInfo {
                match self {
                    $(Code::$code => &CodeInfo {
                        name: stringify!($code),
                        title: $title,
                        default: Level::$default,
                        lenient: Level::$lenient,
                        strict: Level::$strict,
                        tag: tag!($($tag)?),
                        explanation: $explanation,
                        wrong: $wrong,
                        right: $right,
                    },)*
                }
            }
        }
    };
}

codes! {
    E001 [Error Error Error] "unterminated literal"
    "A string or a `**condition**` is opened and never closed. A one-line string ends on the line it starts on; a \
     triple-quoted string and a condition may span lines and end at the next marker of the same kind."
    wrong "session \"Say hello\n"
    right "session \"Say hello\"\n"

    E002 [Error Error Error] "unknown escape sequence"
    "A one-line string knows the escapes `\\\\`, `\\\"`, `\\n`, `\\t`, `\\{` and `\\}`. In a triple-quoted string any other \
     backslash is literal text."
    wrong "session \"C:\\dir\"\n"
    right "session \"C:\\\\dir\"\n"

    E003 [Error Error Error] "session without text or agent"
    "A `session` says what to do in a text, or names the agent whose prompt says it; a `resume` names the agent that goes on."
    wrong "session\n"
    right "session \"Say hello\"\n"

    E004 [Error Error Error] "unexpected text"
    "Something stands where the language has no place for it. Text for an agent is written in quotes; a value that is not used \
     by anything is bound with `let` or returned with `output`."
    wrong "let greeting = \"hello\" \"world\"\n"
    right "let greeting = \"hello world\"\n"

    E005 [Error Error Error] "something is missing"
    "A part that the statement needs is not there: a `:` at the end of a header, a `=` before a value, a closing bracket, a name, or \
     a value."
    wrong "repeat 3\n  session \"Try\"\n"
    right "repeat 3:\n  session \"Try\"\n"

    E006 [Error Error Error] "agent defined twice"
    "Two agents have one name, so a session could not tell which of them it means."
    wrong "agent writer:\n  prompt: \"Write\"\n\nagent writer:\n  prompt: \"Write well\"\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nagent editor:\n  prompt: \"Edit\"\n\nsession: writer\nsession: editor\n"

    E007 [Error Error Error] "agent not defined"
    "A session or a `resume` names an agent that the program does not define."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession: writer\nsession: writter\n"
    right "agent writer:\n  prompt: \"Write\"\n\nsession: writer\nsession: writer\n"

    E008 [Error Error Error] "unknown model"
    "A model is `sonnet`, `opus` or `haiku`, an alias that `prose.toml` declares under `[models]`, or the id of any other \
     model in quotes."
    wrong "session \"Say hello\"\n  model: gpt\n"
    right "session \"Say hello\"\n  model: \"vendor/gpt\"\n"

    E009 [Error Error Error] "property given twice"
    "A property has one value. Lines with one key are allowed only below `context:`."
    wrong "session \"Say hello\"\n  model: opus\n  model: haiku\n"
    right "session \"Say hello\"\n  model: opus\n"

    E010 [Error Error Error] "program imported twice"
    "One import is enough for any number of calls. In the default profile, two imports of one program are accepted if each \
     has a name of its own."
    wrong "use \"alice/research\"\nuse \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E011 [Error Error Error] "empty path of a program"
    "The path behind `use` says which program is imported."
    wrong "use \"\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\" as research\n\noutput found = research(topic: \"tides\")\n"

    E012 [Error Error Error] "invalid path of a program"
    "A program is named `handle/slug` or `@handle/slug` in a registry, by an address that starts with `https://`, by a git \
     host such as `github.com/owner/repo/path.prose`, or by the path of a local file that ends in `.prose` or starts with \
     `./`, `../` or `/`."
    wrong "use \"alice research\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\" as research\n\noutput found = research(topic: \"tides\")\n"

    E013 [Error Error Error] "skills are no array"
    "The skills of an agent are an array of strings, also when there is only one."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: \"web-search\"\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"

    E014 [Error Error Error] "skill is no string"
    "The name of a skill is written in quotes."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: [3]\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"

    E015 [Error Error Error] "permissions are no block"
    "Permissions are given one a line below `permissions:`, each for one kind of access."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions: deny\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: deny\n\nsession: writer\n"

    E016 [Error Off Error] "permission pattern is no string"
    "The patterns of a permission are strings. In the default profile the name of a variable that holds one is accepted \
     too."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    write: [3]\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    write: [\"docs/**\"]\n\nsession: writer\n"

    E017 [Error Error Error] "resumed agent keeps no memory"
    "`resume` goes on with the memory of an agent, which only an agent with `persist:` has."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession: writer\nresume: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nresume: writer\n"

    E018 [Information Information Error] "agent resumed before its first session"
    "The memory of an agent with `persist: true` begins with its first `session` in the run. A `resume` before that starts \
     with an empty memory."
    wrong "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nresume: writer\nresume: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nresume: writer\n"

    E019 [Error Off Error] "variable declared twice"
    "One list of statements declares a name once; a later line gives the variable a new value with `name = …`. The strict \
     profile wants every name to be unique in the whole program, as the reference does."
    wrong "let draft = session \"Write\"\nlet draft = session \"Write again\"\noutput draft\n"
    right "let draft = session \"Write\"\ndraft = session \"Write again\"\noutput draft\n"

    E020 [Error Error Error] "input without a name"
    "An `input` is known by its name, in the program and to its callers."
    wrong "input: \"What to research\"\n"
    right "input topic: \"What to research\"\n"

    E021 [Error Error Error] "input declared twice"
    "A caller gives each input once, by its name."
    wrong "input topic: \"What to write about\"\ninput topic: \"What else\"\n\nsession \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\ninput second: \"What else\"\n\nsession \"Write about {topic} and {second}\"\n"

    E022 [Off Off Error] "input after a statement that runs"
    "The strict profile wants all inputs above the first statement that runs. Without it an input may stand anywhere: the \
     program waits for it there."
    wrong "session \"Say hello\"\ninput topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Say hello\"\nsession \"Write about {topic}\"\n"

    E023 [Error Error Error] "output without a name"
    "An `output` with a `=` hands its value to the caller under a name. To return a value without one, leave the `=` out."
    wrong "output = session \"Write the report\"\n"
    right "output report = session \"Write the report\"\n"

    E024 [Error Off Error] "output declared twice"
    "Of two outputs with one name in one list of statements, the second always replaces the first. On branches that exclude \
     each other a name may come again, except in the strict profile."
    wrong "output report = session \"Write\"\noutput report = session \"Write again\"\n"
    right "output report = session \"Write\"\noutput review = session \"Review\"\n"

    E025 [Error Warning Error] "called program is not imported"
    "A call such as `research(topic: \"tides\")` runs a program that a `use` line imports under this name. A `block` of the \
     program itself is called with `do`, and there are no functions such as `print` or `len`. In the default profile it is a \
     warning where a run may not come to the call."
    wrong "output found = research(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E026 [Warning Warning Error] "input of the called program is missing"
    "The called program declares an input that the call does not give. A run stops there and asks for it; where nobody can \
     answer, it fails."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research()\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\")\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E027 [Warning Warning Error] "called program has no such input"
    "The call names an input that the called program does not declare, or gives a value without a name: inputs are given as \
     `name: value`."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\", depth: 3)\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\")\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E028 [Warning Warning Error] "called program has no such output"
    "The result of a program has the outputs that the program declares, and no others. That of a block with several outputs and \
     no other result is made of them, too."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\nlet found = research(topic: \"tides\")\noutput found.summary\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\nlet found = research(topic: \"tides\")\noutput found.findings\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E101 [Error Error Error] "unexpected or missing indentation"
    "A line is indented deeper than the one above it only below a header that ends in `:`, or as a property of an agent or a session; \
     the body of a header and properties always are."
    wrong "let count = 3\n  session \"Say hello\"\n"
    right "let count = 3\nsession \"Say hello\"\n"

    E102 [Error Error Error] "inconsistent indentation"
    "A line that ends a block goes back to the indentation of a line above. One that lies between two of them belongs to neither."
    wrong "repeat 2:\n    session \"One\"\n  session \"Two\"\n"
    right "repeat 2:\n    session \"One\"\n    session \"Two\"\n"

    E103 [Error Error Error] "tab in the indentation"
    "OpenProse is indented with spaces, two for each level. How wide a tab is depends on who looks at it."
    wrong "repeat 2:\n\tsession \"Try\"\n"
    right "repeat 2:\n  session \"Try\"\n"

    E104 [Error Error Error] "clause without its statement"
    "An `elif` or `else` belongs to an `if`, a `catch` or `finally` to a `try`, an `option` to a `choice`. A clause of `if` and \
     `try` stands at the indentation of its statement, an option one level deeper than its `choice`. An `if` has one `else`, a `try` one `finally`, each \
     the last clause."
    wrong "session \"Try\"\nelse:\n  session \"Give up\"\n"
    right "if **it is worth a try**:\n  session \"Try\"\nelse:\n  session \"Give up\"\n"

    E105 [Error Error Error] "try without catch or finally"
    "A `try` only makes sense with a `catch:` that handles the error, or a `finally:` that runs in any case."
    wrong "try:\n  session \"Deploy\"\n"
    right "try:\n  session \"Deploy\"\ncatch:\n  session \"Roll back\"\n"

    E106 [Error Error Error] "path of a program is not a string"
    "The path behind `use` is written in quotes."
    wrong "use alice/research\n"
    right "use \"alice/research\"\n"

    E107 [Error Error Error] "unknown statement"
    "The line starts with a word that starts no statement. Nothing is silently accepted, since an interpreter would have to guess what was meant."
    wrong "sesion \"Say hello\"\n"
    right "session \"Say hello\"\n"

    E108 [Error Error Error] "statement of another language"
    "The line is written as in another language, or in another dialect of this one. The message says how it is written here."
    wrong "repeat 3 times:\n  session \"Try\"\n"
    right "repeat 3:\n  session \"Try\"\n"

    E109 [Error Error Error] "string in the wrong quotes"
    "Strings are written between straight double quotes: `\"text\"`, or `\"\"\"text\"\"\"` over several lines."
    wrong "session 'Say hello'\n"
    right "session \"Say hello\"\n"

    E110 [Error Error Error] "comment in the wrong form"
    "A comment starts with `#`."
    wrong "// Greets the world.\nsession \"Say hello\"\n"
    right "# Greets the world.\nsession \"Say hello\"\n"

    E111 [Error Error Error] "nested too deeply"
    "Blocks and brackets are nested more than 128 levels deep. Move the inner part into a `block`."
    wrong "let list = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"
    right "let list = [[[1]]]\n"

    E112 [Error Error Error] "number out of range"
    "A count is a whole number and at least 1: that of `repeat`, and those of `max`, `count`, `retry` and `max_depth`."
    wrong "repeat 0:\n  session \"Try\"\n"
    right "repeat 1:\n  session \"Try\"\n"

    E113 [Error Error Error] "condition without markers"
    "A condition in words is judged by a model, and is written between `**` markers. A condition without markers is an expression over values, such as \
     `count > 3`."
    wrong "if the tests pass:\n  session \"Deploy\"\n"
    right "if **the tests pass**:\n  session \"Deploy\"\n"

    E114 [Error Error Error] "jump outside of a loop"
    "`break` leaves the innermost loop and `continue` goes on with its next iteration. Outside of a loop there is nothing to leave; `return` leaves a block."
    wrong "session \"Try\"\nbreak\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n  break\n"

    E115 [Error Error Error] "invalid name"
    "A name is made of letters, digits, `_` and `-`; it starts with a letter or `_`. Braces are replaced inside strings only."
    wrong "report_{item} = session \"Write the report\"\n"
    right "report_item = session \"Write the report\"\n"

    E116 [Error Error Error] "unknown pipeline operator"
    "A pipeline is made of `map`, `filter`, `pmap` and `reduce(total, item)`."
    wrong "[\"a\", \"b\"] | each:\n  session \"Look at {item}\"\n"
    right "[\"a\", \"b\"] | map:\n  session \"Look at {item}\"\n"

    E117 [Error Error Error] "block not defined"
    "`do` calls a block that the program does not define."
    wrong "block greet:\n  session \"Say hello\"\n\ndo greet\ndo grete\n"
    right "block greet:\n  session \"Say hello\"\n\ndo greet\ndo greet\n"

    E118 [Error Error Error] "block defined twice"
    "Two blocks have one name, so a `do` could not tell which of them it means."
    wrong "block greet:\n  session \"Say hello\"\n\nblock greet:\n  session \"Say hi\"\n\ndo greet\n"
    right "block greet:\n  session \"Say hello\"\n\nblock wave:\n  session \"Say hi\"\n\ndo greet\ndo wave\n"

    E119 [Error Error Error] "variable not defined"
    "Nothing in the file binds this name: no `let`, `const`, `input`, `output`, assignment, parameter or loop. Text for a \
     model is written in quotes."
    wrong "session \"Sum up\"\n  context: findings\n"
    right "let findings = session \"Research\"\nsession \"Sum up\"\n  context: findings\n"

    E120 [Error Error Error] "name in a string is not defined"
    "Braces in a one-line string stand for the value of a variable, and nothing in the file binds this one. `\\{` writes a \
     literal brace."
    wrong "session \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"

    E121 [Error Error Error] "assignment to a constant"
    "A `const` keeps its value; declare it with `let` if it has to change. Parameters of a block and the variables of loops, `catch` and \
     pipelines are constants too; what is new there gets a name of its own."
    wrong "const limit = 3\nlimit = 4\nsession \"Write {limit} lines\"\n"
    right "let limit = 3\nlimit = 4\nsession \"Write {limit} lines\"\n"

    E122 [Warning Hint Error] "variable named like an agent"
    "An agent and a variable share a name. They never meet when the program runs, but a reader takes one for the other."
    wrong "agent writer:\n  prompt: \"Write\"\n\nlet writer = session: writer\noutput writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nlet text = session: writer\noutput text\n"

    E123 [Warning Warning Error] "block named like an agent"
    "An agent and a block share a name. They never meet when the program runs, but a reader takes one for the other."
    wrong "agent review:\n  prompt: \"Review\"\n\nblock review:\n  session: review\n\ndo review\n"
    right "agent reviewer:\n  prompt: \"Review\"\n\nblock review:\n  session: reviewer\n\ndo review\n"

    E124 [Error Error Error] "unknown join strategy"
    "A `parallel` waits for `\"all\"` of its branches, for the `\"first\"`, or for `\"any\"` of them."
    wrong "parallel (\"fastest\"):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (\"first\"):\n  session \"One\"\n  session \"Two\"\n"

    E125 [Error Error Error] "unknown failure policy"
    "When a branch of a `parallel` fails, `on-fail` says what becomes of the others: `\"fail-fast\"`, `\"continue\"` or \
     `\"ignore\"`."
    wrong "parallel (on-fail: \"stop\"):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (on-fail: \"fail-fast\"):\n  session \"One\"\n  session \"Two\"\n"

    E126 [Error Error Error] "count without the strategy \"any\""
    "`count` says how many branches `\"any\"` waits for; the other strategies have no use for it."
    wrong "parallel (\"first\", count: 2):\n  session \"One\"\n  session \"Two\"\n  session \"Three\"\n"
    right "parallel (\"any\", count: 2):\n  session \"One\"\n  session \"Two\"\n  session \"Three\"\n"

    E127 [Error Off Error] "branch name given twice"
    "Two branches of one `parallel` have one name, so one result would be lost. The strict profile also refuses names that \
     are bound elsewhere."
    wrong "parallel:\n  a = session \"One\"\n  a = session \"Two\"\noutput a\n"
    right "parallel:\n  a = session \"One\"\n  b = session \"Two\"\noutput [a, b]\n"

    E128 [Warning Off Error] "output named like a variable"
    "The output replaces the variable of the same name. In the default profile that is accepted where the output is made \
     from the variable."
    wrong "let report = session \"Draft\"\nsession \"Review\"\n  context: report\noutput report = session \"Write\"\n"
    right "let draft = session \"Draft\"\nsession \"Review\"\n  context: draft\noutput report = session \"Write\"\n"

    E129 [Error Error Error] "empty condition"
    "A condition between markers is what a model judges, and here there is nothing to judge."
    wrong "loop until **** (max: 3):\n  session \"Try\"\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n"

    E130 [Error Error Error] "unknown backoff"
    "The wait between retries is `none`, `linear` or `exponential`."
    wrong "session \"Try\"\n  retry: 3\n  backoff: quadratic\n"
    right "session \"Try\"\n  retry: 3\n  backoff: exponential\n"

    E131 [Error Off Error] "choice without options"
    "A `choice` picks one of its options, so it needs at least one. Where statements stand in their place, the default \
     profile reports those alone."
    wrong "choice **which is best**:\n"
    right "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"two\":\n    session \"Two\"\n"

    E132 [Error Error Error] "invalid kind of memory"
    "`persist:` is `true` for the memory of a run, `project` or `user` for longer ones, a path in quotes, or `false`."
    wrong "agent writer:\n  prompt: \"Write\"\n  persist: forever\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: project\n\nsession: writer\n"

    E133 [Error Error Error] "two imports under one name"
    "Two programs are imported under one name, so a call could not tell which of them it means. `as` gives one of them \
     another name."
    wrong "use \"alice/research\"\nuse \"bob/research\"\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\"\nuse \"bob/research\" as verify\n\nlet found = research(topic: \"tides\")\noutput checked = verify(claim: found)\n"

    E134 [Error Error Error] "name given twice in one list"
    "Parameters, destructured names, the names of a loop or a `reduce`, and named arguments are told apart by their names."
    wrong "block greet(name, name):\n  session \"Say hello to {name}\"\n\ndo greet(\"Ann\", \"Bob\")\n"
    right "block greet(name, other):\n  session \"Say hello to {name} and {other}\"\n\ndo greet(\"Ann\", \"Bob\")\n"

    E135 [Error Error Error] "option given twice"
    "Each option between the parentheses is given once, since a second value would replace the first."
    wrong "loop until **it works** (max: 3, max: 5):\n  session \"Try\"\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n"

    E136 [Off Off Error] "context array holds more than names"
    "The strict profile wants the items of an array in `context:` to be names of variables. Without it any value may stand \
     there."
    wrong "session \"Sum up\"\n  context: [\"a note\"]\n"
    right "let note = \"a note\"\nsession \"Sum up\"\n  context: [note]\n"

    E137 [Error Error Error] "value of the wrong kind"
    "The property, option or statement needs a value of another kind, as the message says."
    wrong "session \"Try\"\n  retry: \"three\"\n"
    right "session \"Try\"\n  retry: 3\n"

    E138 [Error Error Error] "programs import each other"
    "The imports lead back to this program, so running it would never end."
    wrong "//- /main.prose\nuse \"./other.prose\"\n\noutput result = other()\n//- /other.prose\nuse \"./main.prose\"\n\noutput result = main()\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\")\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E139 [Error Error Error] "imported program not found"
    "There is no program at this path. That of a file starts from the folder of the importing program; other paths lead to a registry, an \
     address or a repository."
    wrong "use \"./missing.prose\" as missing\n\noutput found = missing(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E143 [Error Error Error] "what an import leads to is no program"
    "Where the path of the import leads, there is a page for browsers, a folder, something that is no text, or more than a program can be."
    wrong "use \"https://example.com/a-page\" as page\n\noutput found = page()\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    E144 [Error Error Error] "import that is not allowed"
    "The program is not fetched, since that would not be safe: the way to it is not encrypted, a program from the network wants something of \
     this machine or of the network around it, or too many programs import each other."
    wrong "use \"http://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    E145 [Error Error Error] "imported program has errors"
    "A program with errors does not run, and so neither does one that imports it. One whose imports go in a circle has an error, too."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research()\n\n//- /research.prose\noutput found = findings\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research()\n\n//- /research.prose\noutput found = session \"Find out\"\n"

    E146 [Error Error Error] "imported program is not the one in prose.lock"
    "The lock file says which text the import stands for, and what is there now is another one, or the file cannot be \
     read. With `--locked`, each import has to be in it. `prose lock --update=REFERENCE` accepts another text."
    wrong "use \"alice/changed\"\n\noutput found = changed(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E148 [Error Error Error] "model that would be read as an option"
    "The id of a model becomes an argument of the program that runs the session, and there a text that starts with `-` is an option."
    wrong "session \"Say hello\"\n  model: \"--yes\"\n"
    right "session \"Say hello\"\n  model: \"vendor/model\"\n"

    E141 [Error Error Error] "prose.toml is not valid TOML"
    "This statement of the settings file cannot be read, so it has no effect. The settings around it are in effect."
    wrong "//- /prose.toml\n[check\nprofile = \"strict\"\n"
    right "//- /prose.toml\n[check]\nprofile = \"strict\"\n"

    E142 [Error Error Error] "wrong value in prose.toml"
    "The setting has a value that it cannot take. The other settings are in effect."
    wrong "//- /prose.toml\n[check]\nprofile = \"strikt\"\n"
    right "//- /prose.toml\n[check]\nprofile = \"strict\"\n"

    E149 [Error Warning Error] "misspelt property"
    "The name is that of a property with one letter wrong, so the value would be ignored when the program runs. In the default profile \
     it is a warning where a run may not come to the session."
    wrong "session \"Say hello\"\n  modell: opus\n"
    right "session \"Say hello\"\n  model: opus\n"

    E150 [Error Error Error] "variable read before anything binds it"
    "No statement that runs before this one binds the name, so every run that comes here fails. Move the statement that binds it up, or \
     give the variable a first value with `let`."
    wrong "let count = count + 1\noutput count\n"
    right "let before = 0\nlet count = before + 1\noutput count\n"

    W001 [Warning Warning Warning] "empty session"
    "The text of the session is empty, so nothing tells the model what to do."
    wrong "session \"\"\n"
    right "session \"Say hello\"\n"

    W002 [Warning Warning Warning] "blank session"
    "The text of the session is only space, so nothing tells the model what to do."
    wrong "session \"  \"\n"
    right "session \"Say hello\"\n"

    W003 [Warning Warning Warning] "very long prompt"
    "A prompt of more than 10,000 characters leaves little room for the work. Move material into files or `context:`, or \
     split the task."
    wrong "session \"\"\"\nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \n\"\"\"\n"
    right "session \"Say it again and again\"\n"

    W004 [Warning Warning Warning] "empty prompt"
    "The `prompt:` says what the agent is or what the session has to do, and here it says nothing."
    wrong "session \"Say hello\"\n  prompt: \"\"\n"
    right "session \"Say hello\"\n  prompt: \"In French\"\n"

    W005 [Warning Warning Warning] "unknown property"
    "Only the known properties have an effect; a misspelt one is ignored in silence when the program runs."
    wrong "session \"Say hello\"\n  temperature: 1\n"
    right "session \"Say hello\"\n  model: opus\n"

    W006 [Warning Warning Warning] "unknown source of a skill"
    "The source of an imported skill starts with `github:`, `npm:` or `./`."
    wrong "import \"web-search\" from \"example.com/web-search\"\n"
    right "import \"web-search\" from \"github:example/web-search\"\n"

    W007 [Information Information Warning] "skill is not imported"
    "An agent has a skill that no `use` of the program brings. The host may know it anyway."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"
    right "use \"example/web-search\"\n\nagent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"

    W008 [Information Information Warning] "unknown kind of permission"
    "The kinds of permission of the reference are `read`, `write`, `execute`, `bash` and `network`. Others are handed to \
     the host, which may not know them."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bahs: deny\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: deny\n\nsession: writer\n"

    W009 [Warning Warning Warning] "unknown permission value"
    "A permission is `allow`, `deny`, `prompt`, or an array of patterns."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: never\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: deny\n\nsession: writer\n"

    W010 [Warning Warning Warning] "empty array of skills"
    "An empty array gives the agent no skill; without the property it says the same."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: []\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nsession: writer\n"

    W011 [Off Off Warning] "session ignores the memory of its agent"
    "A `session` of an agent that keeps memory starts without it and replaces it; `resume` goes on with it."
    wrong "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nresume: writer\n"

    W101 [Warning Warning Warning] "empty body"
    "Nothing is indented below this line, so it does nothing."
    wrong "repeat 3:\n"
    right "repeat 3:\n  session \"Try\"\n"

    W102 [Warning Warning Warning] "statement among options"
    "A `choice` picks one of its options; a statement beside them is never run."
    wrong "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  session \"Two\"\n"
    right "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"two\":\n    session \"Two\"\n"

    W103 [Information Information Information] Deprecated "legacy import"
    "`import \"skill\" from \"source\"` registers the name of a skill and is kept for old programs. Programs are imported with `use`."
    wrong "import \"web-search\" from \"github:example/web-search\"\n"
    right "use \"example/web-search\"\n"

    W104 [Information Information Warning] "very short condition"
    "A condition of one word or a few letters says little; a model judges it by guessing."
    wrong "loop until **ok** (max: 3):\n  session \"Try\"\n"
    right "loop until **all tests pass** (max: 3):\n  session \"Try\"\n"

    W105 [Warning Warning Error] "variable declared again in an inner body"
    "The name is declared already around this body, and bodies have no variables of their own: `let` gives the outer \
     variable a new value. `name = …` says so."
    wrong "let draft = session \"Write\"\nrepeat 2:\n  let draft = session \"Improve\"\n    context: draft\noutput draft\n"
    right "let draft = session \"Write\"\nrepeat 2:\n  draft = session \"Improve\"\n    context: draft\noutput draft\n"

    W106 [Hint Hint Warning] "name hides another"
    "The name is also that of a variable around it, which cannot be reached from inside."
    wrong "let item = session \"Choose\"\nfor item in [\"a\", \"b\"]:\n  session \"Look at {item}\"\noutput item\n"
    right "let choice = session \"Choose\"\nfor item in [\"a\", \"b\"]:\n  session \"Look at {item}\"\noutput choice\n"

    W107 [Warning Hint Error] "name bound only inside of a block"
    "The name is bound in the body of a `block` and read outside of it. After a call the value may be found there, but it \
     is better returned: `let x = do name()` with an `output` in the block. The variables of loops, `catch` and pipelines are gone \
     behind their bodies; a `let` in the body keeps a value."
    wrong "block gather:\n  let notes = session \"Gather\"\n\ndo gather\nsession \"Sum up\"\n  context: notes\n"
    right "block gather:\n  output session \"Gather\"\n\nlet notes = do gather\nsession \"Sum up\"\n  context: notes\n"

    W108 [Warning Warning Warning] "wrong number of arguments"
    "A missing argument is empty when the block runs; one too many is dropped."
    wrong "block greet(name):\n  session \"Say hello to {name}\"\n\ndo greet(\"Ann\", \"Bob\")\n"
    right "block greet(name):\n  session \"Say hello to {name}\"\n\ndo greet(\"Ann\")\n"

    W109 [Warning Warning Warning] "very many retries"
    "A session that failed more than ten times will rarely succeed, and each attempt costs as much as the first."
    wrong "session \"Try\"\n  retry: 50\n"
    right "session \"Try\"\n  retry: 5\n"

    W110 [Warning Warning Warning] "retry on an agent"
    "`retry` and `backoff` belong to a session; the reference gives them no meaning on an agent."
    wrong "agent writer:\n  prompt: \"Write\"\n  retry: 3\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nsession: writer\n  retry: 3\n"

    W111 [Warning Warning Warning] "empty error message"
    "The message is all that a handler and the reader of a failed run learn about the error."
    wrong "if **the tests fail**:\n  throw \"\"\n"
    right "if **the tests fail**:\n  throw \"The tests fail\"\n"

    W112 [Warning Warning Warning] "two options with one label"
    "The model picks an option by its label and cannot tell these apart."
    wrong "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"one\":\n    session \"Two\"\n"
    right "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"two\":\n    session \"Two\"\n"

    W113 [Warning Warning Warning] "loop without a bound"
    "Nothing limits the iterations: there is no `max`, and no `break` or `return` leaves the loop."
    wrong "loop:\n  session \"Try\"\n"
    right "loop (max: 5):\n  session \"Try\"\n"

    W114 [Warning Warning Warning] "count exceeds the branches"
    "`\"any\"` waits for more results than there are branches."
    wrong "parallel (\"any\", count: 3):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (\"any\", count: 2):\n  session \"One\"\n  session \"Two\"\n"

    W115 [Hint Hint Hint] Unnecessary "variable is never read"
    "Nothing uses the value. A session that is run for its effects needs no variable."
    wrong "let greeting = session \"Say hello\"\n"
    right "session \"Say hello\"\n"

    W116 [Hint Hint Hint] Unnecessary "agent is never used"
    "No session runs this agent."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession \"Say hello\"\n"
    right "agent writer:\n  prompt: \"Write\"\n\nsession: writer\n"

    W117 [Hint Hint Hint] Unnecessary "block is never called"
    "No `do` calls this block."
    wrong "block greet:\n  session \"Say hello\"\n\nsession \"Say hello\"\n"
    right "block greet:\n  session \"Say hello\"\n\ndo greet\n"

    W118 [Hint Hint Hint] Unnecessary "statement is never reached"
    "The statement above always leaves this body."
    wrong "block greet:\n  return \"hello\"\n  session \"Say hello\"\n\noutput do greet\n"
    right "block greet:\n  session \"Say hello\"\n  return \"hello\"\n\noutput do greet\n"

    W119 [Warning Warning Warning] "input is never used"
    "A caller has to give the input, but no text, context or condition of the program uses it."
    wrong "input topic: \"What to write about\"\n\nsession \"Say hello\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"

    W120 [Hint Hint Hint] Unnecessary "import is never used"
    "No call runs the imported program."
    wrong "use \"alice/research\"\n\nsession \"Say hello\"\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    W121 [Warning Warning Warning] "recursion without a way out"
    "The block always calls itself: no `if`, `choice`, loop or handler stands before the call that could leave it out. The \
     run ends at the limit of the depth."
    wrong "block dig(depth):\n  session \"Dig to {depth}\"\n  do dig(depth + 1)\n\ndo dig(1)\n"
    right "block dig(depth):\n  session \"Dig to {depth}\"\n  if depth < 3:\n    do dig(depth + 1)\n\ndo dig(1)\n"

    W122 [Warning Warning Warning] "handler can never run"
    "No statement of the `try` can fail, or an earlier `catch` handles every error already."
    wrong "try:\n  session \"Deploy\"\ncatch:\n  session \"Roll back\"\ncatch:\n  session \"Give up\"\n"
    right "try:\n  session \"Deploy\"\ncatch:\n  session \"Roll back\"\n  session \"Give up\"\n"

    W123 [Warning Warning Warning] "permissions contradict each other"
    "Two permissions cannot both hold, or one of them has no effect beside the other."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    read: deny\n    write: [\"docs/**\"]\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    read: [\"docs/**\"]\n    write: [\"docs/**\"]\n\nsession: writer\n"

    W124 [Warning Warning Warning] "backoff without retry"
    "`backoff` is the wait between retries, and there are none."
    wrong "session \"Try\"\n  backoff: linear\n"
    right "session \"Try\"\n  retry: 3\n  backoff: linear\n"

    W125 [Warning Warning Warning] "variable used before it is bound"
    "The name is bound only further down, so here it is still empty, and a text keeps its braces."
    wrong "session \"Sum up: {findings}\"\nlet findings = session \"Research\"\n"
    right "let findings = session \"Research\"\nsession \"Sum up: {findings}\"\n"

    W126 [Warning Warning Warning] "neither the session nor its agent has a prompt"
    "Nothing tells the model what to do: give the session a text or a `prompt:`, or give its agent one."
    wrong "agent writer:\n  model: opus\n\nsession: writer\n"
    right "agent writer:\n  model: opus\n\nsession: writer\n  prompt: \"Write\"\n"

    W127 [Warning Warning Warning] "name in braces is nearly that of a variable"
    "In a triple-quoted string or a condition, braces around an unknown name are literal text. This one differs by a letter \
     or two from a variable that can be seen here."
    wrong "input subject: \"What to write about\"\n\nsession \"\"\"\n  Write about {subjct}, and only about {subject}.\n\"\"\"\n"
    right "input subject: \"What to write about\"\n\nsession \"\"\"\n  Write about {subject}, and only about {subject}.\n\"\"\"\n"

    W128 [Warning Warning Warning] "unknown option"
    "Only the known options between the parentheses have an effect."
    wrong "loop until **it works** (maximum: 3, max: 5):\n  session \"Try\"\n"
    right "loop until **it works** (max: 5):\n  session \"Try\"\n"

    W130 [Information Information Information] Deprecated "named session"
    "`session name: agent` is the old way to bind the result to a name."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession text: writer\noutput text\n"
    right "agent writer:\n  prompt: \"Write\"\n\nlet text = session: writer\noutput text\n"

    W131 [Information Information Information] "strategy without quotes"
    "Strategies and policies are written in quotes in the reference; without them they read like variables."
    wrong "parallel (first):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (\"first\"):\n  session \"One\"\n  session \"Two\"\n"

    W132 [Off Off Information] "statement that the reference does not define"
    "`break`, `continue`, `return` and `assert` are in use but in no grammar of the reference; another interpreter may not \
     know them."
    wrong "loop until **it works** (max: 3):\n  session \"Try\"\n  break\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n"

    W133 [Hint Hint Hint] "branches change one variable"
    "The branches of a `parallel for` run at once, so the values arrive in the order in which the branches finish."
    wrong "let found = []\nparallel for place in [\"a\", \"b\"]:\n  let result = session \"Search {place}\"\n  found = found + [result]\noutput found\n"
    right "let found = [\"a\", \"b\"] | pmap:\n  session \"Search {item}\"\noutput found\n"

    W134 [Hint Hint Hint] "agent as context"
    "The name of an agent in `context:` passes its memory or its last result. A variable says which."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession: writer\nsession \"Sum up\"\n  context: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nlet text = session: writer\nsession \"Sum up\"\n  context: text\n"

    W135 [Warning Warning Warning] "nothing to throw again"
    "`throw` without a message passes on the error that a `catch` is handling. Outside of a `catch` there is none."
    wrong "if **the tests fail**:\n  throw\n"
    right "if **the tests fail**:\n  throw \"The tests fail\"\n"

    W136 [Warning Warning Warning] "empty description"
    "The description of an input is all that the person or program that gives it is told."
    wrong "input topic: \"\"\n\nsession \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"

    W137 [Warning Warning Warning] Unnecessary "ignore comment without effect"
    "The comment names a code that does not exist, or one that is not reported at its place; or it is not written as \
     `# prose: ignore[W101] reason`, or `# prose: ignore-file[W101] reason` at the top of a file."
    wrong "# prose: ignore[E007]\nsession \"Say hello\"\n"
    right "session \"Say hello\"\n"

    W138 [Warning Warning Warning] "assignment to a name that is not declared"
    "The assignment makes a new variable, since nothing declares this name. `let` says so, and a slip of the pen stands \
     out."
    wrong "summry = session \"Sum up\"\noutput summry\n"
    right "let summary = session \"Sum up\"\noutput summary\n"

    W139 [Warning Warning Warning] "key given twice"
    "The second value replaces the first."
    wrong "output { name: \"Ann\", name: \"Bob\" }\n"
    right "output { name: \"Ann\", other: \"Bob\" }\n"

    W140 [Hint Hint Hint] "triple quotes inside a triple-quoted string"
    "The inner quotes are taken for text because the line looks like code of a sample. An editor or another interpreter may \
     end the string here."
    wrong "agent teacher:\n  prompt: \"\"\"\n    A sample:\n      session \"\"\"\n        Say hello\n      \"\"\"\n  \"\"\"\n\nsession: teacher\n"
    right "agent teacher:\n  prompt: \"\"\"\n    A sample:\n      session \"Say hello\"\n  \"\"\"\n\nsession: teacher\n"

    W141 [Warning Warning Warning] "unknown key in prose.toml"
    "The key is no setting, or the code is that of no diagnostic. It has no effect."
    wrong "//- /prose.toml\n[check]\nprofil = \"strict\"\n"
    right "//- /prose.toml\n[check]\nprofile = \"strict\"\n"

    W142 [Warning Warning Warning] "argument under another name"
    "The reference binds the arguments of a block by their places. `prose run` goes by the names where there are some, others may not, so a \
     name has to be that of the parameter in the same place for all to agree."
    wrong "block greet(name, time):\n  session \"Say hello to {name} in the {time}\"\n\ndo greet(time: \"morning\", name: \"Ann\")\n"
    right "block greet(name, time):\n  session \"Say hello to {name} in the {time}\"\n\ndo greet(name: \"Ann\", time: \"morning\")\n"

    W143 [Information Information Information] "imported program cannot be reached"
    "Nobody can tell at the moment what the import leads to. If the program is known from earlier, that text is used."
    wrong "use \"https://unreachable.example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    W144 [Information Information Information] "imported program has moved"
    "The host of the program says that it is to be found at another address from now on."
    wrong "use \"https://example.com/moved.prose\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    W145 [Warning Warning Warning] "braces that fill in nothing"
    "Only `{name}` with fields and indexes is filled in, as in `{plan.steps[0]}`. All else between braces is text, even with the name of a \
     variable in it."
    wrong "let topic = \"tides\"\nsession \"Write about { topic }\"\n"
    right "let topic = \"tides\"\nsession \"Write about {topic}\"\n"

    W148 [Warning Warning Warning] "session is passed nothing of what it refers to"
    "A session sees its prompt and the values in its `context:`, and nothing of earlier sessions. A prompt such as \"Summarize your \
     research\" alone leaves the model to guess; `context: research` passes the result. An array without items, `context: []`, says that \
     nothing has to be passed."
    wrong "session \"Research the tides\"\nsession \"Summarize your research\"\n"
    right "let research = session \"Research the tides\"\nsession \"Summarize your research\"\n  context: research\n"

    W149 [Warning Warning Warning] "braces of another language"
    "One pair of braces fills in the value of a variable. The `$` of `${name}` and the outer braces of `{{name}}` stay in the text."
    wrong "let topic = \"tides\"\nsession \"Write about ${topic}\"\n"
    right "let topic = \"tides\"\nsession \"Write about {topic}\"\n"
}
