//! The inputs and outputs of a program, apart from how they are found.

use smol_str::SmolStr;

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
