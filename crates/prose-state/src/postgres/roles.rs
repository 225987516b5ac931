//! What users other than the owner of a schema may do there: lead runs, perform requests, or read.
//!
//! A worker that only performs requests needs no table: the statements that it sends exist as functions with the rights of the owner. So it sees the requests
//! that it claims, and the bundles of their runs, and nothing else; and it writes outcomes, and no journal.

use std::fmt::Write;

use prose_syntax::text::quoted;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::address::Address;
use super::link::{Link, Purpose};
use super::link_error::LinkError;
use super::server::Server;
use crate::error::StateError;
use crate::protocol;

/// What a user may do in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Submit, lead and perform runs, and all that `prose runs --on` does.
    Coordinator,
    /// Perform requests, and nothing else.
    Worker,
    /// Read everything.
    Reader,
}

/// A statement of a worker as a function.
struct Function {
    name: &'static str,
    statement: &'static str,
    parameters: &'static str,
    returns: &'static str,
}

/// All statements of a worker that leads no runs. The names of functions start with [`PREFIX`].
const FUNCTIONS: [Function; 14] = [
    Function {
        name: "claim",
        statement: protocol::CLAIM,
        parameters: "text, double precision, text[], bigint, bigint[]",
        returns: CLAIMED,
    },
    Function { name: "limited", statement: protocol::LIMITED, parameters: "text[]", returns: "SETOF text" },
    Function {
        name: "lock_quotas",
        statement: protocol::LOCK_QUOTAS,
        parameters: "text[]",
        returns: "SETOF text",
    },
    Function {
        name: "claim_within",
        statement: protocol::CLAIM_WITHIN,
        parameters: "text, double precision, text, bigint, bigint[]",
        returns: CLAIMED,
    },
    Function {
        name: "heartbeat",
        statement: protocol::HEARTBEAT,
        parameters: "double precision, bigint[], text[], bigint[], text[]",
        returns: "SETOF bigint",
    },
    Function {
        name: "complete",
        statement: protocol::COMPLETE,
        parameters: "bigint[], text[], bigint[], text[], text[], text",
        returns: "TABLE (claim bigint, lost text[])",
    },
    Function { name: "release", statement: protocol::RELEASE, parameters: "bigint[]", returns: "void" },
    Function { name: "ask", statement: protocol::ASK, parameters: "bigint, bigint, text", returns: "void" },
    Function {
        name: "answers",
        statement: protocol::ANSWERS,
        parameters: "bigint[]",
        returns: "TABLE (claim bigint, id bigint, answer text)",
    },
    Function {
        name: "bundle",
        statement: protocol::BUNDLE,
        parameters: "text, bigint",
        returns: "SETOF text",
    },
    Function {
        name: "register",
        statement: protocol::REGISTER,
        parameters: "text, text[], bigint, text, double precision",
        returns: "void",
    },
    Function { name: "unregister", statement: protocol::UNREGISTER, parameters: "text", returns: "void" },
    Function {
        name: "queue",
        statement: protocol::QUEUE,
        parameters: "",
        returns: "TABLE (class text, free bigint, claimed bigint, waited double precision)",
    },
    Function {
        name: "runs",
        statement: protocol::RUNS,
        parameters: "",
        returns: "TABLE (led bigint, waiting bigint)",
    },
];

const CLAIMED: &str =
    "TABLE (run_id text, id bigint, claim bigint, attempt integer, request text, class text)";

/// How the names of the functions start.
const PREFIX: &str = "prose_worker_";

impl Function {
    fn signature(&self) -> String {
        format!("{PREFIX}{}({})", self.name, self.parameters)
    }

    /// How it is called with the parameters of its statement.
    fn call(&self) -> String {
        let count = self.parameters.split(',').filter(|parameter| !parameter.is_empty()).count();
        let parameters: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
        format!("SELECT * FROM {PREFIX}{}({})", self.name, parameters.join(", "))
    }
}

/// What a worker with the rights of [`Role::Worker`] sends in place of a statement.
pub fn call_of(statement: &str) -> Option<String> {
    FUNCTIONS.iter().find(|function| function.statement == statement).map(Function::call)
}

/// Makes the functions of a schema, in place of those of an earlier version. Users keep their rights by the default privileges that [`grant`] sets.
pub(super) fn functions(schema: &str) -> String {
    let mut script = format!(
        "DO $do$ DECLARE earlier regprocedure; BEGIN
            FOR earlier IN SELECT oid FROM pg_proc WHERE pronamespace = '\"{schema}\"'::regnamespace AND starts_with(proname, '{PREFIX}')
            LOOP EXECUTE 'DROP FUNCTION ' || earlier; END LOOP;
        END $do$;\n"
    );
    for function in &FUNCTIONS {
        let (signature, Function { returns, statement, .. }) = (function.signature(), function);
        let settings: Vec<String> = protocol::PLANS.split(';').map(|set| set.trim().to_owned()).collect();
        // Writing to a text cannot fail.
        let _ = writeln!(
            script,
            "CREATE FUNCTION {signature} RETURNS {returns} LANGUAGE sql SECURITY DEFINER
            SET search_path TO \"{schema}\", pg_temp {} AS $sql${statement}$sql$;
            REVOKE ALL ON FUNCTION {signature} FROM PUBLIC;",
            settings.join(" ")
        );
    }
    script
}

/// A name as it stands in statements.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Takes all rights in a schema from a user.
fn revocation(schema: &str, user: &str) -> String {
    let (schema, user) = (identifier(schema), identifier(user));
    let mut script = String::new();
    for what in ["TABLES", "FUNCTIONS"] {
        let _ = writeln!(
            script,
            "REVOKE ALL ON ALL {what} IN SCHEMA {schema} FROM {user};
            ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} REVOKE ALL ON {what} FROM {user};"
        );
    }
    script + &format!("REVOKE ALL ON SCHEMA {schema} FROM {user};\n")
}

/// Gives a role to a user who has no rights in a schema.
fn granting(role: Role, schema: &str, user: &str) -> String {
    let (schema, user) = (identifier(schema), identifier(user));
    let rights = match role {
        Role::Coordinator => "SELECT, INSERT, UPDATE, DELETE",
        Role::Reader => "SELECT",
        Role::Worker => {
            let mut script = format!(
                "GRANT USAGE ON SCHEMA {schema} TO {user}; GRANT SELECT ON {schema}.migration TO {user};
                ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT EXECUTE ON FUNCTIONS TO {user};\n"
            );
            for function in &FUNCTIONS {
                let _ = writeln!(
                    script,
                    "GRANT EXECUTE ON FUNCTION {schema}.{} TO {user};",
                    function.signature()
                );
            }
            return script;
        }
    };
    format!(
        "GRANT USAGE ON SCHEMA {schema} TO {user};
        GRANT {rights} ON ALL TABLES IN SCHEMA {schema} TO {user};
        ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT {rights} ON TABLES TO {user};
        REVOKE INSERT, UPDATE, DELETE ON {schema}.migration FROM {user};\n"
    )
}

/// Gives a role to a user of a server that has its tables, in place of an earlier one, or takes all rights from the user. Only the owner of the schema may do so.
pub fn grant(server: &Server, role: Option<Role>, user: &str) -> Result<(), StateError> {
    let address = server.address();
    let link = Link::new(address.clone(), Purpose::Reading);
    let sql = "SELECT pg_get_userbyid(nspowner) = $2::text FROM pg_namespace WHERE nspname = $1::text";
    let schema = &address.schema;
    let rows = link.query(sql, vec![Box::new(schema.clone()), Box::new(user.to_owned())]);
    let rows = rows.map_err(address.failed("read from"))?;
    if rows.first().is_some_and(|row| row.get(0)) {
        let why = format!("{} owns the schema `{schema}`, and may do everything there", quoted(user));
        return Err(StateError::refused(address.to_string(), why));
    }
    let granting = role.map_or_else(String::new, |role| granting(role, schema, user));
    let script = format!("BEGIN; {}{granting}COMMIT", revocation(schema, user));
    link.script(script).map_err(|error| failed(address, user, error))
}

fn failed(address: &Address, user: &str, error: LinkError) -> StateError {
    if error.code() == Some(&SqlState::UNDEFINED_OBJECT) {
        let why = format!(
            "there is no user {}; make one first: `CREATE ROLE {} LOGIN PASSWORD '…'`",
            quoted(user),
            identifier(user)
        );
        return StateError::refused(address.to_string(), why);
    }
    address.failed("change the rights on")(error)
}

/// By what a worker may use a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// By its tables.
    Tables,
    /// By the functions of workers.
    Functions,
}

impl Server {
    /// By what the user of a connection may use the schema. It is an error if the user may do neither.
    pub async fn access(&self, client: &Client) -> Result<Access, StateError> {
        let address = self.address();
        let sql = "SELECT coalesce(has_table_privilege(to_regclass('effect'), 'UPDATE'), false),
            coalesce(has_function_privilege(to_regprocedure($1::text), 'EXECUTE'), false), current_user::text";
        let claim = FUNCTIONS[0].signature();
        let row = client.query_one(sql, &[&claim]).await;
        let row = row.map_err(|error| address.failed("read from")(LinkError::Server(error)))?;
        match (row.get(0), row.get(1)) {
            (true, _) => Ok(Access::Tables),
            (false, true) => Ok(Access::Functions),
            (false, false) => {
                let (user, schema): (&str, _) = (row.get(2), &address.schema);
                let why = format!(
                    "the user {} may not perform requests in the schema `{schema}`; its owner allows that with `prose cluster grant worker {user}`",
                    quoted(user)
                );
                Err(StateError::refused(address.to_string(), why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::line::checksum_of;
    use crate::postgres::schema::VERSION;

    #[test]
    fn a_function_is_called_with_the_parameters_of_its_statement() {
        let calls: Vec<String> = FUNCTIONS.iter().map(Function::call).collect();
        expect![[r#"
            SELECT * FROM prose_worker_claim($1, $2, $3, $4, $5)
            SELECT * FROM prose_worker_limited($1)
            SELECT * FROM prose_worker_lock_quotas($1)
            SELECT * FROM prose_worker_claim_within($1, $2, $3, $4, $5)
            SELECT * FROM prose_worker_heartbeat($1, $2, $3, $4, $5)
            SELECT * FROM prose_worker_complete($1, $2, $3, $4, $5, $6)
            SELECT * FROM prose_worker_release($1)
            SELECT * FROM prose_worker_ask($1, $2, $3)
            SELECT * FROM prose_worker_answers($1)
            SELECT * FROM prose_worker_bundle($1, $2)
            SELECT * FROM prose_worker_register($1, $2, $3, $4, $5)
            SELECT * FROM prose_worker_unregister($1)
            SELECT * FROM prose_worker_queue()
            SELECT * FROM prose_worker_runs()"#]]
        .assert_eq(&calls.join("\n"));
        for function in &FUNCTIONS {
            let count = function.call().matches('$').count();
            assert!(function.statement.contains(&format!("${count}")) || count == 0, "{}", function.name);
            assert!(!function.statement.contains(&format!("${}", count + 1)), "{}", function.name);
        }
    }

    /// Schemas that were migrated have the functions as they were then: a change of them needs another migration, which may be empty.
    #[test]
    fn a_change_of_the_functions_is_a_new_version() {
        let checksum = checksum_of(functions("openprose").as_bytes(), 0);
        expect!["version 5: 5a93f80f"].assert_eq(&format!("version {VERSION}: {checksum:08x}"));
    }

    #[test]
    fn names_of_users_are_quoted() {
        let granted = granting(Role::Reader, "openprose", "a\"b; DROP");
        assert!(granted.contains("TO \"a\"\"b; DROP\";"), "{granted}");
    }
}
