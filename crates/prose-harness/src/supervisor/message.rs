//! What `prose` and a supervisor tell each other: the length of the prompt in eight bytes and the prompt one way, messages of five bytes the other, and
//! one more byte as soon as [`Message::Ended`] has been read.

#![cfg_attr(not(unix), allow(dead_code, reason = "there are no supervisors there"))]

/// What the supervisor says on the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    /// The program runs in the process group of this number.
    Started(i32),
    /// It cannot be started, by the number of the system's error.
    Failed(i32),
    /// It has ended with this status, as the system encodes it.
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

    /// Takes the first message out of what was read, if it is there as a whole.
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

/// What is sent before the prompt: how long it is.
pub(crate) fn prompt_head(prompt: &[u8]) -> [u8; 8] {
    (prompt.len() as u64).to_le_bytes()
}
