//! A file whose clock was ahead by days, and then was set right.

use machine::{
    actor::Actors,
    clock::Millis,
    contract::{Applied, Execution},
    store::OpenOptions,
    worker::Worker,
};
use machine_tests::{
    actors::tool_node,
    hand::Hand,
    invoked::{AnyPurchase, Charge, asked},
    samples::{Ticket, answers, read},
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

/// The program's clock differs from that of the person who approves: the person's was set back
/// between the question and the approval, or the program's after it.
#[tokio::test]
async fn a_timeline_has_an_approval_before_the_move_that_it_made_possible() {
    let ahead = 10 * DAY + 60 * MINUTE;
    for (at_question, at_payment, marked, mark) in [
        (ahead, ahead, "approved", "went back by 10 d"),
        (-30 * MINUTE, -2 * DAY, "(paid)", "went back by 2 d"),
    ] {
        let now = machine::clock::now();
        let hand = Hand::at(now + at_question);
        let place = Place::with(&OpenOptions::new().clock(hand.clone())).await;
        let (id, _) = asked(&place.store, 1).await;
        let shown = place.json(&["show", &end(id)]);
        let gate = shown["call_list"][0]["gate"].as_str().unwrap();
        place.run(&["approve", gate, "--as", "dora", "--yes"]).done();
        hand.set(now + at_payment);
        let worker = Worker::new(&place.store, Actors::issue("shop").unwrap());
        let bank = answers::<Charge>(Ok(Applied::new("receipt 7")));
        worker.machine::<AnyPurchase>().tool::<Charge>(bank).run_until_idle().await.unwrap();

        let shown = place.run(&["timeline", &end(id)]);
        let steps = ["created", "(ask)", "bank.charge approved", "(paid)"];
        let rows = shown.done().lines().filter(|row| steps.iter().any(|it| row.contains(it)));
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows.len(), steps.len(), "{shown:?}");
        for (row, step) in rows.iter().zip(steps) {
            assert!(row.contains(step), "{shown:?}");
            assert_eq!(row.contains(mark), step.ends_with(marked), "{shown:?}");
        }
    }
}
