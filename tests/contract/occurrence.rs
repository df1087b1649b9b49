//! A deliberate repetition: its name is part of the key and of what is approved.

use machine::{
    actor::InvalidName,
    contract::{Action, ActionType, Contract, InvalidContract, ToolSpec},
    effects::EffectError,
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{ecs_node, graph_runner, reasoning_node, tool_node},
    assert_err,
    samples::{mail, receipt},
    stores::planned,
};

fn weekly(week: &str) -> Contract {
    mail("bob").occurrence(week, graph_runner()).unwrap()
}

#[test]
fn an_occurrence_makes_another_key_and_another_digest() {
    let (plain, one, two) = (mail("bob"), weekly("2026-W47"), weekly("2026-W48"));
    for (a, b) in [(&plain, &one), (&plain, &two), (&one, &two)] {
        assert_ne!(a.idempotency_key(), b.idempotency_key());
        assert_ne!(a.action().digest(), b.action().digest());
    }
    assert_eq!(one.action().detail()["occurrence"], "2026-W47");
    assert_eq!(one.idempotency_key(), weekly("2026-W47").idempotency_key());
    // It is named once; the last name counts.
    let renamed = one.occurrence("2026-W48", graph_runner()).unwrap();
    assert_eq!(
        (renamed.action(), renamed.idempotency_key()),
        (two.action(), two.idempotency_key())
    );
}

/// An argument cannot pass for an occurrence, nor the other way round.
#[test]
fn an_argument_is_not_an_occurrence() {
    let spec = ToolSpec::irreversible("email", "send").unwrap();
    let call = |arguments: &str| Contract::tool_call(&spec, arguments, reasoning_node()).unwrap();
    let chosen = call(r#"{"to":"bob","occurrence":"2026-W47"}"#);
    let named = call(r#"{"to":"bob"}"#).occurrence("2026-W47", graph_runner()).unwrap();
    assert_ne!(chosen.idempotency_key(), named.idempotency_key());
    assert!(!chosen.action().detail().contains_key("occurrence"));
}

/// An action that took effect does not run again, except on another occasion, and each occasion
/// once.
#[tokio::test]
async fn each_occasion_runs_once() {
    let store = Store::memory();
    for contract in [mail("bob"), weekly("2026-W47"), weekly("2026-W48")] {
        for round in 0..2 {
            let created = planned::<Action>(&store, contract.clone()).await;
            if round > 0 {
                assert_err!(created, EffectError::Commit(CommitError::AlreadyDone { .. }));
                continue;
            }
            let planned = created.unwrap();
            drop(store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap());
        }
    }
}

/// The approver reads the occasion, and approves it.
#[test]
fn the_question_names_the_occasion() {
    let (gate, planned) = weekly("2026-W47").ask::<Action>(None, ecs_node()).unwrap();
    assert!(gate.question().contains("\n(occurrence) 2026-W47\n"), "{}", gate.question());
    assert_eq!(gate.approval().action(), planned.context().action().digest());
}

/// Its name is a line of visible text, and short.
#[test]
fn an_occurrence_is_a_visible_name() {
    let named = |name: &str| mail("bob").occurrence(name, graph_runner()).map(drop);
    named("2026-W47").unwrap();
    named(&"x".repeat(200)).unwrap();
    assert_err!(named(""), InvalidContract::Name(InvalidName::Empty));
    assert_err!(named(" \u{3000}"), InvalidContract::Name(InvalidName::Empty));
    assert_err!(named(&"x".repeat(201)), InvalidContract::Name(InvalidName::TooLong));
    for odd in ['\n', '\0', '\u{1b}', '\u{202e}', '\u{200b}', '\u{feff}', '\u{2028}', '\u{e0041}'] {
        let refused = named(&format!("2026{odd}W47"));
        assert_err!(refused, InvalidContract::Name(InvalidName::Invisible(found)) if *found == odd);
        let text = refused.unwrap_err().to_string();
        assert!(!text.contains(odd) && text.contains("remove it"), "{text:?}");
    }
}

/// An action that just fits does not become too large unnoticed.
#[test]
fn an_occurrence_counts_for_the_size() {
    let spec = ToolSpec::irreversible("email", "send").unwrap();
    let frame = r#"{"args":{"a":""},"method":"send","service":"email"}"#.len();
    let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(256 * 1024 - frame));
    let full = Contract::tool_call(&spec, &arguments, reasoning_node()).unwrap();
    let refused = full.occurrence("2026-W47", graph_runner());
    assert_err!(refused, InvalidContract::TooLarge { .. });
}

/// Look-alikes by spaces and compatibility characters make one key; letters of another alphabet are
/// shown for what they are.
#[test]
fn occurrences_that_look_the_same_are_the_same() {
    let plain = weekly("W47");
    for alike in
        ["W47 ", " W47", "W47\u{a0}", "W47\u{2003}", "W47\u{fe0f}", "\u{ff37}47", "W4\u{1d7d5}"]
    {
        let named = weekly(alike);
        assert_eq!(named.idempotency_key(), plain.idempotency_key(), "{alike:?}");
        assert_eq!(named.action(), plain.action(), "{alike:?}");
    }
    let (gate, _planned) =
        weekly("\u{ff37}eek \u{441}\u{435}").ask::<Action>(None, ecs_node()).unwrap();
    let shown = gate.question().contains("\n(occurrence) Week \\u{441}\\u{435}\n");
    assert!(shown, "{}", gate.question());
    // An action from elsewhere has the same form.
    for odd in ["W47 ", "\u{ff37}47", "W47\u{fe0f}", "", "W\n47"] {
        let mut detail = plain.action().detail().clone();
        detail.insert("occurrence".to_owned(), odd.into());
        let refused = Action::new(ActionType::ToolCall, detail);
        assert_err!(refused, InvalidContract::NotACall(reason) if reason.contains("occurrence"));
    }
}
