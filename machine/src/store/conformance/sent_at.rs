//! A message has the time of its transaction, which may come long after its batch was made: a
//! deadline may have become due in between.

use super::prelude::*;

/// When the transaction is.
const LATER: Millis = NOW + 60_000;

#[derive(Debug)]
struct Later;

impl Clock for Later {
    fn now(&self) -> Millis {
        LATER
    }
}

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let clock: Arc<dyn Clock> = Arc::new(Later);
    let store = Subject::open(open);
    let (mut parent, mut call) = (Machine::job(), Machine::execution());
    let id = parent.id();
    store.accepts(parent.create()).await?;
    let children = vec![call.call_of(id, 0)];
    store.accepts(WriteBatch { children, ..batch([call.create()]) }).await?;
    let sends = WriteBatch { events: vec![(id, send("a"))], ..batch([]) };
    store.accepts(sends.at_transaction(&clock)).await?;
    store.accepts(batch([call.end()]).at_transaction(&clock)).await?;
    let inbox = store.inbox(id).await?;
    let times: Vec<_> = inbox.iter().map(|message| message.sent_at).collect();
    ensure!(times == [LATER; 2], "a message and an outcome, written at {LATER}, are {inbox:#?}");
    Ok(())
}
