//! The heads of agents as machines of a store (TN-1, TN-2, TN-9).

use std::collections::BTreeSet;

use machine::{
    agent::{
        ActiveTurn, Agent, AgentCall, AgentId, Agents, AnyAgentHead, BoxId, Deliverable, Driver,
        HeadContext, TurnEnd, Work, agent_head,
    },
    effects::EffectError,
    store::CommitError,
    worker::{FailedAttempt, Failure, Handled, Handler, Task},
};
use rusqlite::Connection;
use serde_json::json;
use tokio::sync::Notify;

use super::{
    queue::{Clerk, clerks, lose, queued, staff, story},
    sets::{Caller, Tools, calls},
    support::{agent, id, new_turn},
};
use crate::{
    store::support::Place,
    worker::prelude::{
        Arc, Count, Deserialize, Duration, GraphRunner, Hand, Mutex, Next, Serialize, Store,
        assert_err, machine, notified, settle, timed, worker,
    },
};

/// Machines of the user.
mod users {
    use super::{Deserialize, GraphRunner, HeadContext, Serialize, machine};

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Turn {
        #[initial]
        #[on(end => Ended, by = GraphRunner)]
        Idle,
        #[terminal]
        Ended,
    }

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum AgentHead {
        #[initial]
        #[on(end => Over, by = GraphRunner)]
        Idle,
        #[terminal]
        Over,
    }

    #[machine(durable, context = HeadContext)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Robot {
        #[initial]
        #[on(end => Done, by = GraphRunner)]
        Idle,
        #[terminal]
        Done,
    }
}

/// The table of TN-1.
#[test]
fn a_head_has_these_moves_and_no_others() {
    let definition = agent_head::DEFINITION;
    let name = |state: usize| &*definition.states[state].name;
    let edges = definition.edges.iter();
    let found = edges.clone().map(|edge| (name(edge.from), &*edge.trigger, name(edge.to)));
    let expected = BTreeSet::from([
        ("idle", "dispatch", "dispatched"),
        ("dispatched", "claim", "running"),
        ("dispatched", "stop", "running"),
        ("dispatched", "limit", "running"),
        ("running", "reclaim", "running"),
        ("running", "stop", "running"),
        ("running", "answer", "running"),
        ("running", "call", "suspended"),
        ("running", "deliver", "idle"),
        ("running", "limit", "running"),
        ("suspended", "report", "suspended"),
        ("suspended", "report", "running"),
        ("suspended", "reclaim", "suspended"),
        ("suspended", "stop", "running"),
        ("suspended", "limit", "running"),
    ]);
    assert_eq!(found.collect::<BTreeSet<_>>(), expected);
    assert!(edges.clone().all(|edge| *edge.actors == ["agent_runtime"]));
    let states = definition.states.iter().filter(|state| state.stable);
    assert_eq!(states.map(|state| &*state.name).collect::<Vec<_>>(), ["idle", "suspended"]);
    assert_eq!(name(definition.initial), "idle");
}

#[tokio::test]
async fn the_name_and_the_context_of_a_head_are_reserved() {
    let place = Place::new().await;
    place.store.create(&mut users::Turn::new()).await.unwrap();
    let namesake = place.store.create(&mut users::AgentHead::new()).await;
    assert_err!(namesake, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string().contains("`agent_head` is reserved"));
    let context = HeadContext { agent: agent("planner") };
    let borrower = place.store.create(&mut users::Robot::new(context)).await;
    assert_err!(borrower, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string().contains("only for the library's `agent_head`"));
}

/// Enqueues a turn for the same box between the reads of a delivery and its write, three times.
struct Interrupted {
    driver: Driver<Clerk>,
    agents: Agents,
    deliveries: Count,
}

impl Handler for Interrupted {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        let delivers = matches!(head, AnyAgentHead::Running(_));
        let next = self.driver.handle(head, task).await?;
        if delivers {
            let number = u64::try_from(self.deliveries.add())?;
            if number < 3 {
                self.agents.enqueue(new_turn("planner", 2 + number, 1)).await?;
            }
        }
        Ok(next)
    }
}

/// What a model has answered is paid for.
#[test]
fn a_delivery_that_meets_a_new_turn_is_repeated_without_the_agent() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        let (driver, deliveries) = (Driver(Clerk::default()), Count::default());
        let handler = Interrupted { driver, agents: agents.clone(), deliveries };
        settle(worker(&store).handler(handler)).await;

        let (moves, _) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "deliver"].repeat(4));
        let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
        let bodies: Vec<_> = cards.into_iter().map(|(_, body)| body).collect();
        assert_eq!(bodies, [0, 1, 2, 3].map(|call| json!({ "call": call })));
    });
}

/// Counts what it decides to write.
struct Counted {
    driver: Driver<Clerk>,
    writes: Count,
}

impl Handler for Counted {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        let next = self.driver.handle(head, task).await?;
        if let Next::Commit(_) = next {
            self.writes.add();
        }
        Ok(next)
    }
}

/// The first one is dispatched when it is enqueued.
#[test]
fn a_turn_is_claimed_in_the_batch_that_delivers_the_one_before() {
    timed(async |store: Store, _: Hand| {
        queued(&store, 3).await;
        let writes = Count::default();
        let handler = Counted { driver: Driver(Clerk::default()), writes: writes.clone() };
        settle(worker(&store).handler(handler)).await;
        assert_eq!(story(&store, "planner").await.0, ["dispatch", "claim", "deliver"].repeat(3));
        assert_eq!(writes.get(), 4, "a claim, and three deliveries");
    });
}

/// Otherwise the time of that turn would pass while no worker is there.
#[test]
fn a_worker_that_stops_leaves_the_next_turn_in_the_queue() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 2).await;
        let (clerk, hold) = Clerk::held();
        let running = worker(&store).handler(Driver(clerk)).start();
        notified(&hold.0).await;
        let (stopped, ()) = tokio::join!(running.stop(), async { hold.1.notify_one() });
        stopped.unwrap();
        assert_eq!(story(&store, "planner").await.0, ["dispatch", "claim", "deliver"]);
        assert_eq!(agents.queued(&agent("planner"), 9).await.unwrap().len(), 1);
    });
}

/// Breaks the record of its output box.
struct Vandal {
    calls: Count,
    raw: Arc<Mutex<Connection>>,
}

impl Agent for Vandal {
    async fn run(&self, _: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        self.calls.add();
        edit_box(&self.raw, "body || ' '");
        Ok(Deliverable::Done(json!("it was me")).into())
    }
}

fn edit_box(raw: &Mutex<Connection>, body: &str) {
    let edit = format!("UPDATE record SET body = {body} WHERE kind = 'box'");
    assert_eq!(raw.lock().unwrap().execute(&edit, []).unwrap(), 1);
}

/// The record is repaired after the first attempt to deliver.
#[tokio::test]
async fn a_result_is_delivered_when_its_rows_can_be_read_again() {
    let place = Place::new().await;
    staff(&place.store).await.enqueue(new_turn("planner", 1, 1)).await.unwrap();
    let (calls, failures) = (Count::default(), Count::default());
    let raw = Arc::new(Mutex::new(place.unprotected()));
    let vandal = Vandal { calls: calls.clone(), raw: Arc::clone(&raw) };
    let failed = failures.clone();
    let repair = move |_: &FailedAttempt<'_>| {
        failed.add();
        edit_box(&raw, "rtrim(body)");
    };
    settle(worker(&place.store).handler(Driver(vandal)).on_error(repair)).await;

    assert_eq!((calls.get(), failures.get()), (1, 1));
    let (moves, _) = story(&place.store, "planner").await;
    assert_eq!(moves, ["dispatch", "claim", "deliver"]);
}

/// Says that it was called for such a head, and never ends.
pub(super) struct Lost<A, F>(pub(super) Driver<A>, pub(super) F, pub(super) Arc<Notify>);

impl<A: Agent, F> Handler for Lost<A, F>
where
    F: Fn(&AnyAgentHead) -> bool + Send + Sync + 'static,
{
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        if (self.1)(&head) {
            self.2.notify_one();
            std::future::pending::<()>().await;
        }
        self.0.handle(head, task).await
    }
}

pub(super) fn runs(head: &AnyAgentHead) -> bool {
    matches!(head, AnyAgentHead::Running(_))
}

/// A worker that takes over, and stops before it has done anything, does not hide that the one
/// before may still be at work.
#[test]
fn a_takeover_that_is_given_back_still_raises_the_epoch() {
    timed(async |store: Store, hand: Hand| {
        let agents = queued(&store, 1).await;
        let (frozen, hold) = Clerk::held();
        let lease = Duration::from_mins(30);
        let first = worker(&store).lease(lease).handler(Driver(frozen)).start();
        notified(&hold.0).await;
        hand.pass(lease * 2);
        let called = Arc::new(Notify::new());
        let lost = Lost(Driver(Clerk::default()), runs, Arc::clone(&called));
        let second = worker(&store).grace(Duration::ZERO).handler(lost).start();
        notified(&called).await;
        second.stop().await.unwrap();
        settle(clerks(&store)).await;
        hold.1.notify_one();
        first.stop().await.unwrap();

        let (moves, events) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "reclaim", "deliver"]);
        assert_eq!(events[0].epoch, 2);
        assert_eq!(agents.cards(BoxId(id(1)), 100).await.unwrap().len(), 1);
    });
}

/// Each worker that takes over is lost in its turn, and there are more of them than attempts. The
/// turn only waits, so none of them has tried anything.
#[test]
fn takeovers_of_a_turn_that_waits_are_no_failed_attempts() {
    timed(async |store: Store, hand: Hand| {
        staff(&store).await.enqueue(new_turn("planner", 1, 1)).await.unwrap();
        let made = || vec![AgentCall { within: None, ..calls(["first"]).remove(0) }];
        for epoch in 1..=3 {
            let told = Arc::new(Notify::new());
            let waits = move |head: &AnyAgentHead| {
                matches!(head, AnyAgentHead::Suspended(_)) && *head.epoch() == epoch
            };
            let lost = Lost(Driver(Caller(made())), waits, Arc::clone(&told));
            lose(worker(&store).attempts(2).handler(lost), &told, &hand).await;
        }
        settle(Tools::open().worker(&store, made()).attempts(2)).await;

        let (moves, events) = story(&store, "planner").await;
        let reclaims = ["reclaim"; 3];
        let expected = ["dispatch", "claim", "call"].into_iter().chain(reclaims);
        assert_eq!(moves, expected.chain(["report", "deliver"]).collect::<Vec<_>>());
        assert_eq!((events[0].epoch, events[0].end), (4, TurnEnd::Done));
    });
}
