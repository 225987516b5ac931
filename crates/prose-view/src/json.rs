//! What JSON leaves out.

use serde::Serialize;
use serde::ser::SerializeMap;

/// Writes an entry if there is a value for it.
pub(crate) fn optional<M: SerializeMap>(
    map: &mut M,
    key: &'static str,
    value: &Option<impl Serialize>,
) -> Result<(), M::Error> {
    value.as_ref().map_or(Ok(()), |value| map.serialize_entry(key, value))
}

/// Whether a stretch of time says nothing.
pub(crate) fn is_zero_time(time: &u64) -> bool {
    *time == 0
}

/// Whether a count says nothing.
pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}
