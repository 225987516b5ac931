//! Another machine, imitated: it executes random programs, writes what the documents say, and stops anywhere.

use std::collections::BTreeMap;
use std::fmt::Write;

use fastrand::Rng;

/// A statement of a program.
#[derive(Debug)]
pub(crate) struct Node {
    kind: Kind,
    /// Its number, which its texts and names are made of.
    id: usize,
    line: usize,
    last: usize,
}

#[derive(Debug)]
enum Kind {
    /// A session, whether a name gets its result.
    Session(bool),
    Parallel(Vec<Node>),
    Repeat(u32, Vec<Node>),
    For(Vec<Node>),
    Until(u32, Vec<Node>),
    If(Vec<Node>, Vec<Node>),
    Try {
        body: Vec<Node>,
        catch: Vec<Node>,
        finally: Vec<Node>,
    },
    Call(usize),
}

/// A program, and its text.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) text: String,
    blocks: Vec<Vec<Node>>,
    body: Vec<Node>,
}

/// Makes programs.
struct Maker<'a> {
    random: &'a mut Rng,
    text: String,
    line: usize,
    ids: usize,
    /// How many blocks may be called.
    blocks: usize,
}

impl Program {
    pub(crate) fn random(random: &mut Rng) -> Self {
        let mut maker = Maker { random, text: String::new(), line: 0, ids: 0, blocks: 0 };
        let mut blocks = Vec::new();
        for number in 0..maker.random.usize(0..3) {
            maker.write(0, &format!("block b{number}():"));
            let count = maker.random.usize(1..4);
            blocks.push(maker.body(1, count, 2));
            maker.blocks = number + 1;
        }
        let count = maker.random.usize(2..6);
        let body = maker.body(0, count, 0);
        Self { text: maker.text, blocks, body }
    }
}

impl Maker<'_> {
    fn write(&mut self, indent: usize, line: &str) {
        self.line += 1;
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * indent);
    }

    fn body(&mut self, indent: usize, count: usize, depth: usize) -> Vec<Node> {
        (0..count).map(|_| self.node(indent, depth)).collect()
    }

    fn session(&mut self, indent: usize, is_branch: bool) -> Node {
        self.ids += 1;
        let id = self.ids;
        let is_bound = is_branch || self.random.bool();
        let keyword = if is_branch { "" } else { "let " };
        let bind = if is_bound { format!("{keyword}v{id} = ") } else { String::new() };
        self.write(indent, &format!("{bind}session \"T{id}\""));
        Node { kind: Kind::Session(is_bound), id, line: self.line, last: self.line }
    }

    fn node(&mut self, indent: usize, depth: usize) -> Node {
        let kinds = if depth < 3 { 12 } else { 4 };
        let choice = self.random.usize(0..kinds);
        if choice < 4 {
            return self.session(indent, false);
        }
        self.ids += 1;
        let (id, line) = (self.ids, self.line + 1);
        let some = self.random.usize(1..3);
        let kind = match choice {
            4 => {
                self.write(indent, "parallel:");
                Kind::Parallel((0..self.random.usize(2..4)).map(|_| self.session(indent + 1, true)).collect())
            }
            5 => {
                let times = self.random.u32(1..4);
                self.write(indent, &format!("repeat {times}:"));
                Kind::Repeat(times, self.body(indent + 1, some, depth + 1))
            }
            6 => {
                self.write(indent, &format!("for x{id} in [\"a\", \"b\"]:"));
                Kind::For(self.body(indent + 1, some, depth + 1))
            }
            7 | 8 => {
                let max = self.random.u32(2..5);
                self.write(indent, &format!("loop until **c{id}** (max: {max}):"));
                Kind::Until(max, self.body(indent + 1, some, depth + 1))
            }
            9 => {
                self.write(indent, &format!("if **c{id}**:"));
                let then = self.body(indent + 1, some, depth + 1);
                self.write(indent, "else:");
                Kind::If(then, self.body(indent + 1, 1, depth + 1))
            }
            10 => {
                self.write(indent, "try:");
                let body = (0..some).map(|_| self.session(indent + 1, false)).collect();
                self.write(indent, &format!("catch as e{id}:"));
                let mut catch = vec![self.session(indent + 1, false)];
                catch.extend(self.body(indent + 1, self.ids % 2, depth + 1));
                let mut finally = Vec::new();
                if self.random.bool() {
                    self.write(indent, "finally:");
                    finally.push(self.session(indent + 1, false));
                }
                Kind::Try { body, catch, finally }
            }
            _ if self.blocks == 0 => return self.session(indent, false),
            _ => {
                let block = self.random.usize(0..self.blocks);
                self.write(indent, &format!("do b{block}()"));
                Kind::Call(block)
            }
        };
        Node { kind, id, line, last: self.line }
    }
}

/// What the machine has left when it stopped, and what is still to do.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    pub(crate) state: String,
    /// The files of bindings, whole.
    pub(crate) files: BTreeMap<String, String>,
    /// The tasks that have to be asked, sorted.
    pub(crate) asked: Vec<String>,
    /// Whether it stopped before its end.
    pub(crate) is_stopped: bool,
}

/// The names of branches, with whether they are complete.
type Branches = Vec<(String, bool)>;

/// The machine.
struct Imitated<'a> {
    program: &'a Program,
    random: Rng,
    marks: BTreeMap<usize, String>,
    /// Loops by their lines, with the iteration.
    loops: Vec<(usize, usize, u32)>,
    parallels: Vec<(usize, usize, Branches)>,
    frames: Vec<(u32, usize)>,
    files: BTreeMap<String, String>,
    anonymous: u32,
    calls: u32,
    /// The last line of the program itself that has been reached.
    reached: usize,
    /// How often the state has been written, and after how many times it stops.
    writes: usize,
    cut: usize,
    stopped: Stopped,
}

impl Program {
    /// Executes the program until the state has been written so many times; what would come after that is what is still to do, if no session fails
    /// then and every condition is met.
    pub(crate) fn stop_after(&self, cut: usize, seed: u64) -> Stopped {
        let mut machine = Imitated {
            program: self,
            random: Rng::with_seed(seed),
            marks: BTreeMap::new(),
            loops: Vec::new(),
            parallels: Vec::new(),
            frames: Vec::new(),
            files: BTreeMap::new(),
            anonymous: 0,
            calls: 0,
            reached: 0,
            writes: 0,
            cut,
            stopped: Stopped::default(),
        };
        machine.list(&self.body);
        machine.stopped.asked.sort();
        machine.stopped
    }
}

impl Imitated<'_> {
    fn list(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    fn frame(&self) -> u32 {
        self.frames.last().map_or(0, |(id, _)| *id)
    }

    fn node(&mut self, node: &Node) {
        let &Node { ref kind, line, last, .. } = node;
        if self.frames.is_empty() {
            self.reached = self.reached.max(line);
        }
        if matches!(kind, Kind::Call(_)) || (!matches!(kind, Kind::Session(_)) && self.random.bool()) {
            self.marks.insert(line, "# <-- EXECUTING".to_owned());
        }
        match kind {
            Kind::Session(_) => {
                self.session(node, false);
                return;
            }
            Kind::Parallel(branches) => {
                let names = branches.iter().map(|branch| (format!("v{}", branch.id), false)).collect();
                self.parallels.push((line, last, names));
                for branch in branches {
                    self.marks.insert(branch.line, "# <-- EXECUTING".to_owned());
                }
                self.write();
                let mut request: Vec<usize> = (0..branches.len()).collect();
                self.random.shuffle(&mut request);
                for index in request {
                    self.end(&branches[index], None);
                    if let Some((_, _, names)) = self.parallels.last_mut() {
                        names[index].1 = true;
                    }
                    self.write();
                }
                self.parallels.pop();
            }
            Kind::Repeat(times, body) => self.repeat(node, *times, body, |_, _| true),
            Kind::For(body) => self.repeat(node, 2, body, |_, _| true),
            Kind::Until(max, body) => {
                let rounds = self.random.u32(0..=*max);
                // Once it has stopped, the condition is met at once.
                self.repeat(node, *max, body, |machine, done| !machine.stopped.is_stopped && done < rounds);
            }
            Kind::If(then, otherwise) => {
                let is_met = self.stopped.is_stopped || self.random.bool();
                self.list(if is_met { then } else { otherwise });
            }
            Kind::Try { body, catch, finally } => {
                let fails = self.random.usize(0..2 * body.len());
                for (index, session) in body.iter().enumerate() {
                    if !self.session(session, index == fails) {
                        self.list(catch);
                        break;
                    }
                }
                self.list(finally);
            }
            Kind::Call(block) => {
                self.calls += 1;
                self.frames.push((self.calls, *block));
                let program = self.program;
                let body = &program.blocks[*block];
                let (first, last) = (body[0].line, body[body.len() - 1].last);
                self.marks.retain(|line, _| *line < first || last < *line);
                self.list(body);
                self.frames.pop();
            }
        }
        self.marks.insert(line, "# (complete)".to_owned());
    }

    fn repeat(&mut self, node: &Node, max: u32, body: &[Node], goes_on: impl Fn(&Self, u32) -> bool) {
        self.loops.push((node.line, node.last, 0));
        let mut done = 0;
        while done < max && goes_on(self, done) {
            done += 1;
            if let Some(found) = self.loops.last_mut() {
                found.2 = done;
            }
            self.marks.retain(|line, _| *line <= node.line || node.last < *line);
            self.list(body);
        }
        self.loops.pop();
    }

    /// Executes a session; whether it succeeds. None fails once the machine has stopped.
    fn session(&mut self, node: &Node, fails: bool) -> bool {
        self.marks.insert(node.line, "# <-- EXECUTING".to_owned());
        self.write();
        let number = (!matches!(node.kind, Kind::Session(true))).then(|| {
            self.anonymous += 1;
            self.anonymous
        });
        if fails && !self.stopped.is_stopped {
            match self.random.u8(0..3) {
                0 => drop(self.marks.remove(&node.line)),
                1 => drop(self.marks.insert(node.line, "# (failed: no wind)".to_owned())),
                _ => drop(self.marks.insert(node.line, "# <-- FAILED: no wind".to_owned())),
            }
            return false;
        }
        self.end(node, number);
        self.write();
        true
    }

    fn end(&mut self, node: &Node, number: Option<u32>) {
        let task = format!("T{}", node.id);
        if self.stopped.is_stopped {
            self.stopped.asked.push(task);
            return;
        }
        let name = number.map_or(format!("v{}", node.id), |number| format!("anon_{number:03}"));
        let frame = self.frame();
        let suffix = if frame == 0 { String::new() } else { format!("__{frame}") };
        let file = format!("{name}{suffix}.md");
        let source = self.program.text.lines().nth(node.line - 1).unwrap_or_default().trim();
        let head = match frame {
            0 => String::new(),
            frame => format!("execution_id: {frame}\n"),
        };
        let value = format!("{task} in its file");
        let text = match self.random.u8(0..4) {
            // Agents forget the head sometimes.
            0 if number.is_none() => format!("{value}\n"),
            _ => {
                format!("# {name}\n\nkind: let\n{head}\nsource:\n```prose\n{source}\n```\n\n---\n\n{value}\n")
            }
        };
        self.files.insert(file.clone(), text);
        let mark = match self.random.u8(0..3) {
            0 => format!("# --> bindings/{file}"),
            _ => format!("# --> bindings/{file} (complete)"),
        };
        self.marks.insert(node.line, mark);
    }

    /// Writes the state, or stops.
    fn write(&mut self) {
        self.writes += 1;
        if self.writes != self.cut {
            return;
        }
        let mut out = "# Execution State\n\nrun: 20260115-143052-a7b3c9\nprogram: main.prose\n\n## Execution Trace\n\n```prose\n".to_owned();
        let position = self.marks.keys().last().copied().unwrap_or_default().max(self.reached);
        let next = self.program.body.iter().filter(|node| node.line > self.reached);
        let mut ahead: BTreeMap<usize, &str> = BTreeMap::new();
        for (nth, node) in next.enumerate() {
            match node.kind {
                Kind::Session(_) if nth == 0 => drop(ahead.insert(node.line, "# [...next...]")),
                Kind::Session(_) => {}
                _ => drop(ahead.insert(node.line, "# [not yet entered]")),
            }
        }
        for (index, text) in self.program.text.lines().enumerate().take(position + 8) {
            let mark = self.marks.get(&(index + 1)).map(String::as_str).or(ahead.get(&(index + 1)).copied());
            let _ = writeln!(out, "{}", format!("{text:40}  {}", mark.unwrap_or_default()).trim_end());
        }
        out.push_str("```\n\n## Active Constructs\n\n");
        for (first, last, names) in &self.parallels {
            let _ = writeln!(out, "### Parallel (lines {first}-{last})\n");
            for (name, is_complete) in names {
                let _ = writeln!(out, "- {name}: {}", if *is_complete { "complete" } else { "executing" });
            }
            out.push('\n');
        }
        for (first, last, iteration) in &self.loops {
            let _ = writeln!(
                out,
                "### Loop (lines {first}-{last})\n\n- status: executing\n- iteration: {iteration}\n"
            );
        }
        out.push_str(
            "## Call Stack\n\n| execution_id | block | depth | status |\n| --- | --- | --- | --- |\n",
        );
        for (depth, (id, block)) in self.frames.iter().enumerate().rev() {
            let status = if depth + 1 == self.frames.len() { "executing" } else { "waiting" };
            let _ = writeln!(out, "| {id} | b{block} | {} | {status} |", depth + 1);
        }
        self.stopped.state = out;
        self.stopped.files = self.files.clone();
        self.stopped.is_stopped = true;
    }
}
