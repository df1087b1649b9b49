//! A write takes effect only on the version that it expects.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut machine = Machine::execution();
    let id = machine.id();
    store.rejects(machine.clone().update(1), CommitError::NotFound { id }).await?;

    let mut others = vec![machine.clone()];
    store.accepts(machine.create()).await?;
    for lines in 1..4 {
        others.push(machine.clone());
        store.accepts(machine.update(lines)).await?;
    }
    store.rejects(machine.clone().create(), CommitError::AlreadyStored { id }).await?;
    for version in [machine.row.version + 1, u64::from(u32::MAX)] {
        let mut ahead = machine.clone();
        ahead.row.version = version;
        others.push(ahead);
    }
    for mut other in others {
        store.rejects(other.update(1), CommitError::Conflict { id }).await?;
    }
    // The second write of a batch for the same machine does not find the version that it expects.
    let update = || machine.clone().update(1);
    store.rejects([update(), update()], CommitError::Conflict { id }).await?;
    let new = Machine::execution();
    let create = || new.clone().create();
    store.rejects([create(), create()], CommitError::Conflict { id: new.id() }).await?;
    one_of_many_wins(&store, &machine).await
}

/// Of many writers that start from the same version at the same time, one succeeds.
async fn one_of_many_wins(store: &Subject, machine: &Machine) -> Kept {
    let mut answers = Vec::new();
    for _ in 0..20 {
        let write = machine.clone().update(1);
        answers.push(started(store.0.apply(write.into())).await);
    }
    let mut winners = 0;
    for answer in answers {
        match answer.await? {
            Ok(_) => winners += 1,
            Err(rejected) => same!(
                rejected,
                Rejected::Commit(CommitError::Conflict { id: machine.id() }),
                "a second writer"
            ),
        }
    }
    ensure!(winners == 1, "{winners} of 20 writers succeeded");
    let version = store.row(machine.id()).await?.0.version;
    let lines = store.history(machine.id()).await?.len() as u64;
    same!((version, lines), (machine.row.version + 1, version), "the version and the lines");
    Ok(())
}
