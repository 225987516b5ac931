//! Reads files up to a limit, without blocking on pipes and devices.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The maximum size of a kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What the file holds, after an article: `a program`.
    pub what: &'static str,
    /// The number of bytes.
    pub bytes: u64,
}

impl Limit {
    /// Programs, and documents with programs in them.
    pub const PROGRAM: Self = Self::new("a program", 16 << 20);
    /// `prose.toml`.
    pub const SETTINGS: Self = Self::new("a settings file", 1 << 20);
    /// Memories of agents.
    pub const MEMORY: Self = Self::new("an agent memory", 1 << 20);
    /// Context files: a model that shortens one has to read all of it, and none reads more than this.
    pub const CONTEXT: Self = Self::new("a context file", 1 << 20);
    /// Scripts of the harness `script`.
    pub const SCRIPT: Self = Self::new("a script", 64 << 20);
    /// Inputs of runs.
    pub const INPUTS: Self = Self::new("an inputs file", 16 << 20);
    /// Narrations that a run is resumed from.
    pub const NARRATION: Self = Self::new("a narration", 256 << 20);
    /// Lock files and the indexes of vendored programs.
    pub const LOCK: Self = Self::new("a lock file", 16 << 20);
    /// Files that runs keep, other than journals, which are read line by line.
    pub const STATE: Self = Self::new("a run file", 256 << 20);

    const fn new(what: &'static str, bytes: u64) -> Self {
        Self { what, bytes }
    }
}

/// Why a file cannot be read. Displayed as the rest of a sentence that starts with the path.
#[derive(Debug)]
pub enum ReadError {
    /// The file does not exist.
    Missing,
    /// A broken symbolic link, and its target.
    BrokenLink(PathBuf),
    /// A link, where none is followed.
    Link,
    /// A folder.
    Folder,
    /// A named pipe, which may never have a writer.
    Pipe,
    /// A device or a socket.
    Special,
    /// It has more bytes than the limit.
    TooLarge(Limit),
    /// Invalid UTF-8, as a message.
    Encoding(String),
    /// The system reports an error.
    Io(io::Error),
}

impl ReadError {
    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Io(error) => error.kind() == io::ErrorKind::NotADirectory,
            _ => false,
        }
    }

    fn of(path: &Path, error: io::Error) -> Self {
        let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        match error.kind() {
            io::ErrorKind::NotFound if is_link => Self::BrokenLink(path.read_link().unwrap_or_default()),
            io::ErrorKind::NotFound => Self::Missing,
            // Loops have no stable kind yet.
            _ if is_link && path.canonicalize().is_err() => {
                let why = format!("is a symbolic link that cannot be followed: {}", reason(&error));
                Self::Io(io::Error::new(error.kind(), Said(why)))
            }
            _ => Self::Io(error),
        }
    }
}

/// An error whose text is the end of the sentence already.
#[derive(Debug)]
struct Said(String);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Said {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("does not exist"),
            Self::BrokenLink(target) => {
                write!(f, "is a symbolic link to `{}`, which does not exist", target.display())
            }
            Self::Link => f.write_str("is a symbolic link, which is not followed"),
            Self::Folder => f.write_str("is a folder, not a file"),
            Self::Pipe => f.write_str("is a named pipe, not a file"),
            Self::Special => f.write_str("is neither a file nor a folder"),
            Self::TooLarge(Limit { what, bytes }) => {
                write!(f, "is too large: {what} may have at most {} MiB", bytes >> 20)
            }
            Self::Encoding(why) => f.write_str(why),
            Self::Io(error) => match error.get_ref().is_some_and(|inner| inner.is::<Said>()) {
                true => write!(f, "{error}"),
                false => write!(f, "cannot be read: {}", reason(error)),
            },
        }
    }
}

impl std::error::Error for ReadError {}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        let kind = match &error {
            ReadError::Io(error) => error.kind(),
            ReadError::Missing | ReadError::BrokenLink(_) => io::ErrorKind::NotFound,
            ReadError::Folder => io::ErrorKind::IsADirectory,
            ReadError::TooLarge(_) => io::ErrorKind::FileTooLarge,
            ReadError::Encoding(_) => io::ErrorKind::InvalidData,
            ReadError::Link | ReadError::Pipe | ReadError::Special => io::ErrorKind::InvalidInput,
        };
        match error {
            ReadError::Io(error) => error,
            error => io::Error::new(kind, error),
        }
    }
}

/// Reads a file. Pipes, devices, sockets, folders and files over the limit are rejected without waiting.
pub fn read(path: &Path, limit: Limit) -> Result<Vec<u8>, ReadError> {
    let (file, length) = open(path, limit)?;
    read_all(path, file, length, limit)
}

/// The same for a file with a text.
pub fn read_text(path: &Path, limit: Limit) -> Result<String, ReadError> {
    decode(read(path, limit)?)
}

/// Reads a file named on a command line: also a pipe that the shell has made for `<(command)`, and `/dev/null`, which is empty.
/// Others are rejected as by [`read()`].
pub fn read_named(path: &Path, limit: Limit) -> Result<Vec<u8>, ReadError> {
    match is_made_by_shell(path) {
        true => {
            let file = File::open(path).map_err(|error| ReadError::of(path, error))?;
            read_all(path, file, 0, limit)
        }
        false => read(path, limit),
    }
}

/// The same for a file with a text.
pub fn read_named_text(path: &Path, limit: Limit) -> Result<String, ReadError> {
    decode(read_named(path, limit)?)
}

/// Reads a stream that is open already, such as standard input, to its end.
pub fn read_stream(stream: impl Read, limit: Limit) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    stream.take(limit.bytes + 1).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    within(bytes, limit)
}

fn read_all(path: &Path, file: File, length: u64, limit: Limit) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    // A failure to reserve is left to reading, which finds the actual size.
    let _ = bytes.try_reserve_exact(usize::try_from(length).unwrap_or_default().saturating_add(1));
    file.take(limit.bytes + 1).read_to_end(&mut bytes).map_err(|error| ReadError::of(path, error))?;
    within(bytes, limit)
}

fn within(bytes: Vec<u8>, limit: Limit) -> Result<Vec<u8>, ReadError> {
    // A file may grow while it is read, and some tell no length at all.
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= limit.bytes => Ok(bytes),
        _ => Err(ReadError::TooLarge(limit)),
    }
}

/// Opens a regular file within the limit, and says how long it is.
fn open(path: &Path, limit: Limit) -> Result<(File, u64), ReadError> {
    let io = |error| ReadError::of(path, error);
    // Asked before it is opened as well, since opening a device may do something.
    check(&path.metadata().map_err(io)?, limit)?;
    let file = match not_blocking(OpenOptions::new().read(true)).open(path) {
        // Another process has a lease on the file, which is given up for one that waits.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => File::open(path),
        opened => opened,
    };
    let file = file.map_err(io)?;
    // Another file may have taken its place since.
    let length = check(&file.metadata().map_err(io)?, limit)?;
    Ok((file, length))
}

/// Refuses what is not a regular file within the limit.
pub(crate) fn check(metadata: &Metadata, limit: Limit) -> Result<u64, ReadError> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        return Err(ReadError::Folder);
    }
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&kind) {
        return Err(ReadError::Pipe);
    }
    if !kind.is_file() {
        return Err(ReadError::Special);
    }
    match metadata.len() {
        length if length > limit.bytes => Err(ReadError::TooLarge(limit)),
        length => Ok(length),
    }
}

/// Opening a pipe without a writer would block otherwise.
#[cfg(unix)]
fn not_blocking(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed())
}

#[cfg(not(unix))]
fn not_blocking(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether a path leads to a pipe that surely has a writer, or to nothing.
#[cfg(unix)]
fn is_made_by_shell(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let Ok(metadata) = path.metadata() else { return false };
    let kind = metadata.file_type();
    if kind.is_fifo() {
        // Pipes of shells have paths such as `/dev/fd/63`, or `/proc/self/fd/63`.
        return path.starts_with("/dev") || path.starts_with("/proc");
    }
    kind.is_char_device() && path.canonicalize().is_ok_and(|path| path == Path::new("/dev/null"))
}

#[cfg(not(unix))]
fn is_made_by_shell(_: &Path) -> bool {
    false
}

/// The text in bytes, which have to be UTF-8.
pub fn decode(bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes)
        .map_err(|error| ReadError::Encoding(not_utf8(error.as_bytes(), error.utf8_error().valid_up_to())))
}

fn not_utf8(bytes: &[u8], offset: usize) -> String {
    if is_utf16(bytes) {
        return "is encoded in UTF-16; save it as UTF-8".to_owned();
    }
    let line = line_breaks(&bytes[..offset]) + 1;
    let byte = bytes[offset];
    format!("is not valid UTF-8: byte 0x{byte:02x} at offset {offset}, in line {line}")
}

/// Whether bytes begin with the byte order mark of UTF-16, as some editors on Windows write it.
pub fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// How many lines end in bytes: at `\n`, `\r\n` and `\r`.
fn line_breaks(bytes: &[u8]) -> usize {
    let ends = |(index, byte): (usize, &u8)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(index + 1) != Some(&b'\n'),
        _ => false,
    };
    bytes.iter().enumerate().filter(|&found| ends(found)).count()
}

/// The system's message for an error, without the number that Rust adds.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use expect_test::{Expect, expect};

    const SMALL: Limit = Limit::new("a test", 1 << 20);

    #[track_caller]
    fn check_decoded(bytes: &[u8], expected: Expect) {
        expected.assert_eq(&decode(bytes.to_vec()).unwrap_or_else(|problem| problem.to_string()));
    }

    #[test]
    fn invalid_utf8_is_placed() {
        check_decoded(
            b"session \"a\"\nsession \"\xff\"\n",
            expect!["is not valid UTF-8: byte 0xff at offset 21, in line 2"],
        );
        check_decoded(b"a\r\nb\rc\n\xff", expect!["is not valid UTF-8: byte 0xff at offset 7, in line 4"]);
        check_decoded(b"cut \xe2\x82", expect!["is not valid UTF-8: byte 0xe2 at offset 4, in line 1"]);
    }

    #[test]
    fn utf16_is_recognised() {
        check_decoded(b"\xff\xfes\0e\0", expect!["is encoded in UTF-16; save it as UTF-8"]);
    }

    #[test]
    fn a_file_over_the_limit_is_refused_and_one_at_the_limit_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        File::create(&path).unwrap().set_len(SMALL.bytes).unwrap();
        assert_eq!(read(&path, SMALL).unwrap().len() as u64, SMALL.bytes);
        File::create(&path).unwrap().set_len(SMALL.bytes + 1).unwrap();
        assert_eq!(
            read(&path, SMALL).unwrap_err().to_string(),
            "is too large: a test may have at most 1 MiB"
        );
        let endless = read_stream(io::repeat(b'a'), SMALL).unwrap_err();
        assert_eq!(endless.to_string(), "is too large: a test may have at most 1 MiB");
    }

    #[test]
    fn what_is_not_there_is_told_from_what_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let gone = read(&folder.path().join("gone"), SMALL).unwrap_err();
        assert!(gone.is_missing());
        assert_eq!(gone.to_string(), "does not exist");
        let error = read(folder.path(), SMALL).unwrap_err();
        assert!(!error.is_missing());
        assert_eq!(error.to_string(), "is a folder, not a file");
    }

    /// Pipes, sockets and devices would make a reader wait, or never end.
    #[test]
    #[cfg(target_os = "linux")]
    fn pipes_sockets_and_devices_are_refused_at_once() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for read in [read, read_named] {
            assert_eq!(read(&pipe, SMALL).unwrap_err().to_string(), "is a named pipe, not a file");
            assert_eq!(read(&link, SMALL).unwrap_err().to_string(), "is a named pipe, not a file");
            assert_eq!(read(&socket, SMALL).unwrap_err().to_string(), "is neither a file nor a folder");
            let zero = read(Path::new("/dev/zero"), SMALL).unwrap_err();
            assert_eq!(zero.to_string(), "is neither a file nor a folder");
        }
        assert!(read(Path::new("/dev/null"), SMALL).is_err());
        assert_eq!(read_named(Path::new("/dev/null"), SMALL).unwrap(), b"");
        // It reports no length and has an end.
        assert!(!read(Path::new("/proc/self/status"), SMALL).unwrap().is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_of_a_shell_is_read_up_to_the_limit() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let through = |text: &'static str, count: usize| {
            let (reader, mut writer) = io::pipe().unwrap();
            let thread = std::thread::spawn(move || {
                // The reader may have enough before everything is written.
                let _ = (0..count).try_for_each(|_| writer.write_all(text.as_bytes()));
            });
            let path = format!("/dev/fd/{}", reader.as_raw_fd());
            let read = read_named_text(Path::new(&path), SMALL);
            drop(reader);
            thread.join().unwrap();
            read
        };
        assert_eq!(through("abc", 2).unwrap(), "abcabc");
        assert_eq!(
            through("abcdefgh", 1 << 18).unwrap_err().to_string(),
            "is too large: a test may have at most 1 MiB"
        );
    }

    #[test]
    #[cfg(unix)]
    fn links_that_lead_nowhere_say_so() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("gone", &link).unwrap();
        assert_eq!(
            read(&link, SMALL).unwrap_err().to_string(),
            "is a symbolic link to `gone`, which does not exist"
        );
        let around = folder.path().join("around");
        symlink(&around, &around).unwrap();
        let error = read(&around, SMALL).unwrap_err().to_string();
        assert!(error.starts_with("is a symbolic link that cannot be followed: "), "{error}");
    }
}
