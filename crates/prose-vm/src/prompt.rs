//! What a session is told, put together in the order of R28.

use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::effect::{Binding, ContextItem};
use crate::frame;
use crate::interpret::Frame;

/// The parts of a prompt. Memory is put around it by who knows of it.
pub(crate) struct Parts<'a> {
    pub(crate) task: &'a str,
    /// Whether an agent of the program does it, which is told how to work in one (R32).
    pub(crate) has_agent: bool,
    pub(crate) context: &'a [ContextItem],
    pub(crate) skills: &'a [SmolStr],
    pub(crate) early_exit: Option<&'a str>,
    /// The frame, inside of blocks (R29).
    pub(crate) frame: Option<Rc<Frame>>,
    pub(crate) binding: &'a Binding,
    /// Where the agent writes its result to; none where it only returns it (decision 11).
    pub(crate) path: Option<Arc<str>>,
    pub(crate) by_reference: bool,
    /// What the lines around values are marked with.
    pub(crate) mark: Option<&'a str>,
}

/// How an agent works as a part of a program (R32, R33).
const GUIDELINES: &str = "Guidelines:\n\
    - You are one step of a program. What stands above is all that you know of it.\n\
    - Name places, numbers and names exactly: others go on with what you say, and have not seen what you saw.\n\
    - Say a decision on a line `DECISION: …`, with a line `RATIONALE: …`.\n\
    - Say what should be watched on a line `CONCERN: …`, with a line `SEVERITY: low`, `medium` or `high`.";

/// A prompt, without the system part.
pub(crate) fn assemble(parts: &Parts<'_>) -> String {
    let mut sections = Vec::new();
    if !parts.task.trim().is_empty() {
        sections.push(parts.task.trim_end().to_owned());
    }
    sections.extend(context(parts.context, parts.by_reference, parts.mark));
    // No rule says how a skill gets to an agent. One that has it knows it by its name.
    if !parts.skills.is_empty() {
        sections.push(format!("Skills to load: {}", parts.skills.join(", ")));
    }
    if let Some(condition) = parts.early_exit {
        sections.push(format!("You may stop before the task is done as soon as this is so: {condition}"));
    }
    if let Some(frame) = &parts.frame {
        let mut scope = format!(
            "Execution scope:\n  execution_id: {}\n  block: {}\n  depth: {}",
            frame.id, frame.block, frame.depth
        );
        if let Some(parent) = frame.parent.filter(|parent| *parent > 0) {
            // Writing to a string does not fail.
            _ = write!(scope, "\n  parent_execution_id: {parent}");
        }
        sections.push(scope);
    }
    if parts.has_agent {
        sections.push(GUIDELINES.to_owned());
    }
    if let Some(path) = &parts.path {
        sections.push(output(parts, path));
    }
    sections.join("\n\n")
}

/// What is passed: files to read (R36), or values between rules (R38). Rules with a mark stand between the values, too, so that none can pass for
/// two.
fn context(items: &[ContextItem], by_reference: bool, mark: Option<&str>) -> Option<String> {
    if items.is_empty() {
        return None;
    }
    let mut out = String::new();
    let (files, values): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.path.is_some());
    if by_reference && !files.is_empty() {
        _ = writeln!(out, "{}", frame::BY_REFERENCE);
        for item in &files {
            let path = frame::on_one_line(item.path.as_deref().unwrap_or_default());
            _ = writeln!(out, "- {}: {path}", frame::on_one_line(&item.name));
        }
        out.push_str("\nRead these files to access the content. For large bindings, read selectively.");
        if !values.is_empty() {
            out.push_str("\n\n");
        }
    }
    let values: Vec<_> = if by_reference { values } else { items.iter().collect() };
    if !values.is_empty() {
        let rule = frame::rule(mark);
        _ = writeln!(out, "Context provided:\n{rule}");
        for (nth, item) in values.iter().enumerate() {
            if nth > 0 && mark.is_some() {
                _ = writeln!(out, "{rule}");
            }
            // Files in different folders may have the same name.
            let name = frame::on_one_line(item.path.as_deref().unwrap_or(&item.name));
            match &item.text {
                Some(text) => _ = writeln!(out, "{name}: \"{}\"", text.trim_end()),
                // A branch that was cancelled has no value (R40).
                None => _ = writeln!(out, "{name}: (not available)"),
            }
        }
        out.push_str(&rule);
    }
    Some(out)
}

/// Where to write the result, and in which form (R30).
fn output(parts: &Parts<'_>, path: &str) -> String {
    let binding = parts.binding;
    let lead = if parts.frame.is_some() {
        "Write your output to:"
    } else {
        "When you complete this task, write your output to:"
    };
    let mut out =
        format!("{lead}\n  {path}\n\nFormat:\n# {}\n\nkind: {}\n", binding.name, binding.kind.name());
    if binding.frame > 0 {
        _ = writeln!(out, "execution_id: {}", binding.frame);
    }
    let fence = fence(&binding.source);
    _ = write!(out, "\nsource:\n{fence}prose\n{}\n{fence}\n\n---\n\n[Your output here]", binding.source);
    _ = write!(
        out,
        "\n\nThen return only a confirmation, not the content:\nBinding written: {}\nLocation: {path}\n",
        binding.name
    );
    if binding.frame > 0 {
        _ = writeln!(out, "Execution ID: {}", binding.frame);
    }
    out.push_str("Summary: [1 or 2 sentences about the result]");
    out
}

/// A fence that is longer than every run of backticks in a text.
pub fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}
