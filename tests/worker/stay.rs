//! Answers that are for one question only (`Message::unless_moved`).

use machine::{
    observe::{ConcernReason, Observer},
    view,
};

use crate::worker::prelude::*;

/// Asks again and again.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Interview {
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

async fn work(store: &Store) {
    let asks = moves(|interview, _| match interview {
        AnyInterview::Thinking(interview) => Next::to(interview.ask(graph_runner())),
        AnyInterview::Asking(_) => Next::Wait,
    });
    settle(worker(store).handler(asks)).await;
}

fn answer(text: &str) -> Message {
    let event = interview::Event::Answer { text: text.to_owned() };
    Message::new(&event, ann()).unwrap().with_correlation(text).unwrap()
}

/// The answers, after work, and the number of transitions that a person has seen then.
async fn has(store: &Store, id: Id, expected: &[&str]) -> u64 {
    work(store).await;
    let AnyInterview::Asking(interview) = store.load(id).await.unwrap() else { panic!() };
    assert_eq!(interview.state().answers, expected);
    let snapshot = Observer::new(store).snapshot::<view::Human>(id).await.unwrap();
    snapshot.transition_count
}

#[test]
fn an_answer_is_not_for_the_next_question() {
    each(async |store| {
        let id = create(&store, Interview::new(Vec::new())).await;
        let first = has(&store, id, &[]).await;
        // Two people answer at once, and one clicks twice.
        for text in ["a", "b", "c"] {
            store.send(id, &answer(text).unless_moved(first)).await.unwrap();
        }
        has(&store, id, &["a"]).await;
        for text in ["b", "c"] {
            let late = message(&store, id, text).await;
            assert_eq!((late.status, late.seen), (Delivery::SetAside, Some(first)));
            assert!(late.error.unwrap().contains("moved on"));
        }
        // There is nothing to do about these, and trying again changes nothing.
        let observer = Observer::new(&store);
        let attention = observer.attention::<view::Human>(&Query::new()).await.unwrap();
        let reasons: Vec<_> = attention.concerns.iter().map(|concern| concern.reason).collect();
        assert_eq!(reasons, [ConcernReason::WaitsForPerson]);
        store.requeue(id, &["b"]).await.unwrap();
        let second = has(&store, id, &["a"]).await;
        store.send(id, &answer("d").unless_moved(second)).await.unwrap();
        has(&store, id, &["a", "d"]).await;
    });
}
