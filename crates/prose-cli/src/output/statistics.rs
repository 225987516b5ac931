//! How often each code was found.

use std::collections::BTreeMap;
use std::io::{self, Write};

use prose_syntax::{Code, Severity};
use serde::Serialize;

use crate::finding::CheckedFile;

#[derive(Serialize)]
struct Count {
    code: &'static str,
    severity: &'static str,
    title: &'static str,
    count: usize,
    /// How many have a fix.
    fixable: usize,
}

/// Writes a line for each code, or an object of JSON, the most frequent codes first.
pub(crate) fn write(files: &[CheckedFile], is_json: bool, out: &mut dyn Write) -> io::Result<()> {
    // The same code may have other levels in other folders.
    let mut counts: BTreeMap<(Code, Severity), (usize, usize)> = BTreeMap::new();
    for finding in files.iter().flat_map(|file| &file.findings) {
        let (count, fixable) = counts.entry((finding.code, finding.severity)).or_default();
        *count += 1;
        *fixable += usize::from(finding.fix.is_some());
    }
    let counts = counts.into_iter().map(|((code, severity), (count, fixable))| Count {
        code: code.as_str(),
        severity: severity.as_str(),
        title: code.info().title,
        count,
        fixable,
    });
    let mut counts: Vec<Count> = counts.collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.count));
    if is_json {
        serde_json::to_writer_pretty(&mut *out, &counts).map_err(io::Error::from)?;
        return writeln!(out);
    }
    let width = counts.first().map_or(0, |count| count.count.to_string().len());
    for Count { code, severity, title, count, fixable } in &counts {
        let fixable = match fixable {
            0 => String::new(),
            fixable => format!(" ({fixable} with a fix)"),
        };
        writeln!(out, "{count:width$}  {severity}[{code}]  {title}{fixable}")?;
    }
    Ok(())
}
