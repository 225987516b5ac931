//! The page about all words of the language follows from the tables.

use std::fmt::Write as _;

use prose_fixture::check_page;
use prose_syntax::keywords::REFERENCE;
use prose_syntax::options::{FAILURE_POLICIES, Header, OPTIONS, OptionValue, STRATEGIES, Word};
use prose_syntax::properties::{Owner, PERMISSIONS, PROPERTIES};

#[test]
fn the_page_of_words_is_up_to_date() {
    check_page("docs/language/words.md", &page(), "-p prose-syntax --test it words");
}

fn page() -> String {
    let mut page = String::from(
        "# All words\n\nEvery keyword, property and option, with an example. Editors show these texts on hover. No word is reserved: each can also be used as a name.\n\n\
         <!-- Made from the tables of the language by a test: UPDATE_EXPECT=1 cargo test -p prose-syntax --test it words -->\n\n",
    );
    page += "## Keywords\n\n";
    for keyword in REFERENCE {
        entry(&mut page, &format!("`{}`", keyword.text()), keyword.summary, keyword.docs, keyword.example);
    }
    page += "## Properties\n\n";
    for property in PROPERTIES {
        let owners = property.owners.iter().map(|owner| owner_name(*owner)).collect::<Vec<_>>().join(", ");
        let docs = format!("Property of {owners}.\n\n{}", property.docs);
        entry(
            &mut page,
            &format!("`{}:`", property.name),
            property.summary,
            docs.trim_end(),
            property.example,
        );
        words(&mut page, property.words);
    }
    page += "## Permissions\n\n";
    for permission in PERMISSIONS {
        let title = format!("`permissions: {}:`", permission.name);
        entry(&mut page, &title, permission.summary, permission.docs, permission.example);
    }
    page += "## Options in parentheses\n\n### Strategies of `parallel`\n\n";
    words(&mut page, STRATEGIES);
    for option in OPTIONS {
        let header = match option.header {
            Header::Parallel => "parallel",
            Header::Loop => "loop",
            Header::Block => "block",
        };
        writeln!(page, "### `{}:` of `{header}`\n\n{}\n", option.name, option.summary)
            .expect("a string takes it");
        if option.value == OptionValue::FailurePolicy {
            words(&mut page, FAILURE_POLICIES);
        }
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

fn owner_name(owner: Owner) -> &'static str {
    match owner {
        Owner::Agent => "`agent`",
        Owner::Session => "`session`",
        Owner::Resume => "`resume`",
    }
}

fn entry(page: &mut String, title: &str, summary: &str, docs: &str, example: &str) {
    write!(page, "### {title}\n\n{summary}\n\n").expect("a string takes it");
    if !docs.is_empty() {
        write!(page, "{docs}\n\n").expect("a string takes it");
    }
    // The tables' own tests check the examples as complete programs; the page shows them without imports.
    write!(page, "```prose,ignore\n{}\n```\n\n", example.trim_end()).expect("a string takes it");
}

fn words(page: &mut String, words: &[Word]) {
    for word in words {
        writeln!(page, "- `{}`: {}", word.name, word.summary).expect("a string takes it");
    }
    if !words.is_empty() {
        page.push('\n');
    }
}
