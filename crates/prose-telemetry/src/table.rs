//! The tables of what is sent. The documentation is generated from them.

/// What a page needs to know of a span, an attribute, a metric or a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The name, as it is sent or set.
    pub name: &'static str,
    /// Where an attribute stands, the kind and the unit of a metric; empty for the others.
    pub of: &'static str,
    /// What it says, in Markdown.
    pub text: &'static str,
}

/// The spans.
pub const SPANS: &[Row] = &[
    span("invoke_workflow {program}", "An execution of a run, or of a program that it imports."),
    span(
        "invoke_agent {agent}",
        "A session, with all its attempts. A session without an agent is `invoke_agent`.",
    ),
    span("attempt", "An attempt of a session that is retried."),
    span("decide {kind}", "A decision of a model: `judge`, `choose`, `extract` or `summarise`."),
    span("execute_tool {kind}", "A tool call that an agent reports, such as `read`, `edit` or `execute`."),
    span("parallel", "A `parallel` or `parallel for`."),
    span("branch {name}", "One of its branches."),
    span("loop {kind}", "A `for`, `repeat`, `until`, `while` or `forever`."),
    span("iteration", "One of its iterations."),
    span("block {name}", "A call of a block."),
    span("pipeline", "A pipeline."),
    span("stage {operator}", "One of its stages."),
    span(
        "wait {kind}",
        "Time in which nothing works on it: `queue`, `retry`, `input`, `approval`, `pause` or `memory`.",
    ),
];

const fn span(name: &'static str, text: &'static str) -> Row {
    Row { name, of: "", text }
}

macro_rules! attributes {
    ($($constant:ident = $key:literal, $of:literal, $text:literal;)*) => {
        /// The keys of attributes.
        #[allow(missing_docs, reason = "the table describes them")]
        pub(crate) mod key {
            $(pub(crate) const $constant: &str = $key;)*
        }

        /// The attributes of spans and metrics.
        pub const ATTRIBUTES: &[Row] = &[$(Row { name: $key, of: $of, text: $text }),*];
    };
}

attributes! {
    OPERATION = "gen_ai.operation.name", "workflows, agents, tools", "`invoke_workflow`, `invoke_agent` or `execute_tool`";
    WORKFLOW = "gen_ai.workflow.name", "workflows", "the program";
    AGENT = "gen_ai.agent.name", "workflows, agents", "the agent of the program; of a workflow the program, as of version 0.1.0 of the conventions";
    PROVIDER = "gen_ai.provider.name", "agents, decisions", "the provider of the model, if it follows from the harness; else the harness";
    REQUEST_MODEL = "gen_ai.request.model", "agents", "the model that the program or the settings name";
    RESPONSE_MODEL = "gen_ai.response.model", "agents", "the model that the agent reports";
    CONVERSATION = "gen_ai.conversation.id", "agents", "the session of the agent's own, by which `claude --resume` and others continue it";
    INPUT_TOKENS = "gen_ai.usage.input_tokens", "agents, decisions", "input tokens of all attempts, with those of caches";
    CACHE_READ = "gen_ai.usage.cache_read.input_tokens", "agents, decisions", "the part that was read from a cache";
    CACHE_WRITE = "gen_ai.usage.cache_creation.input_tokens", "agents, decisions", "the part that was written to a cache";
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens", "agents, decisions", "output tokens of all attempts";
    SYSTEM = "gen_ai.system_instructions", "agents, with content", "the system part of the prompt";
    INPUT = "gen_ai.input.messages", "agents, with content", "the prompt";
    OUTPUT = "gen_ai.output.messages", "agents, with content", "the reply";
    TOOL_CALL = "gen_ai.tool.call.id", "tools", "the id of the call";
    TOOL = "gen_ai.tool.name", "tools", "the kind of tool";
    TOOL_TITLE = "prose.tool.title", "tools, with content", "what the call does, such as the command";
    ERROR = "error.type", "failed spans", "the kind of error, as `catch` sees it, such as `timeout`, `rate-limit` or `thrown`";
    FILE = "code.file.path", "spans of statements", "the program";
    LINE = "code.line.number", "spans of statements", "the line of the statement";
    RUN = "prose.run.id", "all spans", "the id of the run, as for `prose runs show`";
    PLACE = "prose.place", "spans of statements", "the place in the execution, as for `prose runs show`";
    HARNESS = "prose.harness", "workflows, agents", "the harness";
    STATUS = "prose.status", "workflows, ended early", "`completed`, `failed`, `interrupted` or `waiting` for a run; `skipped`, `left`, `cancelled` or `interrupted` for what did not come to its end";
    RESUMED = "prose.resumed", "workflows, containers", "whether it started in an earlier execution of the run";
    SESSIONS = "prose.run.sessions", "workflows", "the number of ended sessions in the whole run";
    REUSED = "prose.run.reused", "workflows", "the number of requests whose outcomes were reused";
    COST = "prose.cost", "workflows, agents, decisions", "the cost in US dollars, if it is known; of a workflow that of the whole run";
    ESTIMATED = "prose.usage.estimated", "agents", "whether the tokens are estimated";
    ATTEMPTS = "prose.attempts", "agents", "the number of attempts";
    ATTEMPT = "prose.attempt", "attempts, retry waits", "the number of the attempt, from 1";
    BRANCH = "prose.branch.index", "branches", "its index, from 0";
    STRATEGY = "prose.parallel.strategy", "parallels", "`all`, `first` or `any`";
    BRANCHES = "prose.parallel.branches", "parallels", "the number of branches";
    LOOP_MAX = "prose.loop.max", "loops", "the maximum number of iterations";
    LOOP_END = "prose.loop.end", "loops", "why it ended: `satisfied`, `no-progress`, `max`, `exhausted`, `left` or `failed`";
    ITERATIONS = "prose.loop.iterations", "loops", "the number of iterations";
    ITERATION = "prose.iteration.number", "iterations", "its number, from 1";
    DEPTH = "prose.block.depth", "blocks", "the depth of the recursion";
    ITEMS = "prose.items", "pipelines, stages", "the number of items";
    INPUT_NAME = "prose.input.name", "input waits", "the input";
    QUESTION = "prose.input.prompt", "input waits, with content", "the prompt of the input";
    ALLOWED = "prose.approval.allowed", "approval waits", "whether it was allowed";
    ANSWERED_FROM = "prose.approval.from", "approval waits", "where the answer came from, such as `terminal` or `editor`";
    LINK = "prose.link", "links", "`resumes`, `forks` or `replays`";
    STATE = "prose.session.state", "metrics", "`queued` or `working`";
    WAIT = "prose.wait.kind", "metrics", "the kind of wait";
    TOKEN_TYPE = "gen_ai.token.type", "metrics", "`input` or `output`";
    DELAY = "prose.delay_ms", "retry waits, events", "the delay in milliseconds";
    HTTP_STATUS = "http.response.status_code", "events", "the status that a provider answered with";
}

macro_rules! metrics {
    ($($constant:ident = $name:literal, $of:literal, $text:literal;)*) => {
        /// The names of metrics.
        #[allow(missing_docs, reason = "the table describes them")]
        pub(crate) mod metric {
            $(pub(crate) const $constant: &str = $name;)*
        }

        /// The metrics.
        pub const METRICS: &[Row] = &[$(Row { name: $name, of: $of, text: $text }),*];
    };
}

metrics! {
    TOKENS = "gen_ai.client.token.usage", "histogram, `{token}`", "tokens of a request, by `gen_ai.token.type`";
    DURATION = "gen_ai.client.operation.duration", "histogram, `s`", "the time that an attempt of a session or a decision took, with the time in the queue";
    INVOCATION = "gen_ai.invoke_agent.duration", "histogram, `s`", "the time of a session with all its attempts and waits, or of an execution of a run";
    COSTS = "prose.cost", "counter, `{USD}`", "the cost in US dollars, as far as it is known";
    ACTIVE = "prose.sessions", "up-down counter, `{session}`", "sessions that wait for an agent or are at work, by `prose.session.state`";
    RUNS = "prose.runs", "up-down counter, `{run}`", "runs that are executed";
    RETRIES = "prose.retries", "counter, `{retry}`", "retried attempts";
    WAITS = "prose.wait.duration", "histogram, `s`", "the time of waits, by `prose.wait.kind`";
}

/// The variables that are read.
pub const VARIABLES: &[Row] = &[
    variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "The address of the collector. Switches traces and metrics on. Over HTTP, `/v1/traces` and `/v1/metrics` are appended.",
    ),
    variable(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, …_METRICS_ENDPOINT",
        "The address for one signal, as it stands. Switches that signal on.",
    ),
    variable("OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER", "`otlp` switches a signal on, `none` off."),
    variable("OTEL_SDK_DISABLED", "`true` switches everything off."),
    variable(
        "OTEL_EXPORTER_OTLP_PROTOCOL, …_TRACES_PROTOCOL, …_METRICS_PROTOCOL",
        "`http/protobuf` (default, port 4318) or `grpc` (port 4317).",
    ),
    variable(
        "OTEL_EXPORTER_OTLP_HEADERS, …_TRACES_HEADERS, …_METRICS_HEADERS",
        "Headers such as keys: `authorization=Bearer%20…`.",
    ),
    variable(
        "OTEL_EXPORTER_OTLP_TIMEOUT, …_TRACES_TIMEOUT, …_METRICS_TIMEOUT",
        "The time for a batch with its retries, in milliseconds; 10000 by default.",
    ),
    variable(
        "OTEL_EXPORTER_OTLP_COMPRESSION, …_TRACES_COMPRESSION, …_METRICS_COMPRESSION",
        "`gzip` or `none` (default).",
    ),
    variable(
        "OTEL_EXPORTER_OTLP_CERTIFICATE, …_TRACES_CERTIFICATE, …_METRICS_CERTIFICATE",
        "A file of certificates in PEM that are trusted in addition.",
    ),
    variable(
        "OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES",
        "The name of the service, `prose` by default, and further attributes of the resource.",
    ),
    variable(
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
        "`true` or `span_only` sends prompts, replies, questions and messages of errors.",
    ),
    variable(
        "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        "The longest such text in characters; 16384 by default.",
    ),
    variable(
        "OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG",
        "`always_on`, `always_off`, `traceidratio`, and the same after `parentbased_`; `parentbased_always_on` by default.",
    ),
    variable(
        "OTEL_BSP_SCHEDULE_DELAY, OTEL_BSP_MAX_QUEUE_SIZE, OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
        "How often spans are sent, in milliseconds (5000), how many wait at most (16384), and how many are sent together (512).",
    ),
    variable(
        "OTEL_METRIC_EXPORT_INTERVAL",
        "How often metrics are sent, in milliseconds; 60000 by default. What is left is sent at the end.",
    ),
    variable("TRACEPARENT", "The span that the run becomes a child of, as `00-<trace>-<span>-<flags>`."),
];

const fn variable(name: &'static str, text: &'static str) -> Row {
    Row { name, of: "", text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page with the tables that follow from this file.
    fn page(written: &str) -> String {
        let rows = |rows: &[Row], head: &str, is_named: bool| {
            let mut table = format!("{head}\n");
            for row in rows {
                let names: Vec<String> = row.name.split(", ").map(|name| format!("`{name}`")).collect();
                let of = if is_named { format!(" {} |", row.of) } else { String::new() };
                table.push_str(&format!("| {} |{of} {} |\n", names.join(", "), row.text));
            }
            table
        };
        let tables = [
            ("spans", rows(SPANS, "| span | |\n|---|---|", false)),
            ("attributes", rows(ATTRIBUTES, "| attribute | of | |\n|---|---|---|", true)),
            ("metrics", rows(METRICS, "| metric | kind | |\n|---|---|---|", true)),
            ("variables", rows(VARIABLES, "| variable | |\n|---|---|", false)),
        ];
        let mut page = written.to_owned();
        for (name, table) in tables {
            let start = format!("<!-- {name} -->\n");
            let (before, rest) = page.split_once(&start).expect("the page has the table");
            let (_, after) = rest.split_once("<!-- end -->").expect("the table has an end");
            page = format!("{before}{start}\n{table}\n<!-- end -->{after}");
        }
        page
    }

    #[test]
    fn the_page_has_the_tables() {
        let path = "docs/traces.md";
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/traces.md");
        let written = std::fs::read_to_string(file).expect("the page can be read");
        prose_fixture::check_page(path, &page(&written), "--workspace --lib -- table::tests::the_page");
    }

    #[test]
    fn names_stand_in_one_row_each() {
        for table in [SPANS, ATTRIBUTES, METRICS, VARIABLES] {
            let mut names: Vec<&str> = table.iter().map(|row| row.name).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
