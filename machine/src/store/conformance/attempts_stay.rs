//! An attempt can be answered, but it never disappears; the state of a key is a fold of all of
//! them.

use super::{prelude::*, sample::CONTRACTS};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut machines = [Machine::execution().with_key("k"), Machine::execution().with_key("k")];
    for machine in &mut machines {
        store.accepts(machine.create()).await?;
    }
    let mut expected: Vec<KeyAttempt> = Vec::new();
    for round in 0..4 {
        let machine = &mut machines[round % 2];
        let token = store.accepts(machine.update(2).takes("k")).await?.last[0];
        expected.push(KeyAttempt {
            key: String::from("k"),
            space: CONTRACTS.to_owned(),
            action: Some(action("k")),
            by: machine.id(),
            token,
            hold: Hold::Held,
            worker: Some(String::from("worker")),
            expires_at: Some(1_700_000_060_000),
        });
        agree(&store, &expected).await?;

        // Unknown, and then not applied; every other time the worker stays, for the record.
        for hold in [Hold::Held, Hold::Free] {
            let mut turned = machine.update(1).turns("k", hold);
            let attempt = &mut expected[round];
            attempt.hold = hold;
            if round % 2 == 0 {
                (attempt.worker, attempt.expires_at) = (None, None);
            }
            if let Some(change) = &mut turned.attempt {
                change.worker.clone_from(&attempt.worker);
                change.expires_at = attempt.expires_at;
            }
            store.accepts(turned).await?;
            agree(&store, &expected).await?;
        }
    }
    older_ones_count(open).await
}

async fn agree(store: &Subject, expected: &[KeyAttempt]) -> Result<(), String> {
    let attempts = store.attempts_at("k").await?;
    ensure!(attempts == expected, "the attempts are {attempts:#?}, not {expected:#?}");
    let unanswered = store.attempts(Attempts::Unanswered).await?;
    let is_unanswered = |it: &&KeyAttempt| it.worker.is_some();
    let expected: Vec<_> = expected.iter().filter(is_unanswered).cloned().collect();
    ensure!(unanswered == expected, "unanswered are {unanswered:#?}, not {expected:#?}");
    for attempt in attempts {
        let of_machine = store.attempts(Attempts::OfMachine(attempt.by)).await?;
        let is_own = of_machine.iter().all(|it| it.by == attempt.by);
        ensure!(is_own && of_machine.contains(&attempt), "{attempt:#?}, {of_machine:#?}");
    }
    let elsewhere = store.attempts_at("another").await?;
    ensure!(elsewhere.is_empty(), "attempts at an unused key: {elsewhere:#?}");
    Ok(())
}

/// A newer attempt of the same machine that ends without an effect does not free the key.
async fn older_ones_count(open: &Open<'_>) -> Result<(), String> {
    for hold in [Hold::Held, Hold::Applied] {
        let store = Subject::open(open);
        let mut machine = Machine::execution().with_key("k");
        let mut rival = Machine::execution().with_key("k");
        for write in [
            machine.create().takes("k"),
            machine.update(1).turns("k", hold),
            machine.update(1).takes("k"),
            machine.update(1).turns("k", Hold::Free),
        ] {
            store.accepts(write).await?;
        }
        let (id, by) = (rival.id(), machine.id());
        let reason = match hold {
            Hold::Applied => Rejected::AlreadyDone { id, by },
            _ => Rejected::KeyHeld { id, by },
        };
        store.rejects(rival.create().takes("k"), reason).await?;
    }
    Ok(())
}
