//! Answers to questions that are not gates, and the operator log.

use machine::{
    Id,
    contract::{Contract, Execution},
    view::Label,
};
use machine_tests::actors::{ecs_node, reasoning_node};

use crate::cli::support::{Place, end};

async fn asked(place: &Place) -> Id {
    let contract = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
    let mut waiting =
        Execution::new(contract).start(ecs_node()).suspend("Which port?".to_owned(), ecs_node());
    place.store.create(&mut waiting).await.unwrap();
    waiting.id()
}

#[tokio::test]
async fn a_question_is_answered() {
    let place = Place::new().await;
    let id = asked(&place).await;
    let listed = place.run(&["list"]);
    assert!(listed.out.contains("respond"), "{listed:?}");
    place.run(&["respond", &end(id), "8080"]).failed(2, "--as <NAME>");
    place.run(&["respond", &end(id), "--as", "ann"]).failed(1, "nobody has answered");
    place.run(&["respond", &end(id), "", "--as", "ann"]).failed(2, "the response is empty");
    place.run(&["respond", &end(id), "8080", "--as", "ann"]).done();
    assert_eq!(place.label(id).await, Label::Success);
    assert_eq!(place.json(&["show", &end(id)])["execution"]["result"], "8080");
    place.run(&["respond", &end(id), "9090", "--as", "bob"]).failed(1, "COMPLETED");
}

/// Checks the age limit of a question, and the number that are continued (EX-7).
#[tokio::test]
async fn a_question_goes_on_with_checks() {
    let place = Place::new().await;
    let (id, _other) = (asked(&place).await, asked(&place).await);
    let old = ["respond", &end(id), "8080", "--as", "ann", "--max-age", "0s"];
    place.run(&old).failed(1, "the limit is 0 ms");
    // Nothing was stored.
    assert_eq!(place.store.question(id).await.unwrap().answered_by(), None);
    let checks = ["--max-age", "1d", "--resuming", "1"];
    let done = place.json(&[&["respond", &end(id), "8080", "--as", "ann"], &checks[..]].concat());
    assert_eq!(done["warnings"][0], "the caller resumes 1 of the session, and 2 waited", "{done}");
    assert!(done["age_ms"].is_u64(), "{done}");
    assert_eq!(place.label(id).await, Label::Success);
    let other = asked(&place).await;
    let warned = place.run(&["respond", &end(other), "9090", "--as", "ann", "--resuming", "1"]);
    assert!(warned.done().contains("warning: the caller resumes 1 of the session"), "{warned:?}");
}

#[tokio::test]
async fn an_answer_that_was_stored_is_used() {
    let place = Place::new().await;
    let id = asked(&place).await;
    let question = place.store.question(id).await.unwrap();
    let ann = machine::actor::Human::new("ann").unwrap();
    drop(place.store.respond(question, "8080", &ann).await.unwrap());
    place.run(&["respond", &end(id), "9090", "--as", "bob"]).failed(1, "ann has answered");
    place.run(&["respond", &end(id), "--as", "bob"]).done();
    assert_eq!(place.json(&["show", &end(id)])["execution"]["result"], "8080");
}

#[tokio::test]
async fn every_act_is_on_record_with_the_name() {
    let place = Place::new().await;
    let id = asked(&place).await;
    place.run(&["respond", &end(id), "8080", "--as", "ann"]).done();
    let (gate, _planned) = place.ask("bob@example.com").await;
    place.run(&["cancel", &end(gate.id()), "--as", "bob", "--reason", "not needed"]).done();
    place.run(&["fence", &end(id), "--as", "eve"]).failed(1, "COMPLETED");
    // An operation that was refused before it began is recorded, too; one that names no machine is not.
    place.run(&["approve", &end(gate.id()), "--as", "eve", "--yes"]).failed(1, "not a gate");
    place.run(&["cancel", &end(gate.id()), "--as", "eve"]).failed(1, "nothing to cancel");
    place.run(&["cancel", "00000000-0000-7000-8000-000000000000", "--as", "eve"]).failed(4, "");
    place.run(&["prune", "--ended-for", "0s", "--as", "tom", "--yes"]).done();
    let log = place.store.operations(10, None).await.unwrap();
    let log: Vec<_> = log.items.into_iter().map(Result::unwrap).collect();
    let told: Vec<_> = log
        .iter()
        .map(|one| (&*one.by, &*one.via, &*one.operation, &*one.machines, &*one.detail))
        .collect();
    assert_eq!(
        told,
        [
            ("tom", "cli", "prune", &[][..], "that ended 0 s ago or before"),
            ("eve", "cli", "cancel", &[gate.id()][..], "cancelled"),
            ("eve", "cli", "approve", &[gate.id()][..], ""),
            ("eve", "cli", "fence", &[id][..], "its worker was shut out"),
            ("bob", "cli", "cancel", &[gate.id()][..], "not needed"),
            ("ann", "cli", "continue", &[id][..], ""),
            ("ann", "cli", "respond", &[id][..], ""),
        ]
    );
    let outcomes: Vec<_> = log.iter().map(|one| one.outcome.as_deref().unwrap()).collect();
    assert!(outcomes[1..4].iter().all(|it| it.starts_with("refused: ")), "{outcomes:?}");
    assert_eq!((outcomes[0], &outcomes[4..]), ("done", &["done", "done", "done"][..]));
}
