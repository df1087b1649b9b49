//! Handlers that have failed, and then wait for a call: no timer of theirs makes the machine ready
//! for ever.

use machine::worker::Handled;

use crate::worker::prelude::*;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Till {
    #[initial]
    #[on(pay(charge) => Paying, by = Human)]
    Open,
    #[invoke(charge)]
    #[on(skip => Closing, by = Human, detach)]
    Paying { charge: Charge },
    #[on(close => Closed, by = GraphRunner)]
    #[on(reopen => Paying, by = Human)]
    Closing { charge: Charge },
    #[terminal]
    Closed,
}

/// More calls than a machine needs that comes to rest. Then a handler does something else, so that
/// the test ends.
const MANY: usize = 10;

async fn paying(store: &Store) -> Id {
    create(store, Till::new().pay(Charge { cents: 500 }, ann())).await
}

/// Fails once, and then closes a till.
fn closes(calls: &Count) -> Does<AnyTill> {
    let calls = calls.clone();
    does(move |till: AnyTill, _| {
        let next: Handled<AnyTill> = match till {
            AnyTill::Closing(closing) => match calls.add() {
                0 => Err("the printer is on fire".into()),
                1..MANY => Ok(Next::to(closing.close(graph_runner()))),
                _ => Ok(Next::Wait),
            },
            _ => Ok(Next::Wait),
        };
        Box::pin(async { next })
    })
}

/// The end of the machine waits while the call may have taken effect, and then until its receipt is
/// taken.
#[test]
fn a_move_that_waits_for_a_call_is_not_repeated_by_a_timer() {
    timed(async |store, _| {
        let (id, calls) = (paying(&store).await, Count::default());
        let bank = Service::unknown();
        let run = async || {
            settle(worker(&store).handler(closes(&calls)).tool::<Charge>(bank.clone())).await;
        };
        run().await;
        store.send(id, &says(r#"{"trigger": "skip"}"#, "skip")).await.unwrap();
        run().await;
        assert_eq!(calls.get(), 2, "it fails, and is refused");
        run().await;
        assert_eq!(calls.get(), 2);

        let call = store.children(id).await.unwrap().remove(0).id;
        let doubt = store.in_doubt(call).await.unwrap();
        drop(store.confirm_applied(doubt, "receipt 7", ann()).await.unwrap());
        run().await;
        assert!((3..MANY).contains(&calls.get()), "{}", calls.get());
        is(&store, id, "closing").await;

        // A message moves it at once.
        store.send(id, &says(r#"{"trigger": "reopen"}"#, "reopen")).await.unwrap();
        run().await;
        is(&store, id, "paying").await;
    });
}

/// It was called with the outcome, so its failed attempt from before is not repeated.
#[test]
fn a_handler_that_waits_with_an_outcome_is_not_called_by_a_timer() {
    timed(async |store, hand| {
        let (id, calls) = (paying(&store).await, Count::default());
        let hour = Duration::from_hours(1);
        let fails = fails::<AnyTill>(&Count::default());
        settle(Worker::new(&store, actors()).backoff(hour, hour).handler(fails)).await;
        hand.pass(hour);
        settle(worker(&store).tool::<Charge>(Service::default())).await;

        let counts = calls.clone();
        let waits = moves(move |till: AnyTill, _| match till {
            AnyTill::Paying(till) if counts.add() >= MANY => Next::to(till.skip(ann())),
            _ => Next::Wait,
        });
        settle(worker(&store).handler(waits)).await;
        assert_eq!(calls.get(), 1);
        is(&store, id, "paying").await;
    });
}
