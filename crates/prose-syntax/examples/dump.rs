//! Prints the tree and the diagnostics of a file.
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let parse = prose_syntax::parse(&text);
        if std::env::var("TREE").is_ok() {
            println!("{:#?}", parse.syntax());
        }
        assert_eq!(parse.syntax().text().to_string(), text);
        for d in parse.diagnostics() {
            let before = &text[..d.range.start().into()];
            let line = before.matches('\n').count() + 1;
            println!("{path}:{line}: {}[{}] {:?}: {}", d.severity(), d.code, &text[d.range], d.message);
        }
    }
}
