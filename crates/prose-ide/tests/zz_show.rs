use prose_analysis::{AnalysisHost, Text};
use prose_ide::{assists, organize_uses};
use prose_syntax::{Fix, SyntaxKind, TextRange, fix, parse};
#[test]
fn show() {
    let text = std::fs::read_to_string(std::env::var("F").unwrap()).unwrap();
    let mut host = AnalysisHost::default();
    let file = host.set_text("/main.prose".as_ref(), Text::new(&*text));
    let root = parse(&text).syntax();
    let mut ranges = vec![];
    for t in root.descendants_with_tokens().filter_map(|e| e.into_token()) {
        if !t.kind().is_trivia() {
            ranges.push(TextRange::empty(t.text_range().start()));
        }
    }
    for list in root.descendants().filter(|n| matches!(n.kind(), SyntaxKind::BLOCK | SyntaxKind::SOURCE_FILE))
    {
        let c: Vec<_> = list.children().collect();
        for n in 1..=3 {
            for w in c.windows(n) {
                ranges.push(w[0].text_range().cover(w[n - 1].text_range()));
            }
        }
    }
    let mut seen = vec![];
    let want = std::env::var("W").unwrap_or_default();
    for r in ranges {
        let mut found = assists(host.db(), file, r);
        found.extend(organize_uses(host.db(), file));
        for a in found {
            if !a.label.starts_with(&want) || seen.contains(&a) {
                continue;
            }
            let mut after = fix::apply(&text, [&Fix::safe("x", a.edits.clone())]).text;
            if let Some(n) = a.new_name {
                after.insert(n.end().into(), '»');
                after.insert(n.start().into(), '«');
            }
            println!("=== {} @{:?}\n{after}", a.label, &text[r]);
            seen.push(a);
        }
    }
}
