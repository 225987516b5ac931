//! What is said of programs with mistakes, where, and what mends them.

mod control;
mod garbage;
mod languages;
mod layout;
mod literals;
mod newcomers;
mod parts;
mod yaml;
