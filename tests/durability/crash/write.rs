//! Writes the items of an operation.

use machine::{effects::EffectError, store::Store};
use machine_tests::actors::{ann, tool_node};

use super::{
    child::Worker,
    slot::{Item, Slot, slot_of},
};

impl Worker {
    /// Writes the items together. Returns the machines, or their kinds, and the outcomes that are
    /// not on disk.
    pub(super) async fn write(
        &mut self,
        store: &Store,
        mut items: Vec<Item>,
    ) -> Result<Vec<Slot>, (Vec<&'static str>, EffectError, Vec<Slot>)> {
        let kinds = items.iter().map(Item::kind).collect();
        // The calls of one execution are methods of the store, too.
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
                // `create` and `commit` are batches of one.
                Item::Create(mut slot) => {
                    let written = store.batch().create(slot.durable()).write().await;
                    written.map(|()| slot)
                }
                Item::Commit(mut slot) => {
                    let written = store.batch().commit(slot.durable()).write().await;
                    written.map(|()| slot)
                }
            };
            return slot.map(|slot| vec![slot]).map_err(|error| (kinds, error, Vec::new()));
        }
        let mut batch = store.batch();
        for item in &mut items {
            batch = match item {
                Item::Create(slot) => batch.create(slot.durable()),
                Item::Commit(slot) => batch.commit(slot.durable()),
                Item::Begin(begin) => batch.change(begin),
                Item::Settle(settle) => batch.change(settle),
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
