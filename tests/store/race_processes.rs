//! Several processes compete for the same key, or to retry the same execution (EX-5).

use std::path::PathBuf;

use machine::{
    Id,
    actor::Actors,
    contract::AnyExecution,
    effects::EffectError,
    operate::Operator,
    store::{CommitError, Query, Store},
};
use machine_tests::{
    actors::ann,
    process::{Process, orders, say, wait},
    samples::{mail, read},
};

use crate::store::{
    child,
    support::{Place, begin, pending},
};

const PROCESSES: usize = 4;

/// Each begins its own execution with the same key, or all begin the same one: one gets a permit.
#[tokio::test]
async fn one_of_them_gets_a_permit() {
    for (same_execution, lost) in [(false, "held"), (true, "conflict")] {
        for round in 0..3 {
            let place = Place::new().await;
            let first = place.stored(mail("bob")).await.id();
            let mut others = Vec::new();
            for _ in 0..PROCESSES {
                let id = if same_execution { first } else { place.stored(mail("bob")).await.id() };
                let name = "store::race_processes::contender";
                others.push(child::start(name, &(place.file(), id)));
            }
            others.iter_mut().for_each(Process::go);
            let mut results: Vec<String> = others.iter_mut().map(Process::hear).collect();
            others.into_iter().for_each(Process::join);
            results.sort();
            let mut expected = vec![lost; PROCESSES - 1];
            expected.push("permit");
            assert_eq!(results, expected, "round {round}");
        }
    }
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn contender() {
    let (file, id): (PathBuf, Id) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let mine = pending(&store, id).await;
    say(&());
    wait();
    let begun = begin(&store, mine).await;
    say(&match &begun {
        Ok(_) => "permit".to_owned(),
        Err(EffectError::Commit(CommitError::KeyHeld { .. })) => "held".to_owned(),
        Err(EffectError::Commit(CommitError::Conflict { .. })) => "conflict".to_owned(),
        Err(other) => format!("{other:?}"),
    });
}

/// People on several processes retry one failed execution: one attempt is stored, and the others
/// are told which.
#[tokio::test]
async fn one_of_them_retries() {
    for (round, contract) in [mail("bob"), read("a.txt"), mail("carl")].into_iter().enumerate() {
        let place = Place::new().await;
        let failed = place.failed(contract).await.id();
        let start = || child::start("store::race_processes::retries", &(place.file(), failed));
        let mut others: Vec<_> = (0..PROCESSES).map(|_| start()).collect();
        others.iter_mut().for_each(Process::go);
        let results: Vec<Result<Id, String>> = others.iter_mut().map(Process::hear).collect();
        others.into_iter().for_each(Process::join);
        let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        let [Ok(again)] = *won else { panic!("round {round}: {won:?}") };
        let open = format!("{again} is another attempt at the same action and has not ended");
        assert_eq!(lost, vec![Err(open.clone()); PROCESSES - 1], "round {round}");

        let page = place.store.load_all::<AnyExecution>(&Query::new()).await.unwrap();
        let attempts: Vec<_> = page.items.into_iter().map(|one| one.unwrap().id()).collect();
        assert_eq!(attempts, [failed, again], "round {round}");
        let log = place.store.operations(PROCESSES, None).await.unwrap();
        assert_eq!((log.items.len(), log.next), (PROCESSES, None));
        let lines: Vec<_> = log.items.into_iter().map(Result::unwrap).collect();
        assert!(lines.iter().all(|line| line.operation == "retry" && line.machines == [failed]));
        let outcomes = lines.into_iter().map(|line| line.outcome.unwrap());
        let (done, refused): (Vec<_>, Vec<_>) = outcomes.partition(|outcome| outcome == "done");
        let first = format!("refused: {again} is another attempt at ");
        assert!(done.len() == 1 && refused.iter().all(|it| it.starts_with(&first)), "{refused:?}");
        place.assert_intact().await;
    }
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn retries() {
    let (file, id): (PathBuf, Id) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let actors = Actors::issue("office").unwrap();
    let operator = Operator::new(&store, &actors, ann(), "office");
    // What it reads is as old as that of the others.
    let _ = operator.failed(id).await.unwrap();
    say(&());
    wait();
    say(&operator.retry(id).await.map_err(|error| error.to_string()));
}
