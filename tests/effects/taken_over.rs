//! Others recover, fence, decide and begin at the same time, each through a store of its own.

use machine::actor::Human;
use machine_tests::process::Process;

use crate::effects::{
    bank::Dedup,
    office::Office,
    prelude::*,
    tool::{Step, pay},
    worker::Report,
};

/// Waits for all of them.
async fn all<T: 'static>(tasks: Vec<tokio::task::JoinHandle<T>>) -> Vec<T> {
    let mut said = Vec::new();
    for task in tasks {
        said.push(task.await.unwrap());
    }
    said
}

impl Office {
    /// The numbers that several others find in doubt and settle as completed.
    async fn recovers(&self, times: usize) -> Vec<(usize, usize)> {
        let mut others = Vec::new();
        for _ in 0..3 {
            let store = self.open_again().await;
            others.push(tokio::spawn(async move {
                let mut found = (0, 0);
                for _ in 0..times {
                    let recovered = store.recover().await.unwrap();
                    assert!(recovered.failed.is_empty(), "{recovered:?}");
                    let completed = |any: &AnyExecution| any.status() == Status::Completed;
                    assert!(recovered.settled.iter().all(completed), "{recovered:?}");
                    found.0 += recovered.in_doubt.len();
                    found.1 += recovered.settled.len();
                }
                found
            }));
        }
        all(others).await
    }
}

/// A worker that is alive and in time is left alone, however often others look.
#[tokio::test(flavor = "multi_thread")]
async fn recovering_does_not_disturb_a_call() {
    let office = Office::open(Dedup::Nothing).await;
    let id = office.planned(pay("bob")).await;
    let mut worker = office.waits_for_reply(id);
    assert_eq!(office.recovers(20).await, [(0, 0); 3]);
    let (found, ()) = tokio::join!(office.recovers(20), async { office.bank.release() });
    assert_eq!(found, [(0, 0); 3]);
    assert_eq!(worker.hear::<Report>(), Report::Completed("receipt 1".to_owned()));
    worker.join();
    assert_eq!(office.bank.count(), 1);
    office.assert_intact().await;
}

/// Several fence one worker: one does. Several recover its late receipt: one does.
#[tokio::test(flavor = "multi_thread")]
async fn one_takes_over() {
    let office = Office::open(Dedup::Nothing).await;
    let id = office.planned(pay("bob")).await;
    let worker = office.waits_for_reply(id);
    let mut others = Vec::new();
    for _ in 0..3 {
        let store = office.open_again().await;
        others.push(tokio::spawn(async move {
            store.fence(id, "too slow", graph_runner()).await.map(drop)
        }));
    }
    let fenced = all(others).await;
    let refused = |fenced: &&_| matches!(fenced, Err(StateError::NotRunning { .. }));
    assert_eq!(fenced.iter().filter(refused).count(), 2, "{fenced:?}");
    assert_eq!(fenced.iter().filter(|fenced| fenced.is_ok()).count(), 1, "{fenced:?}");

    office.bank.release();
    office.hears_late(worker, id, &Office::receipt(1)).await;
    let found = office.recovers(1).await;
    assert_eq!(found.iter().map(|found| found.1).sum::<usize>(), 1, "{found:?}");
    assert_eq!(office.label(id).await, Label::Success);
    assert_eq!(office.bank.count(), 1);
    office.assert_intact().await;
}

/// A person overrides at the moment when the late receipt arrives. It is never lost, and nothing
/// pays again.
#[tokio::test]
async fn an_override_races_with_the_receipt() {
    let office = Office::open(Dedup::Nothing).await;
    for round in 0..4 {
        let contract = || pay(&format!("bob {round}"));
        let id = office.planned(contract()).await;
        let other = office.planned(contract()).await;
        let mut worker = office.follows(id, &[Step::Pay, Step::Freeze]);
        worker.freeze_between_commits(&office.file());
        assert_eq!(office.recovered().await.len(), 0, "it is alive, and not overdue");
        let doubt = office.fenced(id).await;
        worker.thaw();
        let overridden = office.store.override_not_applied(doubt, "I do not see it", ann()).await;
        let receipt = Office::receipt(round + 1);
        office.hears_late(worker, id, &receipt).await;
        assert_eq!(office.late(id).await, [receipt]);
        if let Err(refused) = overridden {
            assert_is!(refused.reason, EffectError::Commit(CommitError::Conflict { .. }));
            assert_eq!(office.store.recover().await.unwrap().settled.len(), 1);
            assert_eq!(office.label(id).await, Label::Success);
        } else {
            assert_eq!(office.label(id).await, Label::Contradicted);
        }
        assert_eq!(office.pays(other), Report::NotBegun("AlreadyDone".to_owned()));
        assert_err!(office.store.in_doubt(id).await, StateError::NotInDoubt { .. });
    }
    assert_eq!(office.bank.count(), 4);
    office.assert_intact().await;
}

/// Several people answer one gate, and several workers wait for that: one of the people approves,
/// and the others learn who. One of the workers begins what was approved.
#[tokio::test(flavor = "multi_thread")]
async fn one_answer_counts_and_one_worker_begins() {
    let office = Office::open(Dedup::Nothing).await;
    for round in 0..3 {
        let (gate, planned) = office.asked_to_pay(pay(&format!("bob {round}"))).await;
        let mut waits = office.teller(&[Step::Pay]);
        waits.waits_for_approval = true;
        let mut workers: Vec<Process> =
            (0..3).map(|_| office.start("pays", planned.id(), waits.clone())).collect();
        for worker in &mut workers {
            assert_eq!(worker.hear::<String>(), "deferred");
        }

        let mut terminals = Vec::new();
        for name in ["ann", "ben", "cem", "dia"] {
            let store = office.open_again().await;
            let theirs = store.gate(gate.id()).await.unwrap();
            terminals.push((name, store, theirs));
        }
        let people = terminals.into_iter().map(|(name, store, gate)| {
            tokio::spawn(async move {
                let person = Human::new(name).unwrap();
                let answer = machine_tests::approve(&store, gate, &person).await;
                match answer.map_err(|refused| refused.reason) {
                    Ok(_) => Ok(name),
                    Err(EffectError::AlreadyDecided { approved: true, by, .. }) => Err(by),
                    Err(other) => panic!("{other}"),
                }
            })
        });
        let (winners, losers): (Vec<_>, Vec<_>) =
            all(people.collect()).await.into_iter().partition(Result::is_ok);
        let [Ok(winner)] = winners[..] else { panic!("{winners:?}") };
        assert_eq!(losers, vec![Err(winner.to_owned()); 3]);
        // A later person gets this error when loading the gate, and cannot answer the next question
        // by accident.
        let loaded = office.store.gate(gate.id()).await;
        assert_err!(loaded, StateError::AlreadyDecided { by, approved: true, .. } if by == winner);
        let declined = office.store.decline(gate, "wrong address", ann()).await.unwrap_err();
        assert_is!(declined.reason, EffectError::AlreadyDecided { by, .. } if by == winner);

        let mut completed = 0;
        for mut worker in workers {
            match worker.hear() {
                Report::Completed(_) => completed += 1,
                Report::NotPending => {}
                Report::NotBegun(error) => assert_eq!(error, "Conflict"),
                other => panic!("{other:?}"),
            }
            worker.join();
        }
        assert_eq!((completed, office.bank.count()), (1, round + 1));
        let text = serde_json::to_string(&office.entries(planned.id()).await).unwrap();
        assert!(text.contains(&format!(r#""approved_by":"{winner}""#)), "{text}");
    }
    office.assert_intact().await;
}
