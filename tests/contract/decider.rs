//! Retries: who decided them, and what they repeat (EX-5).

use machine::{
    contract::{
        Action, AnyExecution, Contract, Execution,
        execution::{Failed, Pending},
    },
    effects::EffectError,
    store::{CommitError, Store},
    view::ConsequenceView,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{Ticket, mail},
    stores::planned,
};
use serde_json::{Value, json};

use super::forged::edited;

fn failed() -> Execution<Failed> {
    Execution::new(mail("bob").session("s1").note("n", 1)).start(tool_node()).fail(
        "connection refused".to_owned(),
        None,
        tool_node(),
    )
}

/// A retry is the same action under the same key, as a new execution, and names the attempt that it
/// repeats and who decided it.
#[test]
fn a_retry_says_what_it_repeats_and_who_decided() {
    let (failed, contract) = (failed(), mail("bob").session("s1").note("n", 1));
    let retry = Contract::retry(&failed, ann());
    assert_eq!(retry.action(), contract.action());
    assert_eq!(retry.idempotency_key(), contract.idempotency_key());
    assert_eq!((retry.effect(), retry.is_irreversible()), (contract.effect(), true));
    assert_eq!((retry.session_id(), retry.metadata()), (Some("s1"), contract.metadata()));
    assert_eq!(
        (retry.timeout(), retry.settling_time()),
        (contract.timeout(), contract.settling_time())
    );
    assert_eq!((retry.retry_of(), contract.retry_of()), (Some(failed.id()), None));
    assert_eq!((retry.decided_by(), contract.decided_by()), (Some("ann"), None));
    assert_ne!(Execution::new(retry).id(), failed.id());
}

/// The journal says who made a retry; a plain contract is the reasoner's.
#[test]
fn the_journal_names_the_decider() {
    let creator = |contract: Contract| {
        let pending = Execution::new(contract);
        let created = pending.journal().uncommitted()[0].clone();
        (created.actor.unwrap().into_owned(), created.by.unwrap().into_string())
    };
    let pair = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    assert_eq!(creator(mail("bob")), pair("reasoning", "test"));
    assert_eq!(creator(Contract::retry(&failed(), ann())), pair("human", "ann"));
}

/// The decision is for one attempt: a copy of its contract cannot reuse it.
#[tokio::test]
async fn a_decision_is_for_one_attempt() {
    let store = Store::memory();
    let retry = Contract::retry(&failed(), ann());
    let _planned = planned::<Action>(&store, retry.clone()).await.unwrap();
    let refused = planned::<Action>(&store, retry).await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyStored { .. }));
    let _planned = planned::<Action>(&store, Contract::retry(&failed(), ann())).await.unwrap();
}

/// The decision is for that action: a retry with another action has no decision.
#[test]
fn a_decision_is_for_one_action() {
    let retry = Contract::retry(&failed(), ann());
    let other = retry.occurrence("2026-W47", graph_runner()).unwrap();
    assert_eq!((other.retry_of(), other.decided_by()), (None, None));
    let pending = AnyExecution::from(Execution::new(other));
    assert!(!ConsequenceView::of(&pending).human_confirmed);
    assert_eq!(pending.journal().uncommitted()[0].actor.as_deref(), Some("reasoning"));
}

/// A decider in the contract that is not the one who made it, according to the journal, is forged.
#[test]
fn a_decider_cannot_be_written_into_a_contract() {
    type Edit<'a> = (&'a Execution<Pending>, &'a dyn Fn(&mut Value));

    let retry = Execution::new(Contract::retry(&failed(), ann()));
    let plain = Execution::new(mail("bob"));
    edited(&retry, |_| {}).unwrap();
    let edits: [Edit<'_>; 5] = [
        (&retry, &|context| context["decided_by"] = json!("eve")),
        (&retry, &|context| context["retry_of"] = Value::Null),
        (&retry, &|context| drop(context.as_object_mut().unwrap().remove("decided_by"))),
        // The decision is for another execution.
        (&retry, &|context| context["decided_for"] = json!(Ticket::new().id())),
        // A decision is written into the contract of a reasoner.
        (&plain, &|context| {
            context["retry_of"] = json!(retry.id());
            context["decided_by"] = json!("ann");
            context["decided_for"] = json!(plain.id());
        }),
    ];
    for (number, (machine, edit)) in edits.into_iter().enumerate() {
        assert!(edited(machine, edit).is_err(), "edit {number}");
    }
}
