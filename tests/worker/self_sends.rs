//! A handler that sends messages to its own machine: a loop without an end is set aside.

use crate::worker::prelude::*;

const ROUNDS: usize = 100;

const TEXT: &str = "the handler sent messages to its own machine 100 times in a row without a \
                    transition; make a transition, or wait without a message";

/// Sends its own machine a message that its state does not accept, and waits; counts how often.
fn talks_to_itself(calls: &Count) -> Does<AnyTicket> {
    let calls = calls.clone();
    moves(move |_, task| {
        calls.add();
        task.send(task.id(), Message::from_json(UNLOCK, graph_runner()).unwrap());
        Next::Wait
    })
}

/// The finding: 85,000 messages in 2.4 s, and no end.
#[test]
fn handler_that_only_talks_to_itself_is_set_aside() {
    each(async |store| {
        let (id, calls) = (ticket(&store).await, Count::default());
        settle(worker(&store).handler(talks_to_itself(&calls))).await;
        assert_eq!(calls.get(), ROUNDS);
        assert_eq!(inbox(&store, id).await.len(), ROUNDS);
        set_aside(&store, &[(id, TEXT)]).await;
        // Once more after a requeue.
        store.requeue(id, &[]).await.unwrap();
        settle(worker(&store).handler(talks_to_itself(&calls))).await;
        assert_eq!(calls.get(), 2 * ROUNDS);
        set_aside(&store, &[(id, TEXT)]).await;
    });
}
