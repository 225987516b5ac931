//! The protocol between `prose` and a supervisor. In one direction: the standard input of the program in parts with their length in four bytes, until
//! an empty part closes it, and one more byte after [`Message::Ended`] has been read. In the other: messages of five bytes.

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

/// The maximum length of a part of the input.
pub(crate) const MAX_PART: usize = u32::MAX as usize;

/// The header before a part of the input: its length. A part of length 0 closes the input.
pub(crate) fn part_head(part: &[u8]) -> [u8; 4] {
    u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes()
}
