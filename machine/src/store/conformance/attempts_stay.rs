//! An attempt can be answered, but it never disappears, and its token is higher than all before it;
//! the state of a key is a fold of all of them.

use super::{prelude::*, sample::CONTRACTS};

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut machines = [(); 2].map(|()| Machine::execution().with_key("k"));
    store.creates(machines.each_mut()).await?;
    let mut expected: Vec<KeyAttempt> = Vec::new();
    for round in [0, 1, 0, 0, 1] {
        let machine = &mut machines[round];
        // The token is the number of the last line.
        let token = store.accepts(machine.update(2).takes("k")).await?.last[0];
        let highest = expected.last().map(|attempt| attempt.token);
        ensure!(highest < Some(token), "token {token} follows {highest:?}");
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
            let stays = expected.len().is_multiple_of(2);
            if let (Some(change), Some(attempt)) = (&mut turned.attempt, expected.last_mut()) {
                attempt.hold = hold;
                if stays {
                    change.worker.clone_from(&attempt.worker);
                    change.expires_at = attempt.expires_at;
                } else {
                    (attempt.worker, attempt.expires_at) = (None, None);
                }
            }
            store.accepts(turned).await?;
            agree(&store, &expected).await?;
        }
    }
    in_one_batch(&store).await?;
    older_ones_count(open).await
}

async fn agree(store: &Subject, expected: &[KeyAttempt]) -> Kept {
    let attempts = store.attempts_at("k").await?;
    same!(attempts, expected, "the attempts");
    let with_worker = expected.iter().filter(|it| it.worker.is_some()).cloned();
    let unanswered = store.attempts(Attempts::Unanswered).await?;
    same!(unanswered, with_worker.collect::<Vec<_>>(), "the unanswered attempts");
    for attempt in attempts {
        let of_machine = store.attempts(Attempts::OfMachine(attempt.by)).await?;
        let is_own = of_machine.iter().all(|it| it.by == attempt.by);
        ensure!(is_own && of_machine.contains(&attempt), "{attempt:#?}, {of_machine:#?}");
    }
    same!(store.attempts_at("another").await?, [], "the attempts at an unused key");
    Ok(())
}

/// Each token is the number of the last line of its own machine.
async fn in_one_batch(store: &Subject) -> Kept {
    let writes = ["a", "b"].map(|key| Machine::execution().with_key(key).create().takes(key));
    let applied = store.accepts(writes).await?;
    for (key, last) in ["a", "b"].into_iter().zip(applied.last) {
        let tokens: Vec<_> = store.attempts_at(key).await?.iter().map(|it| it.token).collect();
        same!(tokens, [last], "the tokens of {key}");
    }
    Ok(())
}

/// A newer attempt of the same machine that ends without an effect does not free the key.
async fn older_ones_count(open: &Open<'_>) -> Kept {
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
            Hold::Applied => Rejected::Commit(CommitError::AlreadyDone { id, by }),
            _ => Rejected::Commit(CommitError::KeyHeld { id, by }),
        };
        store.rejects(rival.create().takes("k"), reason).await?;
    }
    Ok(())
}
