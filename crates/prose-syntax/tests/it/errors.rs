//! What is reported about programs with mistakes, where, and what fixes them.

mod control;
mod garbage;
mod languages;
mod layout;
mod literals;
mod newcomers;
mod parts;
mod yaml;
