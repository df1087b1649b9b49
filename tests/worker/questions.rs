//! A state that is not `#[stable]`, and that only people leave, is a question: its answers are for
//! one visit.

use machine::{
    observe::{ConcernReason, NextStep, Observer},
    operate::{Error, Operator, SendOptions, SentMessage},
    view,
};

use crate::worker::prelude::*;

/// An agent writes, and a person reads.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Review {
    #[initial]
    #[on(submit(drafts = drafts + 1) => Reading, by = GraphRunner)]
    #[on(stop => Stopped, by = Human)]
    Writing { drafts: u32 },
    #[on(accept => Accepted, by = Human)]
    #[on(send_back => Writing, by = Human)]
    #[on(stop => Stopped, by = Human)]
    Reading { drafts: u32 },
    #[terminal]
    Accepted { drafts: u32 },
    #[terminal]
    Stopped,
}

/// The agent writes, if it is its turn.
async fn work(store: &Store) {
    let writes = moves(|review, _| match review {
        AnyReview::Writing(review) => Next::to(review.submit(graph_runner())),
        _ => Next::Wait,
    });
    settle(worker(store).handler(writes)).await;
}

/// Ann sends an event from the command line.
async fn send(
    store: &Store,
    id: Id,
    trigger: &str,
    seen: Option<u64>,
) -> Result<SentMessage, Error> {
    let actors = actors();
    let options = SendOptions { seen, ..SendOptions::default() };
    Operator::new(store, &actors, ann(), "cli").send_text(id, trigger, "{}", options).await
}

/// The events that ann is offered, as commands.
async fn offered(store: &Store, id: Id) -> Vec<String> {
    let steps = Observer::new(store).next(id).await.unwrap();
    steps.iter().map(|step| step.to_string().replace(&id.to_string(), "ID")).collect()
}

/// The second answer would accept a draft that nobody has read.
#[test]
fn a_second_answer_is_not_for_the_next_draft() {
    each(async |store| {
        let id = create(&store, Review::new(0)).await;
        work(&store).await;
        let observer = Observer::new(&store);
        let attention = observer.attention::<view::Human>(&Query::new()).await.unwrap();
        let [concern] = &*attention.concerns else { panic!("{attention:?}") };
        assert_eq!((concern.id, concern.reason), (Some(id), ConcernReason::WaitsForPerson));
        assert_eq!(concern.transition_count, Some(1));
        for step in &concern.next {
            assert!(matches!(step, NextStep::SendEvent { seen: Some(1), .. }), "{step:?}");
        }
        let commands = ["accept", "send_back", "stop"];
        let commands = commands.map(|trigger| format!("send ID {trigger} --as NAME --seen 1"));
        assert_eq!(offered(&store, id).await, commands);

        // No worker runs.
        send(&store, id, "send_back", None).await.unwrap();
        for seen in [None, Some(1)] {
            let second = send(&store, id, "accept", seen).await.unwrap_err().to_string();
            assert!(second.contains("ann has already answered"), "{second}");
        }
        assert!(offered(&store, id).await.is_empty());

        work(&store).await;
        is(&store, id, "reading").await;
        let late = send(&store, id, "accept", Some(1)).await.unwrap_err().to_string();
        assert!(late.contains("has moved on since you viewed it"), "{late}");
        send(&store, id, "accept", Some(3)).await.unwrap();
        work(&store).await;
        let AnyReview::Accepted(review) = store.load(id).await.unwrap() else { panic!() };
        assert_eq!(review.state().drafts, 2);
    });
}

/// An answer that a program sends without the number of transitions is first, and the machine has
/// left the visit. There is nothing to do about the second one, and trying again changes nothing.
#[test]
fn an_answer_behind_another_one_is_set_aside() {
    timed(async |store, hand| {
        let id = create(&store, Review::new(0)).await;
        work(&store).await;
        store.send(id, &says(r#"{"trigger": "send_back"}"#, "first")).await.unwrap();
        hand.pass(Duration::from_secs(1));
        let second = send(&store, id, "accept", None).await.unwrap().correlation;
        work(&store).await;
        for again in [false, true] {
            if again {
                store.requeue(id, &[&second]).await.unwrap();
                work(&store).await;
            }
            is(&store, id, "reading").await;
            let late = message(&store, id, &second).await;
            assert_eq!((late.status, late.seen), (Delivery::SetAside, Some(1)));
            assert!(late.error.unwrap().contains("moved on"));
            let observer = Observer::new(&store);
            let attention = observer.attention::<view::Human>(&Query::new()).await.unwrap();
            let reasons: Vec<_> = attention.concerns.iter().map(|it| it.reason).collect();
            assert_eq!(reasons, [ConcernReason::WaitsForPerson]);
        }
    });
}

/// While the agent works there is no question: an answer comes too early, and what stops the agent
/// waits.
#[test]
fn messages_to_a_working_state_wait() {
    each(async |store| {
        let id = create(&store, Review::new(0)).await;
        assert_eq!(offered(&store, id).await, ["send ID stop --as NAME"]);
        let early = send(&store, id, "accept", None).await.unwrap_err().to_string();
        assert!(early.contains("it would answer a later question"), "{early}");
        for _ in 0..2 {
            let stop = send(&store, id, "stop", None).await.unwrap().correlation;
            assert_eq!(message(&store, id, &stop).await.seen, None);
        }
        work(&store).await;
        is(&store, id, "stopped").await;
    });
}
