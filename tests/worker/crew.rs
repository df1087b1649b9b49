//! The workers that are alive, and what none of them does.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{Answer, Applied, Call, Contract, Execution, Idempotent, Perform, Tool},
    machine,
    store::{Message, OpenOptions, Store},
    view::{Concern, Human as People, Observer, Reason},
    worker::{Next, Worker},
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{
    AnyTicket, Customer, Does, Hand, Ticket, actors, ann, create, does, each, opens, says, settle,
    ticket, timed, worker,
};

#[derive(Debug, Serialize, Deserialize)]
struct Weigh {
    what: String,
}

impl Tool for Weigh {
    const SERVICE: &'static str = "post";
    const METHOD: &'static str = "weigh";
    type Effect = Idempotent;
    type Receipt = String;
}

struct Scales;

impl Perform<Weigh> for Scales {
    async fn perform(&self, _: &Call<Weigh>) -> Answer {
        Ok(Applied::new("3 kg"))
    }
}

const A_WHILE: Duration = Duration::from_secs(61);

async fn attention(store: &Store) -> Vec<Concern<People>> {
    Observer::new(store).attention(&machine::store::Query::new()).await.unwrap().concerns
}

/// Waits until this is missing. While a worker looks at the machine, nothing is.
async fn becomes_missing(store: &Store, id: Id, what: &str) {
    let expected = BTreeSet::from([(id, what.to_owned())]);
    let is_missing = async {
        while missing(store).await != expected {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_missing).await.expect("it is missing");
}

/// The work that no worker does, and the machine that it is for.
async fn missing(store: &Store) -> BTreeSet<(Id, String)> {
    let concerns = attention(store).await.into_iter();
    let concerns = concerns.filter(|concern| concern.reason == Reason::NoWorker);
    concerns.map(|concern| (concern.id.unwrap(), concern.missing.unwrap())).collect()
}

#[tokio::test]
async fn workers_are_listed_while_they_run() {
    each(async |store| {
        assert_eq!(store.workers().await.unwrap(), []);
        let driver = worker(&store).handler(opens()).start();
        let caller = worker(&store).tool::<Weigh>(Scales).start();
        let workers = loop {
            let workers = store.workers().await.unwrap();
            if workers.len() == 2 {
                break workers;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        let of_ticket = workers.iter().find(|worker| worker.tools.is_empty()).unwrap();
        assert_eq!(of_ticket.process.pid, std::process::id());
        assert_eq!(of_ticket.kinds.len(), 1);
        assert_eq!(of_ticket.kinds[0].machine, "ticket");
        let definition = <AnyTicket as machine::stored::Restore>::DEFINITION.fingerprint;
        assert_eq!(of_ticket.kinds[0].definition, definition);
        let of_tools = workers.iter().find(|worker| !worker.tools.is_empty()).unwrap();
        assert_eq!(of_tools.tools, ["post.weigh"]);
        assert!(!of_tools.other_tools);
        driver.stop().await.unwrap();
        assert_eq!(store.workers().await.unwrap().len(), 1);
        caller.stop().await.unwrap();
        assert_eq!(store.workers().await.unwrap(), []);
    })
    .await;
}

/// A worker that is dropped leaves, too.
#[tokio::test]
async fn a_worker_that_is_dropped_leaves() {
    each(async |store| {
        let forever = worker(&store).handler(opens()).run_until(std::future::pending());
        let dropped = tokio::time::timeout(Duration::from_millis(100), forever).await;
        assert!(dropped.is_err());
        while !store.workers().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[cfg(unix)]
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn lives() {
    let store = Store::sqlite(crate::worker::process::orders::<PathBuf>()).await.unwrap();
    let _running = worker(&store).handler(opens()).start();
    while store.workers().await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    crate::worker::process::say(&());
    std::future::pending::<()>().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_worker_whose_process_was_killed_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    let mut process = crate::worker::process::Process::start("worker::crew::lives", &file);
    let () = process.hear();
    let workers = store.workers().await.unwrap();
    assert_eq!(workers.len(), 1);
    assert_ne!(workers[0].process.pid, std::process::id());
    let observing = OpenOptions::new().read_only(&file).await.unwrap();
    assert_eq!(observing.workers().await.unwrap(), workers);
    process.kill();
    assert_eq!(store.workers().await.unwrap(), []);
    assert_eq!(observing.workers().await.unwrap(), []);
    let rows = || -> i64 {
        let raw = rusqlite::Connection::open(&file).unwrap();
        raw.query_row("SELECT count(*) FROM worker", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows(), 1);
    // The next worker removes what is left of it.
    settle(worker(&store).handler(opens())).await;
    assert_eq!(rows(), 0);
}

/// The handler or the tool was forgotten.
#[tokio::test]
async fn what_no_live_worker_drives_needs_attention_after_a_minute() {
    timed(async |store, hand| {
        // Machines are stamped by the clock of the system.
        hand.advance(std::time::UNIX_EPOCH.elapsed().unwrap());
        let id = ticket(&store).await;
        let waits = create(&store, Ticket::new().open(&actors().graph_runner)).await;
        store.send(waits, &says(r#"{"trigger": "pay", "amount": 1}"#, "p")).await.unwrap();
        let by = &actors().reasoning_node;
        let contract = Contract::of(&Weigh { what: "salt".to_owned() }, by).unwrap();
        let weigh = create(&store, Execution::new(contract)).await;
        hand.advance(A_WHILE);
        // Workers are not used here.
        assert_eq!(missing(&store).await, BTreeSet::new());

        let running = worker(&store).start();
        while store.workers().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let no_handler =
            "no live worker drives `ticket`: start one with `Worker::handler` for it".to_owned();
        let no_tool =
            "no live worker has the tool `post.weigh`: start one with `Worker::tool` for it";
        let all = [(id, no_handler.clone()), (waits, no_handler), (weigh, no_tool.to_owned())];
        assert_eq!(missing(&store).await, BTreeSet::from(all));
        running.stop().await.unwrap();
        settle(worker(&store).handler(opens()).tool::<Weigh>(Scales)).await;
        assert_eq!(missing(&store).await, BTreeSet::new());

        // Its worker has ended.
        let id = ticket(&store).await;
        assert_eq!(missing(&store).await, BTreeSet::new());
        hand.advance(A_WHILE);
        let found = missing(&store).await;
        assert_eq!(found.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), [id]);
        let running = worker(&store).handler(opens()).start();
        while !missing(&store).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        running.stop().await.unwrap();
    })
    .await;
}

/// A worker that has other tools looks at it again and again.
#[tokio::test]
async fn a_tool_that_a_live_worker_lacks_is_missing_for_as_long_as_it_looks() {
    timed(async |store, hand| {
        settle(worker(&store).tool::<Weigh>(Scales)).await;
        let by = &actors().reasoning_node;
        let spec = machine::contract::ToolSpec::idempotent("post", "stamp").unwrap();
        let contract = Contract::tool_call(&spec, "{}", by).unwrap();
        let id = create(&store, Execution::new(contract)).await;
        for _ in 0..5 {
            hand.advance(Duration::from_secs(31));
            settle(worker(&store).tool::<Weigh>(Scales)).await;
        }
        let found = missing(&store).await;
        let what = "no live worker has the tool `post.stamp`: start one with `Worker::tool` for it";
        assert_eq!(found, BTreeSet::from([(id, what.to_owned())]));
    })
    .await;
}

/// A machine that waits for a person is for a person, whether or not a worker is alive.
#[tokio::test]
async fn what_waits_for_a_person_needs_no_worker() {
    timed(async |store, hand| {
        settle(worker(&store).handler(opens()).tool::<Weigh>(Scales)).await;
        let open = create(&store, Ticket::new().open(&actors().graph_runner)).await;
        let contract = Contract::of(&Weigh { what: "salt".to_owned() }, &actors().reasoning_node);
        let (mut gate, mut planned) =
            contract.unwrap().ask::<Weigh>(None, &actors().ecs_node).unwrap();
        store.ask(&mut gate, &mut planned).await.unwrap();
        hand.advance(A_WHILE);
        let concerns = attention(&store).await;
        let reasons: Vec<_> = concerns.iter().map(|it| (it.id.unwrap(), it.reason)).collect();
        let waits = Reason::WaitsForPerson;
        assert_eq!(
            BTreeSet::from_iter(reasons),
            BTreeSet::from([(open, waits), (gate.id(), waits)])
        );
        let shown = gate.whole_question().unwrap().digest;
        store.approve(gate, shown, &ann()).await.unwrap();
        hand.advance(A_WHILE);
        assert_eq!(missing(&store).await.len(), 1);
    })
    .await;
}

mod drafts {
    use super::*;

    /// Its initial state is not stable, and only people move it.
    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Request {
        #[initial]
        #[on(approve => Approved, by = machine::actor::Human)]
        #[on(decline => Declined, by = machine::actor::Human)]
        Draft,
        #[terminal]
        Approved,
        #[terminal]
        Declined,
    }
}

/// Only a person can move the machine, though its state is not declared stable and no worker has looked at it.
#[tokio::test]
async fn what_only_a_person_can_move_needs_no_worker() {
    timed(async |store, hand| {
        hand.advance(std::time::UNIX_EPOCH.elapsed().unwrap());
        let rests = || does(|_, _| Box::pin(async { Ok(Next::Wait) }));
        settle(worker(&store).handler::<Does<drafts::AnyRequest>>(rests())).await;
        let draft = create(&store, drafts::Request::new()).await;
        hand.advance(A_WHILE);
        let concerns = attention(&store).await;
        let reasons: Vec<_> = concerns.iter().map(|it| (it.id.unwrap(), it.reason)).collect();
        assert_eq!(reasons, [(draft, Reason::WaitsForPerson)]);
        // An answer that no worker applies is for a worker.
        store.send(draft, &says(r#"{"trigger": "approve"}"#, "a")).await.unwrap();
        hand.advance(A_WHILE);
        assert_eq!(missing(&store).await.len(), 1);
    })
    .await;
}

mod old {
    use super::*;

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Parcel {
        #[initial]
        #[stable]
        #[on(send => Sent, by = Human)]
        #[on(give_up => GivenUp, by = Human)]
        Packed,
        #[terminal]
        Sent,
        #[terminal]
        GivenUp,
    }
}

mod new {
    use super::*;

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Parcel {
        #[initial]
        #[stable]
        #[on(send => Sent, by = Human)]
        #[on(lose => GivenUp, by = GraphRunner)]
        Packed,
        #[terminal]
        Sent,
        #[terminal]
        GivenUp,
    }
}

fn rests() -> Does<new::AnyParcel> {
    does(|_, _| Box::pin(async { Ok(Next::Wait) }))
}

/// `Worker::sender` was forgotten.
#[tokio::test]
async fn a_message_of_an_unknown_sender_needs_attention() {
    timed(async |store, hand| {
        let id = create(&store, Ticket::new().open(&actors().graph_runner)).await;
        let wish = Message::from_json(r#"{"trigger": "wish", "text": "rain"}"#, &Customer).unwrap();
        store.send(id, &wish).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        hand.advance(A_WHILE);
        let running = worker(&store).handler(opens()).start();
        while store.workers().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let what = "a message of an actor of the kind `customer` waits, and no live worker of \
                    `ticket` knows such actors: add them with `Worker::sender`";
        becomes_missing(&store, id, what).await;
        running.stop().await.unwrap();
        settle(worker(&store).handler(opens()).sender::<Customer>()).await;
        assert_eq!(missing(&store).await, BTreeSet::new());
    })
    .await;
}

#[tokio::test]
async fn a_message_for_a_removed_move_needs_attention() {
    timed(async |store: Store, hand: Hand| {
        let id = create(&store, old::Parcel::new()).await;
        let give_up = Message::new(&old::parcel::Event::GiveUp, &ann()).unwrap();
        store.send(id, &give_up).await.unwrap();
        let run = || -> Worker { worker(&store).handler(rests()) };
        settle(run()).await;
        assert_eq!(missing(&store).await, BTreeSet::new());
        hand.advance(A_WHILE);
        let running = run().start();
        while store.workers().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let what = "a message waits for `give_up`, and no live worker's `parcel` has that move: \
                    start an older program, or cancel the machine";
        becomes_missing(&store, id, what).await;
        running.stop().await.unwrap();
    })
    .await;
}
