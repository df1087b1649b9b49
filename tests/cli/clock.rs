//! A file whose clock was ahead by days, and then was set right.

use machine::{clock::Millis, contract::Execution, store::OpenOptions};
use machine_tests::{
    actors::tool_node,
    hand::Hand,
    samples::{Ticket, read},
};

use crate::surfaces::{Place, end};

const MINUTE: Millis = 60_000;
const DAY: Millis = 24 * 60 * MINUTE;

/// A place whose clock is ahead by ten days, and the clock. The rest of an hour is the time that a
/// test may take.
async fn ahead() -> (Place, Hand) {
    let hand = Hand::at(machine::clock::now() + 10 * DAY + 60 * MINUTE);
    (Place::with(&OpenOptions::new().clock(hand.clone())).await, hand)
}

#[tokio::test]
async fn a_timeline_says_that_the_clock_went_back() {
    let (place, hand) = ahead().await;
    let mut ticket = Ticket::new();
    place.store.create(&mut ticket).await.unwrap();
    let id = end(ticket.id());
    let shown = place.run(&["timeline", &id]);
    shown.shows(&[", in 10 d"]);
    assert!(!shown.out.contains("went back"), "{shown:?}");
    hand.advance(-11 * DAY);
    let mut waiting = ticket.park();
    place.store.commit(&mut waiting).await.unwrap();
    hand.advance(1);
    let mut closed = waiting.close("yes".to_owned(), 1.0);
    place.store.commit(&mut closed).await.unwrap();
    let shown = place.run(&["timeline", &id]);
    let marks = |text: &str| {
        let rows =
            shown.done().lines().filter(|row| row.contains("(park)") || row.contains("(close)"));
        rows.filter(|row| row.contains(text)).count()
    };
    assert_eq!((marks(""), marks(", the clock went back by 11 d")), (2, 1), "{shown:?}");
    assert_eq!(shown.out.matches(", in 10 d").count(), 1, "{shown:?}");
}

/// Its transitions are in the order of their times.
#[tokio::test]
async fn a_session_says_that_the_clock_went_back() {
    let (place, hand) = ahead().await;
    let mut pending = Execution::new(read("notes.txt").session("notes"));
    place.store.create(&mut pending).await.unwrap();
    let mut running = pending.start(tool_node());
    place.store.commit(&mut running).await.unwrap();
    hand.advance(-11 * DAY);
    let mut completed = running.succeed("12 lines".to_owned(), tool_node());
    place.store.commit(&mut completed).await.unwrap();
    let shown = place.run(&["timeline", "--session", "notes"]);
    let back = "the clock went back by 11 d";
    let rows = |text: &'static str| shown.done().lines().filter(move |row| row.contains(text));
    assert!(rows("(succeed)").all(|row| row.contains(back)), "{shown:?}");
    assert!(
        rows("(start)").all(|row| row.contains(", in 10 d") && !row.contains(back)),
        "{shown:?}"
    );
    assert_eq!((rows("(succeed)").count(), rows("(start)").count()), (1, 1), "{shown:?}");
    // Of the execution, the time that it took.
    assert_eq!(rows(back).count(), 2, "{shown:?}");
}
