//! A machine that nothing can move is listed since its worker let it wait, until there is news.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    store.drives(&["job"]).await?;
    let [mut first, mut second, mut third] = [(); 3].map(|()| Machine::job());
    store.creates([&mut first, &mut second, &mut third]).await?;
    waits(&store, third.id(), Wait { stuck: false, ..wait(NOW) }).await?;
    waits(&store, second.id(), wait(NOW + 1)).await?;
    waits(&store, first.id(), wait(NOW)).await?;
    let both = [(first.id(), NOW), (second.id(), NOW + 1)];
    are_stuck(&store, (NOW - 1, 9), &[]).await?;
    are_stuck(&store, (NOW, 9), &both[..1]).await?;
    are_stuck(&store, (NOW + 1, 9), &both).await?;
    are_stuck(&store, (NOW + 1, 1), &both[..1]).await?;

    // News, and one that wakes by itself, or had news while its worker looked.
    store.apply_event(first.id(), send("a")).await?;
    are_stuck(&store, (NOW + 1, 9), &both[1..]).await?;
    let wake = Some(Wake::ready(NOW));
    waits(&store, first.id(), Wait { wake, ..wait(NOW) }).await?;
    let (token, revision) = store.claims(first.id(), Attempted::State).await?;
    store.apply_event(first.id(), send("b")).await?;
    store.apply_event(first.id(), Event::Wait(Wait { token, revision, ..wait(NOW) })).await?;
    are_stuck(&store, (NOW + 1, 9), &both[1..]).await?;
    waits(&store, first.id(), wait(NOW + 1)).await?;
    store.accepts(second.end()).await?;
    are_stuck(&store, (NOW + 1, 9), &[(first.id(), NOW + 1)]).await
}

/// The handler waits, and nothing can move the machine.
fn wait(now: Millis) -> Wait {
    Wait { now, on: Attempted::State, stuck: true, ..Wait::default() }
}

/// A worker claims it, and lets it wait like this.
async fn waits(store: &Subject, id: Id, wait: Wait) -> Kept {
    let (token, revision) = store.claims(id, Attempted::State).await?;
    store.apply_event(id, Event::Wait(Wait { token, revision, ..wait })).await.map(drop)
}

async fn are_stuck(
    store: &Subject,
    (before, limit): (Millis, usize),
    expected: &[(Id, Millis)],
) -> Kept {
    let found = store.0.schedules(Schedules::Stuck(before, limit)).await?;
    let found: Vec<_> = found.into_iter().map(|(id, work)| (id, work.stuck_at)).collect();
    let expected: Vec<_> = expected.iter().map(|(id, at)| (*id, Some(*at))).collect();
    same!(found, expected, "what is stuck at {before}");
    Ok(())
}
