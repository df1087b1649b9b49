//! A message has the time of its transaction, which may come long after its batch was made: a
//! deadline may have become due in between.

use super::{event::Fixed, prelude::*};

/// When the transaction is.
const LATER: Millis = NOW + 60_000;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let clock: Arc<dyn Clock> = Arc::new(Fixed(LATER));
    let store = Subject::open(open);
    let (mut parent, mut call) = (Machine::job(), Machine::execution());
    let id = parent.id();
    store.accepts(parent.create()).await?;
    store.adds(call.call_of(id, 0), &mut call).await?;
    store.accepts(events(id, [send("a")]).at_transaction(&clock)).await?;
    store.accepts(batch([call.end()]).at_transaction(&clock)).await?;
    let times: Vec<_> = store.inbox(id).await?.iter().map(|message| message.sent_at).collect();
    same!(times, [LATER; 2], "the times of a message and of an outcome");
    Ok(())
}
