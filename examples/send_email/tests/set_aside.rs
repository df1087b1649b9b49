//! Machines that a worker cannot handle are set aside, and wait for a person.

use std::time::Duration;

use machine::{
    actor::Actors,
    contract::{Answer, Applied, Call, Irreversible, Perform, Tool},
    store::{CommitError, Store},
    view::Label,
    worker::Worker,
};
use serde::{Deserialize, Serialize};

use crate::world::World;

/// The tool as an older program knows it: it cannot read the arguments of today.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SendText {
    to: String,
    text: String,
}

impl Tool for SendText {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    type Effect = Irreversible;
    type Receipt = String;
}

struct Service;

impl Perform<SendText> for Service {
    async fn perform(&self, _: &Call<SendText>) -> Answer {
        Ok(Applied::new("sent"))
    }
}

/// The mail is not lost, the others continue, and a person lets the worker of today try again.
#[tokio::test]
async fn set_aside_shown_and_sent_later() {
    let world = World::new();
    let store = Store::sqlite(world.db()).await.unwrap();
    let worker = || {
        let worker = Worker::new(&store, Actors::issue("older").unwrap()).attempts(1);
        worker.tool::<SendText>(Service)
    };
    let running = worker().start();
    while store.workers().await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (gate, mail) = world.ask();
    world.ok(&format!("approve --yes {gate} --as ann"));
    while store.set_aside().await.unwrap().machines.is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    running.stop().await.unwrap();
    // It does not start again.
    let refused = worker().run_until_idle().await.unwrap_err();
    assert!(matches!(refused, CommitError::Incompatible { .. }), "{refused}");
    assert!(refused.to_string().contains("unknown field `body`"), "{refused}");
    drop(store);

    let listed = world.attention();
    assert!(listed.contains("set aside"), "{listed}");
    // The error is in the words of the program, and may repeat data.
    assert!(!listed.contains("unknown field"), "{listed}");
    let told = world.ok("list --attention-only --json --audience internal");
    assert!(told.contains("unknown field `body`"), "{told}");
    assert!(told.contains(&format!(r#""do":"requeue","id":"{mail}"}}"#)), "{told}");
    // Others are sent.
    let (gate, other) = world.ask_for("--to carol@example.com");
    world.ok(&format!("approve --yes {gate} --as ann"));
    world.work();
    assert_eq!(world.label(other), Label::Success);
    assert_eq!(world.label(mail), Label::NotStarted);
    assert_eq!(world.server.received(), 1);

    world.ok(&format!("requeue {mail} --as ann"));
    world.work();
    assert_eq!(world.label(mail), Label::Success);
    assert_eq!(world.server.received(), 2);
    assert!(!world.attention().contains("set aside"));
    world.verify();
}
