//! The variants of a case: one for each combination of its matrix.

use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::file::{Answers, Case, TestFile};

/// A case with values of its matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The index of the case in its file.
    pub case: usize,
    /// The name of the case, and the values of the matrix: `approves [topic=tides]`. It is unique in the file.
    pub id: String,
    /// The inputs.
    pub inputs: Vec<(SmolStr, Value)>,
    /// The harness, if one answers or records.
    pub harness: Option<String>,
    /// The model of all sessions.
    pub model: Option<String>,
}

/// The most variants of a case.
const MAX_VARIANTS: usize = 10_000;

impl TestFile {
    /// The variants of all cases, in the order of the text; the last value of a matrix changes first.
    pub fn variants(&self) -> Vec<Variant> {
        self.cases.iter().enumerate().flat_map(|(index, case)| of_case(index, case)).collect()
    }
}

fn of_case(index: usize, case: &Case) -> Vec<Variant> {
    let harness = match &case.answers {
        Answers::Harness(harness) => Some(harness),
        Answers::Recorded(recorded) => recorded.harness.as_ref(),
        Answers::Script(_) => None,
    };
    let first = Variant {
        case: index,
        id: String::new(),
        inputs: case.inputs.iter().map(|input| (input.name.clone(), input.value.clone())).collect(),
        harness: harness.map(|harness| harness.name.clone()).filter(|name| !name.is_empty()),
        model: harness.and_then(|harness| harness.model.clone()),
    };
    let mut variants = vec![(first, Vec::<String>::new())];
    for (input, values) in &case.matrix.inputs {
        variants = times(variants, values, |variant, value| {
            variant.inputs.push((input.name.clone(), value.clone()));
            format!("{}={}", input.name, shown(value))
        });
    }
    variants = times(variants, &case.matrix.harnesses, |variant, harness| {
        variant.harness = Some(harness.clone());
        harness.clone()
    });
    variants = times(variants, &case.matrix.models, |variant, model| {
        variant.model = Some(model.clone());
        model.clone()
    });
    variants.truncate(MAX_VARIANTS);
    let named = variants.into_iter().map(|(variant, values)| {
        let id = match values.is_empty() {
            true => case.name.clone(),
            false => format!("{} [{}]", case.name, values.join(", ")),
        };
        Variant { id, ..variant }
    });
    named.collect()
}

/// Each variant with each value.
fn times<T>(
    variants: Vec<(Variant, Vec<String>)>,
    values: &[T],
    set: impl Fn(&mut Variant, &T) -> String,
) -> Vec<(Variant, Vec<String>)> {
    if values.is_empty() {
        return variants;
    }
    let mut all = Vec::new();
    for (variant, names) in variants {
        for value in values.iter().take(MAX_VARIANTS - all.len().min(MAX_VARIANTS)) {
            let (mut variant, mut names) = (variant.clone(), names.clone());
            names.push(set(&mut variant, value));
            all.push((variant, names));
        }
    }
    all
}

/// A value in a name.
fn shown(value: &Value) -> String {
    const MAX_SHOWN: usize = 30;
    prose_syntax::text::beginning(&prose_syntax::text::one_line(&value.to_string()), MAX_SHOWN)
}
