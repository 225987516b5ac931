//! The files that programs pass to sessions whose agents cannot read them (decision 12), as far as they may be read (decision 14).

use std::fs;
use std::time::Duration;

use prose_state::folder::Project;
use prose_state::in_context::InContextStore;
use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use prose_vm::store::Store;

use crate::support::project;

/// What a run passes of a file.
fn read(project: &Project, path: &str) -> Result<String, Failure> {
    InContextStore::new(project).read_file(&path.into()).map(|text| text.to_string())
}

/// Why nothing of a file is passed, with `PROJECT` for the folder.
#[track_caller]
fn refusal(project: &Project, path: &str) -> (ErrorKind, String) {
    let failure = read(project, path).unwrap_err();
    (failure.kind, failure.message.replace(project.root.to_str().unwrap(), "PROJECT"))
}

#[test]
fn files_are_named_from_the_folder_of_the_project() {
    let (folder, project) = project();
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("docs/größe.md"), "Größe\r\n").unwrap();
    fs::write(folder.path().join("empty.md"), "").unwrap();
    let absolute = project.root.join("docs/größe.md");
    for path in ["docs/größe.md", "./docs/größe.md", absolute.to_str().unwrap()] {
        assert_eq!(read(&project, path).unwrap(), "Größe\r\n", "{path}");
    }
    assert_eq!(read(&project, "empty.md").unwrap(), "");
}

#[test]
fn what_is_no_text_is_not_passed() {
    let (folder, project) = project();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("docs")).unwrap();
    fs::write(path("picture.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    fs::write(path("zeros.txt"), "a\0b").unwrap();
    fs::write(path("most.md"), "m".repeat(1 << 20)).unwrap();
    fs::write(path("more.md"), "m".repeat((1 << 20) + 1)).unwrap();
    let refused = |name: &str| {
        let (kind, message) = refusal(&project, name);
        assert_eq!(kind, ErrorKind::Other);
        message
    };
    assert_eq!(refused("gone.md"), "PROJECT/gone.md does not exist");
    assert_eq!(refused("most.md/part.md"), "PROJECT/most.md/part.md does not exist");
    assert_eq!(refused("docs"), "PROJECT/docs is a folder; list the files in it");
    assert_eq!(refused(""), "PROJECT/ is a folder; list the files in it");
    assert_eq!(refused("picture.png"), "PROJECT/picture.png is not valid UTF-8");
    assert_eq!(refused("zeros.txt"), "PROJECT/zeros.txt is not valid UTF-8");
    assert!(refused("a\0b").contains("cannot be read: "));
    assert!(refused(&"n".repeat(300)).contains("cannot be read: "));
    assert_eq!(
        refused("more.md"),
        "PROJECT/more.md is larger than the limit of 1 MiB; put the relevant part into a separate file"
    );
    assert_eq!(read(&project, "most.md").unwrap().len(), 1 << 20);
}

#[test]
fn what_an_agent_reads_itself_has_to_be_a_file_inside_the_project_of_any_size_and_kind() {
    let (folder, project) = project();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("docs")).unwrap();
    fs::write(path("picture.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    fs::write(path("large.md"), "m".repeat((1 << 20) + 1)).unwrap();
    let check =
        |name: &str| InContextStore::new(&project).check_file(&name.into()).map_err(|failure| failure.kind);
    assert_eq!(check("picture.png"), Ok(()));
    assert_eq!(check("large.md"), Ok(()));
    assert_eq!(check("docs"), Err(ErrorKind::Other));
    assert_eq!(check("gone.md"), Err(ErrorKind::Other));
    assert_eq!(check("../gone.md"), Err(ErrorKind::UnsafePath));
    assert_eq!(check("/etc/passwd"), Err(ErrorKind::UnsafePath));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/passwd", path("link")).unwrap();
        assert_eq!(check("link"), Err(ErrorKind::UnsafePath));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_nobody_ever_writes_to_is_not_waited_for() {
    let (folder, project) = project();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let (told, hear) = std::sync::mpsc::channel();
    let at = project.clone();
    std::thread::spawn(move || told.send(refusal(&at, "pipe")));
    let refused = hear.recv_timeout(Duration::from_secs(120)).expect("it does not wait");
    assert_eq!(refused, (ErrorKind::Other, "PROJECT/pipe is not a regular file".to_owned()));
    assert!(refusal(&project, "/dev/zero").1.contains("outside of the project"));
    let project = Project { allows_outside: true, ..project };
    assert!(refusal(&project, "/dev/zero").1.contains("is not a regular file"));
}

#[test]
fn a_file_outside_the_project_is_refused_unless_a_person_allows_it() {
    let (folder, mut project) = project();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().canonicalize().unwrap().join("secret.md");
    fs::write(&secret, "Secret.").unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("inside.md"), "Inside.").unwrap();
    let check = |project: &Project, path: &str| {
        assert_eq!(
            refusal(project, path),
            (
                ErrorKind::UnsafePath,
                format!(
                    "context file `{path}` is outside of the project PROJECT; use a file in the project, or pass `--allow-outside` to \
                     `prose run` or `prose resume`"
                )
            )
        );
    };
    let absolute = secret.to_str().unwrap();
    for path in [absolute, "../secret.md", "docs/../../secret.md", "gone/../../secret.md", "~/notes.md"] {
        check(&project, path);
    }
    // What counts is where a path leads.
    assert_eq!(read(&project, "docs/../inside.md").unwrap(), "Inside.");
    assert_eq!(
        refusal(&project, "docs/../gone.md"),
        (ErrorKind::Other, "PROJECT/gone.md does not exist".to_owned())
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        check(&project, "link/secret.md");
        check(&project, "link/../inside.md");
    }

    // Only `.prose` of the home folder is a place for programs.
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".prose")).unwrap();
    fs::write(home.path().join(".prose/notes.md"), "Notes.").unwrap();
    fs::write(home.path().join("notes.md"), "Private.").unwrap();
    project.home = Some(home.path().to_owned());
    assert_eq!(read(&project, "~/.prose/notes.md").unwrap(), "Notes.");
    check(&project, "~/notes.md");

    project.allows_outside = true;
    assert_eq!(read(&project, absolute).unwrap(), "Secret.");
    assert_eq!(read(&project, "~/notes.md").unwrap(), "Private.");
}
