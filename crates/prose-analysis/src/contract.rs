//! The contract of a program: its inputs and outputs.

use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::index::{Symbol, lookup};
use crate::model::NameKind;
use crate::statements::chunks::{chunks, summarized};

/// The contract of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contract {
    /// The inputs, in the order of the text.
    pub inputs: Vec<ContractInput>,
    /// The named outputs, each once.
    pub outputs: Vec<SmolStr>,
    /// Whether the program may return a value without a name, and so without outputs.
    pub returns: bool,
}

/// An input of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractInput {
    /// The name.
    pub name: SmolStr,
    /// Its description.
    pub description: Option<SmolStr>,
}

impl ContractInput {
    /// Whether a call may leave the input out: the first word of its description is "Optional" (B3).
    pub fn is_optional(&self) -> bool {
        let first = |text: &SmolStr| text.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("optional"));
        self.description.as_ref().is_some_and(first)
    }
}

impl Contract {
    /// The input of that name.
    pub fn input(&self, name: &str) -> Option<&ContractInput> {
        self.inputs.iter().find(|input| input.name == name)
    }
}

/// The words on lines of a program that were not understood: each may be that of an input or an output. Sorted.
#[salsa::tracked(returns(ref))]
pub fn words_of_unparsed_lines(db: &dyn Db, file: SourceFile) -> Vec<SmolStr> {
    let mut words = chunks(db, file).lost.clone();
    for (_, summary) in summarized(db, file) {
        words.extend_from_slice(&summary.lost);
    }
    words.sort();
    words.dedup();
    words
}

/// The contract of a program.
#[salsa::tracked(returns(ref))]
pub fn contract(db: &dyn Db, file: SourceFile) -> Contract {
    let mut contract = Contract::default();
    for (_, summary) in summarized(db, file) {
        for input in &summary.inputs {
            if contract.input(&input.text).is_none() {
                let (name, description) = (input.text.clone(), input.description.clone());
                contract.inputs.push(ContractInput { name, description });
            }
        }
        for name in &summary.names {
            if name.kind == NameKind::Output && name.block.is_none() && !contract.outputs.contains(&name.text)
            {
                contract.outputs.push(name.text.clone());
            }
        }
        contract.returns |= summary.returns;
    }
    contract
}

/// The inputs of a program. A query that reads only these does not depend on the outputs.
#[salsa::tracked(returns(ref))]
pub fn inputs(db: &dyn Db, file: SourceFile) -> Vec<ContractInput> {
    contract(db, file).inputs.clone()
}

/// Whether a program may have an output of this name. A query that reads one name does not depend on the others.
#[salsa::tracked(returns(copy))]
pub fn may_have_output<'db>(db: &'db dyn Db, output: Symbol<'db>) -> bool {
    let (file, name) = (output.file(db), output.text(db));
    let contract = contract(db, file);
    // A line that was not understood may declare the output.
    contract.returns
        || contract.outputs.contains(name)
        || lookup(db, file, name).is_some_and(|named| named.lost)
}
