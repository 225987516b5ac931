//! Programs without a layout, and layouts for them.

use proptest::prelude::*;
use proptest::sample::select;

/// A program as a list of lines, each with what is below it.
#[derive(Debug, Clone)]
pub(crate) struct Program(Vec<Line>);

/// A line of a program.
#[derive(Debug, Clone)]
struct Line {
    /// What it is made of. Between two of these, spaces may stand or not; where they have to, there is a [`SPACE`].
    parts: Vec<String>,
    body: Vec<Line>,
    /// Lines at the same place that belong to this one, such as `else:`.
    clauses: Vec<Line>,
    comment: Option<&'static str>,
    comment_above: Option<&'static str>,
}

/// Where there is some space in any layout.
const SPACE: &str = " ";

pub(crate) fn program() -> impl Strategy<Value = Program> {
    prop::collection::vec(statement(), 1..5).prop_map(Program)
}

fn statement() -> impl Strategy<Value = Line> {
    let leaf = with_comments(leaf());
    leaf.prop_recursive(3, 24, 4, |inner| {
        with_comments(compound(prop::collection::vec(inner, 1..4).boxed())).boxed()
    })
}

fn with_comments(line: BoxedStrategy<Line>) -> BoxedStrategy<Line> {
    let comment = || prop::option::weighted(0.15, select(&["# why", "#no space", "# ö  two  spaces"][..]));
    (line, comment(), comment())
        .prop_map(|(line, comment, comment_above)| Line { comment, comment_above, ..line })
        .boxed()
}

fn line(parts: Vec<String>) -> Line {
    Line { parts, body: Vec::new(), clauses: Vec::new(), comment: None, comment_above: None }
}

fn parts(text: &str) -> Vec<String> {
    // `·` is where spaces may stand, a space where one has to.
    let mut parts = Vec::new();
    for word in text.split('·') {
        for (at, word) in word.split(' ').enumerate() {
            if at > 0 {
                parts.push(SPACE.to_owned());
            }
            parts.push(word.to_owned());
        }
    }
    parts
}

fn name() -> impl Strategy<Value = String> {
    select(&["x", "draft", "map", "market-trends", "_a1"][..]).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    select(
        &[
            "\"plain\"",
            "\"with·{x}\"",
            "\"a,b(c)#d\"",
            "\"\"",
            "\"\"\"\n  block\n      deeper\n\"\"\"",
            "\"\"\"one·line\"\"\"",
            "**it·holds**",
        ][..],
    )
    .prop_map(|text| text.replace('·', " "))
}

/// The parts of a value, ready to be joined to those of a line.
fn value() -> BoxedStrategy<Vec<String>> {
    let leaf = prop_oneof![
        text().prop_map(|text| vec![text]),
        name().prop_map(|name| vec![name]),
        select(&["0", "12", "1.5", "true", "null"][..]).prop_map(|literal| vec![literal.to_owned()]),
    ]
    .boxed();
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            list.clone().prop_map(|items| listed("[", items, "]")),
            (name(), list)
                .prop_map(|(name, items)| [vec![format!("do {name}")], listed("(", items, ")")].concat()),
            prop::collection::vec((name(), inner.clone()), 1..3).prop_map(|entries| {
                let entries =
                    entries.into_iter().map(|(key, value)| [vec![key, ":".to_owned()], value].concat());
                listed("{", entries.collect(), "}")
            }),
            (name(), select(&["+", "-", "*", "==", "<="][..]), name()).prop_map(|(a, operator, b)| vec![
                a,
                SPACE.to_owned(),
                operator.to_owned(),
                SPACE.to_owned(),
                b
            ]),
            (name(), name()).prop_map(|(a, b)| vec![a, ".".to_owned(), b]),
        ]
    })
    .boxed()
}

fn listed(open: &str, items: Vec<Vec<String>>, close: &str) -> Vec<String> {
    let mut parts = vec![open.to_owned()];
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            parts.push(",".to_owned());
        }
        parts.extend(item);
    }
    parts.push(close.to_owned());
    parts
}

fn leaf() -> BoxedStrategy<Line> {
    prop_oneof![
        (name(), value()).prop_map(|(name, value)| line([parts(&format!("let {name}·=·")), value].concat())),
        (name(), value())
            .prop_map(|(name, value)| line([parts(&format!("output {name}·=·")), value].concat())),
        text().prop_filter("a session has a text", |text| text.starts_with('"')).prop_map(|text| line(vec![
            "session".into(),
            SPACE.into(),
            text
        ])),
        (name(), value()).prop_map(|(agent, context)| {
            let property = line([parts("context·:·"), context].concat());
            Line { body: vec![property], ..line(parts(&format!("session·:·{agent}"))) }
        }),
        Just(line(parts("session \"a\" -> session \"b\""))),
        Just(line(parts("xs·|·map·:·session \"{item}\"·|·filter·:·session \"so?\""))),
    ]
    .boxed()
}

fn compound(body: BoxedStrategy<Vec<Line>>) -> BoxedStrategy<Line> {
    let header = |text: String, body: Vec<Line>| Line { body, ..line(parts(&text)) };
    prop_oneof![
        (body.clone(), prop::option::of(body.clone())).prop_map(move |(body, other)| {
            let clauses = other.map(|body| Line { body, ..line(parts("else·:")) }).into_iter().collect();
            Line { clauses, body, ..line(parts("if **a** and·(·x or y·)·:")) }
        }),
        (name(), body.clone()).prop_map(move |(name, body)| header(format!("for {name}·,·i in xs·:"), body)),
        body.clone().prop_map(move |body| {
            // Parsed as one only where it is indented deeper than its statement.
            let mut line = header("loop until CONDITION (·max·:·3·) as i·:".into(), body);
            line.parts[4] = format!("***all is\n{:60}done***", "");
            line
        }),
        body.clone().prop_map(move |body| header("parallel (·\"any\"·,·count·:·2·)·:".into(), body)),
        (name(), body.clone())
            .prop_map(move |(name, body)| header(format!("block {name}·(·a·,·b·)·:"), body)),
        (body.clone(), body.clone()).prop_map(|(body, caught)| {
            let clause = Line { body: caught, ..line(parts("catch as e·:")) };
            Line { clauses: vec![clause], body, ..line(parts("try·:")) }
        }),
        (name(), body).prop_map(move |(name, body)| header(format!("{name}·=·do·:"), body)),
    ]
    .boxed()
}

impl Program {
    /// The program in some layout that its writer could have chosen.
    pub(crate) fn lay_out(&self, seed: u64) -> String {
        let mut layout = Layout { random: seed | 1, text: String::new() };
        layout.lines(&self.0, 0);
        layout.text
    }
}

struct Layout {
    random: u64,
    text: String,
}

impl Layout {
    /// Some number below `bound`: layouts need no better randomness than this.
    fn below(&mut self, bound: u64) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % bound) as usize
    }

    fn spaces(&mut self, least: usize) {
        let count = least + self.below(3);
        self.text.extend(std::iter::repeat_n(' ', count));
    }

    fn lines(&mut self, lines: &[Line], column: usize) {
        for line in lines {
            self.line(line, column);
            for clause in &line.clauses {
                self.line(clause, column);
            }
        }
    }

    fn line(&mut self, line: &Line, column: usize) {
        if let Some(comment) = line.comment_above {
            // Where it belongs, so that each layout says the same of it.
            self.start(column);
            self.text += comment;
            self.end();
        }
        self.start(column);
        for (at, part) in line.parts.iter().enumerate() {
            if part == SPACE {
                self.spaces(1);
            } else {
                let is_tight = at == 0 || self.is_tight(&line.parts[at - 1], part);
                if !is_tight {
                    self.spaces(0);
                }
                self.text += part;
            }
        }
        if let Some(comment) = line.comment {
            self.spaces(1);
            self.text += comment;
        }
        self.end();
        let deeper = column + 1 + self.below(6);
        self.lines(&line.body, deeper);
    }

    /// Where a space would change what is said: `a . b` is as good as `a.b`, but two words are not one.
    fn is_tight(&self, before: &str, _part: &str) -> bool {
        before == SPACE
    }

    fn start(&mut self, column: usize) {
        self.text.extend(std::iter::repeat_n(' ', column));
    }

    fn end(&mut self) {
        if self.below(4) == 0 {
            self.spaces(0);
        }
        self.text.push('\n');
    }
}
