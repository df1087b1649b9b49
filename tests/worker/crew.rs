//! The workers that are alive, and what none of them does.

use std::{collections::BTreeSet, path::PathBuf, task::Poll};

use machine::{
    contract::ToolSpec,
    observe::{Concern, ConcernReason, Observer},
};

use crate::worker::prelude::*;

const A_WHILE: Duration = Duration::from_secs(61);

async fn attention(store: &Store) -> Vec<Concern<machine::view::Human>> {
    Observer::new(store).attention(&Query::new()).await.unwrap().concerns.clone()
}

/// The machines that need attention, with the reasons.
async fn reasons(store: &Store) -> BTreeSet<(Id, ConcernReason)> {
    attention(store).await.iter().map(|it| (it.id.unwrap(), it.reason)).collect()
}

/// The work that no worker does, and the machine that it is for.
async fn missing(store: &Store) -> BTreeSet<(Id, String)> {
    let concerns = attention(store).await.into_iter();
    let concerns = concerns.filter(|concern| concern.reason == ConcernReason::NoWorker);
    concerns.map(|concern| (concern.id.unwrap(), concern.missing.unwrap())).collect()
}

/// Starts a worker, and waits until it is listed.
async fn started(store: &Store, worker: Worker) -> machine::worker::Running {
    let running = worker.start();
    until("the worker is listed", async || !store.workers().await.unwrap().is_empty()).await;
    running
}

#[test]
fn workers_are_listed_while_they_run() {
    each(async |store| {
        let count = async || store.workers().await.unwrap().len();
        assert_eq!(count().await, 0);
        let driver = worker(&store).handler(opens()).start();
        let caller = worker(&store).tool::<Weigh>(Service::default()).start();
        until("both are listed", async || count().await == 2).await;
        let workers = store.workers().await.unwrap();
        let of_ticket = workers.iter().find(|worker| worker.tools.is_empty()).unwrap();
        assert_eq!(of_ticket.process.pid, std::process::id());
        assert_eq!(of_ticket.kinds, ["ticket"]);
        let of_tools = workers.iter().find(|worker| !worker.tools.is_empty()).unwrap();
        assert_eq!(of_tools.tools, ["post.weigh"]);
        assert!(!of_tools.other_tools);
        driver.stop().await.unwrap();
        assert_eq!(count().await, 1);
        caller.stop().await.unwrap();
        assert_eq!(count().await, 0);
    });
}

/// A worker that is dropped leaves, wherever it is: after each number of polls until it has joined.
#[test]
fn a_worker_that_is_dropped_leaves() {
    each(async |store| {
        let (mut polls, mut listed) = (0, 0);
        while listed < 2 {
            polls += 1;
            let worker = worker(&store).handler(opens());
            let mut forever = Box::pin(worker.run_until(std::future::pending()));
            let mut polled = 0;
            std::future::poll_fn(|context| {
                assert!(forever.as_mut().poll(context).is_pending(), "it has ended");
                polled += 1;
                if polled == polls { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            listed += store.workers().await.unwrap().len();
            drop(forever);
            // Written after everything that the worker has asked for.
            store.create(&mut Ticket::new()).await.unwrap();
            assert!(store.workers().await.unwrap().is_empty(), "dropped after {polls} polls");
        }
    });
}

#[cfg(unix)]
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn lives() {
    let store = Store::sqlite(crate::worker::process::orders::<PathBuf>()).await.unwrap();
    let _running = started(&store, worker(&store).handler(opens())).await;
    crate::worker::process::say(&());
    std::future::pending::<()>().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_worker_whose_process_was_killed_is_gone() {
    let (_folder, file) = new_file();
    let store = Store::sqlite(&file).await.unwrap();
    let process = crate::store::child::start("worker::crew::lives", &file);
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

/// Its process is there, and it would drive the machine.
#[cfg(unix)]
#[tokio::test]
async fn a_machine_that_a_frozen_worker_does_not_take_needs_attention() {
    let (_folder, file) = new_file();
    let hand = Hand::at(machine::clock::now());
    let store = OpenOptions::new().clock(hand.clone()).sqlite(&file).await.unwrap();
    let mut process = crate::store::child::start("worker::crew::lives", &file);
    machine_tests::process::between_commits(&file, || process.stop());
    let id = ticket(&store).await;
    assert_eq!(missing(&store).await, BTreeSet::new());
    hand.pass(2 * A_WHILE);
    let frozen = store.workers().await.unwrap()[0].process.clone();
    let what = format!(
        "the worker that drives `ticket`, in {frozen}, has not looked for work for a minute or longer: if it is \
         frozen or blocked, end it and start its program again"
    );
    assert_eq!(missing(&store).await, BTreeSet::from([(id, what)]));
    process.thaw();
    until("it is driven", async || missing(&store).await.is_empty()).await;
    process.kill();
}

#[cfg(unix)]
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn calls() {
    let store = Store::sqlite(crate::worker::process::orders::<PathBuf>()).await.unwrap();
    let service = Service::held();
    let _running = started(&store, worker(&store).tool::<Weigh>(service.clone())).await;
    service.called().await;
    crate::worker::process::say(&());
    std::future::pending::<()>().await;
}

/// It is `IN_PROGRESS`, and its lease has not ended.
#[cfg(unix)]
#[tokio::test]
async fn a_call_of_a_killed_process_needs_a_worker_at_once() {
    let (_folder, file) = new_file();
    let store = Store::sqlite(&file).await.unwrap();
    let id = create(&store, Execution::new(weigh("salt"))).await;
    let process = crate::store::child::start("worker::crew::calls", &file);
    let needed = async || {
        let observer = Observer::new(&store);
        observer.detail::<machine::view::Human>(id).await.unwrap().missing.clone()
    };
    assert_eq!(needed().await, None);
    process.kill();
    let tool = "no live worker has the tool `post.weigh`: start the program that has it, \
                or add `.tool(..)` to its worker";
    assert_eq!(needed().await.as_deref(), Some(tool));
}

/// The handler or the tool was forgotten.
#[test]
fn undriven_machines_need_attention_after_a_minute() {
    timed(async |store, hand| {
        // Machines are stamped by the clock of the system.
        hand.pass(std::time::UNIX_EPOCH.elapsed().unwrap());
        let id = ticket(&store).await;
        let waits = create(&store, Ticket::new().open(graph_runner())).await;
        store.send(waits, &says(PAY, "p")).await.unwrap();
        let salt = create(&store, Execution::new(weigh("salt"))).await;
        hand.pass(A_WHILE);
        // Its programs may have no workers, but only workers make calls without a permit.
        let no_worker =
            "no worker has ever opened this file: start the program that has the tool `post.weigh`";
        assert_eq!(missing(&store).await, BTreeSet::from([(salt, no_worker.to_owned())]));

        let running = started(&store, worker(&store)).await;
        let no_handler = "no live worker drives `ticket`: start the program that does".to_owned();
        let no_tool = "no live worker has the tool `post.weigh`: start the program that has it, \
                       or add `.tool(..)` to its worker";
        let all = [(id, no_handler.clone()), (waits, no_handler), (salt, no_tool.to_owned())];
        assert_eq!(missing(&store).await, BTreeSet::from(all));
        running.stop().await.unwrap();
        settle(worker(&store).handler(opens()).tool::<Weigh>(Service::default())).await;
        assert_eq!(missing(&store).await, BTreeSet::new());

        // Its worker has ended.
        let id = ticket(&store).await;
        assert_eq!(missing(&store).await, BTreeSet::new());
        hand.pass(A_WHILE);
        let found = missing(&store).await;
        assert_eq!(found.into_iter().map(|(id, _)| id).collect::<Vec<_>>(), [id]);
        let running = worker(&store).handler(opens()).start();
        until("nothing is missing", async || missing(&store).await.is_empty()).await;
        running.stop().await.unwrap();
    });
}

/// A worker with other tools polls it repeatedly.
#[test]
fn a_tool_that_a_live_worker_lacks_is_missing_for_as_long_as_it_looks() {
    timed(async |store, hand| {
        let looks = async || settle(worker(&store).tool::<Weigh>(Service::default())).await;
        looks().await;
        let spec = ToolSpec::idempotent("post", "stamp").unwrap();
        let contract = Contract::tool_call(&spec, "{}", reasoning_node()).unwrap();
        let id = create(&store, Execution::new(contract)).await;
        for _ in 0..5 {
            hand.pass(Duration::from_secs(31));
            looks().await;
        }
        let what = "no live worker has the tool `post.stamp`: start the program that has it, \
                    or add `.tool(..)` to its worker";
        assert_eq!(missing(&store).await, BTreeSet::from([(id, what.to_owned())]));
    });
}

/// Each worker leaves it to another one.
#[test]
fn a_message_that_no_live_worker_takes_needs_attention_after_a_minute() {
    timed(async |store, hand| {
        // Machines are stamped by the clock of the system.
        hand.pass(std::time::UNIX_EPOCH.elapsed().unwrap());
        let id = create(&store, Ticket::new().open(graph_runner())).await;
        let wish = Message::from_json(r#"{"trigger": "wish", "text": "rain"}"#, &Customer).unwrap();
        store.send(id, &wish).await.unwrap();
        let leaves_it = || worker(&store).handler(opens());
        settle(leaves_it()).await;
        let running = started(&store, leaves_it()).await;
        assert_eq!(missing(&store).await, BTreeSet::new());
        running.stop().await.unwrap();

        hand.pass(A_WHILE);
        let running = started(&store, leaves_it()).await;
        let what = "no live worker takes the message to this `ticket`, or reads its state: start the \
                    program that does";
        let all = BTreeSet::from([(id, what.to_owned())]);
        // While the worker looks at it again, it is with that worker.
        until("it is missing", async || missing(&store).await == all).await;
        running.stop().await.unwrap();

        settle(worker(&store).handler(opens()).sender::<Customer>()).await;
        is(&store, id, "wished").await;
        assert_eq!(missing(&store).await, BTreeSet::new());
    });
}

/// A machine that waits for a person is for a person, whether or not a worker is alive.
#[test]
fn machines_waiting_for_a_person_need_no_worker() {
    timed(async |store, hand| {
        settle(worker(&store).handler(opens()).tool::<Weigh>(Service::default())).await;
        let open = create(&store, Ticket::new().open(graph_runner())).await;
        let (mut gate, mut planned) = weigh("salt").ask::<Weigh>(None, ecs_node()).unwrap();
        store.ask(&mut gate, &mut planned).await.unwrap();
        hand.pass(A_WHILE);
        let waits = ConcernReason::WaitsForPerson;
        assert_eq!(reasons(&store).await, BTreeSet::from([(open, waits), (gate.id(), waits)]));
        machine_tests::approve(&store, gate, ann()).await.unwrap();
        hand.pass(A_WHILE);
        assert_eq!(missing(&store).await.len(), 1);
    });
}

/// Only a person can move the machine, though its state is not declared stable and no worker has
/// claimed it.
#[test]
fn machines_that_only_people_move_need_no_worker() {
    timed(async |store, hand| {
        hand.pass(std::time::UNIX_EPOCH.elapsed().unwrap());
        settle(worker(&store).handler(rests::<AnyStone>())).await;
        let stone = create(&store, Stone::new()).await;
        hand.pass(A_WHILE);
        assert_eq!(reasons(&store).await, BTreeSet::from([(stone, ConcernReason::WaitsForPerson)]));
        // An answer that no worker applies is for a worker.
        store.send(stone, &says(r#"{"trigger": "roll"}"#, "a")).await.unwrap();
        hand.pass(A_WHILE);
        assert_eq!(missing(&store).await.len(), 1);
    });
}
