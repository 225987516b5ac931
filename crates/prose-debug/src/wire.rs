//! The frames of the protocol: a length, an empty line, and an object of JSON.

use std::io::{self, BufRead, Read, Write};

/// The longest message that is accepted, in bytes.
const MAX_MESSAGE: u64 = 64 << 20;

/// The longest line of a header.
const MAX_HEADER: u64 = 8 << 10;

/// Reads the next message; `None` at the end of the input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(MAX_HEADER).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            match length {
                Some(length) => {
                    let mut message = vec![0; length];
                    input.read_exact(&mut message)?;
                    return Ok(Some(message));
                }
                // Blank lines between messages are harmless.
                None => continue,
            }
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid(format!("expected `Content-Length: …`, and the line is `{line}`")));
        };
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim();
            let read = value.parse().ok().filter(|length| *length as u64 <= MAX_MESSAGE);
            length = Some(read.ok_or_else(|| invalid(format!("a message cannot have {value} bytes")))?);
        }
    }
}

/// Writes a message.
pub(crate) fn write(output: &mut impl Write, message: &serde_json::Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_framed() {
        let mut written = Vec::new();
        write(&mut written, &serde_json::json!({ "seq": 1, "name": "é" })).unwrap();
        write(&mut written, &serde_json::json!({})).unwrap();
        let mut input = written.as_slice();
        assert_eq!(read(&mut input).unwrap().unwrap(), r#"{"name":"é","seq":1}"#.as_bytes());
        assert_eq!(read(&mut input).unwrap().unwrap(), b"{}");
        assert_eq!(read(&mut input).unwrap(), None);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for input in [
            "{}\n",
            "Content-Length: many\r\n\r\n",
            "Content-Length: 99999999999\r\n\r\n{}",
            "Content-Length: 9\r\n\r\n{}",
        ] {
            assert!(read(&mut input.as_bytes()).is_err(), "{input:?}");
        }
    }
}
