//! Compiles the generated parser and the scanner.

fn main() {
    let src = std::path::Path::new("src");
    let mut build = cc::Build::new();
    build.std("c11").include(src);
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "msvc") {
        build.flag("-utf-8");
    }
    for file in ["parser.c", "scanner.c"] {
        build.file(src.join(file));
    }
    for file in ["parser.c", "scanner.c", "literals.h", "names.h"] {
        println!("cargo:rerun-if-changed=src/{file}");
    }
    build.compile("tree-sitter-prose");
}
