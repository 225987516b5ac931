//! Statements, with their branches, loops and calls.

use prose_analysis::model::{
    Catch, ChoiceOption, Expr, ExprId, ListId, Modifier, Property, RefId, Stage, StageKind, Stmt,
    Value as ValueNode,
};
use rustc_hash::FxHashMap;

use super::amounts::{Amounts, Bounds, Count, Exits, lesser};
use super::{MAX_CALLS, MAX_LEVELS, Walk, Work, WorkKind};
use crate::program::{At, is_named, property};
use crate::settings::Settings;

/// The iterations that are expected of a loop that a condition ends.
const EXPECTED_ITERATIONS: f64 = 3.0;
/// The part of `try` bodies, and of attempts of sessions with `retry:`, that are expected to fail.
const EXPECTED_FAILURES: f64 = 0.1;
/// The calls of a block by itself, in one another, that are expected.
const EXPECTED_LEVELS: u32 = 3;
/// From here on, a number says no more than that nothing limits it.
const MAX_COUNT: f64 = 1e9;

/// The attempts that are expected of a session: each is one if all before it have failed.
fn expected_attempts(retries: f64) -> f64 {
    (1.0 - EXPECTED_FAILURES.powf(1.0 + retries)) / (1.0 - EXPECTED_FAILURES)
}

impl Walk<'_> {
    pub(super) fn statement(&self, at: At) -> Bounds {
        match self.program.stmt(at) {
            Stmt::Use { .. }
            | Stmt::Import { .. }
            | Stmt::Agent { .. }
            | Stmt::Block { .. }
            | Stmt::Placeholder => Bounds::default(),
            Stmt::Input { description, .. } => self.text(at, *description).or_fails(),
            Stmt::Output { name: Some(_), value } => self.value(at, *value),
            Stmt::Output { name: None, value } | Stmt::Return(value) => {
                let nothing = Exits { returned: Some(Amounts::default()), ..Exits::NONE };
                self.value(at, *value).then(Bounds { least: nothing, ..Bounds::default() })
            }
            Stmt::Let { destructured, value, .. } => {
                let value = self.value(at, *value);
                if *destructured { value.or_fails() } else { value }
            }
            Stmt::Assign { value, .. } => self.value(at, *value),
            Stmt::Expr(expr) => self.expr(at, *expr),
            Stmt::Session { .. } | Stmt::Resume { .. } => self.session(at),
            Stmt::Chain(links) => {
                Bounds::all(links.iter().map(|link| self.statement(At { stmt: *link, ..at })))
            }
            Stmt::Pipeline { source, stages } => self.pipeline(at, *source, stages),
            Stmt::Call { block, arguments } => self
                .arguments(at, arguments)
                .then(block.map_or(Bounds::default(), |block| self.call(at, block))),
            Stmt::Do { body } => self.list(at, *body),
            Stmt::Parallel { options, body } => self.parallel(at, options, *body),
            Stmt::For { collection, body, .. } => {
                let count = self.collection(at, *collection);
                let body = self.list(at, *body);
                self.expr(at, *collection).then(self.repeated(count, body)).or_fails()
            }
            Stmt::Repeat { count, body, .. } => {
                let written = count.and_then(|count| self.number(at, count));
                let times = match written {
                    Some(times) => Count::exactly(times),
                    None => Count { least: 1.0, ..self.unknown(at, "the number of iterations", *count) },
                };
                let body = self.list(at, *body);
                self.expr(at, *count).then(self.repeated(times, body)).or_fails()
            }
            Stmt::Loop { condition, options, body, .. } => {
                self.condition_loop(at, *condition, options, *body)
            }
            Stmt::Try { body, catches, finally } => self.try_catch(at, *body, catches, *finally),
            Stmt::Choice { criterion, options, .. } => self.choice(at, *criterion, options),
            Stmt::If { branches, otherwise } => {
                let mut before = Bounds::default();
                let mut ways = Vec::new();
                for branch in branches.iter().filter(|branch| branch.condition.is_some()) {
                    before = before.then(self.condition(at, branch.condition));
                    ways.push(before.then(self.list(at, branch.body)));
                }
                ways.push(before.then(self.list(at, *otherwise)));
                Bounds::one_of(&ways)
            }
            Stmt::Throw(message) => self.text(at, *message).then(Bounds::failure()),
            Stmt::StrayOption(_) => Bounds::failure(),
            Stmt::Break => Bounds::leaving(|exits| &mut exits.broken),
            Stmt::Continue => Bounds::leaving(|exits| &mut exits.continued),
            Stmt::Assert { condition, message } => {
                let says_why = Bounds::one_of(&[Bounds::default(), self.text(at, *message)]);
                self.condition(at, *condition).then(says_why).or_fails()
            }
        }
    }

    pub(super) fn list(&self, at: At, list: Option<ListId>) -> Bounds {
        let Some(list) = list else { return Bounds::default() };
        Bounds::all(self.executed(at, list))
    }

    /// What is executed in a list, without definitions.
    fn executed(&self, at: At, list: ListId) -> impl Iterator<Item = Bounds> {
        let stmts = self.program.list(at, list).iter().map(move |stmt| At { stmt: *stmt, ..at });
        stmts.filter(|at| !self.program.is_definition(*at)).map(|at| self.statement(at))
    }

    fn session(&self, at: At) -> Bounds {
        let (text, agent, own) = match self.program.stmt(at) {
            Stmt::Session { text, agent, properties, .. } => (*text, *agent, properties.as_slice()),
            Stmt::Resume { agent, properties } => (None, *agent, properties.as_slice()),
            _ => return Bounds::default(),
        };
        let name = agent.map(|agent| self.program.body(at)[agent].text.clone());
        let of_agent = name.as_ref().and_then(|name| self.program.agent(name)).and_then(|agent| {
            match self.program.stmt(agent) {
                Stmt::Agent { properties, .. } => Some((agent, properties.as_slice())),
                _ => None,
            }
        });
        // A property of the session comes before that of its agent.
        let found = |name: &str| match property(own, name) {
            Some(property) => Some((at, property.value?)),
            None => of_agent.and_then(|(at, properties)| Some((at, property(properties, name)?.value?))),
        };
        let mut all = self.text(at, text);
        let mut length = self.length(at, text);
        let mut passed = text.map_or(0, |text| self.references(at, text));
        for (at, properties) in [(at, own)].into_iter().chain(of_agent) {
            for property in properties {
                all = all.then(self.property(at, property));
                if property.name.text == "prompt" {
                    length += self.length(at, property.value);
                    passed += property.value.map_or(0, |prompt| self.references(at, prompt));
                } else if property.name.text == "context" {
                    passed += self.passed(at, property);
                }
            }
        }
        if !self.found.assumptions.passes_files(name.as_deref()) {
            all = all.then(self.possible(at, WorkKind::Summarise, passed));
        }
        let model = found("model").and_then(|(at, model)| {
            let body = self.program.body(at);
            body.string(model).or_else(|| body.word(model)).map(|name| self.program.model(name))
        });
        let attempts = match found("retry") {
            None => Count::exactly(1.0),
            Some((of, retry)) => {
                let retries = self.number(of, retry);
                let retries =
                    retries.unwrap_or_else(|| self.unknown(at, "the number of retries", Some(retry)).most);
                let known = self.found.assumptions.attempts(&self.spot(at));
                let expected = known.unwrap_or_else(|| expected_attempts(retries)).min(1.0 + retries);
                Count { least: 1.0, most: 1.0 + retries, expected }
            }
        };
        let work = Work { kind: WorkKind::Session, spot: self.spot(at), agent: name, model, length };
        let mut session = self.work(work, attempts);
        session.least.thrown = session.least.end;
        all.then(session)
    }

    /// The values of a property that are computed.
    fn property(&self, at: At, property: &Property) -> Bounds {
        let entries = property.entries.iter().flatten().map(|entry| self.property(at, entry));
        self.text(at, property.value).then(Bounds::all(entries))
    }

    fn references(&self, at: At, text: ExprId) -> usize {
        self.program.body(at).text(text).map_or(1, |text| text.interpolations.len())
    }

    /// The number of values that a `context:` passes.
    fn passed(&self, at: At, property: &Property) -> usize {
        let entries = property.entries.iter().flatten().filter_map(|entry| entry.value);
        property.value.into_iter().chain(entries).map(|value| self.parts(at, ValueNode::Expr(value))).sum()
    }

    fn parts(&self, at: At, value: ValueNode) -> usize {
        let ValueNode::Expr(expr) = value else { return 1 };
        match &self.program.body(at)[expr].expr {
            Expr::Array(items) => items.iter().map(|item| self.parts(at, *item)).sum(),
            Expr::Object(entries) => {
                entries.iter().filter_map(|entry| entry.value).map(|value| self.parts(at, value)).sum()
            }
            _ => 1,
        }
    }

    /// A count that is only known in the run.
    fn unknown(&self, at: At, what: &str, expr: Option<ExprId>) -> Count {
        let body = self.program.body(at);
        let source = expr.map(|expr| self.program.source(at, body[expr].range));
        let source = source.and_then(|source| source.lines().next()).unwrap_or_default();
        let of = if what.ends_with("items") {
            format!("{what} of `{source}`")
        } else {
            format!("{what} `{source}`")
        };
        self.unbounded(at, format!("{of} is only known in the run"));
        let expected = self.found.assumptions.iterations(&self.spot(at)).unwrap_or(EXPECTED_ITERATIONS);
        Count { least: 0.0, most: f64::INFINITY, expected }
    }

    fn collection(&self, at: At, collection: Option<ExprId>) -> Count {
        let count = self.items(at, collection);
        if count.most.is_finite() {
            return count;
        }
        let known = self.found.assumptions.iterations(&self.spot(at));
        let unknown = self.unknown(at, "the number of items", collection);
        Count { expected: known.unwrap_or(count.expected), ..unknown }
    }

    /// A body that is repeated.
    fn repeated(&self, count: Count, body: Bounds) -> Bounds {
        let Exits { end, broken, continued, returned, thrown } = body.least;
        let once = lesser(end, continued);
        let all = match count.least == 0.0 {
            true => Some(Amounts::default()),
            false => once.map(|once| once.times(count.least)),
        };
        let leaves = |exit: Option<Amounts>| exit.filter(|_| count.most > 0.0);
        let end = lesser(all, leaves(broken));
        Bounds {
            least: Exits { end, returned: leaves(returned), thrown: leaves(thrown), ..Exits::NONE },
            most: body.most.times(count.most),
            expected: body.expected.times(count.expected),
        }
    }

    fn condition_loop(
        &self,
        at: At,
        condition: Option<ExprId>,
        options: &[Modifier],
        body: Option<ListId>,
    ) -> Bounds {
        let max = options.iter().find(|option| is_named(option, "max"));
        let known = self.found.assumptions.iterations(&self.spot(at));
        let cap = f64::from(self.found.assumptions.max_iterations());
        let most = match max {
            None => cap,
            Some(max) => match max.value.and_then(|value| self.number(at, value)) {
                Some(most) => most,
                None => self.unknown(at, "the maximum", max.value).most,
            },
        };
        if max.is_none() {
            self.limited_by_setting(at);
        }
        let body = self.list(at, body);
        if condition.is_none() {
            // Without a condition, only the limit or the body ends it; the limit of the settings is an error.
            let expected = known.unwrap_or(match max {
                Some(_) if most.is_finite() => most,
                _ => EXPECTED_ITERATIONS.min(most),
            });
            let least = if most.is_finite() { most } else { 1.0 };
            let mut repeated = self.repeated(Count { least, most, expected }, body);
            if max.is_none() {
                repeated.least.end = body.least.broken;
                repeated = repeated.or_fails();
            }
            return repeated;
        }
        let condition = self.condition(at, condition);
        let expected = known.unwrap_or(EXPECTED_ITERATIONS).min(most);
        let once = condition.then(body);
        let mut all = self.repeated(Count { least: 0.0, most, expected }, once);
        // The condition is judged once more than the body is executed.
        all.least.end = lesser(condition.least.end, once.least.broken);
        all.least.thrown = lesser(condition.least.thrown, once.least.thrown);
        all.most = all.most.and(condition.most);
        all.expected = all.expected.and(condition.expected);
        if max.is_none() { all.or_fails() } else { all }
    }

    fn parallel(&self, at: At, options: &[Modifier], body: Option<ListId>) -> Bounds {
        let branches: Vec<Bounds> = body.into_iter().flat_map(|body| self.executed(at, body)).collect();
        let word = |option: &Modifier| {
            let body = self.program.body(at);
            option.value.and_then(|value| body.string(value).or_else(|| body.word(value)))
        };
        let policy = options.iter().find(|option| is_named(option, "on-fail"));
        // What is not written as a word is only known in the run.
        let fails = policy.is_none_or(|policy| !matches!(word(policy), Some("continue" | "ignore")));
        let count = options.iter().find(|option| is_named(option, "count"));
        let strategy =
            options.iter().find(|option| !is_named(option, "on-fail") && !is_named(option, "count"));
        let needed = match strategy.map(&word) {
            None | Some(Some("all")) => branches.len() as f64,
            Some(Some("any")) => {
                let count = count.and_then(|count| count.value);
                let count = count.map_or(Some(1.0), |count| self.number(at, count));
                count.unwrap_or(1.0).min(branches.len() as f64)
            }
            Some(_) => 1.0_f64.min(branches.len() as f64),
        };
        let ends = |branch: &Bounds| {
            if fails { branch.least.end } else { lesser(branch.least.end, branch.least.thrown) }
        };
        let end = if needed == branches.len() as f64 {
            branches.iter().try_fold(Amounts::default(), |all, branch| Some(all.and(ends(branch)?)))
        } else {
            branches.iter().map(ends).fold(None, lesser).map(|least| least.times(needed))
        };
        let sum = |amounts: fn(&Bounds) -> Amounts| {
            branches.iter().fold(Amounts::default(), |all, branch| all.and(amounts(branch)))
        };
        let exits = branches.iter().fold(Exits::NONE, |exits, branch| exits.or(branch.least));
        let least = Exits { end, ..exits };
        Bounds { least, most: sum(|branch| branch.most), expected: sum(|branch| branch.expected) }
    }

    fn choice(&self, at: At, criterion: Option<ExprId>, options: &[ChoiceOption]) -> Bounds {
        let length = self.length(at, criterion);
        let labels = Bounds::all(options.iter().map(|option| self.text(at, option.label)));
        let chosen = self.decisions(at, WorkKind::Choose, length, Count::exactly(1.0));
        let asked = self.text(at, criterion).then(labels).then(chosen).or_fails();
        let ways: Vec<Bounds> = options.iter().map(|option| self.list(at, option.body)).collect();
        asked.then(Bounds::one_of(&ways))
    }

    fn try_catch(&self, at: At, body: Option<ListId>, catches: &[Catch], finally: Option<ListId>) -> Bounds {
        let body = self.list(at, body);
        let mut all = body;
        if let Some(catch) = catches.first() {
            let catch = self.list(at, catch.body);
            let caught = catch.least.following(body.least.thrown);
            all.least = Exits { thrown: None, ..body.least }.or(caught);
            all.most = all.most.and(catch.most);
            all.expected = all.expected.and(catch.expected.times(EXPECTED_FAILURES));
        }
        if finally.is_some() {
            let last = self.list(at, finally);
            // What leads out of `finally` takes the place of what led there (R75).
            let replaced = Exits { end: None, ..last.least }.following(all.least.any());
            all.least = all.least.following(last.least.end).or(replaced);
            all.most = all.most.and(last.most);
            all.expected = all.expected.and(last.expected);
        }
        all
    }

    fn pipeline(&self, at: At, source: Option<ValueNode>, stages: &[Stage]) -> Bounds {
        let mut all = self.value(at, source);
        let mut items = match source {
            Some(ValueNode::Expr(source)) => self.collection(at, Some(source)),
            _ => self.unknown(at, "the number of items", None),
        };
        for (nth, stage) in stages.iter().enumerate() {
            let body = self.list(at, stage.body);
            match stage.operator {
                None => {}
                Some(StageKind::Map | StageKind::Pmap) => all = all.then(self.each(items, body)),
                Some(StageKind::Filter) => {
                    let kept = body.then(self.possible(at, WorkKind::Judge, 1));
                    all = all.then(self.each(items, kept));
                    items.least = 0.0;
                }
                Some(StageKind::Reduce) => {
                    let times = |count: f64| (count - 1.0).max(0.0);
                    let (least, most) = (times(items.least), times(items.most));
                    let steps = Count { least, most, expected: times(items.expected) };
                    all = all.then(self.each(steps, body));
                    if nth + 1 < stages.len() {
                        items = self.unknown(at, "the number of items", None);
                    }
                }
            }
        }
        all.or_fails()
    }

    /// A body for each item of a pipeline, out of which `break` and `continue` lead.
    fn each(&self, count: Count, body: Bounds) -> Bounds {
        let Exits { broken, continued, .. } = body.least;
        let plain = Bounds { least: Exits { broken: None, continued: None, ..body.least }, ..body };
        let mut all = self.repeated(count, plain);
        (all.least.broken, all.least.continued) = (broken, continued);
        all
    }

    fn call(&self, at: At, block: RefId) -> Bounds {
        let name = &self.program.body(at)[block].text;
        match self.program.block(name) {
            Some(block) => self.block(block),
            None => Bounds::failure(),
        }
    }

    pub(super) fn block(&self, at: At) -> Bounds {
        if let Some(known) = self.blocks.borrow().get(&at) {
            return *known;
        }
        if self.is_recursive(at) {
            return self.recursion(at);
        }
        if self.calls.borrow().len() >= MAX_CALLS {
            self.unbounded(at, "blocks call one another too deeply to be counted");
            return Bounds::endless();
        }
        self.calls.borrow_mut().push(at);
        let bounds = self.called(at);
        self.calls.borrow_mut().pop();
        // While a level of recursion is computed, what is called belongs to it.
        if self.level.get().is_none() {
            self.blocks.borrow_mut().insert(at, bounds);
        }
        bounds
    }

    /// The body of a block, from which nothing leads but its end and errors.
    fn called(&self, at: At) -> Bounds {
        let Stmt::Block { body, .. } = self.program.stmt(at) else { return Bounds::default() };
        let mut bounds = self.list(at, *body);
        let Exits { end, broken, continued, returned, thrown } = bounds.least;
        let end = lesser(end, returned);
        let thrown = lesser(thrown, lesser(broken, continued));
        bounds.least = Exits { end, thrown, ..Exits::NONE };
        bounds
    }

    fn max_depth(&self, at: At) -> Option<u32> {
        let Stmt::Block { options, .. } = self.program.stmt(at) else { return None };
        match options.iter().find(|option| is_named(option, "max_depth")) {
            None => Some(Settings::MAX_DEPTH),
            Some(option) => Some(self.number(at, option.value?)? as u32),
        }
    }

    /// Blocks that call themselves, level by level from the deepest one.
    fn recursion(&self, at: At) -> Bounds {
        if self.level.get().is_some() {
            let deeper = self.deeper.borrow().get(&at).copied();
            return deeper.unwrap_or_else(Bounds::failure).or_fails();
        }
        let blocks: Vec<At> = self.program.blocks().into_iter().map(|(_, at)| at).collect();
        let blocks: Vec<At> = blocks.into_iter().filter(|at| self.is_recursive(*at)).collect();
        let limits: Vec<(At, Option<u32>)> = blocks.iter().map(|at| (*at, self.max_depth(*at))).collect();
        let known = limits.iter().map(|(_, limit)| limit.unwrap_or(u32::MAX)).max().unwrap_or_default();
        for level in (0..known.min(MAX_LEVELS)).rev() {
            self.level.set(Some(level));
            let mut computed = FxHashMap::default();
            for (at, limit) in &limits {
                let mut bounds = if limit.is_none_or(|limit| level < limit) {
                    self.called(*at).or_fails()
                } else {
                    Bounds::failure()
                };
                if level >= EXPECTED_LEVELS {
                    bounds.expected = Amounts::default();
                }
                computed.insert(*at, bounds);
            }
            *self.deeper.borrow_mut() = computed;
        }
        self.level.set(None);
        let computed = std::mem::take(&mut *self.deeper.borrow_mut());
        for (at, limit) in limits {
            let Some(mut bounds) = computed.get(&at).copied() else { continue };
            let is_endless = |amount: f64| amount > MAX_COUNT;
            let most = bounds.most;
            if !most.is_nothing()
                && (limit.is_none_or(|limit| limit > MAX_LEVELS)
                    || is_endless(most.sessions)
                    || is_endless(most.decisions))
            {
                let name = self.program.blocks().into_iter().find(|(_, block)| *block == at);
                let name = name.map_or("", |(name, _)| name.as_str());
                let depth = limit.map_or_else(String::new, |limit| format!(", up to {limit} calls deep"));
                self.unbounded(at, format!("block `{name}` calls itself{depth}"));
                bounds.most = bounds.most.times(f64::INFINITY);
            }
            self.blocks.borrow_mut().insert(at, bounds);
        }
        self.blocks.borrow().get(&at).copied().unwrap_or_default()
    }

    /// Whether a block may call itself, also through others.
    fn is_recursive(&self, at: At) -> bool {
        if let Some(known) = self.recursive.borrow().get(&at) {
            return *known;
        }
        let mut seen = Vec::new();
        let mut waiting = self.callees(at);
        let mut is_recursive = false;
        while let Some(next) = waiting.pop() {
            if next == at {
                is_recursive = true;
                break;
            }
            if !seen.contains(&next) {
                seen.push(next);
                waiting.extend(self.callees(next));
            }
        }
        self.recursive.borrow_mut().insert(at, is_recursive);
        is_recursive
    }

    /// The blocks that a block calls.
    fn callees(&self, at: At) -> Vec<At> {
        let body = self.program.body(at);
        let own = body[at.stmt].range;
        let inside = body.stmts().filter(|(id, data)| *id != at.stmt && own.contains_range(data.range));
        let called = inside.filter_map(|(_, data)| match &data.stmt {
            Stmt::Call { block: Some(block), .. } => self.program.block(&body[*block].text),
            _ => None,
        });
        called.collect()
    }
}

impl Bounds {
    /// It fails, with nothing done.
    pub(super) fn failure() -> Self {
        Self::leaving(|exits| &mut exits.thrown)
    }

    fn leaving(exit: impl Fn(&mut Exits) -> &mut Option<Amounts>) -> Self {
        let mut least = Exits::NONE;
        *exit(&mut least) = Some(Amounts::default());
        Self { least, ..Self::default() }
    }

    /// Nothing is known of it.
    pub(super) fn endless() -> Self {
        let all = f64::INFINITY;
        let most = Amounts { sessions: all, decisions: all, tokens: all, cost: all };
        Self { most, ..Self::default() }.or_fails()
    }
}
