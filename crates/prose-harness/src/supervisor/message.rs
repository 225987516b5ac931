//! The protocol between `prose` and a supervisor: the length of the prompt in eight bytes and the prompt in one direction, messages of five bytes in
//! the other, and one more byte after [`Message::Ended`] has been read.

#![cfg_attr(not(unix), allow(dead_code, reason = "there are no supervisors there"))]

/// A message of the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    /// The program runs in this process group.
    Started(i32),
    /// It cannot be started, with the number of the system error.
    Failed(i32),
    /// It has exited with this status, as the system encodes it.
    Ended(i32),
}

impl Message {
    pub(crate) const LEN: usize = 5;

    pub(super) fn encode(self) -> [u8; Self::LEN] {
        let (tag, number) = match self {
            Message::Started(number) => (b's', number),
            Message::Failed(number) => (b'f', number),
            Message::Ended(number) => (b'e', number),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [tag, a, b, c, d]
    }

    /// Removes the first complete message from the buffer.
    pub(crate) fn take(bytes: &mut Vec<u8>) -> Option<Self> {
        let &[tag, a, b, c, d] = bytes.first_chunk::<{ Self::LEN }>()?;
        bytes.drain(..Self::LEN);
        let number = i32::from_le_bytes([a, b, c, d]);
        match tag {
            b's' => Some(Message::Started(number)),
            b'f' => Some(Message::Failed(number)),
            b'e' => Some(Message::Ended(number)),
            _ => None,
        }
    }
}

/// The header before the prompt: its length.
pub(crate) fn prompt_head(prompt: &[u8]) -> [u8; 8] {
    (prompt.len() as u64).to_le_bytes()
}
