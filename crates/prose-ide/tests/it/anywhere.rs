//! The features answer at every place of every program, however broken, and with places that exist.

use std::path::PathBuf;
use std::time::Duration;

use prose_fixture::time::processor_time;

use proptest::prelude::*;
use prose_analysis::{AnalysisHost, Database, SourceFile, Text};
use prose_ide::{
    HintOptions, block_program, callables, document_highlights, document_links, goto_declaration,
    goto_definition, goto_implementation, goto_type_definition, hover, incoming_calls, inlay_hints,
    outgoing_calls, prepare_rename, references, runnable_blocks, signature_help,
};
use prose_syntax::{TextRange, TextSize};

/// The programs that come with the project, and one that has a name in every place that can have one.
fn samples() -> Vec<(PathBuf, String)> {
    let names = (PathBuf::from("/all/names.prose"), NAMES.to_owned());
    std::iter::once(names).chain(crate::support::samples()).collect()
}

const NAMES: &str = r#"use "./names.prose" as self
use "alice/research"
import "skill" from "github:x/y"
# Größe 📏 of the thing
input topic: "Thema {topic} ⚙"
input style: ***
  how {topic}
***
agent poet:
  model: "vendor/model"
  persist: project
  skills: ["{topic}", topic]
  permissions:
    read: ["{topic}/**", topic]
  prompt: """
    About {topic} and {nobody.knows[0]}
  """
block review(text, depth) (max_depth: 5):
  count = count + 1
  output verdict = session "Judge {text}"
  output reason = do review(text: text, depth: depth - 1)
let count = 1
const { verdict, topic2 } = self(topic: topic)
let r = self(topic: "x", nothing: 1)
let both = parallel ("any", count: 1, on-fail: "ignore"):
  a = session poem: poet
  b = do review(r.topic2, { r.verdict, key: both.a })
for item, i in [topic, count]:
  item = session "{item} {r.verdict} {both.b} {r.list[i].x}"
  catch = 3
let all = [1, 2] | map:
  session "{item}" -> resume: poet
let sum = all | reduce(total, next):
  session "{total} {next}"
loop until **{all[0]} über {count}** (max: 3) as turn:
  try:
    throw "{turn}"
  catch as problem:
    session "{problem.message}"
choice **{topic}**:
  option "{topic}":
    return reason
output r = r.verdict
"#;

fn analysed(programs: &[(PathBuf, String)]) -> (AnalysisHost, Vec<SourceFile>) {
    let mut host = AnalysisHost::default();
    let files: Vec<SourceFile> =
        programs.iter().map(|(path, text)| host.set_text(path, Text::new(text.as_str()))).collect();
    for file in &files {
        host.load_imports(*file, |_| None);
    }
    (host, files)
}

fn assert_place(db: &Database, file: SourceFile, range: TextRange) {
    let text = file.text(db).as_str();
    assert!(
        text.get(usize::from(range.start())..usize::from(range.end())).is_some(),
        "{range:?} is no place of {}, which has {} bytes",
        file.path(db).display(),
        text.len()
    );
}

fn assert_links(db: &Database, file: SourceFile) {
    for link in document_links(db, file, |_| true) {
        assert_place(db, file, link.range);
        assert!(!link.range.is_empty(), "{link:?}");
    }
}

fn assert_hints(db: &Database, file: SourceFile) {
    let all = TextRange::up_to(TextSize::of(file.text(db).as_str()));
    for hint in inlay_hints(db, file, all, HintOptions::ALL, 1000) {
        assert_place(db, file, TextRange::empty(hint.offset));
        assert!(!hint.label.is_empty(), "{hint:?}");
    }
}

fn assert_blocks(db: &Database, file: SourceFile) {
    for block in runnable_blocks(db, file) {
        assert_place(db, file, block.range);
        assert_eq!(file.text(db).as_str()[block.range], *block.name);
        assert!(block_program(db, file, &block.name).is_some(), "{block:?}");
    }
}

/// Asks everything about a place.
fn ask(db: &Database, files: &[SourceFile], file: SourceFile, offset: TextSize) {
    for goto in [goto_declaration, goto_type_definition, goto_implementation] {
        for target in goto(db, file, offset).iter().flat_map(|found| &found.targets) {
            assert_place(db, target.file, target.range);
            assert!(target.range.contains_range(target.selection_range), "{target:?}");
        }
    }
    if let Some(signature) = signature_help(db, file, offset) {
        assert!(signature.active.is_none_or(|active| active < signature.parameters.len()), "{signature:?}");
        for parameter in &signature.parameters {
            assert!(signature.label[parameter.range.clone()].starts_with(&*parameter.name), "{signature:?}");
        }
    }
    for callable in callables(db, file, offset) {
        let calls = incoming_calls(db, &callable, files).into_iter().map(|calls| (calls.other.file(), calls));
        let called = outgoing_calls(db, &callable).into_iter().map(|calls| (callable.file(), calls));
        for (caller, calls) in calls.chain(called) {
            assert!(!calls.ranges.is_empty() && calls.other.place(db).is_some(), "{calls:?}");
            calls.ranges.iter().for_each(|range| assert_place(db, caller, *range));
        }
    }
    if let Some(found) = goto_definition(db, file, offset) {
        assert_place(db, file, found.origin);
        assert!(!found.targets.is_empty());
        for target in found.targets {
            assert_place(db, target.file, target.range);
            assert_place(db, target.file, target.selection_range);
            assert!(target.range.contains_range(target.selection_range), "{target:?}");
        }
    }
    if let Some(found) = hover(db, file, offset) {
        assert_place(db, file, found.range);
        let length = TextSize::of(file.text(db).as_str());
        assert!(found.range.contains_inclusive(offset.min(length)), "{found:?} at {offset:?}");
        let length = found.markdown.len();
        assert!((1..20_000).contains(&length), "the hover at {offset:?} has {length} bytes");
    }
    if let Ok(found) = prepare_rename(db, file, offset) {
        assert_place(db, file, found.range);
        assert_eq!(file.text(db).as_str()[found.range], *found.placeholder);
    }
    if let Some(found) = references(db, file, offset, true, files) {
        for reference in &found {
            assert_place(db, reference.file, reference.range);
        }
        let marked = document_highlights(db, file, offset);
        let here: Vec<_> = found.iter().filter(|reference| reference.file == file).collect();
        assert!(marked.len() >= here.len(), "{marked:?} and {here:?} at {offset:?}");
    }
}

#[test]
fn every_offset_of_the_samples_has_an_answer() {
    let samples = samples();
    let (host, files) = analysed(&samples);
    for (file, (_, text)) in files.iter().zip(&samples) {
        assert_links(host.db(), *file);
        assert_blocks(host.db(), *file);
        assert_hints(host.db(), *file);
        // Those after the end and inside of characters too.
        for offset in 0..text.len() + 3 {
            ask(host.db(), &files, *file, TextSize::new(offset as u32));
        }
    }
}

/// Every use that a place leads from is found again from the place it leads to.
#[test]
fn definitions_and_references_lead_to_each_other() {
    let samples = samples();
    let (host, files) = analysed(&samples);
    let db = host.db();
    let mut checked = 0;
    for (file, (_, text)) in files.iter().zip(&samples) {
        for offset in 0..text.len() {
            let offset = TextSize::new(offset as u32);
            let Some(definition) = goto_definition(db, *file, offset) else { continue };
            for target in &definition.targets {
                // A program and the `item` of a pipeline are written nowhere.
                let name = &target.file.text(db).as_str()[target.selection_range];
                if target.selection_range.is_empty() || matches!(name, "map" | "filter" | "pmap") {
                    continue;
                }
                let found = references(db, target.file, target.selection_range.start(), true, &files);
                let is_origin =
                    |found: &prose_ide::Reference| found.file == *file && found.range == definition.origin;
                assert!(
                    found.is_some_and(|found| found.iter().any(is_origin)),
                    "{:?} of {} is not found from {target:?}",
                    &text[definition.origin],
                    file.path(db).display(),
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "only {checked} words lead somewhere");
}

#[test]
fn enormous_names_and_texts_have_answers() {
    let name = "n".repeat(100_000);
    let programs = [
        format!(
            "let {name} = 1\nsession \"{{{name}}}\"\nagent {name}:\n  prompt: \"{name}\"\nsession: {name}\n"
        ),
        format!("session \"\"\"\n{}\n\"\"\"\n", "{a}`<é\n".repeat(20_000)),
        format!("# {}\nlet x = 1\nsession \"{{x}}\"\n", "`[".repeat(50_000)),
        format!("use \"./{name}\" as {name}\nlet r = {name}({name}: {name})\nsession \"{{r.{name}}}\"\n"),
        "agent a:\n  model: opus\n".repeat(5_000) + "session: a\n",
    ];
    for program in programs {
        let (host, files) = analysed(&[(PathBuf::from("/main.prose"), program.clone())]);
        for at in [0, 4, 5, 100, program.len() / 2, program.len() - 3, program.len()] {
            let taken = processor_time(|| ask(host.db(), &files, files[0], TextSize::new(at as u32)));
            assert!(taken < Duration::from_secs(10), "{taken:?} at {at} of {:?}", &program[..40]);
        }
    }
}

/// A sample with some pieces cut out, doubled, or replaced by what breaks programs.
fn broken_sample() -> impl Strategy<Value = String> {
    let texts: Vec<String> = samples().into_iter().map(|(_, text)| text).collect();
    let pieces = [
        "", "\"", "\"\"\"", "**", "***", "{", "}", "(", "\n", "\n  ", ":", "=", "é", "\t", "topic", "\r",
        "#", ".",
    ];
    let change = (any::<prop::sample::Index>(), 0_usize..12, prop::sample::select(pieces.to_vec()));
    (prop::sample::select(texts), prop::collection::vec(change, 1..6)).prop_map(|(mut text, changes)| {
        for (at, length, piece) in changes {
            let floor = |mut at: usize| {
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let start = floor(at.index(text.len() + 1));
            let end = floor((start + length).min(text.len())).max(start);
            text.replace_range(start..end, piece);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_offset_of_broken_programs_has_an_answer(text in broken_sample(), step in 1_usize..7) {
        let programs = [(PathBuf::from("/all/names.prose"), text.clone())];
        let (host, files) = analysed(&programs);
        assert_links(host.db(), files[0]);
        for offset in (0..=text.len() + 1).step_by(step) {
            ask(host.db(), &files, files[0], TextSize::new(offset as u32));
        }
    }
}
