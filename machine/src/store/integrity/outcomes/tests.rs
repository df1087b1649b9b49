use std::sync::Arc;

use crate::{
    actor::Actors,
    contract::{Contract, Execution, execution::Waiting},
    id::Id,
    store::{
        Message, Store,
        backend::{Kinship, NewChild, WriteBatch},
        inbox::{
            outcome::outcome_of,
            protocol::{Claim, Event},
        },
    },
};

async fn apply(store: &Store, batch: WriteBatch) {
    store.inner.backend.apply(batch).await.unwrap().unwrap();
}

async fn happens<const N: usize>(store: &Store, id: Id, events: [Event; N]) {
    let events = events.map(|event| (id, event)).into();
    apply(store, WriteBatch { events, ..store.new_batch() }).await;
}

/// A message that no call has sent.
fn forged(to: Id, call: Id) -> Event {
    let kinship = Kinship { parent: to, since: 1, position: Some(0) };
    Event::Send { message: Arc::new(Message::outcome(call, &kinship).unwrap()), now: 0 }
}

#[test]
fn an_outcome_needs_a_child_that_has_ended() {
    pollster::block_on(async {
        let (store, actors) = (Store::memory(), Actors::issue("office").unwrap());
        let asks = || -> Execution<Waiting> {
            let question = Contract::ecs_request("Which port?", &actors.reasoning_node);
            let running = Execution::new(question.unwrap()).start(&actors.ecs_node);
            running.suspend("Which port?".to_owned(), &actors.ecs_node)
        };
        let cancelled =
            |it: Execution<Waiting>| it.cancel("not needed".to_owned(), &actors.graph_runner);
        let (mut parent, mut call, mut open, mut stranger) = (asks(), asks(), asks(), asks());
        let [to, call_id, open_id] = [&parent, &call, &open].map(Execution::id);
        for machine in [&mut parent, &mut call, &mut open, &mut stranger] {
            store.create(machine).await.unwrap();
        }
        let child_of = |child, position| NewChild { child, parent: to, since: Some(1), position };
        let children = vec![child_of(call_id, Some(0)), child_of(open_id, None)];
        let drives = vec!["execution".to_owned()];
        apply(&store, WriteBatch { children, drives, ..store.new_batch() }).await;
        store.commit(&mut cancelled(call)).await.unwrap();
        let mut stranger = cancelled(stranger);
        store.commit(&mut stranger).await.unwrap();

        let problems = async || {
            let report = store.verify_all(|_| {}).await.unwrap();
            let of_parent = report.problems.into_iter().filter(|it| it.id == Some(to));
            of_parent.map(|it| it.reason).collect::<Vec<_>>()
        };
        assert_eq!(store.inbox(to).await.unwrap().len(), 1, "the outcome of the call");
        assert!(problems().await.is_empty());

        let missing = Id::fresh();
        let all = [stranger.id(), open_id, missing];
        happens(&store, to, all.map(|call| forged(to, call))).await;
        let says = |call, wrong| format!("its inbox has the outcome of {call}, which {wrong}");
        let expected = [
            says(stranger.id(), "is not its child"),
            says(open_id, "has not ended"),
            says(missing, "is missing"),
        ];
        assert_eq!(problems().await, expected);

        // They are wrong, too, after the machine has taken them.
        let (now, until) = (store.now(), store.now() + 60_000);
        let claim = Claim { worker: "worker".to_owned(), now, until, ..Claim::default() };
        let messages = all.map(outcome_of).into();
        let taken = Event::Acknowledge { token: 1, messages };
        happens(&store, to, [Event::Claim(claim), taken]).await;
        assert_eq!(problems().await, expected);
    });
}
