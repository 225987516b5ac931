//! What lines of a narration start with (R107).

/// How markers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Markers {
    /// `[Position]`
    #[default]
    Brackets,
    /// `📍`; markers that have none stand between brackets.
    Emoji,
}

/// What a line of a narration is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as they are written")]
pub enum Marker {
    Program,
    Position,
    Binding,
    Input,
    Output,
    Import,
    Success,
    Warning,
    Error,
    Parallel,
    Loop,
    Pipeline,
    Try,
    Flow,
    FrameEntered,
    FrameLeft,
    CallStack,
}

/// Each marker, its word, and its emoji if it has one.
pub(crate) const TABLE: &[(Marker, &str, Option<&str>)] = &[
    (Marker::Program, "Program", Some("📋")),
    (Marker::Position, "Position", Some("📍")),
    (Marker::Binding, "Binding", Some("📦")),
    (Marker::Input, "Input", None),
    (Marker::Output, "Output", None),
    (Marker::Import, "Import", None),
    (Marker::Success, "Success", Some("✅")),
    (Marker::Warning, "Warning", Some("⚠️")),
    (Marker::Error, "Error", None),
    (Marker::Parallel, "Parallel", Some("🔀")),
    (Marker::Loop, "Loop", Some("🔄")),
    (Marker::Pipeline, "Pipeline", Some("🔗")),
    (Marker::Try, "Try", Some("🛡️")),
    (Marker::Flow, "Flow", Some("➡️")),
    (Marker::FrameEntered, "Frame+", None),
    (Marker::FrameLeft, "Frame-", None),
    (Marker::CallStack, "CallStack", None),
];

impl Markers {
    /// A marker as it is written.
    pub fn write(self, marker: Marker) -> String {
        let row = TABLE.iter().find(|row| row.0 == marker);
        match (self, row) {
            (Markers::Emoji, Some((_, _, Some(emoji)))) => (*emoji).to_owned(),
            (_, Some((_, word, _))) => format!("[{word}]"),
            (_, None) => format!("[{marker:?}]"),
        }
    }
}
