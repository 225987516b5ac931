//! Files of the project that runs use on other machines.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::Cluster;

/// An agent that replies with what it finds in its prompt and in its skills.
const AGENT: &str = r#"#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{}}}';;
    *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}';;
    *'"session/prompt"'*)
      case $line in *tides*) said=tides ;; *) said=nothing ;; esac
      said="$said, $(skills/tables/count) lines, $(ls -A skills/tables | wc -l) entries, $(cat .agents/skills/style/SKILL.md)"
      echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'$said'"}}}}'
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}';;
  esac
done
"#;

const PROGRAM: &str = "\
output text = session \"read\"
  skills: [\"./skills/tables\", \"style\"]
  context:
    file: \"./notes.md\"
";

#[test]
#[ignore = "needs PostgreSQL"]
fn context_files_and_skills_are_there_on_other_machines() {
    let mut cluster = Cluster::new(&[
        ("main.prose", PROGRAM),
        ("notes.md", "tides"),
        ("agent.sh", AGENT),
        ("skills/tables/SKILL.md", "Count with `count`."),
        ("skills/tables/count", "#!/bin/sh\nwc -l <skills/tables/data/table.bin\n"),
        (".agents/skills/style/SKILL.md", "Short."),
    ]);
    let agent = cluster.workspace.path("agent.sh");
    let settings = format!("[run]\nharness = \"acp\"\ncommand = [\"sh\", \"{}\"]\n", agent.display());
    // No session has this agent.
    let settings = format!("{settings}[agents.writer]\nskills = [\"./nowhere\"]\n");
    cluster.workspace.write("prose.toml", settings.as_bytes());
    cluster.workspace.trust();
    // What git keeps, such as an address with a password, is not sent.
    cluster.workspace.write("skills/tables/.git/config", b"[remote]\n");
    cluster.workspace.write("skills/tables/data/table.bin", b"\xff\x00\n\xfe\n");
    let executable = cluster.workspace.path("skills/tables/count");
    set_permissions(executable, Permissions::from_mode(0o755)).unwrap();
    cluster.worker(&["--leads", "0"]);
    cluster.worker(&["--slots", "0"]);
    let run = cluster.prose(&["run", "main.prose", "-q"]).ended(0);
    assert_eq!(run.stdout, "text: tides, 2 lines, 3 entries, Short.\n");
    let refused = |cluster: &Cluster, why: &str| {
        let stderr = cluster.prose(&["run", "main.prose", "-q"]).ended(2).stderr;
        assert!(stderr.contains(why), "{stderr}");
    };
    let link = cluster.workspace.path("skills/tables/link");
    symlink("count", &link).unwrap();
    refused(&cluster, "link` is a part of a skill, but only files and folders can be sent");
    std::fs::remove_file(&link).unwrap();
    cluster.workspace.write("skills/tables/data/.env", b"KEY=value");
    refused(&cluster, ".env` is a part of a skill, but it may contain secrets");
    std::fs::remove_dir_all(cluster.workspace.path("skills")).unwrap();
    refused(&cluster, "skill `./skills/tables` cannot be sent to workers: it is not the path of a folder");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn files_that_cannot_be_sent_are_told_of_before_the_run() {
    let context = |path: &str| format!("output text = session \"read\"\n  context:\n    file: \"{path}\"\n");
    let computed = format!("let name = \"notes\"\n{}", context("./{name}.md"));
    let (missing, outside, secret) = (context("./none.md"), context("../notes.md"), context(".env"));
    // The program that names the file is imported by one that is imported itself.
    let nested = "use \"./missing.prose\" as missing\noutput text = missing()\n";
    let imported = "use \"./nested.prose\" as nested\noutput text = nested()\n";
    let of_agent = "use \"./missing.prose\" as missing\nagent reader:\n  context:\n    notes: missing()\noutput text = session: reader\n  prompt: \"Read\"\n";
    // No session of this one is ever started.
    let uncalled =
        format!("block never:\n  session \"read\"\n    context:\n      file: \"./none.md\"\n{computed}");
    let mut cluster = Cluster::new(&[
        ("project/prose.toml", "[run]\nallow-files = [\".env\"]\n"),
        ("project/missing.prose", &missing),
        ("project/outside.prose", &outside),
        ("project/secret.prose", &secret),
        ("project/computed.prose", &computed),
        ("project/imported.prose", imported),
        ("project/nested.prose", nested),
        ("project/of-agent.prose", of_agent),
        ("project/uncalled.prose", &uncalled),
        ("project/notes.md", "tides"),
        ("project/.env", "KEY=value"),
        ("notes.md", "tides"),
    ]);
    cluster.worker(&["--class", "offline"]);
    let refused = |program: &str, status: i32, why: &str| {
        let program = format!("project/{program}.prose");
        let stderr = cluster.prose(&["run", &program, "-q", "--harness", "offline"]).ended(status).stderr;
        assert!(stderr.contains(why), "{stderr}");
    };
    refused("missing", 2, "context file `./none.md` (line 3) cannot be sent to workers: it does not exist");
    refused(
        "outside",
        2,
        "context file `../notes.md` (line 3) cannot be sent to workers: give its path from the folder",
    );
    refused("secret", 2, "context file `.env` (line 3) cannot be sent to workers: it may contain secrets");
    refused("imported", 2, "context file `./none.md` (missing.prose:3) cannot be sent");
    refused("of-agent", 2, "context file `./none.md` (missing.prose:3) cannot be sent");
    refused("uncalled", 1, "`./notes.md` is not among the files that were submitted to the cluster");
    refused("computed", 1, "`./notes.md` is not among the files that were submitted to the cluster");
}
