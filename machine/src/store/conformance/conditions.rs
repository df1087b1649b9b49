//! A batch is written only if its conditions on other machines hold at that moment, after the batch
//! itself.

use super::prelude::*;
use crate::{store::backend::OtherAttempts, stored::Requirement};

/// It is always [`NOW`].
#[derive(Debug)]
struct Now;

impl Clock for Now {
    fn now(&self) -> Millis {
        NOW
    }
}

fn required(by: Id, requirement: Requirement) -> Condition {
    Condition::Required { by, requirement, clock: Arc::new(Now) }
}

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let (mut job, mut other) = (Machine::job(), Machine::job());
    store.accepts([job.create(), other.create()]).await?;
    let (by, machine) = (job.id(), other.id());

    // A condition that is not met now.
    let seen = other.newest();
    let moved = other.update(1);
    let whole = |digest| {
        let (state, not_after) = ("pending".to_owned(), Some(NOW + 1));
        Requirement { machine, state, digest, not_after }
    };
    let unmet = |requirement| (required(by, requirement), Rejected::Unmet { by, machine });
    let mut refused = vec![
        unmet(Requirement { state: "running".to_owned(), ..whole(seen) }),
        unmet(whole(other.newest())),
        (
            required(by, Requirement { not_after: Some(NOW), ..whole(seen) }),
            Rejected::Late { by, machine, at: NOW },
        ),
        (Condition::Version { id: machine, version: 2 }, Rejected::Conflict(machine)),
    ];
    let unknown = Id::fresh();
    let of_unknown = Requirement { machine: unknown, ..whole(seen) };
    refused.push((required(by, of_unknown), Rejected::Unmet { by, machine: unknown }));
    for (condition, rejected) in refused {
        let conditions = vec![condition];
        let batch = WriteBatch { conditions, ..batch([job.clone().update(1)]) };
        store.rejects(batch, rejected).await?;
    }

    // A condition that is met.
    let met = [
        required(by, whole(seen)),
        required(by, Requirement { not_after: None, ..whole(seen) }),
        Condition::Version { id: machine, version: 1 },
    ];
    store.accepts(WriteBatch { conditions: met.into(), ..batch([job.update(1)]) }).await?;

    // The batch itself brings it about.
    let before = vec![required(by, whole(seen))];
    let writes = [job.clone().update(1), moved.clone()];
    let rejected = Rejected::Unmet { by, machine };
    store.rejects(WriteBatch { conditions: before, ..batch(writes) }, rejected).await?;
    let after = vec![required(by, whole(other.newest()))];
    let writes = [job.update(1), moved];
    store.accepts(WriteBatch { conditions: after, ..batch(writes) }).await?;
    store.agrees(&job).await?;
    store.agrees(&other).await?;
    state_not_left(&store).await?;
    only_attempt(&store).await
}

/// A call is of the newest entry of its parent.
async fn state_not_left(store: &Subject) -> Result<(), String> {
    let (mut parent, mut it, mut child) = (Machine::job(), Machine::execution(), Machine::job());
    let (id, call, unknown) = (parent.id(), it.id(), Id::fresh());
    let children = vec![
        NewChild { since: Some(1), ..it.call_of(id, 0) },
        NewChild { since: Some(1), ..child.child_of(id) },
    ];
    let creates = [parent.create(), it.create(), child.create()];
    store.accepts(WriteBatch { children, ..batch(creates) }).await?;
    let needs = |call: Id, parent: Id, write: Write| {
        let conditions = vec![Condition::StateNotLeft { by: call, call, parent }];
        WriteBatch { conditions, ..batch([write]) }
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
    let moved = |position| WriteBatch {
        moved_children: vec![MovedChild { child: call, parent: id, since: 3, position }],
        ..batch([])
    };
    store.accepts(moved(Some(0))).await?;
    store.accepts(needs(call, id, it.update(1))).await?;
    store.accepts(moved(None)).await?;
    store.rejects(needs(call, id, it.clone().update(1)), left.clone()).await?;
    store.accepts(moved(Some(0))).await?;
    store.accepts(parent.end().enters(2)).await?;
    store.rejects(needs(call, id, it.clone().update(1)), left).await
}

/// Another attempt excludes a retry while it is open, if it took effect, and if it failed later.
async fn only_attempt(store: &Subject) -> Result<(), String> {
    let (oldest, newest) = (Id::from_bytes([0; 16]), Id::from_bytes([255; 16]));
    let retry = |key: &str, of| {
        let again = Machine::job().with_key(key);
        let attempts = OtherAttempts {
            of,
            key: key.to_owned(),
            machine: again.row.machine.clone(),
            done: "completed".to_owned(),
            failed: "failed".to_owned(),
        };
        let condition = Condition::OnlyAttempt { id: again.id(), attempts };
        (again, condition)
    };
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
        let batch = WriteBatch { conditions: vec![condition], ..batch([again.create()]) };
        match excludes {
            Some(false) => store.rejects(batch, Rejected::OtherAttempt { id, by }).await?,
            Some(true) => store.rejects(batch, Rejected::AlreadyDone { id, by }).await?,
            None => store.accepts(batch).await.map(drop)?,
        }
    }

    // The attempt that is retried, those at other actions, and machines of another kind exclude
    // nothing.
    let mut failed = attempt("k", "running");
    let mut of_other_kind = Machine::execution().with_key("k");
    store.accepts([failed.create(), of_other_kind.create()]).await?;
    let (mut again, condition) = retry("k", failed.id());
    let first = again.id();
    let conditions = vec![condition];
    store.accepts(WriteBatch { conditions, ..batch([again.create()]) }).await?;

    // Of two at the same time, one is written; and one that the batch itself ends excludes nothing.
    let (mut second, condition) = retry("k", failed.id());
    let (id, conditions) = (second.id(), vec![condition]);
    let alone = WriteBatch { conditions: conditions.clone(), ..batch([second.clone().create()]) };
    store.rejects(alone, Rejected::OtherAttempt { id, by: first }).await?;
    again.row.status = "cancelled".to_owned();
    let (mut third, _) = retry("k", failed.id());
    let both = [again.clone().end(), second.clone().create(), third.create()];
    let both = WriteBatch { conditions: conditions.clone(), ..batch(both) };
    store.rejects(both, Rejected::OtherAttempt { id, by: third.id() }).await?;
    let instead = [again.end(), second.create()];
    store.accepts(WriteBatch { conditions, ..batch(instead) }).await?;
    store.agrees(&second).await
}
