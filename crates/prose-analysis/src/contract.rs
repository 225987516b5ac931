//! The contract of a program: its inputs and outputs.

use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::index::{Symbol, lookup};
pub use crate::interface::{Contract, ContractInput};
use crate::model::NameKind;
use crate::statements::chunks::{chunks, summarized};

/// The words on lines of a program that were not understood: each may be that of an input or an output. Sorted.
#[salsa::tracked(returns(ref))]
pub fn words_of_unparsed_lines(db: &dyn Db, file: SourceFile) -> Vec<SmolStr> {
    if let Some(results) = file.results(db) {
        return results.words_of_unparsed_lines.clone();
    }
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
    if let Some(results) = file.results(db) {
        return results.contract.clone();
    }
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
