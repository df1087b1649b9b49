//! Several people answer one gate at the same time, each in a process.

use std::path::PathBuf;

use machine::{
    Id,
    actor::Human,
    store::{CommitError, LoadError, Store},
};
use machine_tests::{
    actors::{ann, ecs_node},
    assert_err,
};
use serde::{Deserialize, Serialize};

use crate::effects::{
    bank::{Bank, Dedup},
    support::new_store,
    tool::{Pay, Teller, pay},
    worker::{self, Report},
};
use crate::process::{Process, orders, say, wait};

#[derive(Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    gate: Id,
    name: String,
}

/// A person at another terminal: reads the question, and answers when the parent says so.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn approver() {
    let Orders { file, gate, name: who } = orders();
    let store = Store::sqlite(file).await.unwrap();
    let gate = store.gate(gate).await.unwrap();
    say(&gate.question());
    wait();
    let answer = machine_tests::approve(&store, gate, &Human::new(&who).unwrap()).await;
    say(&match answer {
        Ok(_) => Ok(()),
        Err(refused) => match refused.reason {
            CommitError::AlreadyDecided { approved: true, by, .. } => Err(by),
            other => panic!("{other}"),
        },
    });
}

/// Several people approve at once: one of them does, and the others learn who.
#[tokio::test]
async fn the_others_are_told_who_won() {
    let (_folder, file, store) = new_store().await;
    let (mut gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let people = ["ann", "ben", "cem", "dia"];
    let mut terminals = people.map(|name| {
        let orders = Orders { file: file.clone(), gate: gate.id(), name: name.to_owned() };
        Process::start("effects::gate_answers::approver", &orders)
    });
    for terminal in &mut terminals {
        assert_eq!(terminal.hear::<String>(), gate.question());
    }
    terminals.iter_mut().for_each(Process::go);
    let answers = terminals.map(|mut terminal| {
        let answer: Result<(), String> = terminal.hear();
        terminal.join();
        answer
    });
    let winners: Vec<_> = people.iter().zip(&answers).filter(|(_, got)| got.is_ok()).collect();
    let [(winner, _)] = winners[..] else { panic!("{answers:?}") };
    let losers = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert_eq!(losers.map(String::as_str).collect::<Vec<_>>(), [*winner; 3]);

    // A later person gets this error when loading the gate, and cannot answer the next question by accident.
    let loaded = store.gate(gate.id()).await;
    assert_err!(loaded, LoadError::AlreadyDecided { by, approved: true, .. } if by == winner);
    let declined = store.decline(gate, "wrong address", ann()).await;
    assert_err!(
        declined,
        refused if matches!(&refused.reason, CommitError::AlreadyDecided { by, .. } if by == winner)
    );
    let bank = Bank::open(Dedup::Nothing);
    let report = worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let history = store.history(planned.id()).await.unwrap();
    let text = serde_json::to_string(&history.entries).unwrap();
    assert!(text.contains(&format!(r#""approved_by":"{winner}""#)), "{text}");
}
