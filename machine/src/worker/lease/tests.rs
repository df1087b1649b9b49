use super::*;
use crate::{
    actor::Actors,
    contract::{Contract, Execution},
    store::{OpenOptions, backend::WriteBatch, inbox::protocol::Claim},
    testing::TestClock,
};

/// After a freeze, the renewal of a lease and its loss are due at once. Nobody has taken over yet,
/// so the store would renew it.
#[test]
fn a_lease_that_has_ended_is_not_renewed() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let store = OpenOptions::new().clock(TestClock::start()).memory();
        let actors = Actors::issue("office").unwrap();
        let question = Contract::ecs_request("Which port?", &actors.reasoning_node).unwrap();
        let mut machine = Execution::new(question);
        store.create(&mut machine).await.unwrap();
        let (id, settings) = (machine.id(), Settings::default());
        let drives = vec!["execution".to_owned()];
        let batch = WriteBatch { drives, ..store.new_batch() };
        store.inner.backend.apply(batch).await.unwrap().unwrap();
        let until =
            async || store.inner.backend.task(id).await.unwrap().1.unwrap().lease.unwrap().until;

        for (frozen, is_renewed) in [(settings.lease / 3, true), (settings.lease, false)] {
            let (asked_at, now) = (store.inner.clock.uptime(), store.now());
            let token = store.inner.backend.task(id).await.unwrap().1.unwrap().token;
            let worker = "worker".to_owned();
            let ends = later(now, settings.lease);
            let claim =
                Claim { worker, token, now, until: ends, holder_ended: true, ..Claim::default() };
            store.under_lease(id, protocol::Event::Claim(claim)).await.unwrap().unwrap();
            let lease = HeldLease::new(id, token + 1, asked_at, &settings);
            tokio::time::advance(frozen).await;
            lease.renew(&store, &settings).await;
            assert_eq!((lease.is_valid(&store), until().await > ends), (is_renewed, is_renewed));
        }
    });
}
