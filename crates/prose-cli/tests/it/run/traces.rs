//! Traces and metrics of runs.

pub(super) mod collector;
mod tls;
mod waits;

use std::process::Command;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};

use self::collector::{Answer, Collector, Trace, attribute};
#[cfg(target_os = "linux")]
use self::tls::TlsProxy;
use crate::common::{Run, Workspace};

/// What a program is made of.
const PROGRAM: &str = r#"agent writer:
  model: sonnet
  prompt: "You write."
block improve(text):
  session: writer
    prompt: "Improve it"
    context: text
let plan = session "Plan it"
parallel:
  a = session: writer
    prompt: "Part one"
  b = session "Part two"
repeat 2 as i:
  do improve(plan)
loop until **the text is good** (max: 3):
  session "Polish it"
try:
  session "Send it"
    retry: 1
    backoff: linear
catch:
  session "Report the failure"
choice **where to go**:
  option "here":
    session "Stay"
  option "there":
    session "Go"
input title: "Which title?"
output result = title
"#;

const SCRIPT: &str = r#"
[[session]]
label = "Send it"
fail = "no network"

[[session]]
agent = "writer"
reply = "The secret is sesame."

[[session]]
reply = "Done."

[[condition]]
times = 1
met = false

[[condition]]
met = true

[[choice]]
choose = "there"

[[input]]
value = "Tides"
"#;

fn workspace(program: &str) -> Workspace {
    Workspace::new(&[
        ("main.prose", program),
        ("answers.toml", SCRIPT),
        ("prose.toml", "[run]\nbackoff-ms = 20\nredact = [\"sesame\"]\n"),
    ])
}

/// A command whose traces and metrics go to a collector.
fn traced(workspace: &Workspace, endpoint: &str) -> Command {
    let mut command = workspace.command();
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    command
}

/// Runs it with the script.
fn run(workspace: &Workspace, endpoint: &str) -> Command {
    let mut command = traced(workspace, endpoint);
    command.args(["run", "main.prose", "--script", "answers.toml", "-q"]);
    command
}

#[track_caller]
fn check(program: &str, keys: &[&str], tree: Expect) {
    let collector = Collector::start(Answer::Status(200));
    let workspace = workspace(program);
    let ended = Run::of(&mut run(&workspace, &collector.endpoint));
    assert_eq!(ended.stderr, "");
    tree.assert_eq(&collector.spans().tree(keys));
}

/// The id of a trace and of its root.
fn root_of<'a>(trace: &'a Trace, program: &str) -> (&'a [u8], &'a [u8]) {
    let root = trace.named(&format!("invoke_workflow {program}"));
    (&root.trace_id, &root.span_id)
}

/// What the root of a trace links to.
fn linked<'a>(trace: &'a Trace, program: &str) -> Vec<(&'a [u8], &'a [u8])> {
    let root = trace.named(&format!("invoke_workflow {program}"));
    root.links.iter().map(|link| (&link.trace_id[..], &link.span_id[..])).collect()
}

#[test]
fn branches_without_names_have_their_sessions_below_them() {
    check(
        "\
parallel:
  session \"left\"
  parallel:
    session \"upper right\"
    session \"lower right\"
parallel for part in [\"a\", \"b\"]:
  session \"Read {part}\"
",
        &["code.line.number"],
        expect![[r#"
            invoke_workflow main.prose
              parallel {code.line.number=1}
                branch {code.line.number=2}
                  invoke_agent {code.line.number=2}
                branch {code.line.number=3}
                  parallel {code.line.number=3}
                    branch {code.line.number=4}
                      invoke_agent {code.line.number=4}
                    branch {code.line.number=5}
                      invoke_agent {code.line.number=5}
              parallel {code.line.number=6}
                branch {code.line.number=6}
                  invoke_agent {code.line.number=7}
                branch {code.line.number=6}
                  invoke_agent {code.line.number=7}
        "#]],
    );
}

#[test]
fn a_run_is_a_trace_with_its_sessions_containers_and_waits() {
    check(
        PROGRAM,
        &["prose.attempts", "error.type", "prose.loop.end", "prose.iteration.number", "code.line.number"],
        expect![[r#"
            invoke_workflow main.prose
              invoke_agent {code.line.number=8, prose.attempts=1}
              parallel {code.line.number=9}
                branch a {code.line.number=10}
                  invoke_agent writer {code.line.number=10, prose.attempts=1}
                branch b {code.line.number=12}
                  invoke_agent {code.line.number=12, prose.attempts=1}
              loop repeat {code.line.number=13, prose.loop.end=exhausted}
                iteration {code.line.number=13, prose.iteration.number=1}
                  block improve {code.line.number=14}
                    invoke_agent writer {code.line.number=5, prose.attempts=1}
                iteration {code.line.number=13, prose.iteration.number=2}
                  block improve {code.line.number=14}
                    invoke_agent writer {code.line.number=5, prose.attempts=1}
              loop until {code.line.number=15, prose.loop.end=satisfied}
                decide judge {code.line.number=15}
                iteration {code.line.number=15, prose.iteration.number=1}
                  invoke_agent {code.line.number=16, prose.attempts=1}
                decide judge {code.line.number=15}
              invoke_agent ✗ {code.line.number=18, error.type=session, prose.attempts=2}
                attempt ✗ {error.type=session}
                wait retry
                attempt ✗ {error.type=session}
              invoke_agent {code.line.number=22, prose.attempts=1}
              decide choose {code.line.number=23}
              invoke_agent {code.line.number=27, prose.attempts=1}
              wait input {code.line.number=28}
        "#]],
    );
}

#[test]
fn spans_have_the_attributes_of_the_conventions() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = workspace("agent writer:\n  model: sonnet\nsession: writer\n  prompt: \"Write it\"\n");
    Run::of(run(&workspace, &collector.endpoint).env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")).ended(0);
    let trace = collector.spans();
    let shown = |name: &str| {
        let span = trace.named(name);
        let mut attributes: Vec<String> = span
            .attributes
            .iter()
            .filter(|attribute| attribute.key != "prose.run.id")
            .map(|known| format!("{} = {}\n", known.key, attribute(span, &known.key).unwrap_or_default()))
            .collect();
        attributes.sort();
        attributes.concat()
    };
    expect![[r#"
        gen_ai.agent.name = main.prose
        gen_ai.operation.name = invoke_workflow
        gen_ai.workflow.name = main.prose
        prose.harness = script
        prose.run.sessions = 1
        prose.status = completed
    "#]]
    .assert_eq(&shown("invoke_workflow main.prose"));
    expect![[r#"
        code.file.path = main.prose
        code.line.number = 3
        gen_ai.agent.name = writer
        gen_ai.operation.name = invoke_agent
        gen_ai.provider.name = script
        gen_ai.request.model = sonnet
        prose.attempts = 1
        prose.harness = script
        prose.place = s1
    "#]]
    .assert_eq(&shown("invoke_agent writer"));
    assert_eq!(trace.named("invoke_agent writer").kind, 3, "a client");
    let run = attribute(trace.named("invoke_agent writer"), "prose.run.id").unwrap();
    assert!(workspace.path(".prose/runs").join(run).is_dir());
    assert!(collector.headers().contains(&"x-key: a b".to_owned()), "{:?}", collector.headers());
    let resource = collector.resource();
    assert!(resource.contains("service.name=prose, ") && resource.contains("service.version="), "{resource}");
}

#[test]
fn texts_are_sent_only_if_that_is_switched_on_and_without_what_is_redacted() {
    let program = "agent writer:\n  prompt: \"You write.\"\nsession: writer\n  prompt: \"Write it\"\nthrow \"no room\"\n";
    let workspace = workspace(program);
    let collector = Collector::start(Answer::Status(200));
    Run::of(&mut run(&workspace, &collector.endpoint)).ended(1);
    let text = format!("{:?}", collector.spans().0);
    for private in ["Write it", "You write", "sesame", "secret", "no room"] {
        assert!(!text.contains(private), "{private}");
    }
    let mut with_texts = run(&workspace, &collector.endpoint);
    Run::of(with_texts.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")).ended(1);
    let trace = collector.spans();
    let session = trace.named("invoke_agent writer");
    let text = |key| attribute(session, key).unwrap();
    assert!(text("gen_ai.system_instructions").contains("You write."));
    assert!(text("gen_ai.input.messages").contains("Write it"));
    expect![[r#"[{"finish_reason":"stop","parts":[{"content":"The secret is [redacted].","type":"text"}],"role":"assistant"}]"#]].assert_eq(&text("gen_ai.output.messages"));
    let root = trace.named("invoke_workflow main.prose");
    let status = root.status.as_ref().unwrap();
    assert_eq!((status.code, status.message.as_str()), (2, "no room"));
    assert_eq!(attribute(root, "error.type").unwrap(), "thrown");
    let mut shortened = run(&workspace, &collector.endpoint);
    shortened.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    Run::of(shortened.env("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "3")).ended(1);
    let trace = collector.spans();
    let reply = attribute(trace.named("invoke_agent writer"), "gen_ai.output.messages").unwrap();
    assert!(reply.contains(r#""content":"The""#), "{reply}");
}

#[test]
fn a_resumed_run_links_to_its_first_execution_and_sends_nothing_again() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = workspace("let a = session \"One\"\nrepeat 2:\n  session \"Two\"\nsession \"Three\"\n");
    let mut first = traced(&workspace, &collector.endpoint);
    first.args(["run", "main.prose", "-q", "--max-sessions", "2"]);
    assert_eq!(Run::of(&mut first).status, 3);
    let first = collector.spans();
    expect![[r#"
        invoke_workflow main.prose {prose.status=interrupted}
          invoke_agent
          loop repeat {prose.status=interrupted}
            iteration
              invoke_agent
            iteration {prose.status=interrupted}
              invoke_agent {prose.status=interrupted}
    "#]]
    .assert_eq(&first.tree(&["prose.status", "prose.resumed"]));
    let mut second = traced(&workspace, &collector.endpoint);
    second.args(["resume", "-q", "--max-sessions", "3"]);
    assert_eq!(Run::of(&mut second).status, 3);
    let second = collector.spans();
    Run::of(traced(&workspace, &collector.endpoint).args(["resume", "-q", "--max-sessions", "9"])).ended(0);
    let third = collector.spans();
    expect![[r#"
        invoke_workflow main.prose {prose.resumed=true, prose.status=interrupted}
          loop repeat {prose.resumed=true}
            iteration {prose.resumed=true}
              invoke_agent
          invoke_agent {prose.status=interrupted}
    "#]]
    .assert_eq(&second.tree(&["prose.status", "prose.resumed"]));
    expect![[r#"
        invoke_workflow main.prose {prose.resumed=true, prose.status=completed}
          invoke_agent
    "#]]
    .assert_eq(&third.tree(&["prose.status", "prose.resumed"]));
    let root = root_of(&first, "main.prose");
    assert_eq!(linked(&second, "main.prose"), [root]);
    assert_eq!(linked(&third, "main.prose"), [root]);
    assert!(linked(&first, "main.prose").is_empty());
    assert_ne!(root_of(&second, "main.prose").0, root_of(&third, "main.prose").0, "traces of their own");
    // What started earlier starts with the execution.
    let (repeat, root) = (second.named("loop repeat"), second.named("invoke_workflow main.prose"));
    assert!(repeat.start_time_unix_nano >= root.start_time_unix_nano);
}

#[test]
fn a_fork_links_to_the_run_whose_answers_it_takes() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = workspace("let a = session \"One\"\nsession \"Two\"\n");
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    Run::of(traced(&workspace, &collector.endpoint).env("TRACEPARENT", parent).args([
        "run",
        "main.prose",
        "-q",
    ]))
    .ended(0);
    let first = collector.spans();
    let root = first.named("invoke_workflow main.prose");
    assert_eq!(hex(&root.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&root.parent_span_id), "b7ad6b7169203331");
    let run = attribute(root, "prose.run.id").unwrap();
    let mut fork = traced(&workspace, &collector.endpoint);
    fork.args(["runs", "fork", &run, "--from", "2", "-y", "-q"]);
    Run::of(&mut fork).ended(0);
    let forked = collector.spans();
    assert_eq!(linked(&forked, "main.prose"), [root_of(&first, "main.prose")]);
    expect![[r#"
        invoke_workflow main.prose {prose.run.reused=1}
          invoke_agent
    "#]]
    .assert_eq(&forked.tree(&["prose.run.reused"]));
    // A replay asks nobody.
    Run::of(traced(&workspace, &collector.endpoint).args(["run", "main.prose", "--replay", &run, "-q"]))
        .ended(0);
    assert!(collector.spans().0.is_empty());
    // An outer trace that is not sent is not sent in part.
    let unsampled = parent.replace("-01", "-00");
    let mut unsampled_run = traced(&workspace, &collector.endpoint);
    Run::of(unsampled_run.env("TRACEPARENT", unsampled).args(["run", "main.prose", "-q"])).ended(0);
    assert!(collector.spans().0.is_empty());
}

#[cfg(unix)]
#[test]
fn programs_of_sessions_learn_in_which_span_they_work() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = Workspace::new(&[
        (
            "main.prose",
            "agent writer:\n  model: sonnet\noutput span = session: writer\n  prompt: \"Write it\"\n",
        ),
        ("prose.toml", "[run]\nharness = \"command\"\ncommand = [\"./agent.sh\"]\n"),
        ("agent.sh", "#!/bin/sh\ncat > /dev/null\necho \"span $TRACEPARENT\"\n"),
    ]);
    workspace.trust();
    let run = Run::of(traced(&workspace, &collector.endpoint).args(["run", "main.prose", "-q"])).ended(0);
    let trace = collector.spans();
    let session = trace.named("invoke_agent writer");
    let span = format!("span 00-{}-{}-01", hex(&session.trace_id), hex(&session.span_id));
    assert_eq!(run.stdout.trim_end(), format!("span: {span}"));
    // Without traces, it learns of none.
    let plain = workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    assert_eq!(plain.stdout.trim_end(), "span: span");
}

#[cfg(unix)]
#[test]
fn usage_and_costs_are_those_that_an_agent_reports() {
    let collector = Collector::start(Answer::Status(200));
    let reply = r#"{"type":"result","is_error":false,"result":"'$TRACEPARENT'","total_cost_usd":0.125,"session_id":"c0ffee","usage":{"input_tokens":30,"cache_read_input_tokens":100,"output_tokens":7}}"#;
    let agent = format!("#!/bin/sh\nread -r initialize\nread -r prompt\necho '{reply}'\n");
    let workspace =
        Workspace::new(&[("main.prose", "output span = session \"One\"\n"), ("bin/claude", &agent)]);
    let path = format!("{}:{}", workspace.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = traced(&workspace, &collector.endpoint);
    command.args(["run", "main.prose", "--harness", "claude", "-q", "--trust"]).env("PATH", path);
    let run = Run::of(&mut command).ended(0);
    let trace = collector.spans();
    let session = trace.named("invoke_agent");
    assert_eq!(
        run.stdout.trim_end(),
        format!("span: 00-{}-{}-01", hex(&session.trace_id), hex(&session.span_id))
    );
    let shown = ["gen_ai.", "prose.cost"];
    let keys: Vec<&str> = session.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
    let keys: Vec<&str> =
        keys.into_iter().filter(|key| shown.iter().any(|start| key.starts_with(start))).collect();
    expect![[r#"
        invoke_workflow main.prose {gen_ai.operation.name=invoke_workflow, prose.cost=0.125}
          invoke_agent {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=anthropic, gen_ai.usage.cache_read.input_tokens=100, gen_ai.usage.input_tokens=130, gen_ai.usage.output_tokens=7, prose.cost=0.125}
    "#]]
    .assert_eq(&trace.tree(&keys));
    expect![[r#"
        gen_ai.client.operation.duration {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=anthropic}: 1
        gen_ai.client.token.usage {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=anthropic, gen_ai.token.type=input}: 1, 130 in total
        gen_ai.client.token.usage {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=anthropic, gen_ai.token.type=output}: 1, 7 in total
        gen_ai.invoke_agent.duration {gen_ai.agent.name=main.prose, gen_ai.operation.name=invoke_workflow}: 1
        gen_ai.invoke_agent.duration {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=anthropic}: 1
        prose.cost {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=anthropic}: 0.125
        prose.runs: 0
        prose.sessions {prose.session.state=working}: 0
    "#]]
    .assert_eq(&collector.metrics());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(unix)]
#[test]
fn a_run_that_was_killed_is_resumed_in_a_trace_that_links_to_it() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = workspace("session \"One\"\nsession \"Two\"\nsession \"Three\"\n");
    let mut command = traced(&workspace, &collector.endpoint);
    command.env("OTEL_BSP_SCHEDULE_DELAY", "20").args(["run", "main.prose", "-q", "--delay", "400ms"]);
    let mut child = command.spawn().expect("the binary starts");
    collector.wait_for_spans(1);
    child.kill().expect("it is ours");
    child.wait().expect("it ended");
    let killed = collector.spans();
    assert!(killed.names("invoke_workflow").is_empty());
    let lost = killed.0[0].clone();
    Run::of(traced(&workspace, &collector.endpoint).args(["resume", "-q"])).ended(0);
    let resumed = collector.spans();
    assert_eq!(killed.0.len() + resumed.names("invoke_agent").len(), 3);
    let links = linked(&resumed, "main.prose");
    assert_eq!(links, [(&lost.trace_id[..], &lost.parent_span_id[..])], "the root that was never sent");
}

#[test]
fn metrics_count_tokens_durations_and_sessions() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = workspace(PROGRAM);
    let mut command = run(&workspace, &collector.endpoint);
    Run::of(command.env("OTEL_TRACES_EXPORTER", "none")).ended(0);
    assert!(collector.spans().0.is_empty());
    expect![[r#"
        gen_ai.client.operation.duration {gen_ai.agent.name=writer, gen_ai.operation.name=invoke_agent, gen_ai.provider.name=script, gen_ai.request.model=sonnet}: 3
        gen_ai.client.operation.duration {gen_ai.operation.name=choose, gen_ai.provider.name=script}: 1
        gen_ai.client.operation.duration {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=script}: 7
        gen_ai.client.operation.duration {gen_ai.operation.name=judge, gen_ai.provider.name=script}: 2
        gen_ai.invoke_agent.duration {gen_ai.agent.name=main.prose, gen_ai.operation.name=invoke_workflow}: 1
        gen_ai.invoke_agent.duration {gen_ai.agent.name=writer, gen_ai.operation.name=invoke_agent, gen_ai.provider.name=script, gen_ai.request.model=sonnet}: 3
        gen_ai.invoke_agent.duration {gen_ai.operation.name=invoke_agent, gen_ai.provider.name=script}: 6
        prose.retries: 1
        prose.runs: 0
        prose.sessions {prose.session.state=working}: 0
        prose.wait.duration {prose.wait.kind=input}: 1
        prose.wait.duration {prose.wait.kind=retry}: 1
    "#]].assert_eq(&collector.metrics());
}

/// A run that must end as without a collector, but for one line.
#[track_caller]
fn check_undisturbed(endpoint: &str, warning: &Expect) {
    let workspace = workspace("output text = session \"One\"\n");
    let plain = workspace.prose(&["run", "main.prose", "--script", "answers.toml", "-q"]).ended(0);
    let start = Instant::now();
    let run = Run::of(&mut run(&workspace, endpoint)).ended(0);
    let took = start.elapsed();
    assert_eq!(run.stdout, plain.stdout);
    warning.assert_eq(&run.stderr.replace(endpoint, "ADDRESS"));
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_collector_that_is_away_slow_or_broken_is_one_warning() {
    let away = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    check_undisturbed(
        &away,
        &expect![[r#"
        warning: traces were not sent to ADDRESS: cannot connect, or no answer
    "#]],
    );
    let silent = Collector::start(Answer::Nothing);
    check_undisturbed(
        &silent.endpoint,
        &expect![[r#"
        warning: traces were not sent to ADDRESS: the collector is too slow
    "#]],
    );
    let broken = Collector::start(Answer::Status(500));
    check_undisturbed(
        &broken.endpoint,
        &expect![[r#"
        warning: traces were not sent to ADDRESS: status code: 500
    "#]],
    );
    let busy = Collector::start(Answer::Status(503));
    check_undisturbed(
        &busy.endpoint,
        &expect![[r#"
        warning: traces were not sent to ADDRESS: status code: 503
    "#]],
    );
    check_undisturbed(
        "http://",
        &expect![[r#"
        warning: traces were not sent to ADDRESS: cannot connect, or no answer
    "#]],
    );
    check_undisturbed(
        "not an address",
        &expect![[r#"
        warning: traces and metrics are incomplete: invalid exporter configuration: OTEL_EXPORTER_OTLP_ENDPOINT: invalid endpoint 'ADDRESS': invalid uri character
    "#]],
    );
}

#[test]
fn nothing_is_sent_unless_it_is_switched_on() {
    let collector = Collector::start(Answer::Status(200));
    let workspace = workspace("session \"One\"\n");
    let mut disabled = run(&workspace, &collector.endpoint);
    Run::of(disabled.env("OTEL_SDK_DISABLED", "true")).ended(0);
    let mut of_none = run(&workspace, &collector.endpoint);
    Run::of(of_none.env("OTEL_TRACES_EXPORTER", "none").env("OTEL_METRICS_EXPORTER", "none")).ended(0);
    let mut dry = traced(&workspace, &collector.endpoint);
    Run::of(dry.args(["run", "main.prose", "--dry-run"])).ended(0);
    // A command without a run.
    Run::of(traced(&workspace, &collector.endpoint).args(["check", "main.prose"])).ended(0);
    assert_eq!(collector.requests(), 0);
    let unknown =
        Run::of(run(&workspace, &collector.endpoint).env("OTEL_TRACES_EXPORTER", "zipkin")).ended(0);
    expect![[r#"
        warning: traces and metrics are incomplete: `OTEL_TRACES_EXPORTER` is `zipkin`; `otlp` and `none` are supported
    "#]]
    .assert_eq(&unknown.stderr);
}

/// A process that ends with the test.
#[cfg(target_os = "linux")]
struct Started(std::process::Child);

#[cfg(target_os = "linux")]
impl Drop for Started {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A free port of the loopback interface.
#[cfg(target_os = "linux")]
fn port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

/// Waits until something listens on a port.
#[cfg(target_os = "linux")]
#[track_caller]
fn wait_for(port: u16, limit: Duration) {
    let start = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < limit, "nothing listens on {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs Rotel"]
fn a_real_collector_takes_both_transports() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/.cache/rotel/rotel/rotel-agent");
    let behind = Collector::start(Answer::Status(200));
    let (grpc, http) = (port(), port());
    let workspace = workspace(PROGRAM);
    let mut command = workspace.command_of(program);
    command.args(["start", "--exporter", "otlp", "--otlp-exporter-protocol", "http", "--disable-batching"]);
    command.args(["--otlp-exporter-endpoint", &behind.endpoint, "--otlp-exporter-compression", "none"]);
    command.args(["--otlp-grpc-endpoint", &format!("127.0.0.1:{grpc}")]);
    command.args(["--otlp-http-endpoint", &format!("127.0.0.1:{http}")]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let agent = Started(command.spawn().expect("`tests/install/rotel` was run"));
    wait_for(grpc, Duration::from_secs(20));
    wait_for(http, Duration::from_secs(20));
    let proxy = |port: u16, protocol| TlsProxy::start(([127, 0, 0, 1], port).into(), &[protocol]);
    let (http_proxy, grpc_proxy) = (proxy(http, "http/1.1"), proxy(grpc, "h2"));
    let mut trees = Vec::new();
    for (protocol, endpoint, certificate) in [
        ("http/protobuf", format!("http://127.0.0.1:{http}"), None),
        ("grpc", format!("http://127.0.0.1:{grpc}"), None),
        ("http/protobuf", http_proxy.endpoint.clone(), Some(http_proxy.certificate())),
        ("grpc", grpc_proxy.endpoint.clone(), Some(grpc_proxy.certificate())),
    ] {
        let mut command = run(&workspace, &endpoint);
        command.env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol).env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
        if let Some(certificate) = certificate {
            command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate);
        }
        let ended = Run::of(&mut command).ended(0);
        assert_eq!(ended.stderr, "");
        behind.wait_for_span("invoke_workflow main.prose");
        std::thread::sleep(Duration::from_millis(300));
        trees.push(behind.spans().tree(&["code.line.number", "gen_ai.request.model"]));
    }
    // Spans of the same moment have no order.
    let lines = |tree: &String| {
        let mut lines: Vec<String> = tree.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    for tree in &trees[1..] {
        assert_eq!(lines(tree), lines(&trees[0]));
    }
    assert!(trees[0].starts_with("invoke_workflow main.prose"), "{}", trees[0]);
    let metrics = behind.metrics();
    assert!(metrics.contains("gen_ai.client.operation.duration"), "{metrics}");
    // A collector that stops is away.
    drop(agent);
    let mut command = run(&workspace, &format!("http://127.0.0.1:{grpc}"));
    let ended = Run::of(command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")).ended(0);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}
