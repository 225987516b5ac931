//! The interpreter: statements, expressions and calls as asynchronous functions over the model of a program.

mod blocks;
mod choices;
mod conditions;
mod context;
mod expressions;
mod imports;
mod inputs;
mod lists;
mod loops;
mod memory;
mod parallel;
mod parts;
mod pipelines;
mod scope;
mod sessions;
mod statements;
mod texts;
mod trees;
mod tries;
mod variables;
mod written_session;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use prose_analysis::model::{Stmt, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::call_order::{CallOrder, has_orders};
use crate::effect::{Binding, Effect, Outcome, RequestId, SummaryLength};
use crate::error::{ErrorKind, RuntimeError};
use crate::event::{EventKind, RunEnd, RunHead, RunStatus, Status};
use crate::machine::{Machine, NewEvent, PendingOutcome, World};
use crate::names;
use crate::place::{Place, Site};
use crate::program::{At, Program};
use crate::settings::Settings;
use crate::shared_text::shared;
use crate::value::Value;
pub(crate) use conditions::asks_a_model;
pub(crate) use scope::Frame;
use scope::{Local, Scope};
use trees::Tree;

/// What comes of a statement or an expression, or what leads out of it.
pub(crate) type Exec<T> = Result<T, Flow>;

/// What leads out of statements.
#[derive(Debug, Clone)]
pub(crate) enum Flow {
    /// An error, on its way to a `catch`.
    Throw(Arc<RuntimeError>),
    /// `return`, or an unnamed `output`: leaves the frame, with a value if there is one (B5).
    Return(Option<Value>),
    /// `break`
    Break,
    /// `continue`
    Continue,
}

/// How a statement, a branch or a part of one has ended.
fn status_of<T>(result: &Exec<T>) -> Status {
    match result {
        Ok(_) => Status::Complete,
        Err(Flow::Throw(_)) => Status::Failed,
        Err(Flow::Return(_) | Flow::Break | Flow::Continue) => Status::Left,
    }
}

/// A program in execution: the one that was started, or one call of an imported one.
pub(crate) struct Instance {
    /// 0 for the program that was started, then in the order of the calls.
    number: u32,
    /// What messages call it; none for the program that was started.
    name: Option<SmolStr>,
    program: Arc<Program>,
    /// The folder of its files relative to that of the run, with a slash at its end; empty for the program that was started.
    folder: Arc<str>,
    root: Rc<Scope>,
    /// The execution id of the last call (R82).
    calls: Cell<u32>,
    /// What the files of its variables are called.
    files: RefCell<names::FileNames>,
    /// The number of the last session that nothing captures (R20).
    anonymous: Cell<u32>,
    /// The inputs that were given to it.
    inputs: Vec<(SmolStr, Value)>,
    /// What agents said last, for contexts that name an agent (A12).
    replies: RefCell<FxHashMap<SmolStr, Value>>,
    /// How often each import was called (B13).
    imported: RefCell<FxHashMap<SmolStr, u32>>,
}

/// Summaries by what was summarised, and how short.
type Summaries = FxHashMap<(Arc<str>, SummaryLength), Arc<str>>;

/// What all programs of a run share.
pub(crate) struct Run {
    world: Rc<World>,
    /// The number of the last program that was called.
    programs: Cell<u32>,
    sessions: Cell<u32>,
    /// The number of failures that the program has handled (decision 26).
    failures: Cell<u32>,
    /// The highest segment number that was given out, by folder of the memory (R49).
    segments: RefCell<FxHashMap<Arc<str>, u32>>,
    /// What was summarised, so that nothing is summarised twice (decision 12).
    summaries: RefCell<Summaries>,
    /// The number of working trees.
    trees: Cell<u32>,
    /// The numbers of the variables that were set at the statements at which a person wants them to be, among those of the settings.
    changed: RefCell<FxHashSet<usize>>,
    /// The calls so far, if one of those statements is named by the order of its calls.
    call_order: Option<RefCell<CallOrder>>,
    /// Agents whose fresh start with a memory was told (C3).
    told_fresh: RefCell<Vec<SmolStr>>,
}

/// Where the interpreter is.
#[derive(Clone)]
pub(crate) struct Cx {
    run: Rc<Run>,
    instance: Rc<Instance>,
    scope: Rc<Scope>,
    locals: Option<Rc<Local>>,
    /// The working tree of the branch.
    tree: Option<Rc<Tree>>,
    place: Place,
    /// The statement that is executed.
    at: At,
    nesting: u32,
    /// The error that a `throw` without a message raises again (R75).
    caught: Option<Arc<RuntimeError>>,
}

impl Cx {
    fn program(&self) -> &Arc<Program> {
        &self.instance.program
    }

    fn stmt(&self) -> &Stmt {
        self.instance.program.stmt(self.at)
    }

    /// The same place for a statement in the same top-level statement.
    fn at(&self, stmt: StmtId) -> Self {
        let at = At { top: self.at.top, stmt };
        Self { at, ..self.clone() }
    }

    fn step(&self, step: impl std::fmt::Display) -> Self {
        Self { place: self.place.step(step), ..self.clone() }
    }

    fn deeper(&self) -> Self {
        Self { nesting: self.nesting + 1, ..self.clone() }
    }

    fn with_local(mut self, name: SmolStr, value: Value) -> Self {
        self.locals = Some(Rc::new(Local { name, value, outer: self.locals.take() }));
        self
    }

    fn site(&self) -> Site {
        self.program().site(self.instance.number, self.at)
    }

    fn emit(&self, kind: EventKind) {
        self.emit_at(self.nesting, kind);
    }

    fn emit_at(&self, nesting: u32, kind: EventKind) {
        self.emit_in(self.place.clone(), nesting, kind);
    }

    fn emit_in(&self, place: Place, nesting: u32, kind: EventKind) {
        self.run.world.emit(NewEvent {
            place,
            site: (!self.program().statements.is_empty()).then(|| self.site()),
            frame: self.scope.frame.id,
            nesting,
            kind,
        });
    }

    fn warn(&self, message: impl Into<String>) {
        self.emit(EventKind::Warning { message: message.into() });
    }

    fn next_request(&self) -> RequestId {
        self.run.world.next_request()
    }

    fn request(&self, effect: Effect) -> PendingOutcome {
        self.run.world.request(self.place.clone(), (self.instance.name.clone(), self.site()), effect)
    }

    /// An error at this statement.
    fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Arc<RuntimeError> {
        let mut error = RuntimeError::new(kind, message);
        error.statement = self.program().header(self.at);
        error.line = self.site().line;
        Arc::new(error)
    }

    fn fail<T>(&self, kind: ErrorKind, message: impl Into<String>) -> Exec<T> {
        let error = self.error(kind, message);
        self.raise(error)
    }

    fn raise<T>(&self, error: Arc<RuntimeError>) -> Exec<T> {
        self.emit(EventKind::Raised { error: Arc::clone(&error) });
        Err(Flow::Throw(error))
    }

    /// Counts a failure that does not end the run.
    fn failure_handled(&self) {
        self.run.failures.set(self.run.failures.get() + 1);
    }

    /// Takes back a failure that was counted as handled: it is raised again.
    fn failure_raised_again(&self) {
        self.run.failures.set(self.run.failures.get().saturating_sub(1));
    }

    /// What an outcome means that is none of those a request can have.
    fn unexpected<T>(&self, outcome: &Outcome) -> Exec<T> {
        match outcome {
            Outcome::Failed(failure) => self.fail(failure.kind, failure.message.clone()),
            _ => self.fail(ErrorKind::Other, "the harness gave an answer of another kind than was asked for"),
        }
    }

    /// The binding of a name in a scope.
    fn binding(&self, scope: &Rc<Scope>, name: &SmolStr, kind: crate::effect::BindingKind) -> Binding {
        let base = match self.names_are_told_apart() {
            true => self.instance.files.borrow_mut().base(name),
            false => name.clone(),
        };
        self.binding_in(scope, name, &base, kind)
    }

    /// Whether files are called so that no two names have the same one. Runs that earlier versions have started continue as they are.
    fn names_are_told_apart(&self) -> bool {
        self.run.world.settings.journal_version > 1
    }

    /// The binding of a name in a scope, whose file is called by a base.
    fn binding_in(
        &self,
        scope: &Rc<Scope>,
        name: &SmolStr,
        base: &str,
        kind: crate::effect::BindingKind,
    ) -> Binding {
        let stem = names::file_stem(scope.file_name(name, base));
        let path = shared(|path| {
            for part in [&self.instance.folder, "bindings/", &stem, ".md"] {
                path.push_str(part);
            }
        });
        Binding {
            name: name.clone(),
            kind,
            frame: scope.frame.id,
            path,
            source: self.program().statement_source(self.at),
        }
    }
}

impl Machine {
    /// A machine at the start of a program.
    pub fn new(program: Arc<Program>, settings: Settings) -> Self {
        Self::start(settings, |world| run(world, program))
    }
}

/// Executes a program from its start to its end.
async fn run(world: Rc<World>, program: Arc<Program>) -> RunEnd {
    let settings = &world.settings;
    let start = |kind| NewEvent { place: Place::root(), site: None, frame: 0, nesting: 0, kind };
    let (name, from) =
        settings.origin.clone().unwrap_or_else(|| (program.name.clone(), program.from.clone()));
    world.emit(start(EventKind::RunStarted(Box::new(RunHead {
        version: settings.journal_version,
        run: settings.run.clone(),
        program: name,
        from,
        sha256: program.sha256.clone(),
        imports: program.imported(),
        state: settings.state,
        harness: settings.harness.clone(),
        script: settings.script.clone(),
        seed: settings.seed,
        routes: settings.routes.clone(),
        context_by_reference: settings.context_by_reference,
        agents_write: settings.agents_write,
        isolates: settings.isolates,
        max_iterations: settings.max_iterations,
        backoff_ms: settings.backoff_ms,
        backoff_cap_ms: settings.backoff_cap_ms,
        caps: settings.caps.clone(),
        timeout_ms: settings.timeout_ms,
        inputs: settings.inputs.clone(),
        earlier: settings.earlier.clone(),
        set_before: settings.set_before.clone(),
        part: settings.part.clone(),
        redacted: false,
        traceparent: settings.traceparent.clone(),
    }))));
    let run = Rc::new(Run {
        world: Rc::clone(&world),
        programs: Cell::default(),
        sessions: Cell::default(),
        failures: Cell::default(),
        segments: RefCell::default(),
        summaries: RefCell::default(),
        trees: Cell::default(),
        changed: RefCell::default(),
        call_order: settings
            .changed_variables()
            .any(|changed| has_orders(&changed.place))
            .then(RefCell::default),
        told_fresh: RefCell::default(),
    });
    let inputs = settings.inputs.clone();
    let cx = Cx::start(Rc::clone(&run), Instance::new((0, None), program, "".into(), inputs), Place::root());
    let result = cx.program_to_its_end().await;
    for message in cx.not_changed() {
        world.emit(start(EventKind::Warning { message }));
    }
    let outputs = cx.instance.root.outputs.borrow().clone();
    let (status, value, error) = match result {
        Ok(value) => (RunStatus::Completed, value, None),
        Err(error) => (RunStatus::Failed, Value::Null, Some(error)),
    };
    let (sessions, failures) = (run.sessions.get(), run.failures.get());
    let waiting = Vec::new();
    let end =
        RunEnd { status, outputs, value, error, sessions, usage: None, failures, not_asked: 0, waiting };
    world.emit(start(EventKind::RunEnded(end.clone())));
    end
}

impl Run {
    /// Takes up a call of a block, `f`, or of a program, `m`.
    fn called(&self, at: &Place, kind: char, number: u32) {
        if let Some(order) = &self.call_order {
            order.borrow_mut().called(at, kind, number);
        }
    }

    /// Whether a place that a person named is this one.
    fn is_at(&self, named: &Place, place: &Place) -> bool {
        match &self.call_order {
            Some(order) => order.borrow().is_same(named, place),
            None => named == place,
        }
    }
}

impl Instance {
    fn new(
        (number, name): (u32, Option<SmolStr>),
        program: Arc<Program>,
        folder: Arc<str>,
        inputs: Vec<(SmolStr, Value)>,
    ) -> Rc<Self> {
        Rc::new(Self {
            number,
            name,
            program,
            folder,
            root: Scope::root(),
            calls: Cell::default(),
            files: RefCell::default(),
            anonymous: Cell::default(),
            inputs,
            replies: RefCell::default(),
            imported: RefCell::default(),
        })
    }
}

impl Cx {
    fn start(run: Rc<Run>, instance: Rc<Instance>, place: Place) -> Self {
        let scope = Rc::clone(&instance.root);
        let at = At { top: 0, stmt: StmtId::ROOT };
        Self { run, instance, scope, locals: None, tree: None, place, at, nesting: 0, caught: None }
    }
}
