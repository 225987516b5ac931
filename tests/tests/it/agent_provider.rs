//! The harness `provider`, with a server on this machine in the place of each provider.

use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::provider::{KnownProvider, Provider, ProviderSettings, Secret};
use prose_tests::agents::{AgentProject, Reports, USAGE, judge, recorded, replies, reply, task};
use prose_vm::effect::SessionTask;

/// A provider of the table, the path that it adds to the address of the server, and that of its requests.
const PROVIDERS: [(&str, &str, &str); 3] = [
    ("anthropic", "", "/v1/messages"),
    ("openai", "/v1", "/v1/chat/completions"),
    ("google", "/v1beta", "/v1beta/models/"),
];

fn harness(project: &AgentProject, name: &str, path: &str) -> PromptedDecisions<Provider> {
    PromptedDecisions::new(Provider::new(ProviderSettings {
        base_url: Some(format!("{}{path}", project.provider.address)),
        key: Some(Secret::new("none")),
        ..ProviderSettings::new(KnownProvider::named(name).unwrap())
    }))
}

#[tokio::test]
#[ignore = "needs npm"]
async fn each_provider_answers_a_session_with_its_usage() {
    let project = AgentProject::new(|_| vec![replies("Look into tides", "Tides come and go.")]);
    for (name, path, requests) in PROVIDERS {
        let task =
            SessionTask { system: Some("You are an oceanographer.".into()), ..task("Look into tides") };
        let (reporter, mut reports) = Reports::new(None);
        let reply = reply(&harness(&project, name, path), task, &reporter).await;

        assert_eq!(
            &*reply.unwrap_or_else(|failure| panic!("{name}: {}", failure.message)).text,
            "Tides come and go."
        );
        let work = recorded(&reports.take());
        let usage = work.usage.unwrap_or_else(|| panic!("{name} reports its usage"));
        assert_eq!((usage.input_tokens, usage.output_tokens), (USAGE.input, USAGE.output), "{name}");
        let asked = project.provider.requests(requests);
        assert!(asked.last().unwrap()["body"].to_string().contains("You are an oceanographer."), "{name}");
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r064_each_provider_judges_a_condition() {
    let verdict = r#"{"answer":"yes","reason":"the sand is dry"}"#;
    let project = AgentProject::new(|_| vec![replies("the tide is out", verdict)]);
    for (name, path, _) in PROVIDERS {
        let verdict = judge(&harness(&project, name, path), "the tide is out").await;
        assert_eq!((verdict.met, verdict.reason.as_str()), (true, "the sand is dry"), "{name}");
    }
}
