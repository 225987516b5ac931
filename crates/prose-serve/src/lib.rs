//! Servers that offer programs to agents. [`mcp`] serves the Model Context Protocol.

pub mod mcp;
