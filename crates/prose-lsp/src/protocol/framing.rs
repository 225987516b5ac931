//! The frames of the wire: `Content-Length: N`, an empty line, N bytes of JSON.
//!
//! A frame that cannot be read is an error with a message, and reading continues with the next frame.

use std::{fmt, io};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest message that is read. Positions inside a document are 32 bits wide and a message is held in memory several times.
const MAX_BODY: usize = 1 << 30;
/// The longest header line that is read as one. A longer one is no header, and garbage need not be held in memory.
const MAX_LINE: usize = 4096;
const LENGTH_HEADER: &str = "content-length:";

/// An invalid frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// Bytes that are no header where a header must stand, with a sample of them.
    NotAHeader(String),
    /// The headers end without a `Content-Length`.
    NoLength,
    /// A `Content-Length` that is not a number or not a sensible one.
    BadLength(String),
    /// The input ended inside a frame.
    CutOff,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::NotAHeader(text) => write!(
                f,
                "expected a header such as `Content-Length: 52`, found {text:?}; everything up to the next `Content-Length` is \
                 skipped"
            ),
            FrameError::NoLength => f.write_str("the headers of this message lack `Content-Length`"),
            FrameError::BadLength(text) => write!(
                f,
                "`Content-Length` must be a number of bytes from 0 to {MAX_BODY}, found {text:?}; everything up to the next \
                 `Content-Length` is skipped"
            ),
            FrameError::CutOff => f.write_str("the input ended in the middle of a message"),
        }
    }
}

/// Writes one frame, without flushing it.
pub(crate) async fn write_frame(output: &mut (impl AsyncWrite + Unpin), body: &[Vec<u8>]) -> io::Result<()> {
    let length: usize = body.iter().map(Vec::len).sum();
    output.write_all(format!("Content-Length: {length}\r\n\r\n").as_bytes()).await?;
    for piece in body {
        output.write_all(piece).await?;
    }
    Ok(())
}

/// Reads frames.
pub(crate) struct FrameReader<R> {
    input: R,
    /// The start of the next line, if that was taken from the input while looking for it.
    already_read: Vec<u8>,
    /// The garbage that was read when garbage follows. It is skipped only when the next frame is asked for, so that the error
    /// about it need not wait for more input.
    garbage: Option<Vec<u8>>,
}

impl<R: AsyncBufRead + Unpin> FrameReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, already_read: Vec::new(), garbage: None }
    }

    /// The body of the next frame; `None` at the end of the input.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Result<Vec<u8>, FrameError>>> {
        if let Some(garbage) = self.garbage.take() {
            self.skip_garbage(&garbage).await?;
        }
        let mut length = None;
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                return Ok(length.map(|_| Err(FrameError::CutOff)));
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\r', '\n']);
            if text.is_empty() {
                match length {
                    Some(length) => return self.body(length).await.map(Some),
                    None => return Ok(Some(Err(FrameError::NoLength))),
                }
            }
            match header_value(text) {
                Some(value) => match value.parse().ok().filter(|length| *length <= MAX_BODY) {
                    Some(value) => length = Some(value),
                    None => {
                        self.garbage = Some(Vec::new());
                        return Ok(Some(Err(FrameError::BadLength(value.to_owned()))));
                    }
                },
                None if is_other_header(text) => {}
                None => {
                    let error = FrameError::NotAHeader(text.chars().take(60).collect());
                    self.garbage = Some(line);
                    return Ok(Some(Err(error)));
                }
            }
        }
    }

    async fn body(&mut self, length: usize) -> io::Result<Result<Vec<u8>, FrameError>> {
        // The buffer grows with the input, so that a large announced length takes no memory.
        let mut body = Vec::new();
        (&mut self.input).take(length as u64).read_to_end(&mut body).await?;
        Ok(if body.len() == length { Ok(body) } else { Err(FrameError::CutOff) })
    }

    /// One line with its end, or the first [`MAX_LINE`] bytes of it; empty at the end of the input.
    async fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = std::mem::take(&mut self.already_read);
        if line.ends_with(b"\n") {
            return Ok(line);
        }
        (&mut self.input).take(MAX_LINE as u64).read_until(b'\n', &mut line).await?;
        Ok(line)
    }

    /// Skips `garbage`, which was read already, and the input up to the next length header, also inside a line.
    async fn skip_garbage(&mut self, garbage: &[u8]) -> io::Result<()> {
        let header = LENGTH_HEADER.as_bytes();
        let mut garbage = garbage.iter().copied();
        let mut matched = 0;
        while matched < header.len() {
            let byte = match garbage.next() {
                Some(byte) => byte,
                None => match self.input.read_u8().await {
                    Ok(byte) => byte,
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                    Err(error) => return Err(error),
                },
            };
            let byte = byte.to_ascii_lowercase();
            // The first letter stands nowhere else in the header, so a mismatch can only be a new beginning.
            matched = if byte == header[matched] { matched + 1 } else { usize::from(byte == header[0]) };
        }
        self.already_read = header.iter().copied().chain(garbage).collect();
        Ok(())
    }
}

fn header_value(line: &str) -> Option<&str> {
    let name = line.get(..LENGTH_HEADER.len())?;
    name.eq_ignore_ascii_case(LENGTH_HEADER).then(|| line[LENGTH_HEADER.len()..].trim())
}

fn is_other_header(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bodies of the frames in `input`, errors in angle brackets.
    fn read(input: &[u8]) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // A buffer of a few bytes has every header and body arrive in pieces.
        let mut frames = FrameReader::new(tokio::io::BufReader::with_capacity(5, input));
        let mut bodies = Vec::new();
        while let Some(frame) = runtime.block_on(frames.next()).unwrap() {
            bodies.push(
                frame.map_or_else(|error| format!("<{error}>"), |body| String::from_utf8(body).unwrap()),
            );
        }
        bodies
    }

    #[test]
    fn a_frame_is_written_with_its_length() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut output = Vec::new();
        runtime.block_on(write_frame(&mut output, &[b"[1,".to_vec(), b"2]".to_vec()])).unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), "Content-Length: 5\r\n\r\n[1,2]");
    }

    const SKIPPED: &str = "everything up to the next `Content-Length` is skipped";

    #[test]
    fn good_frames_pass() {
        assert_eq!(read(b"Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\n[{}]"), ["{}", "[{}]"]);
    }

    #[test]
    fn header_names_have_no_case_and_other_headers_are_allowed() {
        let input = b"content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:2\r\n\r\n{}";
        assert_eq!(read(input), ["{}"]);
    }

    #[test]
    fn lines_may_end_with_a_line_feed_alone() {
        assert_eq!(read(b"Content-Length: 2\n\n{}"), ["{}"]);
    }

    #[test]
    fn garbage_costs_one_error_and_the_next_frame_is_read() {
        let input = b"hello\nworld CoContent-Length: 2\r\n\r\n{}";
        let error = format!("<expected a header such as `Content-Length: 52`, found \"hello\"; {SKIPPED}>");
        assert_eq!(read(input), [error, "{}".to_owned()]);
    }

    #[test]
    fn a_body_longer_than_announced_costs_one_error() {
        let input = b"Content-Length: 2\r\n\r\n{} and more}Content-Length: 2\r\n\r\n[]";
        let found = "found \" and more}Content-Length: 2\"";
        let error = format!("<expected a header such as `Content-Length: 52`, {found}; {SKIPPED}>");
        assert_eq!(read(input), ["{}".to_owned(), error, "[]".to_owned()]);
    }

    #[test]
    fn a_length_that_is_no_number_or_far_too_large_costs_one_error() {
        for length in ["many", "-1", "99999999999", "1073741825", "99999999999999999999999999"] {
            let input = format!("Content-Length: {length}\r\n\r\n{{}}Content-Length: 2\r\n\r\n[]");
            let range = "must be a number of bytes from 0 to 1073741824";
            let error = format!("<`Content-Length` {range}, found {length:?}; {SKIPPED}>");
            assert_eq!(read(input.as_bytes()), [error, "[]".to_owned()]);
        }
    }

    #[test]
    fn headers_without_a_length_cost_one_error() {
        let input = b"Content-Type: x\r\n\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(read(input), ["<the headers of this message lack `Content-Length`>", "{}"]);
    }

    #[test]
    fn a_long_line_of_garbage_is_not_held_in_memory() {
        let mut input = vec![b'x'; 3 * MAX_LINE];
        input.extend(b"Content-Length: 2\r\n\r\n{}");
        assert_eq!(read(&input).last().map(String::as_str), Some("{}"));
    }

    #[test]
    fn an_input_that_ends_inside_a_frame_is_an_error() {
        assert_eq!(read(b"Content-Length: 20\r\n\r\n{}"), ["<the input ended in the middle of a message>"]);
        assert_eq!(read(b"Content-Length: 20\r\n"), ["<the input ended in the middle of a message>"]);
    }
}
