//! Calls of imported programs (R92 to R95).

use std::rc::Rc;
use std::sync::Arc;

use prose_analysis::model::{Argument, Expr, ExprId};
use smol_str::SmolStr;

use super::{Cx, Exec, Instance};
use crate::error::{ErrorKind, RuntimeError};
use crate::event::EventKind;
use crate::names;
use crate::place::imported_name;
use crate::value::Value;

impl Cx {
    /// `research(topic: "tides")`
    pub(super) async fn call_program(&self, callee: Option<ExprId>, arguments: &[Argument]) -> Exec<Value> {
        let program = Arc::clone(self.program());
        let body = program.body(self.at);
        let name = match callee.map(|callee| &body[callee].expr) {
            Some(Expr::Name(name)) => body[*name].text.clone(),
            _ => self.written(callee),
        };
        let Some((_, import)) = program.import(&name) else {
            let hint = match callee.map(|callee| &body[callee].expr) {
                Some(Expr::Name(_)) => format!("import it with `use \"…\" as {name}`"),
                _ => "what is called has the name of a `use` line".to_owned(),
            };
            return self
                .fail(ErrorKind::UnknownName, format!("there is no program `{name}` to call; {hint}"));
        };
        let Some(called) = &import.program else {
            return self.fail(
                ErrorKind::Import,
                format!("the program `{}` could not be read, so `{name}` cannot be called", import.path),
            );
        };
        let mut inputs: Vec<(SmolStr, Value)> = Vec::new();
        let mut next = 0;
        for (given, value) in self.arguments(arguments).await? {
            let input = match given {
                Some(given) => called.contract.input(&given).map(|input| input.name.clone()).ok_or(given),
                None => {
                    next += 1;
                    let input = called.contract.inputs.get(next - 1).map(|input| input.name.clone());
                    input.ok_or_else(|| SmolStr::from(format!("argument {next}")))
                }
            };
            match input {
                Ok(input) => inputs.push((input, value)),
                Err(given) => self.warn(format!("program `{name}` has no input `{given}`; it is left out")),
            }
        }
        let number = self.run.programs.get() + 1;
        self.run.programs.set(number);
        let folder = self.import_folder(&import.folder);
        self.emit(EventKind::ImportCalled {
            program: number,
            alias: name.clone(),
            inputs: inputs.clone(),
            folder: Arc::clone(&folder),
            text: Arc::clone(&called.text),
        });
        let instance =
            Instance::new((number, Some(imported_name(&import.path))), Arc::clone(called), folder, inputs);
        self.run.called(&self.place, 'm', number);
        let place = self.place.step(format_args!("m{number}"));
        let mut cx = Self::start(Rc::clone(&self.run), Rc::clone(&instance), place);
        cx.tree.clone_from(&self.tree);
        cx.nesting = self.nesting + 1;
        // A task of its own, since programs may be nested as deep as one likes.
        let result = self.run.world.spawn(async move { cx.program_to_its_end().await }).await;
        let outputs = instance.root.outputs.borrow().clone();
        let error = result.as_ref().err().cloned();
        self.emit(EventKind::ImportEnded {
            program: number,
            alias: name.clone(),
            outputs: outputs.clone(),
            error,
        });
        match result {
            // An unnamed output is the value of the call, whatever else was given before (B5).
            Ok(Value::Null) if !outputs.is_empty() => Ok(Value::object(outputs)),
            Ok(value) => Ok(value),
            Err(error) => self.raise(self.error_of_import(&name, &error)),
        }
    }

    /// The error of an imported program as its caller sees it (R95).
    fn error_of_import(&self, name: &str, error: &RuntimeError) -> Arc<RuntimeError> {
        let line = if error.line > 0 { format!(" at its line {}", error.line) } else { String::new() };
        self.error(ErrorKind::Import, format!("program `{name}` failed{line}: {error}"))
    }

    /// The folder of a call: the first one has the plain name, later ones a number (B13).
    fn import_folder(&self, folder: &SmolStr) -> Arc<str> {
        let mut imported = self.instance.imported.borrow_mut();
        // Some systems do not tell capital letters from small ones.
        let (folder, key) = match self.names_are_told_apart() {
            true => (names::folder_base(folder), folder.to_lowercase().into()),
            false => (folder.clone(), folder.clone()),
        };
        let count = imported.entry(key).or_default();
        *count += 1;
        let own = &self.instance.folder;
        match *count {
            1 => format!("{own}imports/{folder}/").into(),
            count => format!("{own}imports/{folder}--{count:03}/").into(),
        }
    }
}
