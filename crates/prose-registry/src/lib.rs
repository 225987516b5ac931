//! From a reference to the text of the program: HTTP, cache, lock file, vendored copies.
