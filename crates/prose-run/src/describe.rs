//! A program explained on one page of Markdown, from the analysis alone.

use std::fmt::Write as _;

use prose_analysis::rights::Requests;
use prose_rights::{Grants, Right};
use prose_syntax::text::{beginning, counted, first_line, plural};
use prose_vm::budget::grouped;
use prose_vm::place::{NamedLine, imported_name};
use prose_vm::program::{DescribedAgent, FlowStep, Import, Program};
use smol_str::SmolStr;

use crate::estimate::{EstimateRequest, RunEstimate, estimate_block, estimate_run};

/// The longest line of a program on the page, in characters.
const MAX_LINE: usize = 100;

/// Explains a program: what it takes and returns, its agents with their rights and memories, its steps, the most that it can ask for, and its imports.
pub fn describe(request: &EstimateRequest<'_>, grants: &Grants) -> String {
    let program = request.program;
    let mut page = format!("# {}\n", program.name);
    inputs(program, &mut page);
    outputs(program, &mut page);
    agents(program, &mut page);
    flow(program, &mut page);
    work(request, &mut page);
    imports(program, grants, &mut page);
    page
}

fn section(page: &mut String, title: &str) {
    let _ = write!(page, "\n## {title}\n\n");
}

fn inputs(program: &Program, page: &mut String) {
    section(page, "Inputs");
    let inputs = program.described_inputs();
    if inputs.is_empty() {
        page.push_str("None.\n");
    }
    for (name, prompt, is_optional) in inputs {
        let prompt = prompt.map_or(String::new(), |prompt| format!(": {}", plain(prompt)));
        let optional = if is_optional { " (may be left out)" } else { "" };
        let _ = writeln!(page, "- {}{optional}{prompt}", code(&name));
    }
}

fn outputs(program: &Program, page: &mut String) {
    section(page, "Outputs");
    let contract = &program.contract;
    for name in &contract.outputs {
        let _ = writeln!(page, "- {}", code(name));
    }
    match (contract.outputs.is_empty(), contract.returns) {
        (_, true) => page.push_str("- a value without a name\n"),
        (true, false) => page.push_str("None.\n"),
        (false, false) => {}
    }
}

fn agents(program: &Program, page: &mut String) {
    section(page, "Agents");
    let own = program.described_agents().into_iter().map(|agent| (None, agent));
    let imported = imported_programs(program).into_iter().flat_map(|(name, imported)| {
        imported.described_agents().into_iter().map(move |agent| (Some(name.clone()), agent))
    });
    let agents: Vec<_> = own.chain(imported).collect();
    if agents.is_empty() {
        page.push_str("None: sessions use the settings of the backend.\n");
    }
    for (nth, (program, agent)) in agents.into_iter().enumerate() {
        let DescribedAgent { name, line, model, prompt, memory, rights, skills } = agent;
        let between = if nth == 0 { "" } else { "\n" };
        let _ = write!(page, "{between}### {name} ({})\n\n", NamedLine { program, line });
        if let Some(prompt) = prompt.as_ref().filter(|prompt| !prompt.is_empty()) {
            let _ = write!(page, "{}\n\n", plain(prompt));
        }
        if let Some(model) = model {
            let _ = writeln!(page, "- model: {}", code(&model));
        }
        let memory = match memory.as_deref() {
            None => "none".to_owned(),
            Some("true") => "kept with the run".to_owned(),
            Some("project") => "kept with the project".to_owned(),
            Some("user") => "kept with the user, for all projects".to_owned(),
            Some(place) => format!("kept in {}", code(place)),
        };
        let _ = writeln!(page, "- memory: {memory}");
        match rights.as_slice() {
            [] => page.push_str("- rights: those of the backend; the program restricts nothing\n"),
            rights => {
                let rights: Vec<String> = rights.iter().map(|right| code(right)).collect();
                let _ = writeln!(page, "- rights: {}", rights.join(", "));
            }
        }
        if !skills.is_empty() {
            let skills: Vec<String> = skills.iter().map(|skill| code(skill)).collect();
            let _ = writeln!(page, "- skills: {}", skills.join(", "));
        }
    }
}

/// The programs that a program imports, and then those that they import, each once, with the names that messages have for them.
fn imported_programs(program: &Program) -> Vec<(SmolStr, &Program)> {
    let mut found: Vec<(SmolStr, &Program)> = Vec::new();
    let mut next = 0;
    let mut importing = Some(program);
    while let Some(program) = importing {
        for Import { path, program: imported, .. } in &program.imports {
            let Some(imported) = imported else { continue };
            if found.iter().all(|(_, known)| known.from != imported.from) {
                found.push((imported_name(path), imported));
            }
        }
        importing = found.get(next).map(|(_, program)| *program);
        next += 1;
    }
    found
}

fn flow(program: &Program, page: &mut String) {
    section(page, "Flow");
    let steps = program.flow();
    if steps.is_empty() {
        page.push_str("No statement is executed.\n");
    }
    write_steps(&steps, page);
    for (name, steps) in program.block_flows() {
        let _ = write!(page, "\n### Block {name}\n\n");
        write_steps(&steps, page);
    }
}

fn write_steps(steps: &[FlowStep], page: &mut String) {
    for FlowStep { depth, line, text, prompt } in steps {
        let prompt = prompt.as_ref().map_or(String::new(), |prompt| format!(": {}", plain(prompt)));
        let _ = writeln!(page, "{}- {} (line {line}){prompt}", "  ".repeat(*depth), code(text));
    }
}

fn work(request: &EstimateRequest<'_>, page: &mut String) {
    section(page, "Worst case");
    let whole = estimate_run(request);
    let _ = writeln!(page, "{}.", worst(&whole));
    for unbounded in &whole.bounds.unbounded {
        let _ = write!(
            page,
            "\n- nothing limits line {} of {}: {}",
            unbounded.line, unbounded.program, unbounded.reason
        );
    }
    if !whole.bounds.unbounded.is_empty() {
        page.push('\n');
    }
    let blocks = request.program.block_flows();
    let estimates: Vec<_> =
        blocks.iter().filter_map(|(name, _)| Some((name, estimate_block(request, name)?))).collect();
    if !estimates.is_empty() {
        page.push_str("\nOne call of a block:\n\n");
    }
    for (name, estimate) in estimates {
        let _ = writeln!(page, "- {}: {}", code(name), estimate.title());
    }
}

/// `At most 41 sessions and at most 12 decisions (3–41 sessions · $0.40–$6.10)`
fn worst(estimate: &RunEstimate) -> String {
    let most = &estimate.bounds.most;
    let count = |amount: f64, noun: &str| match amount.is_finite() {
        true => format!("at most {} {}", grouped(amount as u64), plural(amount as usize, noun)),
        false => format!("any number of {noun}s"),
    };
    let decisions = match most.decisions {
        0.0 => String::new(),
        decisions => format!(" and {}", count(decisions, "decision")),
    };
    let of_runs = match estimate.runs {
        0 => String::new(),
        runs => format!(", from the program and {}", counted(runs, "earlier run")),
    };
    let worst = format!("{}{decisions}", count(most.sessions, "session"));
    let (first, rest) = worst.split_at(1);
    format!("{}{rest} ({}{of_runs})", first.to_uppercase(), estimate.title())
}

fn imports(program: &Program, grants: &Grants, page: &mut String) {
    section(page, "Imports");
    if program.imports.is_empty() {
        page.push_str("None.\n");
    }
    add_imports(program, grants, 0, page);
}

fn add_imports(program: &Program, grants: &Grants, depth: usize, page: &mut String) {
    let indent = "  ".repeat(depth);
    for Import { path, alias, program: imported, .. } in &program.imports {
        let name = if path == alias { code(path) } else { format!("{} as {}", code(path), code(alias)) };
        let Some(imported) = imported else {
            let _ = writeln!(page, "{indent}- {name}: a skill, or not read");
            continue;
        };
        let names: Vec<String> = imported.inputs().iter().map(|input| code(input)).collect();
        let takes = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let _ =
            writeln!(page, "{indent}- {name}: takes {takes}; {}", rights(imported.fetched.as_ref(), grants));
        add_imports(imported, grants, depth + 1, page);
    }
}

fn rights(fetched: Option<&Requests>, grants: &Grants) -> String {
    let Some(Requests { identity, rights }) = fetched else {
        return "local, with the rights of this program".to_owned();
    };
    let shown = |right: &Right| {
        let granted = if grants.permit(identity, right) { "granted" } else { "not granted" };
        format!("{} ({granted})", code(&right.to_string()))
    };
    match rights.as_slice() {
        [] => "fetched, requests no rights".to_owned(),
        rights => format!("fetched, requests {}", rights.iter().map(shown).collect::<Vec<_>>().join(", ")),
    }
}

/// A text of the program between back quotes, on one line.
fn code(text: &str) -> String {
    let line = shortened(text);
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    match longest {
        0 => format!("{fence}{line}{fence}"),
        _ => format!("{fence} {line} {fence}"),
    }
}

/// A text of the program as a text of the page, on one line. What would be markup is escaped.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    for c in shortened(text).chars() {
        if "\\`*_[]<>#|!".contains(c) {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}

fn shortened(text: &str) -> String {
    beginning(first_line(text), MAX_LINE)
}
