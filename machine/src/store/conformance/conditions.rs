//! A batch is written only if its conditions on other machines hold at that moment, after the batch
//! itself.

use super::prelude::*;
use crate::{store::backend::OtherAttempts, stored::Requirement};

fn on(conditions: impl Into<Vec<Condition>>, writes: impl Into<WriteBatch>) -> WriteBatch {
    WriteBatch { conditions: conditions.into(), ..writes.into() }
}

fn required(by: Id, requirement: Requirement) -> Condition {
    Condition::Required { by, requirement }
}

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let (mut job, mut other) = (Machine::job(), Machine::job());
    store.creates([&mut job, &mut other]).await?;
    let (by, machine, unknown) = (job.id(), other.id(), Id::fresh());

    // A condition that is not met now.
    let seen = other.newest();
    let moved = other.update(1);
    let whole = |digest| {
        let (state, not_after) = ("pending".to_owned(), Some(NOW + 1));
        Requirement { machine, state, digest, not_after }
    };
    let unmet = Rejected::Commit(CommitError::Unmet { id: by, machine });
    for (requirement, rejected) in [
        (Requirement { state: "running".to_owned(), ..whole(seen) }, unmet.clone()),
        (whole(other.newest()), unmet.clone()),
        (
            Requirement { not_after: Some(NOW), ..whole(seen) },
            Rejected::Late { by, machine, at: NOW },
        ),
        (
            Requirement { machine: unknown, ..whole(seen) },
            Rejected::Commit(CommitError::Unmet { id: by, machine: unknown }),
        ),
    ] {
        store.rejects(on([required(by, requirement)], job.clone().update(1)), rejected).await?;
    }
    let version = |version| Condition::Version { id: machine, version };
    store
        .rejects(on([version(2)], job.clone().update(1)), CommitError::Conflict { id: machine })
        .await?;

    // A condition that is met.
    let met = [
        required(by, whole(seen)),
        required(by, Requirement { not_after: None, ..whole(seen) }),
        version(1),
    ];
    store.accepts(on(met, job.update(1))).await?;

    // The batch itself brings it about.
    let writes = [job.clone().update(1), moved.clone()];
    store.rejects(on([required(by, whole(seen))], writes), unmet).await?;
    store.accepts(on([required(by, whole(other.newest()))], [job.update(1), moved])).await?;
    store.agrees(&job).await?;
    store.agrees(&other).await?;
    state_not_left(&store).await?;
    only_attempt(&store).await
}

/// A call is of the newest entry of its parent.
async fn state_not_left(store: &Subject) -> Kept {
    let (mut parent, mut it, mut child) = (Machine::job(), Machine::execution(), Machine::job());
    let (id, call, unknown) = (parent.id(), it.id(), Id::fresh());
    store.accepts(parent.create()).await?;
    store.adds(NewChild { since: Some(1), ..it.call_of(id, 0) }, &mut it).await?;
    store.adds(NewChild { since: Some(1), ..child.child_of(id) }, &mut child).await?;
    let needs = |call: Id, parent: Id, write: Write| {
        on([Condition::StateNotLeft { by: call, call, parent }], write)
    };
    store.accepts(needs(call, id, it.update(1))).await?;

    // A machine that is no call, and calls of other machines.
    for (of, parent) in [(child.id(), id), (unknown, id), (call, child.id()), (call, unknown)] {
        let refused = needs(of, parent, it.clone().update(1));
        store.rejects(refused, Rejected::StateLeft { id: of, parent }).await?;
    }

    // The parent stays in its state, and then enters another one.
    store.accepts(parent.update(1)).await?;
    store.accepts(needs(call, id, it.update(1))).await?;
    store.accepts(parent.update(1).enters(2)).await?;
    let left = Rejected::StateLeft { id: call, parent: id };
    store.rejects(needs(call, id, it.clone().update(1)), left.clone()).await?;

    // That takes the call over, lets it go, and ends.
    store.moves([it.moved_to(id, 3, Some(0))]).await?;
    store.accepts(needs(call, id, it.update(1))).await?;
    store.moves([it.moved_to(id, 3, None)]).await?;
    store.rejects(needs(call, id, it.clone().update(1)), left.clone()).await?;
    store.moves([it.moved_to(id, 3, Some(0))]).await?;
    store.accepts(parent.end().enters(2)).await?;
    store.rejects(needs(call, id, it.clone().update(1)), left).await
}

/// A retry of this attempt at an action, if it is the only one.
fn retry(key: &str, of: Id) -> (Machine, [Condition; 1]) {
    let again = Machine::job().with_key(key);
    let attempts = OtherAttempts {
        of,
        key: key.to_owned(),
        machine: again.row.machine.clone(),
        done: "completed".to_owned(),
        failed: "failed".to_owned(),
    };
    let condition = Condition::OnlyAttempt { id: again.id(), attempts };
    (again, [condition])
}

/// Another attempt excludes a retry while it is open, if it took effect, and if it failed later.
async fn only_attempt(store: &Subject) -> Kept {
    let (oldest, newest) = (Id::from_bytes([0; 16]), Id::from_bytes([255; 16]));
    let attempt = |key: &str, status: &str| {
        let mut other = Machine::job().with_key(key);
        other.row.status = status.to_owned();
        other.row.ended = status != "running";
        other
    };
    // The status of the other attempt, the attempt that is retried, and which of the two errors
    // refuses it.
    for (status, of, excludes) in [
        ("running", newest, Some(false)),
        ("completed", newest, Some(true)),
        ("failed", oldest, Some(false)),
        ("failed", newest, None),
        ("cancelled", oldest, None),
    ] {
        let key = format!("{status} {of}");
        let mut other = attempt(&key, status);
        store.accepts(other.create()).await?;
        let ((mut again, condition), by) = (retry(&key, of), other.id());
        let id = again.id();
        let batch = on(condition, again.create());
        match excludes {
            Some(false) => store.rejects(batch, CommitError::OtherAttempt { id, by }).await?,
            Some(true) => store.rejects(batch, CommitError::AlreadyDone { id, by }).await?,
            None => store.accepts(batch).await.map(drop)?,
        }
    }

    // The attempt that is retried, those at other actions, and machines of another kind exclude
    // nothing.
    let mut failed = attempt("k", "running");
    store.creates([&mut failed, &mut Machine::execution().with_key("k")]).await?;
    let (mut again, condition) = retry("k", failed.id());
    let first = again.id();
    store.accepts(on(condition, again.create())).await?;

    // Of two at the same time, one is written; and one that the batch itself ends excludes nothing.
    let (mut second, condition) = retry("k", failed.id());
    let id = second.id();
    let alone = on(condition.clone(), second.clone().create());
    store.rejects(alone, CommitError::OtherAttempt { id, by: first }).await?;
    again.row.status = "cancelled".to_owned();
    let (mut third, _) = retry("k", failed.id());
    let both = [again.clone().end(), second.clone().create(), third.create()];
    let excluded = Rejected::Commit(CommitError::OtherAttempt { id, by: third.id() });
    store.rejects(on(condition.clone(), both), excluded).await?;
    store.accepts(on(condition, [again.end(), second.create()])).await?;
    store.agrees(&second).await
}
