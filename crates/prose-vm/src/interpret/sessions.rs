//! Sessions: what they are told, how often they are tried, and where their results go (R22 to R34, R42 to R49, R77 to R79).

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use prose_analysis::model::{Expr, Property, Stmt, StmtId};
use prose_analysis::rights::{Requests, skill_path};
use prose_rights::Right;
use smol_str::{SmolStr, format_smolstr};

use super::scope::Target;
use super::written_session::WrittenSession;
use super::{Cx, Exec};
use crate::effect::{
    BindingKind, Effect, Outcome, Permission, PermissionRule, Reply, RequestId, SessionTask,
};
use crate::error::ErrorKind;
use crate::event::{EventKind, Status};
use crate::frame;
use crate::permissions::effective;
use crate::program::{At, property, rule_of_word};
use crate::prompt::{self, Parts, RecalledMemory};
use crate::value::Value;

/// The maximum length in bytes of a memory in a prompt; agents that read files read a longer one from its file.
const MAX_INLINE_MEMORY: usize = 40_000;

/// What a session is asked, before its prompt is put together.
struct PendingOutcome {
    task: SessionTask,
    early_exit: Option<Arc<str>>,
    /// Whether a value that is passed comes from outside of the program.
    is_foreign: bool,
}

impl Cx {
    /// Executes `session` or `resume`. Gives its result, and the request whose reply it is as it stands: a reply that held the memory of the agent, too,
    /// is more than the result. Nothing is bound but a result without a target.
    pub(super) async fn session(&self, target: Option<Target>) -> Exec<(Value, Option<RequestId>)> {
        let (text, named) = match self.stmt() {
            Stmt::Session { text, name, .. } => (*text, *name),
            _ => (None, None),
        };
        let spoken = self.spoken()?;
        let target = match (target, named) {
            (Some(target), _) => target,
            // `session name: agent` binds like `let` (C18).
            (None, Some(name)) => {
                let name = self.name_text(name);
                self.target(&self.scope, name, BindingKind::Let, true)
            }
            (None, None) => self.anonymous_target(),
        };
        let binds = target.anonymous || named.is_some();
        // The tree comes first: the files of the context are those in it.
        let rules = match self.tree {
            Some(_) => {
                let rules = self.permissions(&spoken).await?;
                self.open_tree(spoken.agent.as_ref().map(|(name, _)| name.as_str()), &rules).await?;
                Some(rules)
            }
            None => None,
        };
        let PendingOutcome { mut task, early_exit, is_foreign } =
            self.task(&spoken, text, &target, rules).await?;
        // The turn at the memory ends with the session.
        let (memory, _turn) = self.remember(&spoken).await?.unzip();
        task.memory = memory;
        let settings = &self.run.world.settings;
        task.writes_result = settings.agent_writes(task.agent.as_deref())
            && SessionTask::may_write(&effective(&task.permissions, &settings.permissions));
        task.mark = self.mark(&task, early_exit.as_deref(), is_foreign);
        task.prompt = self.prompt(&task, early_exit.as_deref());
        let retries = self.count_property(&spoken, "retry").await?;
        let backoff = self.word_property(&spoken, "backoff").await?;
        task.retries = retries;
        let (reply, request) = self.attempts(&mut task, backoff.as_deref()).await?;
        let value = Value::Text(reply.text);
        if let Some((agent, _)) = &spoken.agent {
            self.instance.replies.borrow_mut().insert(agent.clone(), value.clone());
        }
        if binds {
            self.bind(&target, value.clone(), request);
        }
        Ok((value, request))
    }

    /// `session "a" -> session "b"`: left to right, each waits for the one before (R34). The last one has the value.
    pub(super) async fn chain(
        &self,
        links: &[StmtId],
        mut target: Option<Target>,
    ) -> Exec<(Value, Option<RequestId>)> {
        let mut last = (Value::Null, None);
        for (nth, link) in links.iter().enumerate() {
            let cx = self.at(*link).step(format_args!("l{nth}"));
            let is_last = nth + 1 == links.len();
            last = match cx.stmt() {
                Stmt::Session { .. } | Stmt::Resume { .. } => cx.session(target.take_if(|_| is_last)).await?,
                _ => (cx.value(Some(prose_analysis::model::Value::Stmt(*link))).await?, None),
            };
        }
        Ok(last)
    }

    fn anonymous_target(&self) -> Target {
        let number = self.instance.anonymous.get() + 1;
        self.instance.anonymous.set(number);
        let name = format_smolstr!("anon_{number:03}");
        // Its number is its own also among branches, so its file needs no other mark than that of the frame.
        let binding = self.binding_in(&self.scope.of_frame(), &name, &name, BindingKind::Let);
        let scope = Rc::clone(&self.scope);
        Target { scope, name, binding, mutable: true, anonymous: true, was: None }
    }

    fn spoken(&self) -> Exec<WrittenSession<'_>> {
        let body = self.program().body(self.at);
        let (agent, own, resumes) = match self.stmt() {
            Stmt::Session { agent, properties, .. } => (*agent, &properties[..], false),
            Stmt::Resume { agent, properties } => (*agent, &properties[..], true),
            _ => (None, &[][..], false),
        };
        let agent = match agent {
            None => None,
            Some(reference) => {
                let name = body[reference].text.clone();
                match self.program().agent(&name) {
                    Some(at) => Some((name, at)),
                    None => {
                        return self.fail(
                            ErrorKind::UnknownName,
                            format!("agent `{name}` is not defined; define it with `agent {name}:`"),
                        );
                    }
                }
            }
        };
        let of_agent = match agent.as_ref().map(|(_, at)| self.program().stmt(*at)) {
            Some(Stmt::Agent { properties, .. }) => &properties[..],
            _ => &[],
        };
        Ok(WrittenSession { agent, resumes, own, of_agent })
    }

    /// Puts together what a session is told (R25 to R29).
    async fn task(
        &self,
        spoken: &WrittenSession<'_>,
        text: Option<prose_analysis::model::ExprId>,
        target: &Target,
        rules: Option<Vec<Permission>>,
    ) -> Exec<PendingOutcome> {
        let mut long = Vec::new();
        let label = match text {
            Some(text) => Some(self.session_text(text, &mut long).await?),
            None => None,
        };
        let own_prompt = match property(spoken.own, "prompt").and_then(|property| property.value) {
            Some(prompt) => Some(self.session_text(prompt, &mut long).await?),
            None => None,
        };
        let agent_prompt = match (&spoken.agent, property(spoken.of_agent, "prompt")) {
            // The agent's texts are filled in with what the session sees (A11).
            (Some((_, at)), Some(property)) => match property.value {
                Some(prompt) => Some(self.of(*at).session_text(prompt, &mut long).await?),
                None => None,
            },
            _ => None,
        };
        let (task, system): (Arc<str>, _) = match (label, own_prompt) {
            (Some(label), Some(prompt)) => (format!("{label}\n\n{prompt}").into(), agent_prompt),
            (Some(text), None) | (None, Some(text)) => (text, agent_prompt),
            (None, None) => (agent_prompt.unwrap_or_default(), None),
        };
        let agent = spoken.agent.as_ref().map(|(name, _)| name.as_str());
        let by_reference = self.run.world.settings.agent_reads(agent);
        let mut passed = match spoken.property(self.at, "context") {
            Some((at, property)) => self.of(at).context(property, by_reference).await?,
            None => Vec::new(),
        };
        long.retain(|long| !passed.iter().any(|known| known.name == long.name));
        passed.append(&mut long);
        let is_foreign = passed.iter().any(|passed| passed.is_foreign);
        let context = self.items(passed, by_reference).await?;
        let model = match self.word_property(spoken, "model").await? {
            Some(model) => Some(self.model(&model)?),
            None => None,
        };
        let written = self.list_property(spoken, "skills").await?;
        self.check_skills(&written)?;
        let skills = match self.run.world.settings.agent_skills(agent) {
            Some(own) => own.to_vec(),
            None => written.iter().map(|name| self.program().skill(name).into()).collect(),
        };
        let timeout = match spoken.property(self.at, "timeout") {
            Some((at, property)) => self.of(at).duration(property).await?,
            None => None,
        };
        let early_exit = match spoken.property(self.at, "early_exit") {
            Some((at, Property { value: Some(value), .. })) => Some(self.of(at).text(*value).await?),
            _ => None,
        };
        let task = SessionTask {
            agent: spoken.agent.as_ref().map(|(name, _)| name.clone()),
            task,
            system,
            model,
            skills,
            permissions: match rules {
                Some(rules) => rules,
                None => self.permissions(spoken).await?,
            },
            timeout,
            context,
            binding: target.binding.clone(),
            folder: self.tree_folder(),
            ..SessionTask::default()
        };
        Ok(PendingOutcome { task, early_exit, is_foreign })
    }

    /// The id of a model that a program names. What starts with a hyphen would become an option of the agent's program.
    fn model(&self, name: &str) -> Exec<SmolStr> {
        let model = self.program().model(name);
        if model.is_empty() {
            let message = format!("`{name}` has no usable id in `[models]` of prose.toml");
            return self.fail(ErrorKind::Type, message);
        }
        if model.starts_with('-') {
            let message =
                format!("`{model}` is not a model: agents would read it as an option, as it starts with `-`");
            return self.fail(ErrorKind::Type, message);
        }
        Ok(model)
    }

    /// What the lines around values are marked with: as soon as one comes from outside of the program, or could hold such a line (decision 20).
    fn mark(&self, task: &SessionTask, early_exit: Option<&str>, is_foreign: bool) -> Option<SmolStr> {
        let by_reference = self.run.world.settings.agent_reads(task.agent.as_deref());
        let values = task.context.iter().filter(|item| !by_reference || item.path.is_none());
        let values: Vec<&str> = values.filter_map(|item| item.text.as_deref()).collect();
        let needs_mark = (is_foreign && !values.is_empty())
            || values.iter().copied().any(frame::has_lines)
            || task.memory.is_some();
        if !needs_mark {
            return None;
        }
        let memory = task.memory.as_ref().and_then(|memory| memory.text.as_deref());
        let texts = values.into_iter().chain([&*task.task]).chain(task.system.as_deref());
        let texts = texts.chain(early_exit).chain(memory);
        Some(frame::mark(&format!("{} {}", self.run.world.settings.run, self.place), texts))
    }

    /// The prompt of a task.
    fn prompt(&self, task: &SessionTask, early_exit: Option<&str>) -> Arc<str> {
        let settings = &self.run.world.settings;
        let path = task.writes_result.then(|| self.path_from_root(&task.binding.path));
        let path = path.as_deref().map(|path| settings.absolute(path));
        let file = task.memory.as_ref().map(|memory| self.memory_file(&memory.place, "memory.md"));
        let file = file.as_deref().map(|file| settings.absolute(file)).unwrap_or_default();
        let memory = task.memory.as_ref().and_then(|memory| {
            let text = memory.text.as_deref()?;
            Some(match settings.agent_reads(task.agent.as_deref()) && text.len() > MAX_INLINE_MEMORY {
                true => RecalledMemory::File(&file),
                false => RecalledMemory::Text { agent: &memory.place.agent, text },
            })
        });
        let parts = Parts {
            task: &task.task,
            memory: memory.as_ref(),
            context: &task.context,
            skills: &task.skills,
            early_exit,
            frame: (self.scope.frame.id > 0).then(|| Rc::clone(&self.scope.frame)),
            path: path.as_deref(),
            is_persistent: task.memory.is_some(),
            mark: task.mark.as_deref(),
            settings,
        };
        prompt::assemble(&parts)
    }

    /// Tries a session as often as it may be (R77, R78).
    async fn attempts(
        &self,
        task: &mut SessionTask,
        backoff: Option<&str>,
    ) -> Exec<(Reply, Option<RequestId>)> {
        let retries = task.retries;
        for attempt in 0..=retries {
            let retry = (attempt > 0).then(|| self.step(format_args!("a{attempt}")));
            let cx = retry.as_ref().unwrap_or(self);
            task.attempt = attempt;
            // The last attempt needs no copy.
            let task = Arc::new(if attempt == retries { std::mem::take(task) } else { task.clone() });
            let request = cx.next_request();
            cx.emit(EventKind::SessionStarted { request, task: Arc::clone(&task) });
            let outcome = cx.request(Effect::Session(Arc::clone(&task))).await;
            // Attempts that fail are paid for, too.
            self.run.sessions.set(self.run.sessions.get() + 1);
            let failure = match outcome {
                Outcome::Reply(reply) => {
                    let status = if reply.is_skipped { Status::Skipped } else { Status::Complete };
                    let said = Arc::clone(&reply.text);
                    match cx.taken(reply, &task) {
                        Ok(reply) => {
                            cx.emit(EventKind::SessionEnded { request, status, error: None });
                            let is_whole = reply.text == said;
                            return Ok((reply, is_whole.then_some(request)));
                        }
                        Err(failure) => failure,
                    }
                }
                Outcome::Failed(failure) => failure,
                outcome => return self.unexpected(&outcome),
            };
            let mut error = self.error(failure.kind, failure.message);
            Arc::make_mut(&mut error).attempts = attempt + 1;
            let failed = Some(Arc::clone(&error));
            cx.emit(EventKind::SessionEnded { request, status: Status::Failed, error: failed });
            // What is not allowed does not become so by another try.
            if attempt == retries || error.kind == ErrorKind::Permission {
                if attempt > 0 {
                    self.failure_raised_again();
                }
                return self.raise(error);
            }
            if attempt == 0 {
                self.failure_handled();
            }
            let delay = self.delay(attempt, backoff);
            let next = self.step(format_args!("a{}", attempt + 1));
            let delay_ms = delay.as_millis() as u64;
            next.emit(EventKind::Retrying { attempt: attempt + 1, retries, delay_ms, error });
            if !delay.is_zero() {
                next.step("wait").request(Effect::Sleep(delay)).await;
            }
        }
        self.fail(ErrorKind::Session, "the session was not tried")
    }

    /// The pause before the retry after an attempt (R78): 1, 2, 4 … seconds for `exponential`, 1 second each for `linear`.
    fn delay(&self, attempt: u32, backoff: Option<&str>) -> Duration {
        let settings = &self.run.world.settings;
        let ms = match backoff {
            Some("linear") => settings.backoff_ms,
            Some("exponential") => {
                let factor = 1u64.checked_shl(attempt).unwrap_or(u64::MAX);
                settings.backoff_ms.saturating_mul(factor).min(settings.backoff_cap_ms)
            }
            _ => 0,
        };
        Duration::from_millis(ms)
    }

    /// This place, reading the expressions of another statement.
    pub(super) fn reading(&self, at: At) -> Self {
        Self { at, ..self.clone() }
    }

    /// This place, reading a property that may be that of the agent: its texts are not at the places of the session's own.
    fn of(&self, at: At) -> Self {
        if at == self.at { self.clone() } else { self.step("agent").reading(at) }
    }

    /// A property that is a word, such as that of a model.
    async fn word_property(&self, spoken: &WrittenSession<'_>, name: &str) -> Exec<Option<SmolStr>> {
        let Some((at, Property { value: Some(value), .. })) = spoken.property(self.at, name) else {
            return Ok(None);
        };
        let text = self.of(at).text(*value).await?;
        Ok((!text.trim().is_empty()).then(|| text.trim().into()))
    }

    /// A property that is a count.
    async fn count_property(&self, spoken: &WrittenSession<'_>, name: &str) -> Exec<u32> {
        let Some((at, Property { value: Some(value), .. })) = spoken.property(self.at, name) else {
            return Ok(0);
        };
        let value = self.of(at).expr(*value).await?;
        match value.as_number() {
            Some(number) if number >= 0.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX) => {
                Ok(number as u32)
            }
            _ => {
                self.fail(ErrorKind::Type, format!("`{name}` needs a whole number such as `3`, not {value}"))
            }
        }
    }

    /// A property that is a list of words.
    async fn list_property(&self, spoken: &WrittenSession<'_>, name: &str) -> Exec<Vec<SmolStr>> {
        let Some((at, Property { value: Some(value), .. })) = spoken.property(self.at, name) else {
            return Ok(Vec::new());
        };
        let value = self.of(at).expr(*value).await?;
        let items = match &value {
            Value::Array(items) => items.iter().map(|item| item.to_string().into()).collect(),
            other => vec![other.to_string().into()],
        };
        Ok(items)
    }

    /// A program that was fetched names skills by path only where it may (decision 19).
    fn check_skills(&self, skills: &[SmolStr]) -> Exec<()> {
        let Some(Requests { identity, .. }) = &self.program().fetched else { return Ok(()) };
        let grants = &self.run.world.settings.grants;
        let rights = skills.iter().filter_map(|skill| skill_path(skill)).map(Right::skills);
        match rights.into_iter().find(|right| !grants.cover(&identity.name, right)) {
            Some(right) => self.fail(ErrorKind::UnsafePath, self.not_granted(&right)),
            None => Ok(()),
        }
    }

    /// What is said of a right that a program does not have.
    pub(super) fn not_granted(&self, right: &Right) -> String {
        let name = self.program().fetched.as_ref().map_or("", |fetched| &fetched.identity.name);
        format!(
            "`{name}` is a fetched program and needs the right `{right}`, which the project has not granted to it"
        )
    }

    /// How long a session may take: `120s`, `2m`, or a number of seconds.
    async fn duration(&self, property: &Property) -> Exec<Option<Duration>> {
        let Some(value) = property.value else { return Ok(None) };
        let value = self.expr(value).await?;
        let text = value.to_string();
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match &text[digits.len()..] {
            "ms" => Some(0.001),
            "" | "s" | "sec" | "seconds" => Some(1.0),
            "m" | "min" | "minutes" => Some(60.0),
            "h" => Some(3600.0),
            _ => None,
        };
        let seconds = digits.trim().parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
        match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            Some(duration) if !duration.is_zero() => Ok(Some(duration)),
            _ => self.fail(
                ErrorKind::Type,
                format!("`timeout` needs a duration such as `120s` or `5m`, not `{text}`"),
            ),
        }
    }

    /// The rules of a session: its own go before its agent's, each by what it is about (R27, C10).
    async fn permissions(&self, spoken: &WrittenSession<'_>) -> Exec<Vec<Permission>> {
        let mut rules: Vec<Permission> = Vec::new();
        let agent = spoken.agent.as_ref().map(|(_, at)| (*at, spoken.of_agent));
        for (at, properties) in agent.into_iter().chain([(self.at, spoken.own)]) {
            let entries = property(properties, "permissions").and_then(|property| property.entries.as_ref());
            for entry in entries.into_iter().flatten() {
                let rule = self.of(at).permission(entry).await?;
                rules.retain(|known| known.about != entry.name.text);
                rules.push(Permission { about: entry.name.text.clone(), rule });
            }
        }
        Ok(rules)
    }

    async fn permission(&self, entry: &Property) -> Exec<PermissionRule> {
        let Some(value) = entry.value else { return Ok(PermissionRule::Deny) };
        let body = self.program().body(self.at);
        if let Expr::Array(items) = &body[value].expr {
            let mut patterns = Vec::new();
            for item in items {
                let pattern = match item {
                    // A bare word in such a list stands for itself if it is no variable (C11).
                    prose_analysis::model::Value::Expr(expr) => match body.name_of(*expr) {
                        Some(name) => self
                            .look_up(&body[name].text)
                            .map_or_else(|| body[name].text.to_string(), |found| found.value.to_string()),
                        None => self.expr(*expr).await?.to_string(),
                    },
                    other => self.value(Some(*other)).await?.to_string(),
                };
                patterns.push(pattern);
            }
            return Ok(PermissionRule::Patterns(patterns));
        }
        let text = self.text(value).await?;
        let rule = rule_of_word(text.trim());
        Ok(rule.unwrap_or_else(|| PermissionRule::Patterns(vec![text.trim().to_owned()])))
    }
}
