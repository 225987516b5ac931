//! The rows of the table, in the order of the codes.
//!
//! The levels after a code are those in the default profile, in the default profile for lenient cases (see
//! [`CodeInfo::lenient`]), and in the strict profile.

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
    "The escapes of a one-line string are `\\\\`, `\\\"`, `\\n`, `\\t`, `\\{` and `\\}`. In a triple-quoted string any other \
     backslash is literal text."
    wrong "session \"C:\\dir\"\n"
    right "session \"C:\\\\dir\"\n"

    E003 [Error Error Error] "session without text or agent"
    "A `session` takes a text with the task, or the name of an agent whose prompt contains it; a `resume` takes the name of an \
     agent."
    wrong "session\n"
    right "session \"Say hello\"\n"

    E004 [Error Error Error] "unexpected text"
    "Text appears where the language does not allow it. Text for a model is written in quotes; a value that nothing uses is \
     bound with `let` or returned with `output`."
    wrong "let greeting = \"hello\" \"world\"\n"
    right "let greeting = \"hello world\"\n"

    E005 [Error Error Error] "missing syntax"
    "A required part of the statement is missing: a `:` at the end of a header, a `=` before a value, a closing bracket, a name, \
     or a value."
    wrong "repeat 3\n  session \"Try\"\n"
    right "repeat 3:\n  session \"Try\"\n"

    E006 [Error Error Error] "agent defined twice"
    "Two agents have the same name, so a reference to it would be ambiguous."
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

    E009 [Error Error Error] "duplicate property"
    "A property has one value. Several lines with the same key are allowed only below `context:`."
    wrong "session \"Say hello\"\n  model: opus\n  model: haiku\n"
    right "session \"Say hello\"\n  model: opus\n"

    E010 [Error Error Error] "program imported twice"
    "One import is enough for any number of calls. In the default profile, two imports of the same program are accepted if they \
     have different names."
    wrong "use \"alice/research\"\nuse \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E011 [Error Error Error] "empty program path"
    "The path after `use` names the program to import."
    wrong "use \"\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\" as research\n\noutput found = research(topic: \"tides\")\n"

    E012 [Error Error Error] "invalid program path"
    "A program path is `handle/slug` or `@handle/slug` for a registry, an address that starts with `https://`, a git host such \
     as `github.com/owner/repo/path.prose`, or a local file that ends in `.prose` or starts with `./`, `../` or `/`."
    wrong "use \"alice research\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\" as research\n\noutput found = research(topic: \"tides\")\n"

    E013 [Error Error Error] "`skills` is not an array"
    "`skills` must be an array of strings, even for a single skill."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: \"web-search\"\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"

    E014 [Error Error Error] "skill is not a string"
    "The name of a skill must be in quotes."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: [3]\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"

    E015 [Error Error Error] "`permissions` is not a block"
    "Permissions are listed below `permissions:`, one kind of access per line."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions: deny\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: deny\n\nsession: writer\n"

    E016 [Error Off Error] "permission pattern is not a string"
    "The patterns of a permission must be strings. In the default profile a variable that holds a string is accepted too."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    write: [3]\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    write: [\"docs/**\"]\n\nsession: writer\n"

    E017 [Error Error Error] "resumed agent has no memory"
    "`resume` continues with the memory of an agent, which requires `persist:` on the agent."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession: writer\nresume: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nresume: writer\n"

    E018 [Information Information Error] "agent resumed before its first session"
    "The memory of an agent with `persist: true` starts with its first `session` in the run. A `resume` before that starts with \
     an empty memory."
    wrong "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nresume: writer\nresume: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nresume: writer\n"

    E019 [Error Off Error] "variable declared twice"
    "A name is declared once per list of statements; assign a new value later with `name = …`. In the strict profile every name \
     must be unique in the whole program, as in the reference."
    wrong "let draft = session \"Write\"\nlet draft = session \"Write again\"\noutput draft\n"
    right "let draft = session \"Write\"\ndraft = session \"Write again\"\noutput draft\n"

    E020 [Error Error Error] "input without a name"
    "An `input` needs a name, for the program and for its callers."
    wrong "input: \"What to research\"\n"
    right "input topic: \"What to research\"\n"

    E021 [Error Error Error] "input declared twice"
    "Callers pass inputs by name, so each name can be declared only once."
    wrong "input topic: \"What to write about\"\ninput topic: \"What else\"\n\nsession \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\ninput second: \"What else\"\n\nsession \"Write about {topic} and {second}\"\n"

    E022 [Off Off Error] "input after the first statement"
    "In the strict profile all inputs must come before the first statement that runs. In the default profile an input may appear \
     anywhere: the program waits for its value there."
    wrong "session \"Say hello\"\ninput topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Say hello\"\nsession \"Write about {topic}\"\n"

    E023 [Error Error Error] "output without a name"
    "`output name = …` returns a value to the caller under a name. To return a value without a name, leave out the `=`."
    wrong "output = session \"Write the report\"\n"
    right "output report = session \"Write the report\"\n"

    E024 [Error Off Error] "output declared twice"
    "Of two outputs with the same name in one list of statements, the second always replaces the first. On mutually exclusive \
     branches the same name may be used again, except in the strict profile."
    wrong "output report = session \"Write\"\noutput report = session \"Write again\"\n"
    right "output report = session \"Write\"\noutput review = session \"Review\"\n"

    E025 [Error Warning Error] "called program is not imported"
    "A call such as `research(topic: \"tides\")` runs a program that is imported with `use` under this name. Call a `block` of \
     the same program with `do`; there are no functions such as `print` or `len`. In the default profile this is a warning where \
     a run may not reach the call."
    wrong "output found = research(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E026 [Warning Warning Error] "missing input in a call"
    "The called program declares an input that the call does not pass. The run stops there and asks for it; without a terminal or an \
     editor, it fails."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research()\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\")\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E027 [Warning Warning Error] "unknown input in a call"
    "The call passes an input that the called program does not declare, or a value without a name: inputs are passed as `name: \
     value`."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\", depth: 3)\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\")\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E028 [Warning Warning Error] "unknown output of a call"
    "The result of a program has exactly the outputs that the program declares. The same holds for a block that has several \
     outputs and no other result."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\nlet found = research(topic: \"tides\")\noutput found.summary\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\nlet found = research(topic: \"tides\")\noutput found.findings\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E101 [Error Error Error] "unexpected or missing indentation"
    "A line may be indented deeper than the one above only after a header that ends in `:`, or as a property of an agent or a \
     session; bodies and properties must be indented."
    wrong "let count = 3\n  session \"Say hello\"\n"
    right "let count = 3\nsession \"Say hello\"\n"

    E102 [Error Error Error] "inconsistent indentation"
    "A line that ends a block must return to the indentation of a line above. This one lies between two levels and belongs to \
     neither."
    wrong "repeat 2:\n    session \"One\"\n  session \"Two\"\n"
    right "repeat 2:\n    session \"One\"\n    session \"Two\"\n"

    E103 [Error Error Error] "tab in the indentation"
    "OpenProse is indented with spaces, two per level. The width of a tab depends on the editor."
    wrong "repeat 2:\n\tsession \"Try\"\n"
    right "repeat 2:\n  session \"Try\"\n"

    E104 [Error Error Error] "clause without its statement"
    "An `elif` or `else` belongs to an `if`, a `catch` or `finally` to a `try`, an `option` to a `choice`. Clauses of `if` and \
     `try` are aligned with their statement, an option is indented one level deeper than its `choice`. An `if` has at most one \
     `else`, a `try` at most one `finally`, always last."
    wrong "session \"Try\"\nelse:\n  session \"Give up\"\n"
    right "if **it is worth a try**:\n  session \"Try\"\nelse:\n  session \"Give up\"\n"

    E105 [Error Error Error] "try without catch or finally"
    "A `try` needs a `catch:` that handles the error, or a `finally:` that always runs."
    wrong "try:\n  session \"Deploy\"\n"
    right "try:\n  session \"Deploy\"\ncatch:\n  session \"Roll back\"\n"

    E106 [Error Error Error] "program path is not a string"
    "The path after `use` must be in quotes."
    wrong "use alice/research\n"
    right "use \"alice/research\"\n"

    E107 [Error Error Error] "unknown statement"
    "The line starts with a word that does not start any statement. It is rejected, since an interpreter would have to guess \
     what was meant."
    wrong "sesion \"Say hello\"\n"
    right "session \"Say hello\"\n"

    E108 [Error Error Error] "syntax of another language"
    "The line uses the syntax of another language, or of another dialect of OpenProse. The message shows the OpenProse form."
    wrong "repeat 3 times:\n  session \"Try\"\n"
    right "repeat 3:\n  session \"Try\"\n"

    E109 [Error Error Error] "string in the wrong quotes"
    "Strings are written between straight double quotes: `\"text\"`, or `\"\"\"text\"\"\"` over several lines."
    wrong "session 'Say hello'\n"
    right "session \"Say hello\"\n"

    E110 [Error Error Error] "comment syntax of another language"
    "A comment starts with `#`."
    wrong "// Greets the world.\nsession \"Say hello\"\n"
    right "# Greets the world.\nsession \"Say hello\"\n"

    E111 [Error Error Error] "nested too deeply"
    "Blocks and brackets are nested more than 128 levels deep. Move the inner part into a `block`."
    wrong "let list = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"
    right "let list = [[[1]]]\n"

    E112 [Error Error Error] "number out of range"
    "A count must be a whole number of at least 1: in `repeat`, `max`, `count`, `retry` and `max_depth`."
    wrong "repeat 0:\n  session \"Try\"\n"
    right "repeat 1:\n  session \"Try\"\n"

    E113 [Error Error Error] "condition without markers"
    "A condition in words is judged by a model and must be between `**` markers. A condition without markers is an expression \
     over values, such as `count > 3`."
    wrong "if the tests pass:\n  session \"Deploy\"\n"
    right "if **the tests pass**:\n  session \"Deploy\"\n"

    E114 [Error Error Error] "jump outside of a loop"
    "`break` leaves the innermost loop and `continue` starts its next iteration. To leave a block, use `return`."
    wrong "session \"Try\"\nbreak\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n  break\n"

    E115 [Error Error Error] "invalid name"
    "A name consists of letters, digits, `_` and `-`, and starts with a letter or `_`. Braces are interpolated only inside \
     strings."
    wrong "report_{item} = session \"Write the report\"\n"
    right "report_item = session \"Write the report\"\n"

    E116 [Error Error Error] "unknown pipeline operator"
    "A pipeline consists of `map`, `filter`, `pmap` and `reduce(total, item)`."
    wrong "[\"a\", \"b\"] | each:\n  session \"Look at {item}\"\n"
    right "[\"a\", \"b\"] | map:\n  session \"Look at {item}\"\n"

    E117 [Error Error Error] "block not defined"
    "`do` calls a block that the program does not define."
    wrong "block greet:\n  session \"Say hello\"\n\ndo greet\ndo grete\n"
    right "block greet:\n  session \"Say hello\"\n\ndo greet\ndo greet\n"

    E118 [Error Error Error] "block defined twice"
    "Two blocks have the same name, so a `do` would be ambiguous."
    wrong "block greet:\n  session \"Say hello\"\n\nblock greet:\n  session \"Say hi\"\n\ndo greet\n"
    right "block greet:\n  session \"Say hello\"\n\nblock wave:\n  session \"Say hi\"\n\ndo greet\ndo wave\n"

    E119 [Error Error Error] "variable not defined"
    "Nothing in the file binds this name: no `let`, `const`, `input`, `output`, assignment, parameter or loop. Text for a model \
     must be in quotes."
    wrong "session \"Sum up\"\n  context: findings\n"
    right "let findings = session \"Research\"\nsession \"Sum up\"\n  context: findings\n"

    E120 [Error Error Error] "undefined name in a string"
    "Braces in a one-line string interpolate a variable, and nothing in the file binds this name. Write a literal brace as \
     `\\{`."
    wrong "session \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"

    E121 [Error Error Error] "assignment to a constant"
    "A `const` keeps its value; declare it with `let` if it must change. Parameters of a block and the variables of loops, \
     `catch` and pipelines are constants too; use a new name for a new value."
    wrong "const limit = 3\nlimit = 4\nsession \"Write {limit} lines\"\n"
    right "let limit = 3\nlimit = 4\nsession \"Write {limit} lines\"\n"

    E122 [Warning Hint Error] "variable named like an agent"
    "An agent and a variable have the same name. The program runs, but readers may confuse the two."
    wrong "agent writer:\n  prompt: \"Write\"\n\nlet writer = session: writer\noutput writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nlet text = session: writer\noutput text\n"

    E123 [Warning Warning Error] "block named like an agent"
    "An agent and a block have the same name. The program runs, but readers may confuse the two."
    wrong "agent review:\n  prompt: \"Review\"\n\nblock review:\n  session: review\n\ndo review\n"
    right "agent reviewer:\n  prompt: \"Review\"\n\nblock review:\n  session: reviewer\n\ndo review\n"

    E124 [Error Error Error] "unknown join strategy"
    "A `parallel` waits for `\"all\"` of its branches, for the `\"first\"`, or for `\"any\"` of them."
    wrong "parallel (\"fastest\"):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (\"first\"):\n  session \"One\"\n  session \"Two\"\n"

    E125 [Error Error Error] "unknown failure policy"
    "`on-fail` decides what happens to the other branches when a branch of a `parallel` fails: `\"fail-fast\"`, `\"continue\"` \
     or `\"ignore\"`."
    wrong "parallel (on-fail: \"stop\"):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (on-fail: \"fail-fast\"):\n  session \"One\"\n  session \"Two\"\n"

    E126 [Error Error Error] "count without the strategy \"any\""
    "`count` is the number of branches that `\"any\"` waits for; other strategies do not use it."
    wrong "parallel (\"first\", count: 2):\n  session \"One\"\n  session \"Two\"\n  session \"Three\"\n"
    right "parallel (\"any\", count: 2):\n  session \"One\"\n  session \"Two\"\n  session \"Three\"\n"

    E127 [Error Off Error] "duplicate branch name"
    "Two branches of one `parallel` have the same name, so one result would be lost. The strict profile also rejects names that \
     are bound elsewhere."
    wrong "parallel:\n  a = session \"One\"\n  a = session \"Two\"\noutput a\n"
    right "parallel:\n  a = session \"One\"\n  b = session \"Two\"\noutput [a, b]\n"

    E128 [Warning Off Error] "output named like a variable"
    "The output replaces the variable of the same name. In the default profile this is accepted where the output is computed \
     from the variable."
    wrong "let report = session \"Draft\"\nsession \"Review\"\n  context: report\noutput report = session \"Write\"\n"
    right "let draft = session \"Draft\"\nsession \"Review\"\n  context: draft\noutput report = session \"Write\"\n"

    E129 [Error Error Error] "empty condition"
    "A model judges the condition between the markers, and this one is empty."
    wrong "loop until **** (max: 3):\n  session \"Try\"\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n"

    E130 [Error Error Error] "unknown backoff"
    "The wait between retries is `none`, `linear` or `exponential`."
    wrong "session \"Try\"\n  retry: 3\n  backoff: quadratic\n"
    right "session \"Try\"\n  retry: 3\n  backoff: exponential\n"

    E131 [Error Off Error] "choice without options"
    "A `choice` needs at least one option. If it contains statements instead, the default profile reports only those."
    wrong "choice **which is best**:\n"
    right "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"two\":\n    session \"Two\"\n"

    E132 [Error Error Error] "invalid value of `persist`"
    "`persist:` is `true` for a memory that lasts as long as the run, `project` or `user` for a longer one, a path in quotes, or \
     `false`."
    wrong "agent writer:\n  prompt: \"Write\"\n  persist: forever\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: project\n\nsession: writer\n"

    E133 [Error Error Error] "two imports with the same name"
    "Two programs are imported under the same name, so a call would be ambiguous. Rename one of them with `as`."
    wrong "use \"alice/research\"\nuse \"bob/research\"\n\noutput found = research(topic: \"tides\")\n"
    right "use \"alice/research\"\nuse \"bob/research\" as verify\n\nlet found = research(topic: \"tides\")\noutput checked = verify(claim: found)\n"

    E134 [Error Error Error] "duplicate name in a list"
    "Each of the parameters, destructured names, names of a loop or a `reduce`, and named arguments must be unique."
    wrong "block greet(name, name):\n  session \"Say hello to {name}\"\n\ndo greet(\"Ann\", \"Bob\")\n"
    right "block greet(name, other):\n  session \"Say hello to {name} and {other}\"\n\ndo greet(\"Ann\", \"Bob\")\n"

    E135 [Error Error Error] "duplicate option"
    "An option can be set only once, since a second value would replace the first."
    wrong "loop until **it works** (max: 3, max: 5):\n  session \"Try\"\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n"

    E136 [Off Off Error] "context array with other values than names"
    "In the strict profile the items of an array in `context:` must be names of variables. In the default profile any value is \
     allowed."
    wrong "session \"Sum up\"\n  context: [\"a note\"]\n"
    right "let note = \"a note\"\nsession \"Sum up\"\n  context: [note]\n"

    E137 [Error Error Error] "value of the wrong type"
    "The property, option or statement takes a value of another type, which the message names."
    wrong "session \"Try\"\n  retry: \"three\"\n"
    right "session \"Try\"\n  retry: 3\n"

    E138 [Error Error Error] "circular import"
    "The imports lead back to this program, so running it would never end."
    wrong "//- /main.prose\nuse \"./other.prose\"\n\noutput result = other()\n//- /other.prose\nuse \"./main.prose\"\n\noutput result = main()\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research(topic: \"tides\")\n//- /research.prose\ninput topic: \"What to research\"\n\noutput findings = session \"Research {topic}\"\n"

    E139 [Error Error Error] "imported program not found"
    "There is no program at this path. The path of a file is relative to the folder of the importing program; other paths refer \
     to a registry, an address or a git repository."
    wrong "use \"./missing.prose\" as missing\n\noutput found = missing(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E143 [Error Error Error] "import is not a program"
    "The path leads to a web page, a folder, a file that is not text, or a file that is too large."
    wrong "use \"https://example.com/a-page\" as page\n\noutput found = page()\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    E144 [Error Error Error] "import not allowed"
    "The program is not fetched because it would not be safe: the connection is not encrypted, a program from the network \
     imports from this machine or its local network, or too many programs import each other."
    wrong "use \"http://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    E145 [Error Error Error] "imported program has errors"
    "A program with errors does not run, and neither does a program that imports it. A program with a circular import has an \
     error too."
    wrong "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research()\n\n//- /research.prose\noutput found = findings\n"
    right "//- /main.prose\nuse \"./research.prose\"\n\noutput found = research()\n\n//- /research.prose\noutput found = session \"Find out\"\n"

    E146 [Error Error Error] "imported program differs from prose.lock"
    "The lock file records another text for this import, or the lock file cannot be read. With `--locked`, every import must be \
     in the lock file. `prose lock --update=REFERENCE` accepts the new text."
    wrong "use \"alice/changed\"\n\noutput found = changed(topic: \"tides\")\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    E148 [Error Error Error] "model id starts with `-`"
    "The model id becomes an argument of the program that runs the session, where a text that starts with `-` is an option."
    wrong "session \"Say hello\"\n  model: \"--yes\"\n"
    right "session \"Say hello\"\n  model: \"vendor/model\"\n"

    E141 [Error Error Error] "prose.toml is not valid TOML"
    "This statement of the settings file cannot be parsed and has no effect. All other settings apply."
    wrong "//- /prose.toml\n[check\nprofile = \"strict\"\n"
    right "//- /prose.toml\n[check]\nprofile = \"strict\"\n"

    E142 [Error Error Error] "invalid value in prose.toml"
    "The setting does not accept this value, or a limit or a price has a name that is none. Programs are not run while `run`, `agents`, `mcp`, `limits` or `prices` has a value that is not \
     understood, since a limit would not be held. For editing and checking, all other settings apply."
    wrong "//- /prose.toml\n[check]\nprofile = \"strikt\"\n"
    right "//- /prose.toml\n[check]\nprofile = \"strict\"\n"

    E149 [Error Warning Error] "misspelled property"
    "The name differs from that of a property by one letter, so the value would be ignored when the program runs. In the default \
     profile this is a warning where a run may not reach the session."
    wrong "session \"Say hello\"\n  modell: opus\n"
    right "session \"Say hello\"\n  model: opus\n"

    E150 [Error Error Error] "variable read before any binding"
    "No statement that runs before this one binds the name, so every run that reaches it fails. Move the binding up, or declare \
     an initial value with `let`."
    wrong "let count = count + 1\noutput count\n"
    right "let before = 0\nlet count = before + 1\noutput count\n"

    E151 [Error Error Error] "invalid test file"
    "The test file is not valid TOML, has an unknown key or a value of another type, or expects something that no run can fulfil. `prose test` runs \
     none of its cases, since an expectation that is not understood would always hold."
    wrong "//- /main.test.toml\n[[case]]\nname = \"greets\"\n[case.expect]\noutput.greeting = \"Hello\"\n//- /main.prose\noutput greeting = session \"Say hello\"\n"
    right "//- /main.test.toml\n[[case]]\nname = \"greets\"\nunmatched = \"offline\"\n[case.expect]\noutputs.greeting = { matches = \".\" }\n//- /main.prose\noutput greeting = session \"Say hello\"\n"

    W001 [Warning Warning Warning] "empty session"
    "The text of the session is empty, so the model has no task."
    wrong "session \"\"\n"
    right "session \"Say hello\"\n"

    W002 [Warning Warning Warning] "blank session"
    "The text of the session is only whitespace, so the model has no task."
    wrong "session \"  \"\n"
    right "session \"Say hello\"\n"

    W003 [Warning Warning Warning] "very long prompt"
    "A prompt of more than 10,000 characters leaves little room for the work. Move material to files or `context:`, or split the \
     task."
    wrong "session \"\"\"\nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \nAgain and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. Again and again, the same line. \n\"\"\"\n"
    right "session \"Say it again and again\"\n"

    W004 [Warning Warning Warning] "empty prompt"
    "The `prompt:` describes the agent or the task of the session, and this one is empty."
    wrong "session \"Say hello\"\n  prompt: \"\"\n"
    right "session \"Say hello\"\n  prompt: \"In French\"\n"

    W005 [Warning Warning Warning] "unknown property"
    "Unknown properties have no effect; a misspelled one is silently ignored when the program runs."
    wrong "session \"Say hello\"\n  temperature: 1\n"
    right "session \"Say hello\"\n  model: opus\n"

    W006 [Warning Warning Warning] "unknown skill source"
    "The source of an imported skill starts with `github:`, `npm:` or `./`."
    wrong "import \"web-search\" from \"example.com/web-search\"\n"
    right "import \"web-search\" from \"github:example/web-search\"\n"

    W007 [Information Information Warning] "skill is not imported"
    "The agent has a skill that no `use` of the program imports. The host may provide it anyway."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"
    right "use \"example/web-search\"\n\nagent writer:\n  prompt: \"Write\"\n  skills: [\"web-search\"]\n\nsession: writer\n"

    W008 [Information Information Warning] "unknown permission"
    "The permissions of the reference are `read`, `write`, `execute`, `bash` and `network`. Others are passed to the host, which \
     may not support them."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bahs: deny\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: deny\n\nsession: writer\n"

    W009 [Warning Warning Warning] "unknown permission value"
    "A permission is `allow`, `deny`, `prompt`, or an array of patterns."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: never\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    bash: deny\n\nsession: writer\n"

    W010 [Warning Warning Warning] "empty `skills`"
    "An empty array gives the agent no skills, same as leaving the property out."
    wrong "agent writer:\n  prompt: \"Write\"\n  skills: []\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nsession: writer\n"

    W011 [Off Off Warning] "session ignores the memory of its agent"
    "A `session` of an agent with memory starts without the memory and replaces it; `resume` continues with it."
    wrong "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  persist: true\n\nsession: writer\nresume: writer\n"

    W101 [Warning Warning Warning] "empty body"
    "The header has no indented lines below it, so it has no effect."
    wrong "repeat 3:\n"
    right "repeat 3:\n  session \"Try\"\n"

    W102 [Warning Warning Warning] "statement among options"
    "A `choice` runs one of its options; a statement next to them never runs."
    wrong "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  session \"Two\"\n"
    right "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"two\":\n    session \"Two\"\n"

    W103 [Information Information Information] Deprecated "deprecated import"
    "`import \"skill\" from \"source\"` only registers the name of a skill and is kept for old programs. Import programs with \
     `use`."
    wrong "import \"web-search\" from \"github:example/web-search\"\n"
    right "use \"example/web-search\"\n"

    W104 [Information Information Warning] "very short condition"
    "A condition of one word or a few letters leaves the model guessing."
    wrong "loop until **ok** (max: 3):\n  session \"Try\"\n"
    right "loop until **all tests pass** (max: 3):\n  session \"Try\"\n"

    W105 [Warning Warning Error] "variable declared again in an inner body"
    "The name is already declared around this body, and bodies have no variables of their own: `let` gives the outer variable a \
     new value. Write `name = …` instead."
    wrong "let draft = session \"Write\"\nrepeat 2:\n  let draft = session \"Improve\"\n    context: draft\noutput draft\n"
    right "let draft = session \"Write\"\nrepeat 2:\n  draft = session \"Improve\"\n    context: draft\noutput draft\n"

    W106 [Hint Hint Warning] "name shadows another"
    "The name is also that of an outer variable, which cannot be used inside."
    wrong "let item = session \"Choose\"\nfor item in [\"a\", \"b\"]:\n  session \"Look at {item}\"\noutput item\n"
    right "let choice = session \"Choose\"\nfor item in [\"a\", \"b\"]:\n  session \"Look at {item}\"\noutput choice\n"

    W107 [Warning Hint Error] "name bound only inside a block"
    "The name is bound in the body of a `block` and read outside of it. After a call the value may be visible there, but return \
     it instead: `let x = do name()` with an `output` in the block. The variables of loops, `catch` and pipelines do not exist \
     after their bodies; a `let` in the body keeps a value."
    wrong "block gather:\n  let notes = session \"Gather\"\n\ndo gather\nsession \"Sum up\"\n  context: notes\n"
    right "block gather:\n  output session \"Gather\"\n\nlet notes = do gather\nsession \"Sum up\"\n  context: notes\n"

    W108 [Warning Warning Warning] "wrong number of arguments"
    "A missing argument is empty when the block runs; an extra argument is dropped."
    wrong "block greet(name):\n  session \"Say hello to {name}\"\n\ndo greet(\"Ann\", \"Bob\")\n"
    right "block greet(name):\n  session \"Say hello to {name}\"\n\ndo greet(\"Ann\")\n"

    W109 [Warning Warning Warning] "too many retries"
    "A session that failed more than ten times rarely succeeds, and each attempt costs as much as the first."
    wrong "session \"Try\"\n  retry: 50\n"
    right "session \"Try\"\n  retry: 5\n"

    W110 [Warning Warning Warning] "retry on an agent"
    "`retry` and `backoff` belong to a session; the reference defines no effect for them on an agent."
    wrong "agent writer:\n  prompt: \"Write\"\n  retry: 3\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nsession: writer\n  retry: 3\n"

    W111 [Warning Warning Warning] "empty error message"
    "The message is the only information about the error for a handler and for the reader of a failed run."
    wrong "if **the tests fail**:\n  throw \"\"\n"
    right "if **the tests fail**:\n  throw \"The tests fail\"\n"

    W112 [Warning Warning Warning] "duplicate option label"
    "The model picks an option by its label and cannot distinguish these."
    wrong "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"one\":\n    session \"Two\"\n"
    right "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"two\":\n    session \"Two\"\n"

    W113 [Warning Warning Warning] "unbounded loop"
    "Nothing limits the number of iterations: there is no `max`, and no `break` or `return` leaves the loop."
    wrong "loop:\n  session \"Try\"\n"
    right "loop (max: 5):\n  session \"Try\"\n"

    W114 [Warning Warning Warning] "count exceeds the branches"
    "`\"any\"` waits for more results than there are branches."
    wrong "parallel (\"any\", count: 3):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (\"any\", count: 2):\n  session \"One\"\n  session \"Two\"\n"

    W115 [Hint Hint Hint] Unnecessary "unused variable"
    "Nothing reads the variable. A session that is run for its effects needs no variable."
    wrong "let greeting = session \"Say hello\"\n"
    right "session \"Say hello\"\n"

    W116 [Hint Hint Hint] Unnecessary "unused agent"
    "No session uses this agent."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession \"Say hello\"\n"
    right "agent writer:\n  prompt: \"Write\"\n\nsession: writer\n"

    W117 [Hint Hint Hint] Unnecessary "unused block"
    "No `do` calls this block."
    wrong "block greet:\n  session \"Say hello\"\n\nsession \"Say hello\"\n"
    right "block greet:\n  session \"Say hello\"\n\ndo greet\n"

    W118 [Hint Hint Hint] Unnecessary "unreachable statement"
    "A statement above always leaves this body."
    wrong "block greet:\n  return \"hello\"\n  session \"Say hello\"\n\noutput do greet\n"
    right "block greet:\n  session \"Say hello\"\n  return \"hello\"\n\noutput do greet\n"

    W119 [Warning Warning Warning] "unused input"
    "Callers have to pass the input, but no text, context or condition of the program uses it."
    wrong "input topic: \"What to write about\"\n\nsession \"Say hello\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"

    W120 [Hint Hint Hint] Unnecessary "unused import"
    "No call uses the imported program."
    wrong "use \"alice/research\"\n\nsession \"Say hello\"\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    W121 [Warning Warning Warning] "infinite recursion"
    "The block always calls itself: no `if`, `choice`, loop or handler before the call can skip it. The run stops at the maximum \
     depth."
    wrong "block dig(depth):\n  session \"Dig to {depth}\"\n  do dig(depth + 1)\n\ndo dig(1)\n"
    right "block dig(depth):\n  session \"Dig to {depth}\"\n  if depth < 3:\n    do dig(depth + 1)\n\ndo dig(1)\n"

    W122 [Warning Warning Warning] "unreachable handler"
    "No statement of the `try` can fail, or an earlier `catch` already handles every error."
    wrong "try:\n  session \"Deploy\"\ncatch:\n  session \"Roll back\"\ncatch:\n  session \"Give up\"\n"
    right "try:\n  session \"Deploy\"\ncatch:\n  session \"Roll back\"\n  session \"Give up\"\n"

    W123 [Warning Warning Warning] "conflicting permissions"
    "Two permissions cannot both apply, or one of them has no effect because of the other."
    wrong "agent writer:\n  prompt: \"Write\"\n  permissions:\n    read: deny\n    write: [\"docs/**\"]\n\nsession: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n  permissions:\n    read: [\"docs/**\"]\n    write: [\"docs/**\"]\n\nsession: writer\n"

    W124 [Warning Warning Warning] "backoff without retry"
    "`backoff` sets the wait between retries, and the session has no `retry`."
    wrong "session \"Try\"\n  backoff: linear\n"
    right "session \"Try\"\n  retry: 3\n  backoff: linear\n"

    W125 [Warning Warning Warning] "variable used before it is bound"
    "The name is bound only by a later statement, so here it is empty, and a text keeps its braces."
    wrong "session \"Sum up: {findings}\"\nlet findings = session \"Research\"\n"
    right "let findings = session \"Research\"\nsession \"Sum up: {findings}\"\n"

    W126 [Warning Warning Warning] "session without a prompt"
    "Neither the session nor its agent has a prompt, so the model has no task. Give the session a text or a `prompt:`, or give \
     its agent one."
    wrong "agent writer:\n  model: opus\n\nsession: writer\n"
    right "agent writer:\n  model: opus\n\nsession: writer\n  prompt: \"Write\"\n"

    W127 [Warning Warning Warning] "misspelled name in braces"
    "In a triple-quoted string or a condition, an unknown name in braces is literal text. This one differs by a letter or two \
     from a variable in scope."
    wrong "input subject: \"What to write about\"\n\nsession \"\"\"\n  Write about {subjct}, and only about {subject}.\n\"\"\"\n"
    right "input subject: \"What to write about\"\n\nsession \"\"\"\n  Write about {subject}, and only about {subject}.\n\"\"\"\n"

    W128 [Warning Warning Warning] "unknown option"
    "Unknown options between the parentheses have no effect."
    wrong "loop until **it works** (maximum: 3, max: 5):\n  session \"Try\"\n"
    right "loop until **it works** (max: 5):\n  session \"Try\"\n"

    W130 [Information Information Information] Deprecated "named session"
    "`session name: agent` is the old syntax for binding the result to a name."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession text: writer\noutput text\n"
    right "agent writer:\n  prompt: \"Write\"\n\nlet text = session: writer\noutput text\n"

    W131 [Information Information Information] "strategy without quotes"
    "In the reference, strategies and policies are in quotes; without quotes they look like variables."
    wrong "parallel (first):\n  session \"One\"\n  session \"Two\"\n"
    right "parallel (\"first\"):\n  session \"One\"\n  session \"Two\"\n"

    W132 [Off Off Information] "statement outside of the reference"
    "`break`, `continue`, `return` and `assert` are in use, but not in the grammar of the reference; another interpreter may not \
     support them."
    wrong "loop until **it works** (max: 3):\n  session \"Try\"\n  break\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n"

    W133 [Hint Hint Hint] "concurrent writes to a variable"
    "The branches of a `parallel for` run concurrently, so the values arrive in the order in which the branches finish."
    wrong "let found = []\nparallel for place in [\"a\", \"b\"]:\n  let result = session \"Search {place}\"\n  found = found + [result]\noutput found\n"
    right "let found = [\"a\", \"b\"] | pmap:\n  session \"Search {item}\"\noutput found\n"

    W134 [Hint Hint Hint] "agent as context"
    "The name of an agent in `context:` passes its memory or its last result. A variable states which."
    wrong "agent writer:\n  prompt: \"Write\"\n\nsession: writer\nsession \"Sum up\"\n  context: writer\n"
    right "agent writer:\n  prompt: \"Write\"\n\nlet text = session: writer\nsession \"Sum up\"\n  context: text\n"

    W135 [Warning Warning Warning] "nothing to rethrow"
    "`throw` without a message rethrows the error that a `catch` is handling. Outside of a `catch` there is none."
    wrong "if **the tests fail**:\n  throw\n"
    right "if **the tests fail**:\n  throw \"The tests fail\"\n"

    W136 [Warning Warning Warning] "empty description"
    "The description is all that the person or program that provides the input sees."
    wrong "input topic: \"\"\n\nsession \"Write about {topic}\"\n"
    right "input topic: \"What to write about\"\n\nsession \"Write about {topic}\"\n"

    W137 [Warning Warning Warning] Unnecessary "ignore comment without effect"
    "The comment names an unknown code, or a code that is not reported at its place, or is not of the form `# prose: \
     ignore[W101] reason`, or `# prose: ignore-file[W101] reason` at the top of a file."
    wrong "# prose: ignore[E007]\nsession \"Say hello\"\n"
    right "session \"Say hello\"\n"

    W138 [Warning Warning Warning] "assignment to an undeclared name"
    "The assignment creates a new variable, since nothing declares this name. Declare it with `let`, so that a typo is \
     reported."
    wrong "summry = session \"Sum up\"\noutput summry\n"
    right "let summary = session \"Sum up\"\noutput summary\n"

    W139 [Warning Warning Warning] "duplicate key"
    "The second value replaces the first."
    wrong "output { name: \"Ann\", name: \"Bob\" }\n"
    right "output { name: \"Ann\", other: \"Bob\" }\n"

    W140 [Hint Hint Hint] "triple quotes inside a triple-quoted string"
    "The inner quotes are read as text because the line looks like sample code. An editor or another interpreter may end the \
     string here."
    wrong "agent teacher:\n  prompt: \"\"\"\n    A sample:\n      session \"\"\"\n        Say hello\n      \"\"\"\n  \"\"\"\n\nsession: teacher\n"
    right "agent teacher:\n  prompt: \"\"\"\n    A sample:\n      session \"Say hello\"\n  \"\"\"\n\nsession: teacher\n"

    W141 [Warning Warning Warning] "unknown key in prose.toml"
    "The key is not a setting, or the code is not a diagnostic. It has no effect."
    wrong "//- /prose.toml\n[check]\nprofil = \"strict\"\n"
    right "//- /prose.toml\n[check]\nprofile = \"strict\"\n"

    W142 [Warning Warning Warning] "argument name differs from the parameter"
    "The reference binds the arguments of a block by position. `prose run` binds named arguments by name, others may not; use \
     the name of the parameter at the same position."
    wrong "block greet(name, time):\n  session \"Say hello to {name} in the {time}\"\n\ndo greet(time: \"morning\", name: \"Ann\")\n"
    right "block greet(name, time):\n  session \"Say hello to {name} in the {time}\"\n\ndo greet(name: \"Ann\", time: \"morning\")\n"

    W143 [Information Information Information] "imported program cannot be reached"
    "The program cannot be fetched at the moment. If it was fetched before, the cached text is used."
    wrong "use \"https://unreachable.example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    W144 [Information Information Information] "imported program has moved"
    "The host of the program reports that it has moved permanently to another address."
    wrong "use \"https://example.com/moved.prose\" as research\n\noutput found = research(topic: \"tides\")\n"
    right "use \"https://example.com/research.prose\" as research\n\noutput found = research(topic: \"tides\")\n"

    W145 [Warning Warning Warning] "braces without interpolation"
    "Only `{name}` with fields and indexes is interpolated, as in `{plan.steps[0]}`. Anything else between braces is text, even \
     if it contains the name of a variable."
    wrong "let topic = \"tides\"\nsession \"Write about { topic }\"\n"
    right "let topic = \"tides\"\nsession \"Write about {topic}\"\n"

    W148 [Warning Warning Warning] "session without the context it refers to"
    "A session receives its prompt and the values in its `context:`, and nothing from earlier sessions. With a prompt such as \
     \"Summarize your research\" alone, the model has to guess; `context: research` passes the result. An empty array, `context: \
     []`, states that nothing needs to be passed."
    wrong "session \"Research the tides\"\nsession \"Summarize your research\"\n"
    right "let research = session \"Research the tides\"\nsession \"Summarize your research\"\n  context: research\n"

    W149 [Warning Warning Warning] "braces of another language"
    "One pair of braces interpolates a variable. The `$` of `${name}` and the outer braces of `{{name}}` stay in the text."
    wrong "let topic = \"tides\"\nsession \"Write about ${topic}\"\n"
    right "let topic = \"tides\"\nsession \"Write about {topic}\"\n"

    W150 [Warning Warning Warning] "permission that the harness cannot enforce"
    "The harness in `[run]` of `prose.toml` cannot hold its agents to this permission, so `prose run` refuses the program before \
     the first session. Use a harness that can, or change the rule. `--allow-unenforced-permissions` runs the program all the \
     same, with the rules that can be enforced."
    wrong "//- /prose.toml\n[run]\nharness = \"command\"\ncommand = [\"my-agent\"]\n//- /main.prose\nagent reviewer:\n  prompt: \"Review the change\"\n  permissions:\n    bash: deny\n\nsession: reviewer\n"
    right "//- /prose.toml\n[run]\nharness = \"claude\"\n//- /main.prose\nagent reviewer:\n  prompt: \"Review the change\"\n  permissions:\n    bash: deny\n\nsession: reviewer\n"

    W151 [Warning Warning Warning] "fetched program without a right that it requests"
    "A fetched program can use only its inputs and its own memory folder, and its agents run no commands, reach no network and leave the project only \
     as far as the project grants it. `prose run` refuses the program before its first session. `prose run --allow` grants a right for one run."
    wrong "use \"alice/builder\"\n\noutput found = builder()\n"
    right "use \"alice/research\"\n\noutput found = research(topic: \"tides\")\n"

    W152 [Warning Warning Warning] "skill that does not exist"
    "The agents of the harness in `prose.toml` do not find the skill, so `prose run` refuses the program before its first session. A name is searched in \
     the folders of the harness, such as `.claude/skills` in the project and in the home folder. A path such as `./skills/review` names a folder with a \
     `SKILL.md`, relative to `prose.toml`. `skills` in `[agents.NAME]` replaces the skills of an agent."
    wrong "//- /prose.toml\n[run]\nharness = \"claude\"\n//- /main.prose\nagent reviewer:\n  prompt: \"Review the change\"\n  skills: [\"./skills/review\"]\n\nsession: reviewer\n"
    right "//- /prose.toml\n[run]\nharness = \"claude\"\n//- /skills/review/SKILL.md\n---\nname: review\ndescription: How to review a change\n---\n//- /main.prose\nagent reviewer:\n  prompt: \"Review the change\"\n  skills: [\"./skills/review\"]\n\nsession: reviewer\n"

    W153 [Warning Warning Warning] "undefined MCP server"
    "A pattern of the permission `mcp` starts with the name of a server in `[mcp.servers]` of `prose.toml`. Agents have no other servers, so a pattern \
     with another name allows nothing."
    wrong "//- /prose.toml\n[run]\nharness = \"claude\"\n//- /main.prose\nsession \"List the open issues\"\n  permissions:\n    mcp: [\"tracker/*\"]\n"
    right "//- /prose.toml\n[run]\nharness = \"claude\"\n[mcp.servers.tracker]\nurl = \"https://tracker.example.com/mcp\"\n//- /main.prose\nsession \"List the open issues\"\n  permissions:\n    mcp: [\"tracker/*\"]\n"

    W154 [Warning Warning Warning] "repeated condition"
    "The first branch of an `if` whose condition is true runs. A branch with the same condition as an earlier one never runs, unless a model \
     contradicts itself; the condition was probably copied and not changed."
    wrong "let review = session \"Review the change\"\n\nif **the review has findings**:\n  session \"Fix the findings\"\n    context: review\nelif **the review has findings**:\n  session \"Answer the questions\"\n    context: review\n"
    right "let review = session \"Review the change\"\n\nif **the review has findings**:\n  session \"Fix the findings\"\n    context: review\nelif **the review has questions**:\n  session \"Answer the questions\"\n    context: review\n"
}
