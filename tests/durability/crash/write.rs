//! Writes the items of an operation.

use machine::store::{CommitError, Store};
use machine_tests::actors::{ann, tool_node};

use super::{
    child::Worker,
    slot::{Item, Slot, slot_of},
};

impl Worker {
    /// Writes the items together. Returns the machines, or their kinds, and the outcomes that are not on disk.
    pub(super) async fn write(
        &mut self,
        store: &Store,
        mut items: Vec<Item>,
    ) -> Result<Vec<Slot>, (Vec<&'static str>, CommitError, Vec<Slot>)> {
        let kinds = items.iter().map(Item::kind).collect();
        // The operations of one machine are methods of the store.
        let alone = matches!(items[0], Item::Confirm(..)) || self.random.percent(70);
        if items.len() == 1 && alone {
            let slot = match items.remove(0) {
                Item::Begin(begin) => {
                    let planned = begin.finish().unwrap_err();
                    let begun = store.begin(planned, tool_node()).await;
                    begun
                        .map(|(running, permit)| Slot::Begun(running, permit))
                        .map_err(|refused| refused.reason)
                }
                Item::Settle(settle) => {
                    let (running, outcome) = settle.finish().unwrap_err();
                    let settled = store.settle(running, outcome, tool_node()).await;
                    settled.map(slot_of).map_err(|refused| refused.reason)
                }
                item => store_one(store, item).await,
            };
            return slot.map(|slot| vec![slot]).map_err(|error| (kinds, error, Vec::new()));
        }
        let mut batch = store.batch();
        for item in &mut items {
            batch = match item {
                Item::Create(slot) => batch.create(slot.durable()),
                Item::Commit(slot) => batch.commit(slot.durable()),
                Item::Begin(begin) => batch.begin(begin),
                Item::Settle(settle) => batch.settle(settle),
                Item::Confirm(..) => panic!("never in a batch"),
            };
        }
        if let Err(error) = batch.write().await {
            let answered = items.into_iter().filter_map(|item| match item {
                Item::Settle(settle) => settle.finish().err(),
                _ => None,
            });
            let answered = answered.map(|(running, outcome)| Slot::Answered(running, outcome));
            return Err((kinds, error, answered.collect()));
        }
        Ok(items.into_iter().map(Item::written).collect())
    }
}

async fn store_one(store: &Store, item: Item) -> Result<Slot, CommitError> {
    match item {
        Item::Create(Slot::Meter(mut machine)) => {
            store.create(&mut machine).await.map(|()| Slot::Meter(machine))
        }
        Item::Create(Slot::Execution(mut machine)) => {
            store.create(&mut machine).await.map(|()| Slot::Execution(machine))
        }
        Item::Commit(Slot::Meter(mut machine)) => {
            store.commit(&mut machine).await.map(|()| Slot::Meter(machine))
        }
        Item::Commit(Slot::Execution(mut machine)) => {
            store.commit(&mut machine).await.map(|()| Slot::Execution(machine))
        }
        Item::Confirm(doubt, true, text) => {
            let confirmed = store.confirm_applied(doubt, &text, ann()).await;
            confirmed
                .map(|machine| Slot::Execution(machine.into()))
                .map_err(|refused| refused.reason)
        }
        Item::Confirm(doubt, false, text) => {
            let confirmed = store.confirm_not_applied(doubt, &text, ann()).await;
            confirmed
                .map(|machine| Slot::Execution(machine.into()))
                .map_err(|refused| refused.reason)
        }
        _ => panic!("`write` does it"),
    }
}
