//! Programs with all that they import.

use std::time::Duration;

use prose_registry::{Freshness, Invalid, MAX_PROGRAMS, Problem, Refusal, Visited};

use crate::support::{Reply, Server, client, reference};

/// The paths in `use "…"`, one a line.
fn imports(text: &str) -> Vec<String> {
    let path = |line: &str| Some(line.strip_prefix("use \"")?.strip_suffix('"')?.to_owned());
    text.lines().filter_map(path).collect()
}

fn shown(visited: &[Visited]) -> Vec<String> {
    let line = |visited: &Visited| {
        let by = visited.imported_by.as_deref().unwrap_or("root");
        format!(
            "{} ({by}) {}",
            visited.reference,
            if visited.outcome.result.is_ok() { "found" } else { "missing" }
        )
    };
    visited.iter().map(line).collect()
}

#[tokio::test]
async fn a_walk_visits_each_program_once() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/a/main" => Reply::text("use \"a/left\"\nuse \"a/right\"\nuse \"./near.prose\"\nuse \"a b\"\n"),
        "/a/left" => Reply::text("use \"a/shared\"\nuse \"a/gone\"\n"),
        "/a/right" => Reply::text("use \"a/shared\"\nuse \"a/gone\"\n").after(Duration::from_millis(100)),
        // A circle.
        "/a/shared" => Reply::text("use \"a/main\"\n"),
        "/a/near.prose" => Reply::text("session \"Near\"\n"),
        _ => Reply::status(404),
    })
    .await;
    let visited = client(server.url()).walk([reference("a/main")], Freshness::Now, imports).await;
    assert_eq!(
        shown(&visited),
        [
            "a/gone (a/left) missing".to_owned(),
            "a/left (a/main) found".to_owned(),
            "a/main (root) found".to_owned(),
            "a/right (a/main) found".to_owned(),
            "a/shared (a/left) found".to_owned(),
            format!("{}a/near.prose (a/main) found", server.url()),
        ]
    );
    let main = visited.iter().find(|visited| visited.reference == reference("a/main")).unwrap();
    assert_eq!(main.invalid, [("a b".to_owned(), Invalid::Space)]);
    assert_eq!(server.paths().iter().filter(|path| *path == "/a/shared").count(), 1);
}

#[tokio::test]
async fn a_walk_without_end_is_stopped() {
    let server = Server::start(|seen| {
        let number: usize = seen.path.rsplit('n').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        let uses: Vec<String> = (1..=8).map(|child| format!("use \"a/n{}\"\n", number * 8 + child)).collect();
        Reply::text(uses.concat())
    })
    .await;
    // In a task of its own, as a server has it.
    let client = client(server.url());
    let walk = tokio::spawn(async move { client.walk([reference("a/n0")], Freshness::Now, imports).await });
    let visited = walk.await.unwrap();
    let refused = |visited: &&Visited| {
        matches!(visited.outcome.result, Err(Problem::Refused(Refusal::TooMany(MAX_PROGRAMS))))
    };
    let refused = visited.iter().filter(refused).count();
    assert!(refused > 0);
    assert_eq!(server.seen().len(), MAX_PROGRAMS);
}
