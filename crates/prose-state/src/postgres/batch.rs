//! Rows of the documented tables, as many as possible in one statement: a run with many sessions writes several rows for each of them.

use std::collections::HashSet;

use super::link::{Command, Parameter};
use crate::statements::{Column, Statement, Write};

/// Makes commands of rows of a run. Rows of one statement are sent together, and where that puts rows before others, the result is the same.
pub(super) fn commands(run: &str, rows: Vec<Write>) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut group = Group::default();
    for row in rows {
        if !row.statement.takes_arrays() {
            group.flush(run, &mut commands);
            let values = row.values.into_iter().map(|value| Box::new(value) as Parameter);
            let run = std::iter::once(Box::new(run.to_owned()) as Parameter);
            commands.push(Command::new(row.statement.for_postgres(), run.chain(values).collect()));
            continue;
        }
        if !group.takes(&row) {
            group.flush(run, &mut commands);
        }
        group.add(row);
    }
    group.flush(run, &mut commands);
    commands
}

/// Rows in the order in which their statements are executed.
#[derive(Default)]
struct Group {
    started: Vec<Vec<Column>>,
    ended: Vec<Vec<Column>>,
    bound: Vec<Vec<Column>>,
    /// The rows that are written: the statement, and the key.
    keys: HashSet<(Statement, String)>,
}

impl Group {
    /// Whether a row can be written with the others: one statement writes a row once, and what ends in the group starts before that.
    fn takes(&self, row: &Write) -> bool {
        let again = match row.statement {
            Statement::StartExecution => self.keys.contains(&(Statement::EndExecution, key(row))),
            _ => false,
        };
        !again && !self.keys.contains(&(row.statement, key(row)))
    }

    fn add(&mut self, row: Write) {
        self.keys.insert((row.statement, key(&row)));
        match row.statement {
            Statement::StartExecution => self.started.push(row.values),
            Statement::EndExecution => self.ended.push(row.values),
            _ => self.bound.push(row.values),
        }
    }

    fn flush(&mut self, run: &str, commands: &mut Vec<Command>) {
        let Self { started, ended, bound, .. } = std::mem::take(self);
        let groups = [
            (Statement::StartExecution, started),
            (Statement::EndExecution, ended),
            (Statement::Bind, bound),
        ];
        for (statement, rows) in groups {
            if rows.is_empty() {
                continue;
            }
            let mut columns: Vec<Vec<Column>> = vec![Vec::with_capacity(rows.len()); rows[0].len()];
            for row in rows {
                columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
            let columns = columns.into_iter().map(|column| Box::new(column) as Parameter);
            let run = std::iter::once(Box::new(run.to_owned()) as Parameter);
            commands.push(Command::new(statement.for_postgres(), run.chain(columns).collect()));
        }
    }
}

/// What a statement finds its row by.
fn key(row: &Write) -> String {
    let columns = if row.statement == Statement::Bind { 2 } else { 1 };
    format!("{:?}", &row.values[..columns])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::statements::write_row;

    fn start(id: i64) -> Write {
        write_row!(StartExecution, id, 1_i64, "session", "now", None::<i64>, None::<&str>)
    }

    fn end(id: i64) -> Write {
        write_row!(EndExecution, id, "completed", None::<&str>, "now")
    }

    fn bind(name: &str) -> Write {
        write_row!(Bind, name, None::<i64>, "let", "value", "let", "now", None::<&str>)
    }

    /// Each command with its first column of values.
    #[track_caller]
    fn check(rows: Vec<Write>, expected: expect_test::Expect) {
        let commands = commands("run", rows);
        let shown = commands.iter().map(|command| {
            let words: Vec<&str> = command.sql.split_whitespace().take(3).collect();
            format!("{}: {:?}\n", words.join(" "), command.parameters[1])
        });
        expected.assert_eq(&shown.collect::<String>());
    }

    #[test]
    fn rows_of_many_sessions_are_a_few_statements() {
        check(
            vec![start(1), start(2), bind("a"), end(1), bind("b"), start(3), end(2)],
            expect![[r#"
                INSERT INTO execution: [Number(1), Number(2), Number(3)]
                UPDATE execution SET: [Number(1), Number(2)]
                INSERT INTO bindings: [Text("a"), Text("b")]
            "#]],
        );
    }

    #[test]
    fn a_statement_writes_each_row_once() {
        check(
            vec![start(1), bind("a"), end(1), bind("a"), start(1), end(1)],
            expect![[r#"
                INSERT INTO execution: [Number(1)]
                UPDATE execution SET: [Number(1)]
                INSERT INTO bindings: [Text("a")]
                INSERT INTO execution: [Number(1)]
                UPDATE execution SET: [Number(1)]
                INSERT INTO bindings: [Text("a")]
            "#]],
        );
    }

    #[test]
    fn other_statements_stay_where_they_are() {
        check(
            vec![start(1), write_row!(SetStatus, "failed", "now"), end(1)],
            expect![[r#"
                INSERT INTO execution: [Number(1)]
                UPDATE run SET: Text("failed")
                UPDATE execution SET: [Number(1)]
            "#]],
        );
    }
}
