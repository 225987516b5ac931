//! Traces of runs that workers lead.

use expect_test::expect;

use super::Cluster;
use crate::run::traces::collector::{Answer, Collector};

const PROGRAM: &str = "\
let plan = session \"Plan it\"
parallel:
  left = session \"left\"
  right = session \"right\"
output text = session \"Sum up {plan}\"
";

#[test]
#[ignore = "needs PostgreSQL"]
fn the_worker_that_leads_a_run_sends_its_trace() {
    let collector = Collector::start(Answer::Status(200));
    let mut cluster = Cluster::new(&[("main.prose", PROGRAM)]);
    let url = cluster.server.url();
    cluster.worker_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint)], &url, &["--slots", "0"]);
    // What another worker does is part of the trace, too.
    cluster.worker(&["--leads", "0"]);
    cluster.submit("main.prose", &[]);
    cluster.wait_for("SELECT state FROM job", "ended\n");
    collector.wait_for_spans(8);
    expect![[r#"
        invoke_workflow main.prose
          invoke_agent {code.line.number=1}
          parallel {code.line.number=2}
            branch left {code.line.number=3}
              invoke_agent {code.line.number=3}
            branch right {code.line.number=4}
              invoke_agent {code.line.number=4}
          invoke_agent {code.line.number=5}
    "#]]
    .assert_eq(&collector.spans().tree(&["code.line.number"]));
}
