//! `prose update`.

use crate::common::Workspace;
use expect_test::expect;

#[test]
fn an_old_workspace_is_brought_up_to_date() {
    let workspace = Workspace::new(&[
        (".prose/state.json", r#"{"USER_ID": "user-1"}"#),
        (".prose/execution/run-1/program.prose", "session \"a\"\n"),
    ]);
    workspace.prose(&["update"]).check(expect![[r#"
        status: 0
        ---- stdout
        🔄 Migrating OpenProse workspace...
          ✓ Converted .prose/state.json → .prose/.env
          ✓ Renamed .prose/execution/ → .prose/runs/
          ✓ Created .prose/agents/
          ✓ Made 3 files and folders private
        ✅ Migration complete. Your workspace is up to date.
    "#]]);
    assert_eq!(workspace.read(".prose/.env"), "USER_ID=user-1\n");
    workspace.prose(&["update"]).printed(expect!["✅ Workspace already up to date. No migration needed."]);
}

#[test]
fn what_cannot_be_converted_is_said() {
    let workspace = Workspace::new(&[(".prose/state.json", "[]")]);
    let update = workspace.prose(&["update"]).ended(2);
    assert!(update.stderr.contains("state.json") && update.stdout.is_empty(), "{}", update.stderr);
}
