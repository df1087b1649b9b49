//! Receipts that no state takes: the machine has ended, and said that it leaves its call behind.

use std::sync::{Arc, OnceLock};

use machine::{
    Id,
    actor::Human,
    contract::{AnyExecution, Applied, Call, CallError, Perform, ToolAnswer, receipt},
    machine,
    store::{Delivery, Message, Store},
    testing::TestEnvironment,
    view::Internal,
};
use machine_tests::invoked::Charge;
use serde::{Deserialize, Serialize};

use super::orders::is_clean;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Ride {
    #[initial]
    #[on(book(charge) => Booking, by = Human)]
    Idle,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Booked)]
    #[on(refused(why) => Refused)]
    #[on(pause => Paused, by = Human, detach)]
    #[on(stop => Stopped, by = Human, detach)]
    Booking { charge: Charge },
    // Nothing leads back, so the end says that it leaves the call behind, too.
    #[on(stop => Stopped, by = Human, detach)]
    Paused,
    #[terminal]
    Booked { receipt: String },
    #[terminal]
    Refused { why: CallError },
    #[terminal]
    Stopped,
}

/// A bank whose customer sends these events while it charges.
#[derive(Clone, Default)]
struct Bank(Arc<OnceLock<(Store, Id, Vec<ride::Event>)>>);

impl Perform<Charge> for Bank {
    async fn perform(&self, _: &Call<Charge>) -> ToolAnswer<Charge> {
        let (store, ride, events) = self.0.get().unwrap();
        for event in events {
            let event = Message::new(event, &Human::new("ann").unwrap()).unwrap();
            store.send(*ride, &event).await.unwrap();
        }
        Ok(Applied::new("receipt 7"))
    }
}

/// The call that was left behind is named with the machine, has the receipt, and its outcome is not
/// lost.
#[tokio::test(start_paused = true)]
async fn a_receipt_that_no_state_takes_is_kept_and_shown() {
    use ride::Event::{Pause, Stop};
    for events in [vec![Stop], vec![Pause, Stop]] {
        let bank = Bank::default();
        let service = bank.clone();
        let shop = TestEnvironment::new(move |worker| {
            worker.machine::<AnyRide>().tool::<Charge>(service.clone())
        });
        let ride = shop.create(AnyRide::from(Ride::new())).await;
        assert!(bank.0.set((shop.store().clone(), ride, events.clone())).is_ok());
        let book = ride::Event::Book { charge: Charge { cents: 500 } };
        shop.send(ride, &book, &shop.person("ann")).await;
        shop.run_until_idle().await;
        assert!(matches!(shop.load(ride).await, AnyRide::Stopped(_)), "{events:?}");

        let shown = shop.observer().detail::<Internal>(ride).await.unwrap();
        let [call] = &shown.children[..] else { panic!("{:?}", shown.children) };
        assert_eq!((&*call.status, call.has_ended), ("completed", true));
        let AnyExecution::Completed(paid) = shop.load(call.id).await else { panic!("{events:?}") };
        assert_eq!(receipt::<String>(&paid).unwrap(), "receipt 7");
        let inbox = shop.store().inbox(ride).await.unwrap();
        let is_outcome = |it: &&machine::store::Received| it.actor == "call";
        let outcomes: Vec<_> = inbox.iter().flatten().filter(is_outcome).collect();
        let [outcome] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(outcome.status, Delivery::SetAside, "{outcome:?}");
        is_clean(&shop).await;
    }
}
