//! What the servers are given to read.

/// A program of so many lines, as people write them: agents, sessions with prompts of several lines, conditions.
pub(crate) fn prose(lines: usize) -> String {
    let head = "let change = session \"Describe the change\"\n\n";
    let rest = repeated(lines - head.lines().count(), |index| {
        format!(
            r#"# Step {index}: look, then decide.
agent reviewer_{index}:
  model: sonnet
  prompt: """
    You review changes of part {index}.
    Be short, and name the file and the line.
  """

let review_{index} = session: reviewer_{index}
  prompt: "Review part {index} of the change"
  context: [change]

if **the review of part {index} found a mistake**:
  session "Mend part {index} as {{review_{index}}} says"
    context: review_{index}
else:
  session "Note that part {index} is fine"

parallel:
  tests_{index} = session "Run the tests of part {index}"
  docs_{index} = session "Read the documents of part {index}"

"#
        )
    });
    head.to_owned() + &rest
}

/// A Python file of so many lines, of like density, and as free of findings.
pub(crate) fn python(lines: usize) -> String {
    let head = r#"def session(prompt, *context, model="sonnet"):
    return {"prompt": prompt, "context": context, "model": model}


change = session("Describe the change")

"#;
    let rest = repeated(lines - head.lines().count(), |index| {
        format!(
            r#"# Step {index}: look, then decide.
reviewer_{index} = {{
    "model": "sonnet",
    "prompt": """
    You review changes of part {index}.
    Be short, and name the file and the line.
  """,
}}
review_{index} = session(
    "Review part {index} of the change",
    reviewer_{index}, change)

if review_{index}["the review of part {index} found a mistake"]:
    session("Mend part {index} as the review says",
            review_{index})
else:
    session("Note that part {index} is fine")

tests_{index} = session("Run the tests of part {index}")
docs_{index} = session("Read the documents of part {index}")

"#
        )
    });
    head.to_owned() + &rest
}

fn repeated(lines: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut count = 0;
    for index in 0.. {
        for line in part(index).split_inclusive('\n') {
            if count == lines {
                return text;
            }
            text.push_str(line);
            count += 1;
        }
    }
    text
}

/// Behind the opening quote of the first one-line string after the middle.
pub(crate) fn middle_string(text: &str) -> (usize, usize) {
    let (number, line) = behind_middle(text, |line| line.matches('"').count() == 2);
    (number, line.find('"').unwrap_or(0) + 1)
}

/// The first line after the middle that is one of those, with its number.
pub(crate) fn behind_middle(text: &str, is_wanted: impl Fn(&str) -> bool) -> (usize, &str) {
    let middle = text.lines().count() / 2;
    let mut behind = text.lines().enumerate().skip(middle);
    behind.find(|(_, line)| is_wanted(line)).expect("the text has such a line behind its middle")
}
