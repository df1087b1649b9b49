//! A message that only another program can take: the worker leaves the machine to that program, and
//! it gives the handler nothing to do.

use crate::worker::prelude::*;

const HOUR: Duration = Duration::from_hours(1);

/// After this time, a worker looks again at what it has left to others.
const A_WHILE: Duration = Duration::from_secs(31);

async fn open(store: &Store) -> Id {
    create(store, Ticket::new().open(graph_runner())).await
}

/// Sends a message whose sender the worker does not know.
async fn wish(store: &Store, id: Id) {
    let wish = Message::from_json(r#"{"trigger": "wish", "text": "rain"}"#, &Customer).unwrap();
    store.send(id, &wish).await.unwrap();
}

/// Counts its calls, and waits for news, and perhaps for a time.
fn waits(calls: &Count, time: Option<Duration>) -> Does<AnyTicket> {
    let calls = calls.clone();
    moves(move |_, _| {
        calls.add();
        time.map_or(Next::Wait, Next::WaitFor)
    })
}

/// The worker that knows the sender.
async fn is_taken(store: &Store, id: Id) {
    settle(worker(store).handler(opens()).sender::<Customer>()).await;
    is(store, id, "wished").await;
}

#[test]
fn a_handler_is_called_once_for_a_message_that_another_program_takes() {
    timed(async |store, hand| {
        let (id, calls) = (open(&store).await, Count::default());
        settle(worker(&store).handler(waits(&calls, None))).await;
        wish(&store, id).await;
        for _ in 0..10 {
            settle(worker(&store).handler(waits(&calls, None))).await;
            hand.pass(A_WHILE);
        }
        assert_eq!(calls.get(), 2);
        is_taken(&store, id).await;
    });
}

#[test]
fn a_handler_is_called_when_its_time_comes() {
    timed(async |store, hand| {
        let (id, calls) = (open(&store).await, Count::default());
        let run = async || settle(worker(&store).handler(waits(&calls, Some(HOUR)))).await;
        wish(&store, id).await;
        for called in [1, 2] {
            run().await;
            assert_eq!(calls.get(), called);
            for _ in 0..10 {
                hand.pass(A_WHILE);
                run().await;
            }
            hand.pass(HOUR.saturating_sub(10 * A_WHILE + Duration::from_millis(1)));
            run().await;
            assert_eq!(calls.get(), called);
            hand.pass(Duration::from_millis(1));
        }
        is_taken(&store, id).await;
    });
}

/// The other program sees the machine, although this one has given up on its handler.
#[test]
fn a_handler_that_fails_hides_no_message() {
    timed(async |store, _| {
        let (id, calls) = (open(&store).await, Count::default());
        wish(&store, id).await;
        settle(worker(&store).handler(fails::<AnyTicket>(&calls))).await;
        assert_eq!(calls.get(), 5);
        is_taken(&store, id).await;
    });
}
