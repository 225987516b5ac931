//! The form of a line of the journal.

/// What a line starts with; the checksum follows as eight hexadecimal digits.
pub(crate) const LINE_START: &[u8] = b"{\"crc\":\"";
/// What stands between the checksum and the event.
pub(crate) const BEHIND_CHECKSUM: &[u8] = b"\",";
/// What stands before the seal of the first line, which covers what comes after it.
pub(crate) const SEAL_START: &[u8] = b"\"seal\":\"";
/// How long the part of a line is that the checksum does not cover.
pub(crate) const PREFIX: usize = LINE_START.len() + 8 + BEHIND_CHECKSUM.len();

/// The first version whose checksums start from the id of the run.
const VERSION_WITH_SEED: u32 = 2;

/// What the checksums of a run's lines after the head start from.
pub(crate) fn seed_of_run(version: u32, run: &str) -> u32 {
    if version < VERSION_WITH_SEED { 0 } else { crc32fast::hash(run.as_bytes()) }
}

/// The checksum of a line, without the part that it stands in.
pub(crate) fn checksum_of(bytes: &[u8], seed: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    hasher.update(bytes);
    hasher.finalize()
}
