//! Requests about breakpoints.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::{Adapter, body};
use crate::breakpoints::{Breakpoint, HitCondition, Trigger};
use crate::expression::{Expression, Template};
use crate::filters::Filter;
use crate::sources::Source;

/// The breakpoints that the client has set, by what each request replaces.
#[derive(Debug, Default)]
pub(super) struct Requested {
    lines: BTreeMap<PathBuf, Vec<Breakpoint>>,
    functions: Vec<Breakpoint>,
    variables: Vec<Breakpoint>,
    failures: Vec<Breakpoint>,
    last_id: u64,
}

impl Requested {
    fn id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn all(&self) -> Vec<Breakpoint> {
        let lines = self.lines.values().flatten();
        lines.chain(&self.functions).chain(&self.variables).chain(&self.failures).cloned().collect()
    }
}

/// The filters for failures.
pub(super) fn filters() -> Vec<dapts::ExceptionBreakpointsFilter> {
    let filter = |filter: Filter| {
        let has_condition = filter == Filter::Cost;
        dapts::ExceptionBreakpointsFilter {
            filter: filter.id().to_owned(),
            label: filter.label().to_owned(),
            description: Some(filter.description().to_owned()),
            default: Some(filter == Filter::Uncaught),
            supports_condition: Some(has_condition),
            condition_description: has_condition.then(|| "dollars, such as 1.50".to_owned()),
        }
    };
    Filter::ALL.into_iter().map(filter).collect()
}

/// The breakpoints of a request that could be made, and what is answered about each.
#[derive(Default)]
struct Answered {
    made: Vec<Breakpoint>,
    answers: Vec<dapts::Breakpoint>,
}

impl Answered {
    /// Answers one of them: verified, or why it cannot be set.
    fn push(&mut self, id: u64, made: Result<Breakpoint, String>) {
        self.push_at(id, made.map(|breakpoint| (breakpoint, None, None)));
    }

    /// The same with the line that was found for it, and what the user should know about it.
    fn push_at(&mut self, id: u64, made: Result<(Breakpoint, Option<u32>, Option<String>), String>) {
        let verified = made.is_ok();
        let (line, message) = match made {
            Ok((breakpoint, line, note)) => {
                self.made.push(breakpoint);
                (line, note)
            }
            Err(why) => (None, Some(why)),
        };
        self.answers.push(dapts::Breakpoint { id: Some(id), verified, line, message, ..Default::default() });
    }
}

/// The conditions of a breakpoint.
#[derive(Default)]
struct Conditions<'a> {
    condition: Option<&'a str>,
    hit: Option<&'a str>,
    log: Option<&'a str>,
}

impl<'a> Conditions<'a> {
    fn without_log(condition: &'a Option<String>, hit: &'a Option<String>) -> Self {
        Self { condition: condition.as_deref(), hit: hit.as_deref(), log: None }
    }

    fn breakpoint(&self, id: u64, trigger: Trigger) -> Result<Breakpoint, String> {
        let given =
            |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Breakpoint {
            id,
            trigger,
            condition: given(self.condition).map(|text| Expression::parse(&text)).transpose()?,
            hit: given(self.hit).map(|text| HitCondition::parse(&text)).transpose()?,
            log: given(self.log).map(|text| Template::parse(&text)),
        })
    }
}

impl<W: Write> Adapter<W> {
    pub(super) fn renew_breakpoints(&mut self) {
        let all = if self.arguments.no_debug { Vec::new() } else { self.requested.all() };
        self.debuggee().set_breakpoints(all);
    }

    pub(super) fn set_breakpoints(
        &mut self,
        arguments: dapts::SetBreakpointsArguments,
    ) -> Result<Json, String> {
        let requested = arguments.breakpoints.unwrap_or_default();
        let key = key_of(&arguments.source);
        let mut set = Answered::default();
        for asked in requested {
            let id = self.requested.id();
            let line = asked.line + 1 - self.lines_start;
            let found = self.find_line(&arguments.source, line);
            let conditions = Conditions {
                condition: asked.condition.as_deref(),
                hit: asked.hit_condition.as_deref(),
                log: asked.log_message.as_deref(),
            };
            let made = found.and_then(|(trigger, line, note)| {
                Ok((conditions.breakpoint(id, trigger)?, Some(line - 1 + self.lines_start), note))
            });
            set.push_at(id, made);
        }
        self.requested.lines.insert(key, set.made);
        self.renew_breakpoints();
        body(dapts::SetBreakpointsResponse { breakpoints: set.answers })
    }

    /// What a line of a source stands for: the place, its line in the file, and what the user should know.
    fn find_line(&self, source: &dapts::Source, line: u32) -> Result<(Trigger, u32, Option<String>), String> {
        let programs: Vec<&Source> = match source.source_reference.filter(|reference| *reference > 0) {
            Some(reference) => self.sources.get(reference as usize).into_iter().collect(),
            None => {
                let path = source.path.as_deref().map(Path::new).unwrap_or(Path::new(""));
                let found: Vec<&Source> =
                    self.sources.in_file(path).into_iter().map(|(_, source)| source).collect();
                if found.is_empty() {
                    let name = path
                        .file_name()
                        .map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
                    return Err(match path.exists() {
                        true => format!("`{name}` is not a program of this run"),
                        false => format!("`{name}` does not exist"),
                    });
                }
                found
            }
        };
        // Of several programs in a document, the last one that starts before the line.
        let program = programs.iter().rev().find(|source| source.line_in_program(line).is_some());
        let program = program.or(programs.first()).ok_or("the program is not known")?;
        let in_program = program.line_in_program(line).unwrap_or(1);
        let location = program
            .location_at(in_program)
            .ok_or_else(|| "no statement is at this line or after it".to_owned())?;
        let trigger = Trigger::Line { from: program.from.clone(), line: location.line, kind: location.kind };
        let note = program.is_changed.then(|| {
            "the file has changed since the run was started; the breakpoint is at this line of the program as it was"
                .to_owned()
        });
        let shown = if (location.line..=location.last_line).contains(&in_program)
            && matches!(location.kind, prose_vm::program::LocationKind::Session { .. })
        {
            in_program
        } else {
            location.line
        };
        Ok((trigger, program.line_in_file(shown), note))
    }

    pub(super) fn set_function_breakpoints(
        &mut self,
        arguments: dapts::SetFunctionBreakpointsArguments,
    ) -> Result<Json, String> {
        let known: Vec<String> = self.sources.all().flat_map(|(_, source)| source.functions()).collect();
        let mut set = Answered::default();
        for asked in arguments.breakpoints {
            let id = self.requested.id();
            let conditions = Conditions::without_log(&asked.condition, &asked.hit_condition);
            let name = asked.name.trim();
            let made = match known.iter().any(|known| known == name) {
                true => conditions.breakpoint(id, Trigger::Function(name.into())),
                false => {
                    let near = prose_syntax::suggest::nearest(name, &known, |known| known.as_str());
                    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                    Err(format!("the program has no block and no agent `{name}`{hint}"))
                }
            };
            set.push(id, made);
        }
        self.requested.functions = set.made;
        self.renew_breakpoints();
        body(dapts::SetFunctionBreakpointsResponse { breakpoints: set.answers })
    }

    pub(super) fn set_exception_breakpoints(
        &mut self,
        arguments: dapts::SetExceptionBreakpointsArguments,
    ) -> Result<Json, String> {
        let plain = arguments.filters.into_iter().map(|filter| (filter, None));
        let options = arguments.filter_options.into_iter().flatten();
        let options = options.map(|option| (option.filter_id, option.condition));
        let mut set = Answered::default();
        for (filter, condition) in plain.chain(options).collect::<Vec<_>>() {
            let id = self.requested.id();
            let known = Filter::ALL.into_iter().find(|known| known.id() == filter);
            let trigger = match known {
                Some(Filter::Failure) => Ok(Trigger::Failure),
                Some(Filter::Uncaught) => Ok(Trigger::Uncaught),
                Some(Filter::Retry) => Ok(Trigger::Retry),
                Some(Filter::Permission) => Ok(Trigger::Permission),
                Some(Filter::Cost) => match condition
                    .as_deref()
                    .map_or(Ok(0.0), |text| text.trim_start_matches('$').trim().parse())
                {
                    Ok(limit) => Ok(Trigger::Cost(limit)),
                    Err(_) => Err("a cost is a number of dollars, such as `1.50`".to_owned()),
                },
                None => Err(format!("there is no filter `{filter}`")),
            };
            set.push(id, trigger.and_then(|trigger| Conditions::default().breakpoint(id, trigger)));
        }
        self.requested.failures = set.made;
        self.renew_breakpoints();
        body(dapts::SetExceptionBreakpointsResponse { breakpoints: Some(set.answers) })
    }

    pub(super) fn data_breakpoint_info(
        &mut self,
        arguments: dapts::DataBreakpointInfoArguments,
    ) -> Result<Json, String> {
        let is_variable = self.handles.is_variable(arguments.variables_reference.map(u64::from));
        let name = arguments.name;
        body(dapts::DataBreakpointInfoResponse {
            data_id: is_variable.then(|| name.clone()),
            description: match is_variable {
                true => format!("when `{name}` gets a value"),
                false => "only variables can be watched, not parts of their values".to_owned(),
            },
            access_types: Some(vec![dapts::DataBreakpointAccessType::Write]),
            can_persist: Some(true),
        })
    }

    pub(super) fn set_data_breakpoints(
        &mut self,
        arguments: dapts::SetDataBreakpointsArguments,
    ) -> Result<Json, String> {
        let mut set = Answered::default();
        for asked in arguments.breakpoints {
            let id = self.requested.id();
            let trigger = Trigger::Variable(asked.data_id.as_str().into());
            set.push(
                id,
                Conditions::without_log(&asked.condition, &asked.hit_condition).breakpoint(id, trigger),
            );
        }
        self.requested.variables = set.made;
        self.renew_breakpoints();
        body(dapts::SetDataBreakpointsResponse { breakpoints: set.answers })
    }

    pub(super) fn breakpoint_locations(
        &mut self,
        arguments: dapts::BreakpointLocationsArguments,
    ) -> Result<Json, String> {
        let path = arguments.source.path.as_deref().map(Path::new).unwrap_or(Path::new(""));
        let start = arguments.line + 1 - self.lines_start;
        let end = arguments.end_line.map_or(start, |line| line + 1 - self.lines_start);
        let mut breakpoints = Vec::new();
        for (_, source) in self.sources.in_file(path) {
            let Some(last) = source.line_in_program(end) else { continue };
            let first = source.line_in_program(start).unwrap_or(1);
            breakpoints.extend(source.lines(first, last).into_iter().map(|line| dapts::BreakpointLocation {
                line: source.line_in_file(line) - 1 + self.lines_start,
                column: None,
                end_line: None,
                end_column: None,
            }));
        }
        body(dapts::BreakpointLocationsResponse { breakpoints })
    }
}

/// By what the breakpoints of a source are replaced.
fn key_of(source: &dapts::Source) -> PathBuf {
    match (source.source_reference.filter(|reference| *reference > 0), &source.path) {
        (Some(reference), _) => PathBuf::from(format!("<{reference}>")),
        (None, Some(path)) => PathBuf::from(path),
        (None, None) => PathBuf::new(),
    }
}
