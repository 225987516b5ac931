//! Narrations that models wrote, who keep to the protocol more or less.

use crate::common::{Play, more, programs, replay, told};
use expect_test::expect;
use prose_narration::{Markers, transcript};
use prose_vm::effect::Outcome;
use prose_vm::event::StateMode;
use prose_vm::value::Value;

/// Rewrites our narrations in some way and expects all of each run to be recovered.
#[track_caller]
fn check(rewrite: impl Fn(&str) -> String) {
    let programs: &[fn(StateMode) -> Play] = &[
        programs::complete_trace,
        programs::one_session,
        programs::reviews,
        programs::one_loop,
        programs::recovery,
        programs::recursion,
        programs::import,
        more::other_effects,
        more::long_branches,
        more::failing_branches,
        more::nested_branches,
        more::races,
    ];
    for program in programs {
        let play = program(StateMode::InContext);
        let text = rewrite(&play.narrate(Markers::Brackets));
        let recovered = transcript::read(&text);
        let words = recovered.to_string();
        let mut recall = recovered.into_recording();
        let (outcomes, _) = replay(&play, &mut recall);
        assert_eq!(outcomes, told(&play, u64::MAX), "from\n{text}\n{words}");
    }
}

/// Rewrites each line.
fn each_line(text: &str, mut rewrite: impl FnMut(&str) -> String) -> String {
    text.lines().map(|line| rewrite(line) + "\n").collect()
}

#[test]
fn r108_indentation_says_nothing() {
    check(|text| each_line(text, |line| line.trim_start().to_owned()));
    check(|text| text.replace("   ", "\t"));
    check(|text| each_line(text, |line| format!("      {line}")));
}

#[test]
fn r108_blank_lines_say_nothing() {
    check(|text| text.replace("\n\n", "\n"));
    check(|text| text.replace('\n', "\n\n"));
    check(|text| text.replace('\n', "\r\n"));
}

#[test]
fn r107_markers_are_bold() {
    check(|text| bold(text, |word| format!("**[{word}]**")));
    check(|text| bold(text, |word| format!("**[{word}]:**")));
    check(|text| bold(text, |word| format!("`[{word}]`")));
    check(|text| bold(text, |word| format!("- [{word}]")));
    check(|text| bold(text, |word| format!("[{}]", word.to_uppercase())));
}

#[test]
fn r107_markers_have_lost_their_brackets() {
    check(|text| bold(text, |word| format!("{word}:")));
    check(|text| bold(text, str::to_owned));
    check(|text| bold(text, |word| format!("**{word}**:")));
}

/// Writes the markers at the starts of lines in another way.
fn bold(text: &str, write: impl Fn(&str) -> String) -> String {
    let known = [
        "Program", "Position", "Binding", "Input", "Output", "Import", "Success", "Warning", "Parallel",
        "Loop", "Try", "Flow", "Frame+", "Frame-",
    ];
    each_line(text, |line| {
        let start = line.len() - line.trim_start().len();
        let marked = line.trim_start().strip_prefix('[').and_then(|line| line.split_once(']'));
        match marked.filter(|(word, _)| known.contains(word)) {
            Some((word, rest)) => format!("{}{}{rest}", &line[..start], write(word)),
            None => line.to_owned(),
        }
    })
}

#[test]
fn r107_emoji_stand_for_markers() {
    for program in [programs::complete_trace, programs::recovery, more::other_effects] {
        let play = program(StateMode::InContext);
        let text = play.narrate(Markers::Emoji);
        assert!(text.contains('📍') && !text.contains("[Position]"));
        for text in [text.clone(), text.replace('\u{fe0f}', "")] {
            let (outcomes, _) = replay(&play, &mut transcript::read(&text).into_recording());
            assert_eq!(outcomes, told(&play, u64::MAX), "from\n{text}");
        }
    }
}

#[test]
fn r108_talk_stands_between_the_lines() {
    let talk = [
        "Let me now go on with the next statement.",
        "Result looks good: I will keep it.",
        "- [x] done with that",
        "- note: this is going well",
        "...",
        "<thinking>Is the loop done? Satisfied, I guess.</thinking>",
        "[Multiple Task calls]",
        "Position of the run: in the middle.",
    ];
    check(|text| {
        let mut lines = talk.iter().cycle();
        // Talk is set apart from what is narrated, and does not stand between the lines of one list.
        each_line(text, |line| match lines.next() {
            Some(talk) if line.is_empty() => format!("\n{talk}\n"),
            _ => line.to_owned(),
        })
    });
}

#[test]
fn r108_narration_is_quoted_or_fenced() {
    check(|text| each_line(text, |line| format!("> {line}")));
    check(|text| format!("Here is the state so far:\n\n```\n{text}```\n\nShall I go on?\n"));
    check(|text| text.split("\n\n").map(|part| format!("```text\n{part}\n```\n\n")).collect());
}

#[test]
fn r108_results_stand_between_other_quotes() {
    check(|text| requote(text, |inner| format!("“{inner}”")));
    check(|text| requote(text, |inner| format!("'{inner}'")));
    check(|text| requote(text, |inner| format!("`{inner}`")));
}

#[test]
fn r108_results_stand_without_quotes() {
    // What spans lines cannot be told without quotes.
    check(|text| {
        requote(text, |inner| if inner.contains('\\') { format!("\"{inner}\"") } else { inner.to_owned() })
    });
}

/// Writes the quotes of results in another way.
fn requote(text: &str, write: impl Fn(&str) -> String) -> String {
    each_line(text, |line| {
        let is_result = ["complete: \"", "Result: \"", "complete = \""].iter().any(|it| line.contains(it));
        match line.split_once('"').filter(|_| is_result) {
            Some((before, rest)) => format!("{before}{}", write(rest.trim_end_matches('"'))),
            None => line.to_owned(),
        }
    })
}

#[test]
fn r108_results_are_wrapped() {
    let play = programs::complete_trace(StateMode::InContext);
    let text = play.narrate(Markers::Brackets);
    for text in [
        text.replace("covers alignment.", "covers\n    alignment."),
        requote(&text, str::to_owned)
            .replace("covers alignment.", "covers\nalignment.\n\nThat was the first one."),
    ] {
        let (outcomes, _) = replay(&play, &mut transcript::read(&text).into_recording());
        let words = format!("{:?}", outcomes[0].1);
        assert!(words.contains(r#""AI safety research covers\nalignment.""#), "from\n{text}\n{words}");
        assert_eq!(outcomes[1..], told(&play, u64::MAX)[1..], "from\n{text}");
    }
}

/// What a transcript gives, in the words for people.
#[track_caller]
fn check_findings(text: &str, expected: expect_test::Expect) {
    expected.assert_eq(&transcript::read(text).to_string());
}

/// What a recall answers for the complete trace, one line for each request of it.
#[track_caller]
fn check_complete_trace(text: &str, expected: expect_test::Expect) {
    let play = programs::complete_trace(StateMode::InContext);
    let mut recall = transcript::read(text).into_recording();
    let (outcomes, anew) = replay(&play, &mut recall);
    let mut lines: Vec<String> = outcomes
        .iter()
        .map(|(request, outcome)| match outcome {
            Outcome::Reply(reply) => format!("{}: {:?}\n", request.0, reply.text),
            Outcome::Verdict(verdict) => format!("{}: {} {:?}\n", request.0, verdict.met, verdict.reason),
            outcome => format!("{}: {outcome:?}\n", request.0),
        })
        .collect();
    lines.extend(anew.iter().map(|request| format!("{}: is asked anew\n", request.0)));
    expected.assert_eq(&lines.concat());
}

#[test]
fn r108_results_that_are_not_sure_are_asked_for_again() {
    check_complete_trace(
        r#"
        Position: Statement 1 – let research = session: researcher
        **Success:** Session complete: "AI safety research covers..."
        Binding: let research = <result>

        Position: Statement 2: parallel block
        [Parallel] Entering parallel (2 branches, strategy: all)
        [Parallel] Parallel complete:
          • a = Risk A: it may not do what we want
          • b = "Risk B: …"
        [Binding] a, b bound

        📍 Statement 3: loop until **analysis complete** (max: 3)
        🔄 Iteration 1 of max 3
        📍 session "Synthesize" with context: {a, b, research}
        ✅ Session complete
        ➡️ Not satisfied, continuing
        🔄 Iteration 2 of max 3
        📍 session "Synthesize" with context: {a, b, research}
        ✅ Result: A second synthesis
           that takes two lines
        "#,
        expect![[r#"
            2: "Risk A: it may not do what we want"
            4: false ""
            5: "(the result was not kept)"
            6: false ""
            7: "A second synthesis\nthat takes two lines"
            1: is asked anew
            3: is asked anew
            8: is asked anew
        "#]],
    );
}

#[test]
fn r108_results_stand_below_their_lines() {
    check(|text| {
        each_line(text, |line| match line.split_once("complete: ") {
            Some((before, result)) => format!("{before}complete:\n      {result}"),
            None => line.to_owned(),
        })
    });
    let text = "[Position] Statement 1 of 3: let research = session: researcher\n[Success] Session completed:\n\
                ```markdown\n# Alignment\n\n- one...\n- [Flow] two\n```\n[Binding] research bound\n";
    check_findings(
        text,
        expect![[r#"
        recovered 0 sessions and 0 other answers
        line 2: session of `let research = session: researcher`: its result is not stated"#]],
    );
    check_complete_trace(
        &text.replace("[Flow] ", ""),
        expect![[r##"
        1: "# Alignment\n\n- one...\n- two"
        3: is asked anew
        2: is asked anew
        4: is asked anew
        5: is asked anew
        6: is asked anew
        7: is asked anew
        8: is asked anew
    "##]],
    );
}

#[test]
fn r108_words_vary() {
    check(|text| text.replace("Session complete:", "Session completed –"));
    check(|text| text.replace("Recovery complete: ", "Session result: "));
    check(|text| text.replace("[Warning] Session", "[Error] Session"));
    check(|text| {
        text.replace("[Flow] Not satisfied", "[Loop] Condition not met")
            .replace("[Flow] Satisfied", "[Flow] Condition met")
    });
    check(|text| {
        (1..=6).fold(text.to_owned(), |text, n| {
            text.replace(&format!("Statement {n}:"), &format!("Statement {n} of 6 –"))
        })
    });
    check(|text| text.replace("[Parallel] Parallel complete", "[Parallel] All branches complete"));
    check(|text| text.replace("   - ", "   * "));
    check(|text| text.replace("complete = ", "complete: "));
}

#[test]
fn r109_doubts_are_said_with_their_lines() {
    check_findings(
        r#"[Position] Executing: session "Research the topic"
   [Task tool call]
[Success] Session complete: "Research found that...
[Position] session "Look closer"
[Position] session "Risky operation"
[Warning] Session failed
[Position] session "Go on"
[Success] Session complete
[Loop] Starting loop until **task complete** (max: 5)
[Loop] Iteration 1 of max 5
   [Loop] Evaluating: **task complete**
   [Flow] Not satisfied, continuing
[Position] session "Cleanup"
"#,
        expect![[r#"
            recovered 0 sessions and 2 other answers
            line 3: session of `session "Research the topic"`: its text has no end
            line 4: session of `session "Look closer"`: it had not ended
            line 6: session of `session "Risky operation"`: why it failed is not stated
            line 8: session of `session "Go on"`: its result is not stated
            line 13: session of `session "Cleanup"`: it had not ended"#]],
    );
}

#[test]
fn r108_a_result_may_stand_only_where_it_is_bound() {
    check_complete_trace(
        r#"
        [Position] Statement 1: Research AI safety with the researcher
        [Success] Session complete, binding written
        [Binding] let research = "All about \"alignment\"." (mutable)
        "#,
        expect![[r#"
            1: "All about \"alignment\"."
            3: is asked anew
            2: is asked anew
            4: is asked anew
            5: is asked anew
            6: is asked anew
            7: is asked anew
            8: is asked anew
        "#]],
    );
}

#[test]
fn r110_views_of_runs_with_files_give_back_what_they_did_not_shorten() {
    let text = programs::complete_trace(StateMode::Filesystem).narrate(Markers::Brackets);
    check_complete_trace(
        &text,
        expect![[r#"
        1: "AI safety research covers alignment."
        2: "Risk A: misalignment."
        3: "Risk B: robustness."
        4: false ""
        5: "Initial synthesis."
        6: false "synthesis is preliminary"
        7: "Comprehensive analysis."
        8: true ""
    "#]],
    );
}

#[test]
fn r109_sessions_that_the_program_does_not_ask_for_stay_unused() {
    let play = programs::one_session(StateMode::InContext);
    let text = "[Position] session \"Something else\"\n[Success] Session complete: \"Done.\"\n";
    let mut recall = transcript::read(text).into_recording();
    assert_eq!(replay(&play, &mut recall).0, []);
    let unused: Vec<_> = recall.unused().map(|finding| (finding.line, finding.about)).collect();
    assert_eq!(unused, [(2, "session of `session \"Something else\"`".to_owned())]);
}

#[test]
fn r109_inputs_are_recovered() {
    let text = "[Input] Inputs received:\n   topic = \"quantum computing\" (from caller)\n   depth = deep (from caller)\n   \
                sources = [\"a\", {\"b\": 1}] (from caller)\n   count = 12\n\n[Program] Program Start\n";
    let inputs = transcript::read(text).inputs;
    let inputs: Vec<String> = inputs
        .iter()
        .map(|(name, value)| format!("{name} = {}", serde_json::to_string(value).unwrap()))
        .collect();
    assert_eq!(
        inputs,
        ["topic = \"quantum computing\"", "depth = \"deep\"", "sources = [\"a\",{\"b\":1}]", "count = 12"]
    );
}

#[test]
fn r109_an_input_that_nobody_gave_is_not_asked_for_again() {
    let mut play = Play::new(StateMode::InContext, &[]);
    play.define(&[], &[], 1);
    play.input("audience", "Who reads it?", Value::Null);
    let mut recall = transcript::read(&play.narrate(Markers::Brackets)).into_recording();
    let (outcomes, anew) = replay(&play, &mut recall);
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, [Outcome::Value(Value::Null)]);
    assert_eq!(anew, []);
}

#[test]
fn r109_program_and_end_are_recovered() {
    let play = programs::one_session(StateMode::InContext);
    let text = play.narrate(Markers::Brackets);
    let recovered = transcript::read(&text);
    assert_eq!(recovered.program.as_deref(), Some("main.prose"));
    assert_eq!(recovered.sha256.as_deref(), Some("5e1f"));
    assert!(recovered.is_complete);
    assert!(!transcript::read(&text.replace("Program Complete", "Program Interrupted")).is_complete);
}

#[test]
fn any_text_is_read() {
    for text in [
        "",
        "\n",
        "[",
        "[Success]",
        "[Success] Session complete: \"",
        "**",
        "- ",
        "📍",
        "[Loop] Iteration",
        "[Flow] (",
        "[Binding] =",
        "[Parallel] Branch",
        "[Parallel] Branch a > : \n- =",
        "Binding: é",
        "[Warning] Session failed (",
    ] {
        transcript::read(text);
    }
    // A change of any character leaves a text that is read, whatever is made of it.
    let text = more::other_effects(StateMode::InContext).narrate(Markers::Emoji)
        + &more::nested_branches(StateMode::InContext).narrate(Markers::Brackets);
    let chars: Vec<char> = text.chars().collect();
    for at in (0..chars.len()).step_by(7) {
        for other in ["", "é", "*", "(", "\"", "\n", "= : ", "[Loop] "] {
            let (before, after): (String, String) =
                (chars[..at].iter().collect(), chars[at + 1..].iter().collect());
            transcript::read(&format!("{before}{other}{after}"));
        }
    }
}

/// The shape of the loop in the protocol: its sessions have ended, and no line tells what they gave.
#[test]
fn r108_sessions_that_have_ended_without_a_result_are_not_asked_again() {
    check_findings(
        "[Loop] Starting loop until **the hull is clean** (max: 5)\n\n[Loop] Iteration 1 of max 5\n   [Position] session \"Scrub the hull\"\n   \
         [Success] Session complete\n   [Loop] Evaluating: **the hull is clean**\n   [Flow] Not satisfied, continuing\n",
        expect![[r#"
            recovered 0 sessions and 2 other answers
            line 5: session of `session "Scrub the hull"`: its result is not stated"#]],
    );
    let play = programs::one_loop(StateMode::InContext);
    let text =
        each_line(&play.narrate(Markers::Brackets), |line| match line.split_once("Session complete") {
            Some((before, _)) => format!("{before}Session complete"),
            None => line.to_owned(),
        });
    let (outcomes, anew) = replay(&play, &mut transcript::read(&text).into_recording());
    assert_eq!(anew, []);
    let replies: Vec<_> = outcomes
        .iter()
        .filter_map(|(_, outcome)| match outcome {
            Outcome::Reply(reply) => Some((&*reply.text, reply.warnings.as_slice())),
            _ => None,
        })
        .collect();
    expect![[r#"
        ("(the result was not kept)", ["the session in line 12 of the narration has ended, but its result is not stated"])
        ("(the result was not kept)", ["the session in line 18 of the narration has ended, but its result is not stated"])
    "#]]
    .assert_eq(&replies.iter().map(|reply| format!("{reply:?}\n")).collect::<String>());
}

#[test]
fn r108_what_ended_with_a_result_that_is_cut_off_is_asked_only_where_it_is_needed() {
    check_complete_trace(
        r#"
        [Position] Statement 1: let research = session: researcher
        [Success] Session complete: "AI safety research covers..."
        [Binding] let research = <result>

        [Position] Statement 2: parallel block
        [Parallel] Entering parallel (2 branches, strategy: all)
        [Parallel] Parallel complete:
           - a = "Risk A: it may not do what we want"
           - b = "Risk B: it may break"
        [Binding] a, b bound

        [Position] Statement 3: loop until **analysis complete** (max: 3)
        [Loop] Starting loop

        [Loop] Iteration 1 of max 3
           [Position] session "Synthesize" with context: {a, b, research}
           [Success] Result: "Initial synthesis..."
           [Loop] Evaluating: **analysis complete**
           [Flow] Not satisfied (synthesis is preliminary)
        "#,
        expect![[r#"
            2: "Risk A: it may not do what we want"
            3: "Risk B: it may break"
            4: false ""
            5: "Initial synthesis..."
            6: false "synthesis is preliminary"
            1: is asked anew
            7: is asked anew
            8: is asked anew
        "#]],
    );
}

/// The shape of the error handling in the protocol.
#[test]
fn r108_a_recovery_that_has_ended_is_not_asked_again() {
    let play = programs::recovery(StateMode::InContext);
    let text = each_line(&play.narrate(Markers::Brackets), |line| {
        let ended = ["Recovery complete", "Cleanup complete"];
        match ended.iter().find_map(|words| line.split_once(words).map(|(before, _)| (before, words))) {
            Some((before, words)) => format!("{before}{words}"),
            None => line.to_owned(),
        }
    });
    assert!(text.contains("[Success] Recovery complete\n"), "{text}");
    let (_, anew) = replay(&play, &mut transcript::read(&text).into_recording());
    assert_eq!(anew, []);
}

#[test]
fn r108_a_result_that_the_program_goes_on_with_is_asked_for() {
    let play = programs::recursion(StateMode::InContext);
    let text =
        each_line(&play.narrate(Markers::Brackets), |line| match line.split_once("Session complete") {
            Some((before, _)) => format!("{before}Session complete"),
            None => line.to_owned(),
        });
    check_findings(
        &text,
        expect![[r#"
        recovered 0 sessions and 0 other answers
        line 15: session that `parts` is bound to: its result is not stated
        line 25: session that `parts` is bound to: its result is not stated
        line 32: session of `session "Combine results"`: its result is not stated"#]],
    );
    let (outcomes, anew) = replay(&play, &mut transcript::read(&text).into_recording());
    // What nothing captures has ended; `parts` are asked for, in both calls.
    assert_eq!((outcomes.len(), anew.len()), (1, 2), "{outcomes:?}");
}

#[test]
fn r079_a_retry_tells_that_the_attempt_before_it_failed() {
    check_findings(
        "[Position] session \"Call\"\n[Warning] Retry 1 of 3, error: \"timeout\"\n[Warning] Retry 2 of 3, error: \"time \\\"out\\\"\"\n[Success] Session complete: \"well\"\n",
        expect!["recovered 3 sessions and 0 other answers"],
    );
}
