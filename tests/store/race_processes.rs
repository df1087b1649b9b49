//! Several processes compete for the same key (EX-5).

use machine::store::{CommitError, Store};
use machine_tests::samples::mail;

use crate::store::{
    child::{self, Other},
    support::{Place, begin, pending},
};

const PROCESSES: usize = 4;

/// Each begins its own execution with the same key, or all begin the same one: one gets a permit.
async fn race(same_execution: bool) {
    for round in 0..3 {
        let place = Place::new().await;
        let first = place.stored(mail("bob")).await.id();
        let mut others = Vec::new();
        for _ in 0..PROCESSES {
            let id = if same_execution { first } else { place.stored(mail("bob")).await.id() };
            others.push(Other::start("store::race_processes::contender", &place.file(), &[id]));
        }
        for other in &mut others {
            other.wait_for("ready");
        }
        others.iter_mut().for_each(Other::go);
        let results: Vec<String> =
            others.iter_mut().map(|other| other.wait_for("result ")).collect();
        others.into_iter().for_each(Other::join);

        let lost = if same_execution { "conflict" } else { "held" };
        let won = results.iter().filter(|result| *result == "permit").count();
        let others = results.iter().filter(|result| *result == lost).count();
        assert_eq!((won, others), (1, PROCESSES - 1), "round {round}: {results:?}");
    }
}

/// Many executions with one key.
#[tokio::test]
async fn one_key_gives_one_permit() {
    race(false).await;
}

/// One execution.
#[tokio::test]
async fn one_execution_gives_one_permit() {
    race(true).await;
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn contender() {
    let (file, ids) = child::given();
    let store = Store::sqlite(file).await.unwrap();
    let mine = pending(&store, ids[0]).await;
    child::say("ready");
    child::wait();
    let begun = begin(&store, mine).await;
    child::say(&match &begun {
        Ok(_) => "result permit".to_owned(),
        Err(CommitError::KeyHeld { .. }) => "result held".to_owned(),
        Err(CommitError::Conflict { .. }) => "result conflict".to_owned(),
        Err(other) => format!("result {other:?}"),
    });
}
