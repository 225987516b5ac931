//! Starts programs of agents and stops them with their descendants.

use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use tempfile::TempPath;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

#[cfg(unix)]
use crate::supervisor::{self, GRACE};
use crate::supervisor::{Group, Message};

/// How long output is read after a program has exited. Only background processes still write then, possibly forever.
pub(crate) const LINGER: Duration = Duration::from_millis(300);

/// A program to start.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name, which is searched in `PATH`, or its path.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder in which it works.
    pub folder: PathBuf,
    /// The complete environment.
    pub variables: Vec<(String, String)>,
    /// Files that it reads while it runs, which are removed after its end, also if this process is killed.
    pub files: Vec<Arc<TempPath>>,
}

/// A started program. It is stopped with its descendants when this is dropped before it has exited.
pub(crate) struct Process {
    running: Running,
    /// The messages of the supervisor, if there is one.
    messages: Option<Messages>,
    said: Vec<u8>,
}

/// The output of a program.
pub(crate) struct Output {
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

/// What happens to a started program.
pub(crate) enum Change {
    /// The supervisor has started it.
    Started,
    /// The supervisor could not start it.
    NotStarted(io::Error),
    /// It has exited.
    Exited(ExitStatus),
    /// Its state is unknown from now on.
    Lost(io::Error),
}

impl Process {
    /// Starts a program, through a supervisor if there is one.
    pub(crate) fn start(
        program: Program,
        supervisor: Option<&Path>,
        endings: &Arc<Endings>,
    ) -> io::Result<(Self, Input, Output)> {
        let files = program.files.clone();
        let (mut child, messages, input) = spawn(program, supervisor)?;
        let output = Output { stdout: child.stdout.take(), stderr: child.stderr.take() };
        let is_supervised = messages.is_some();
        let group = match is_supervised {
            true => None,
            false => child.id().and_then(|id| i32::try_from(id).ok()).map(Group::new),
        };
        let endings = Arc::clone(endings);
        let running = Running { child: Some(child), group, is_supervised, input: None, files, endings };
        Ok((Self { running, messages, said: Vec::new() }, input, output))
    }

    /// Whether a supervisor reports the start.
    pub(crate) fn is_supervised(&self) -> bool {
        self.running.is_supervised
    }

    /// The next change, until the program has exited. Dropping the future loses none.
    pub(crate) async fn change(&mut self) -> Change {
        if !self.running.is_supervised {
            let Some(child) = &mut self.running.child else { return std::future::pending().await };
            return child.wait().await.map_or_else(Change::Lost, Change::Exited);
        }
        match next_message(&mut self.messages, &mut self.said).await {
            Some(Message::Started(group)) => {
                self.running.group = Some(Group::new(group));
                Change::Started
            }
            Some(Message::Failed(error)) => {
                // There is nothing to stop.
                self.running.child = None;
                Change::NotStarted(io::Error::from_raw_os_error(error))
            }
            Some(Message::Ended(status)) => Change::Exited(supervised_status(status)),
            None => Change::Lost(io::Error::other("its supervisor process has exited")),
        }
    }

    /// Keeps the input of a program that is being stopped open until it has exited: some take its end for an answer, and work on before they are stopped.
    pub(crate) fn keep_open(&mut self, input: Box<dyn Send + Sync>) {
        // A supervisor does that itself, and stops the program when this end is closed.
        if !self.running.is_supervised {
            self.running.input = Some(input);
        }
    }

    /// Leaves the background processes of a program that has exited running, such as a server that it has started.
    pub(crate) fn leave(&mut self) {
        self.running.child = None;
    }
}

/// The standard input of a program.
pub(crate) enum Input {
    /// The pipe, until it is closed.
    Program(Option<ChildStdin>),
    /// The supervisor, which passes it on. The program runs as long as this end is open.
    #[cfg(unix)]
    Supervisor(tokio::net::unix::OwnedWriteHalf),
}

impl Input {
    /// Writes to it. A program may ignore its input; a lost supervisor is detected where its messages are read.
    pub(crate) async fn write(&mut self, text: &[u8]) {
        match self {
            Input::Program(stdin) => {
                if let Some(pipe) = stdin
                    && pipe.write_all(text).await.is_err()
                {
                    *stdin = None;
                }
            }
            #[cfg(unix)]
            Input::Supervisor(socket) => {
                for part in text.chunks(supervisor::MAX_PART) {
                    let _ = socket.write_all(&supervisor::part_head(part)).await;
                    let _ = socket.write_all(part).await;
                }
            }
        }
    }

    /// Closes it. What remains keeps the program running, and acknowledges its exit.
    pub(crate) async fn close(self) -> Closed {
        match self {
            Input::Program(stdin) => {
                drop(stdin);
                Closed {
                    #[cfg(unix)]
                    supervisor: None,
                }
            }
            #[cfg(unix)]
            Input::Supervisor(mut socket) => {
                let _ = socket.write_all(&supervisor::part_head(&[])).await;
                Closed { supervisor: Some(socket) }
            }
        }
    }
}

/// The closed standard input of a program.
pub(crate) struct Closed {
    #[cfg(unix)]
    supervisor: Option<tokio::net::unix::OwnedWriteHalf>,
}

impl Closed {
    /// Lets the supervisor of a program that has exited exit, too.
    pub(crate) async fn acknowledge_exit(self) {
        #[cfg(unix)]
        if let Some(mut socket) = self.supervisor {
            let _ = socket.write_all(&[0]).await;
        }
    }
}

/// Starts a program, through a supervisor if there is one.
fn spawn(program: Program, supervisor: Option<&Path>) -> io::Result<(Child, Option<Messages>, Input)> {
    let Program { program, arguments, folder, variables, files } = program;
    let spare = spare_files()?;
    let mut command = Command::new(supervisor.unwrap_or(Path::new(&program)));
    #[cfg(unix)]
    let mut ours = None;
    match supervisor {
        #[cfg(unix)]
        Some(_) => {
            let (our_end, its_end) = UnixStream::pair()?;
            our_end.set_nonblocking(true)?;
            // The name differs from `prose`, so that killing processes by that name spares the supervisors.
            command.arg0(supervisor::COMMAND).arg(supervisor::COMMAND);
            command.args(files.iter().map(|file| &***file)).arg(supervisor::END_OF_FILES).arg(program);
            command.stdin(OwnedFd::from(its_end));
            ours = Some(tokio::net::UnixStream::from_std(our_end)?);
        }
        _ => _ = command.stdin(Stdio::piped()),
    }
    command.args(arguments).current_dir(folder).env_clear().envs(variables);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // A separate process group, so that all descendants can be stopped together, and ctrl-C in the terminal reaches only the run.
    #[cfg(unix)]
    command.process_group(0);
    // On other systems the program is stopped without its descendants.
    #[cfg(not(unix))]
    command.kill_on_drop(true);
    let mut child = command.spawn()?;
    drop(spare);
    #[cfg(unix)]
    if let Some(ours) = ours {
        let (messages, socket) = ours.into_split();
        return Ok((child, Some(messages), Input::Supervisor(socket)));
    }
    let input = Input::Program(child.stdin.take());
    Ok((child, None, input))
}

/// Whether a program could not be started because the system has too few file descriptors, processes or memory, which may change.
fn is_out_of_resources(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;

        let number = error.raw_os_error().map(Errno::from_raw_os_error);
        matches!(number, Some(Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM))
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::OutOfMemory
    }
}

/// The failure of a session whose program could not be started.
pub(crate) fn not_started(
    name: &str,
    program: &str,
    folder: &Path,
    install: Option<&str>,
    error: &io::Error,
) -> Failure {
    if is_out_of_resources(error) {
        let message = format!("the system has no resources to start another `{program}` now: {error}.");
        return Failure { kind: ErrorKind::OutOfResources, message };
    }
    if error.kind() != io::ErrorKind::NotFound {
        return Failure::session(format!("cannot start `{program}`: {error}"));
    }
    if !folder.is_dir() {
        let folder = folder.display();
        return Failure::session(format!("the working folder `{folder}` for {name} does not exist"));
    }
    let hint = match install {
        Some(install) => {
            format!(
                "install {name}, for example with `{install}`; if it is installed, add its folder to `PATH`"
            )
        }
        None => "install it, or set another program in `run.command` in `prose.toml`".to_owned(),
    };
    Failure::session(format!("program `{program}` is not found; {hint}"))
}

/// The number of files that the run itself may need: a program is not started with the last available descriptors.
const SPARE_FILES: usize = 8;

fn spare_files() -> io::Result<Vec<std::fs::File>> {
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    (0..SPARE_FILES).map(|_| std::fs::File::open(null)).collect()
}

#[cfg(unix)]
type Messages = tokio::net::unix::OwnedReadHalf;

/// There are no supervisors on this system.
#[cfg(not(unix))]
enum Messages {}

/// The next message of the supervisor; `None` when it has exited.
#[cfg(unix)]
async fn next_message(from: &mut Option<Messages>, said: &mut Vec<u8>) -> Option<Message> {
    loop {
        if let Some(message) = Message::take(said) {
            return Some(message);
        }
        match from.as_mut()?.read_buf(said).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

#[cfg(not(unix))]
async fn next_message(from: &mut Option<Messages>, _: &mut Vec<u8>) -> Option<Message> {
    match *from.as_mut()? {}
}

#[cfg(unix)]
fn supervised_status(raw: i32) -> ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(raw)
}

#[cfg(not(unix))]
fn supervised_status(raw: i32) -> ExitStatus {
    std::os::windows::process::ExitStatusExt::from_raw(raw.cast_unsigned())
}

/// Reads available output; nothing at the end.
pub(crate) async fn read<'b, R: AsyncRead + Unpin>(
    from: &mut Option<R>,
    buffer: &'b mut [u8],
) -> io::Result<&'b [u8]> {
    let read = match from {
        Some(from) => from.read(buffer).await?,
        None => 0,
    };
    Ok(&buffer[..read])
}

/// Waits until a time; forever without one.
pub(crate) async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// The programs that are being stopped.
#[derive(Debug)]
pub struct Endings {
    count: watch::Sender<usize>,
    is_hurried: AtomicBool,
}

impl Default for Endings {
    fn default() -> Self {
        Self { count: watch::Sender::new(0), is_hurried: AtomicBool::new(false) }
    }
}

impl Endings {
    /// Waits until none is left.
    pub async fn settled(&self) {
        // It is an error only when the sender is gone.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Gives programs no time to clean up from now on. After a rejected key there is nothing that they could save.
    pub(crate) fn hurry(&self) {
        self.is_hurried.store(true, Ordering::Relaxed);
    }

    pub(crate) fn are_hurried(&self) -> bool {
        self.is_hurried.load(Ordering::Relaxed)
    }

    pub(crate) fn begin(self: &Arc<Self>) -> Ending {
        self.count.send_modify(|count| *count += 1);
        Ending(Arc::clone(self))
    }
}

/// A program that is being stopped.
pub(crate) struct Ending(Arc<Endings>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.count.send_modify(|count| *count -= 1);
    }
}

/// Stops a program with its descendants when dropped before the program has exited.
#[cfg_attr(not(unix), allow(dead_code, reason = "the runtime ends the program there"))]
struct Running {
    /// The program or its supervisor.
    child: Option<Child>,
    /// The process group of the program; `None` until its supervisor has reported it.
    group: Option<Group>,
    is_supervised: bool,
    /// What keeps the input of the program open.
    input: Option<Box<dyn Send + Sync>>,
    /// What it reads while it runs.
    files: Vec<Arc<TempPath>>,
    endings: Arc<Endings>,
}

#[cfg(unix)]
impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let ending = self.endings.begin();
        let (group, files) = (self.group.take(), std::mem::take(&mut self.files));
        if let Some(group) = group.as_ref().filter(|_| self.endings.are_hurried()) {
            group.kill();
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_supervised {
            // The closed socket makes the supervisor stop the program. The supervisor itself may be suspended or killed.
            runtime.spawn(async move {
                if tokio::time::timeout(2 * GRACE, child.wait()).await.is_err() {
                    let _ = child.start_kill();
                }
                if let Some(group) = group
                    && group.is_running()
                {
                    group.kill();
                }
                drop(files);
                drop(ending);
            });
            return;
        }
        let Some(group) = group else { return };
        let input = self.input.take();
        group.terminate();
        let last_resort = LastResort(group);
        runtime.spawn(async move {
            let end = Instant::now() + GRACE;
            let _ = tokio::time::timeout(GRACE, child.wait()).await;
            while last_resort.0.is_running() && Instant::now() < end {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            drop(last_resort);
            let _ = child.wait().await;
            drop(input);
            drop(files);
            drop(ending);
        });
    }
}

/// Kills the rest of a process group when dropped, which is after its grace period, or earlier when the runtime ends.
#[cfg(unix)]
struct LastResort(Group);

#[cfg(unix)]
impl Drop for LastResort {
    fn drop(&mut self) {
        if self.0.is_running() {
            self.0.kill();
        }
    }
}
