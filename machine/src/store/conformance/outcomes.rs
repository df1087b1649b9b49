//! A call that ends tells its parent so, once, for its place at that moment; a child without a
//! place only wakes it.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    for is_driven in [true, false] {
        let store = Subject::open(open);
        if is_driven {
            store.drives(&["job"]).await?;
        }
        tells(&store, is_driven).await.map_err(|it| format!("driven: {is_driven}: {it}"))?;
    }
    moved(&Subject::open(open)).await?;
    to_ended(&Subject::open(open)).await
}

/// A parent with a child without a place, and with calls at the places from 0 on.
async fn family<const N: usize>(store: &Subject) -> Kept<(Machine, Machine, [Machine; N])> {
    let (mut parent, mut child) = (Machine::job(), Machine::execution());
    store.accepts(parent.create()).await?;
    store.adds(child.child_of(parent.id()), &mut child).await?;
    let mut calls = [(); N].map(|()| Machine::execution());
    for (at, call) in (0..).zip(&mut calls) {
        store.adds(call.call_of(parent.id(), at), call).await?;
    }
    Ok((parent, child, calls))
}

async fn tells(store: &Subject, is_driven: bool) -> Kept {
    let (parent, mut child, [mut first, mut second]) = family(store).await?;
    let id = parent.id();
    let sleeps = async || if is_driven { store.parks(id, None).await } else { Ok(()) };
    let wakes = async |expected: Option<Wake>, why: &str| {
        let wake = store.work(id).await?.and_then(|work| work.wake);
        same!(wake, expected, "the wake after {why}");
        Ok::<(), String>(())
    };
    let awake = is_driven.then_some(Wake::ready(NOW));

    // A change that ends nothing says nothing.
    sleeps().await?;
    sends(store, first.update(1), &[]).await?;
    told(store, id, &[]).await?;
    wakes(None, "a change of a call").await?;

    let one = (&second.clone(), SINCE, 1, Delivery::Queued);
    sends(store, second.end(), &[(id, EventOutcome::Done)]).await?;
    told(store, id, &[one]).await?;
    wakes(awake, "a call").await?;
    sleeps().await?;

    // More of it, after its end, and a child without a place.
    sends(store, second.update(1), &[]).await?;
    sends(store, child.end(), &[]).await?;
    wakes(awake, "a child").await?;
    told(store, id, &[one]).await?;

    // With other writes, in one batch.
    let writes = [Machine::job().create(), first.end(), second.update(1)];
    sends(store, writes, &[(id, EventOutcome::Done)]).await?;
    told(store, id, &[one, (&first, SINCE, 0, Delivery::Queued)]).await
}

/// The place counts that the call has after its batch.
async fn moved(store: &Subject) -> Kept {
    let (parent, mut child, [mut joined, mut dropped]) = family(store).await?;
    let id = parent.id();
    let moved_children = vec![dropped.moved_to(id, SINCE, None), joined.moved_to(id, 12, Some(3))];
    let ends = [dropped.end(), joined.end()];
    store.accepts(WriteBatch { moved_children, ..batch(ends) }).await?;
    told(store, id, &[(&joined, 12, 3, Delivery::Queued)]).await?;
    store.moves([child.moved_to(id, 12, Some(4))]).await?;
    store.accepts(child.end()).await?;
    let both = [(&joined, 12, 3, Delivery::Queued), (&child, 12, 4, Delivery::Queued)];
    told(store, id, &both).await?;
    // One message for each call, wherever it is moved later.
    let moved_children = vec![joined.moved_to(id, 15, Some(0))];
    let more = joined.clone().update(1);
    store.accepts(WriteBatch { moved_children, ..batch([more]) }).await?;
    told(store, id, &both).await
}

/// A message to a parent that has ended is kept, set aside.
async fn to_ended(store: &Subject) -> Kept {
    let (mut parent, _, [mut early, mut together, mut late]) = family(store).await?;
    let (id, ended) = (parent.id(), (parent.id(), EventOutcome::Ended));
    store.accepts(early.end()).await?;
    let sent = store.accepts([parent.end(), together.end()]).await?.sent;
    ensure!(sent.contains(&ended), "a call that ends with its parent sends {sent:?}");
    sends(store, late.end(), &[ended]).await?;
    let all = [(&early, 0), (&together, 1), (&late, 2)];
    told(store, id, &all.map(|(call, at)| (call, SINCE, at, Delivery::SetAside))).await
}

/// The batch sends messages to these machines.
async fn sends(
    store: &Subject,
    batch: impl Into<WriteBatch>,
    expected: &[(Id, EventOutcome)],
) -> Kept {
    same!(store.accepts(batch).await?.sent, expected, "what a batch sends");
    Ok(())
}

/// The messages to a machine are the outcomes of these calls, each for its entry and place.
async fn told(store: &Subject, id: Id, expected: &[(&Machine, u64, u32, Delivery)]) -> Kept {
    let inbox = store.inbox(id).await?;
    ensure!(inbox.len() == expected.len(), "{} outcomes are {inbox:#?}", expected.len());
    for (found, (call, since, position, status)) in inbox.iter().zip(expected) {
        let (call, entry) = (call.id(), since - 1);
        let body = format!(r#"{{"execution":"{call}","entry":{entry},"index":{position}}}"#);
        let body: Option<serde_json::Value> = serde_json::from_str(&body).ok();
        let is_told = found.correlation == format!("machine:outcome:{call}")
            && found.actor == "call"
            && found.name == Some(call.to_string())
            && serde_json::from_str(&found.body).ok() == body
            && (found.seen, found.sent_at, found.status) == (None, NOW, *status);
        ensure!(is_told, "the outcome of {call}, {body:?}, {status}, is {found:#?}");
    }
    Ok(())
}
