//! The permissions with which sessions run: their own, those of the project, and denied tool calls (decision 13).

use prose_rights::{About, PermissionRule};
use prose_syntax::text::counted;

use crate::activity::Denial;
use crate::effect::{Failure, Outcome, Permission};

/// The permissions of a session as the harness receives them: its own ones, and those of the project for other subjects. An empty list of patterns
/// denies.
pub fn effective(own: &[Permission], project: &[Permission]) -> Vec<Permission> {
    let inherited =
        project.iter().filter(|rule| !own.iter().any(|own| is_same_subject(&own.about, &rule.about)));
    let denies = |rule: &Permission| match rule.rule.denies_all() {
        true => Permission { about: rule.about.clone(), rule: PermissionRule::Deny },
        false => rule.clone(),
    };
    own.iter().chain(inherited).map(denies).collect()
}

/// Whether two permissions are about the same, as `bash` and `execute` are.
fn is_same_subject(name: &str, other: &str) -> bool {
    name == other || About::of(name).is_some_and(|about| About::of(other) == Some(about))
}

/// The outcome of a session with its denied tool calls: warnings of the reply, or a part of the failure.
pub(crate) fn with_denials(outcome: Outcome, denials: &[Denial]) -> Outcome {
    if denials.is_empty() {
        return outcome;
    }
    match outcome {
        Outcome::Reply(mut reply) => {
            reply.warnings.extend(messages(denials));
            Outcome::Reply(reply)
        }
        Outcome::Failed(failure) => {
            let message = format!("{} ({})", failure.message, messages(denials).join("; "));
            Outcome::Failed(Failure { message, ..failure })
        }
        outcome => outcome,
    }
}

/// One message for each denied call.
fn messages(denials: &[Denial]) -> Vec<String> {
    const MAX_SHOWN: usize = 5;
    let mut grouped: Vec<(&Denial, usize)> = Vec::new();
    for denial in denials {
        match grouped.iter_mut().find(|(known, _)| *known == denial) {
            Some((_, count)) => *count += 1,
            None => grouped.push((denial, 1)),
        }
    }
    let left: usize = grouped.iter().skip(MAX_SHOWN).map(|(_, count)| count).sum();
    let mut messages: Vec<String> = grouped
        .iter()
        .take(MAX_SHOWN)
        .map(|(Denial { title, reason }, count)| {
            let times = if *count > 1 { format!(" {count} times") } else { String::new() };
            format!("denied{times}: `{title}` ({reason})")
        })
        .collect();
    if left > 0 {
        messages.push(format!("{} more denied", counted(left, "tool call")));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(about: &str, rule: PermissionRule) -> Permission {
        Permission { about: about.into(), rule }
    }

    #[test]
    fn the_project_rules_subjects_that_the_session_does_not() {
        let project = [rule("bash", PermissionRule::Allow), rule("network", PermissionRule::Prompt)];
        let own =
            [rule("execute", PermissionRule::Deny), rule("write", PermissionRule::Patterns(Vec::new()))];
        assert_eq!(
            effective(&own, &project),
            [
                rule("execute", PermissionRule::Deny),
                rule("write", PermissionRule::Deny),
                rule("network", PermissionRule::Prompt)
            ]
        );
    }

    #[test]
    fn repeated_denials_are_counted() {
        let denial = |title: &str| Denial { title: title.to_owned(), reason: "`bash: deny`".to_owned() };
        assert_eq!(
            messages(&[denial("ls"), denial("rm x"), denial("ls")]),
            ["denied 2 times: `ls` (`bash: deny`)", "denied: `rm x` (`bash: deny`)"]
        );
        let many: Vec<Denial> = (0..8).map(|number| denial(&number.to_string())).collect();
        assert_eq!(messages(&many).last().map(String::as_str), Some("3 tool calls more denied"));
    }
}
