//! Places in a text that was parsed, by lines.

use prose_syntax::TextSize;

/// The ends of lines; `\r\n` is both, one after the other.
pub(crate) const LINE_BREAKS: [char; 2] = ['\n', '\r'];

/// The start of the line of an offset.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind(LINE_BREAKS).map_or(0, |index| index + 1)
}

/// The end of the line of an offset, before its line break.
pub(crate) fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find(LINE_BREAKS).map_or(text.len(), |length| offset + length)
}

/// An offset as the tree counts it.
pub(crate) fn size(bytes: usize) -> TextSize {
    // The text was parsed, so its length fits.
    TextSize::new(bytes as u32)
}
