//! Approvals, and messages.

use std::time::Duration;

use machine::{
    contract::{Action, Contract, Execution},
    effects::Resume,
    store::SendError,
};

use crate::{errand::Does, world::World};

/// Gates with every end.
pub(crate) async fn gates(world: &World) {
    let (store, actors, ann) = (&world.store, &world.actors, &world.ann);
    let reason = world.text("no");
    let mut gates = Vec::new();
    for number in 40..44 {
        let limit = Some(Duration::from_mins(1));
        let mail = world.mail(number);
        let (mut gate, mut mail) = mail.ask::<Action>(limit, &actors.ecs_node).unwrap();
        store.ask(&mut gate, &mut mail).await.unwrap();
        gates.push(store.gate(gate.id()).await.unwrap());
    }
    let mut gates = gates.into_iter();
    let mut next = || gates.next().unwrap();
    machine_tests::approve(store, next(), ann).await.unwrap();
    store.decline(next(), &reason, ann).await.unwrap();
    let _ = store.withdraw(next(), &reason, &actors.graph_runner).await.unwrap();
    world.hand.advance(61_000);
    let _ = store.expire(next(), &actors.graph_runner).await.unwrap();

    let asked = Contract::ecs_request(&reason, &actors.reasoning_node).unwrap();
    let waiting = Execution::new(asked).start(&actors.ecs_node);
    let mut waiting = waiting.suspend(reason.clone(), &actors.ecs_node);
    store.create(&mut waiting).await.unwrap();
    let question = store.question(waiting.id()).await.unwrap();
    let question = store.respond(question, &world.text("8080"), ann).await.unwrap();
    let _ = store.proceed(question, Resume::default(), &actors.graph_runner).await.unwrap();
    // The graph is behind.
    let _ = store.question(waiting.id()).await.unwrap_err();
}

/// Messages that are handled, refused, known, too late, and requeued.
pub(crate) async fn messages(world: &World) {
    let store = &world.store;
    let id = world.errand().await;
    store.send(id, &world.message("fly")).await.unwrap();
    world.worker(Does::Opens).run_until_idle().await.unwrap();
    store.requeue(id, &[world.message("fly").correlation()]).await.unwrap();
    store.send(id, &world.message("say")).await.unwrap();
    store.send(id, &world.message("say")).await.unwrap();
    world.worker(Does::Opens).run_until_idle().await.unwrap();
    let late = store.send(id, &world.message("cancel")).await;
    assert!(matches!(late, Err(SendError::Ended { .. })), "{late:?}");
    let other = world.errand().await;
    store.batch().send(other, &world.message("say")).write().await.unwrap();
}
