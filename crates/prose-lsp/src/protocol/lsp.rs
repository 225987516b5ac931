//! The types of the protocol. Only this file imports the library that has them.

pub(crate) use ls_types::*;
