//! Answers that are for one question only (`Message::unless_moved`).

use machine::{
    Id,
    actor::{Actors, GraphRunner, Human},
    machine,
    store::{Delivery, Message, Query, Store},
    view::{self, Observer},
    worker::{Failure, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{actors, create, each, message, settle, worker};

/// Asks again and again.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Interview {
    #[initial]
    #[on(ask => Asking, by = GraphRunner)]
    Thinking { answers: Vec<String> },
    #[stable]
    #[on(answer(text: String, answers = and(answers, text)) => Thinking, by = Human)]
    Asking { answers: Vec<String> },
}

fn and(mut answers: Vec<String>, text: String) -> Vec<String> {
    answers.push(text);
    answers
}

struct Interviewer(Actors);

impl Handler for Interviewer {
    type Machine = AnyInterview;

    async fn handle(
        &self,
        interview: AnyInterview,
        _: &mut Task,
    ) -> Result<Next<AnyInterview>, Failure> {
        Ok(match interview {
            AnyInterview::Thinking(interview) => Next::to(interview.ask(&self.0.graph_runner)),
            AnyInterview::Asking(_) => Next::Wait,
        })
    }
}

async fn work(store: &Store) {
    settle(worker(store).handler(Interviewer(actors()))).await;
}

fn answer(text: &str) -> Message {
    let ann = Human::new("ann").unwrap();
    let event = interview::Event::Answer { text: text.to_owned() };
    Message::new(&event, &ann).unwrap().with_correlation(text).unwrap()
}

async fn seen(store: &Store, id: Id) -> u64 {
    let snapshot = Observer::new(store).snapshot::<view::Human>(id).await.unwrap();
    snapshot.transition_count
}

async fn answers(store: &Store, id: Id) -> Vec<String> {
    match store.load(id).await.unwrap() {
        AnyInterview::Asking(interview) => interview.state().answers.clone(),
        AnyInterview::Thinking(interview) => interview.state().answers.clone(),
    }
}

#[tokio::test]
async fn an_answer_is_not_for_the_next_question() {
    each(async |store: Store| {
        let id = create(&store, Interview::new(Vec::new())).await;
        work(&store).await;
        let first = seen(&store, id).await;
        // Two people answer at once, and one clicks twice.
        for text in ["a", "b", "c"] {
            store.send(id, &answer(text).unless_moved(first)).await.unwrap();
        }
        work(&store).await;
        assert_eq!(answers(&store, id).await, ["a"]);
        for text in ["b", "c"] {
            let late = message(&store, id, text).await;
            assert_eq!((late.status, late.seen), (Delivery::SetAside, Some(first)));
            assert!(late.error.unwrap().contains("moved on"));
        }
        // There is nothing to do about these, and trying again changes nothing.
        let attention =
            Observer::new(&store).attention::<view::Human>(&Query::new()).await.unwrap();
        let reasons: Vec<_> = attention.concerns.iter().map(|concern| concern.reason).collect();
        assert_eq!(reasons, [view::Reason::WaitsForPerson]);
        store.requeue(id, &["b"]).await.unwrap();
        work(&store).await;
        assert_eq!(answers(&store, id).await, ["a"]);

        let second = seen(&store, id).await;
        store.send(id, &answer("d").unless_moved(second)).await.unwrap();
        work(&store).await;
        assert_eq!(answers(&store, id).await, ["a", "d"]);
    })
    .await;
}

/// Without it, a message waits for the next state that takes it.
#[tokio::test]
async fn other_messages_wait() {
    each(async |store: Store| {
        let id = create(&store, Interview::new(Vec::new())).await;
        for text in ["a", "b"] {
            store.send(id, &answer(text)).await.unwrap();
        }
        work(&store).await;
        assert_eq!(answers(&store, id).await, ["a", "b"]);
        store.send(id, &answer("c").unless_moved(u64::MAX)).await.unwrap();
        work(&store).await;
        assert_eq!(answers(&store, id).await, ["a", "b"]);
        assert_eq!(message(&store, id, "c").await.status, Delivery::SetAside);
    })
    .await;
}
