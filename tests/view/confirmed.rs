//! "Human-confirmed" comes from the record of an approval, and from nothing else (DESIGN 5). The
//! ways to it are in the table of `situations`.

use machine::{contract::decision, effects::Change};

use crate::view::prelude::*;

/// An approved action is confirmed once it runs, also in memory; the gate says who approved it.
#[tokio::test]
async fn an_approval_confirms_the_action() {
    let store = Store::memory();
    for contract in [mail("bob"), read("a.txt")] {
        let (gate, planned) = ask(&store, contract).await;
        let asked = gate.id();
        let answer = approve(&store, gate, ann()).await.unwrap();
        assert_eq!((answer.approved, answer.by.as_str()), (true, "ann"));
        assert_eq!(decision(&load(&store, asked).await), Some(answer));
        let settled = store.perform(planned, receipt("done"), tool_node()).await.unwrap();
        let Settled::Completed(done) = settled else { panic!("{settled:?}") };
        assert!(view(done).human_confirmed);
    }
}

/// So does an approval in the batch that begins the action.
#[tokio::test]
async fn an_approval_in_the_same_batch_counts() {
    let store = Store::memory();
    let (gate, planned) = ask(&store, mail("bob")).await;
    let mut decide = machine_tests::approval(gate, ann());
    let mut begin = Change::begin(planned, tool_node());
    store.batch().change(&mut decide).change(&mut begin).write().await.unwrap();
    assert!(decide.finish().is_ok_and(|answer| answer.approved));
    let (running, permit) = begin.finish().unwrap();
    drop(permit);
    assert!(view(running).human_confirmed);
}
