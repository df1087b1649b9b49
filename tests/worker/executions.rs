//! Executions that a worker runs: tools, gates, keys, and calls with an unknown end.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    contract::{
        Action, Answer, AnyExecution, Applied, Attempt, Call, Contract, Idempotent, Irreversible,
        NotDone, Perform, Planned, Policy, Tool, ToolSpec, execution::Status,
    },
    store::Store,
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{Hand, actors, ann, create, each, settle, timed, worker};

/// An irreversible tool.
#[derive(Debug, Serialize, Deserialize)]
struct Mail {
    to: String,
}

impl Tool for Mail {
    const SERVICE: &'static str = "post";
    const METHOD: &'static str = "send";
    const TIMEOUT: Option<Duration> = Some(Duration::from_secs(1));
    type Effect = Irreversible;
    type Receipt = String;
}

/// An idempotent one.
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

/// Gives a fixed answer, and counts the calls.
#[derive(Clone)]
struct Post {
    calls: Arc<AtomicUsize>,
    answer: fn(usize) -> Answer,
    found: Arc<Mutex<Answer>>,
}

impl Post {
    fn new(answer: fn(usize) -> Answer) -> Self {
        let found = Arc::new(Mutex::new(Err(NotDone::unknown("ask later"))));
        Self { calls: Arc::default(), answer, found }
    }

    fn sends() -> Self {
        Self::new(|_| Ok(Applied::new("sent")))
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Perform<Mail> for Post {
    async fn perform(&self, _: &Call<Mail>) -> Answer {
        (self.answer)(self.calls.fetch_add(1, Ordering::SeqCst))
    }

    async fn find(&self, _: &Attempt<Mail>) -> Answer {
        self.found.lock().unwrap().clone()
    }
}

impl Perform<Weigh> for Post {
    async fn perform(&self, _: &Call<Weigh>) -> Answer {
        (self.answer)(self.calls.fetch_add(1, Ordering::SeqCst))
    }
}

impl Perform<Action> for Post {
    async fn perform(&self, _: &Call<Action>) -> Answer {
        (self.answer)(self.calls.fetch_add(1, Ordering::SeqCst))
    }
}

fn mail(to: &str) -> Contract {
    Contract::of(&Mail { to: to.to_owned() }, &actors().reasoning_node).unwrap()
}

async fn planned<T: Tool>(store: &Store, contract: Contract) -> Id {
    create(store, Planned::<T>::new(contract).unwrap().into_execution()).await
}

async fn runs(store: &Store, post: &Post) {
    let worker = worker(store).tool::<Mail>(post.clone()).tool::<Weigh>(post.clone());
    settle(worker).await;
}

async fn load(store: &Store, id: Id) -> AnyExecution {
    store.load(id).await.unwrap()
}

/// It has ended like this, with this text.
async fn ended(store: &Store, id: Id, status: Status, text: &str) {
    let execution = load(store, id).await;
    let said = match &execution {
        AnyExecution::Completed(it) => it.state().result.clone(),
        AnyExecution::Failed(it) => it.state().error.clone(),
        AnyExecution::Rejected(it) => it.state().reason.clone(),
        AnyExecution::Cancelled(it) => it.state().reason.clone(),
        AnyExecution::Waiting(it) => it.state().prompt.clone(),
        AnyExecution::Pending(_) | AnyExecution::Running(_) => String::new(),
    };
    assert_eq!((execution.status(), &*said), (status, text));
    assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
}

#[tokio::test]
async fn irreversible_tool_is_called_once() {
    each(async |store: Store| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::sends();
        runs(&store, &post).await;
        runs(&store, &post).await;
        ended(&store, id, Status::Completed, "sent").await;
        assert_eq!(post.calls(), 1);
    })
    .await;
}

#[tokio::test]
async fn irreversible_tool_fails() {
    each(async |store: Store| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::new(|_| Err(NotDone::not_applied("the post is closed")));
        runs(&store, &post).await;
        ended(&store, id, Status::Failed, "the post is closed").await;
        assert_eq!(post.calls(), 1);
    })
    .await;
}

/// The retries of an idempotent tool follow a backoff of their own.
#[tokio::test]
async fn idempotent_tool_is_called_again() {
    each(async |store: Store| {
        let contract = Contract::of(&Weigh { what: "x".to_owned() }, &actors().reasoning_node);
        let id = planned::<Weigh>(&store, contract.unwrap()).await;
        let post = Post::new(|call| match call {
            0 => Err(NotDone::unknown("no answer")),
            _ => Ok(Applied::new("3 g")),
        });
        runs(&store, &post).await;
        ended(&store, id, Status::Completed, "3 g").await;
        assert_eq!(post.calls(), 2);
    })
    .await;
}

/// In doubt: parked, not called again; the service settles it later.
#[tokio::test]
async fn unknown_answer_is_settled_by_the_service() {
    timed(async |store: Store, hand: Hand| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::new(|_| Err(NotDone::unknown("no answer")));
        runs(&store, &post).await;
        assert_eq!(load(&store, id).await.status(), Status::Waiting);
        hand.advance(Duration::from_hours(1));
        runs(&store, &post).await;
        // Still unknown.
        assert_eq!(load(&store, id).await.status(), Status::Waiting);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        *post.found.lock().unwrap() = Ok(Applied::new("sent after all"));
        runs(&store, &post).await;
        assert_eq!(load(&store, id).await.status(), Status::Waiting, "it was asked just now");
        hand.advance(Duration::from_mins(1));
        runs(&store, &post).await;
        ended(&store, id, Status::Completed, "sent after all").await;
        assert_eq!(post.calls(), 1);
    })
    .await;
}

#[tokio::test]
async fn unknown_answer_that_did_not_take_place() {
    timed(async |store: Store, hand: Hand| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::new(|_| Err(NotDone::unknown("no answer")));
        *post.found.lock().unwrap() = Err(NotDone::not_applied("no such mail"));
        runs(&store, &post).await;
        // Not before the settling time.
        assert_eq!(load(&store, id).await.status(), Status::Waiting);
        hand.advance(Mail::SETTLING_TIME);
        runs(&store, &post).await;
        ended(&store, id, Status::Failed, "no such mail").await;
        assert_eq!(post.calls(), 1);
    })
    .await;
}

/// "Applied" counts at any time, so the service is asked before the settling time, too.
#[tokio::test]
async fn a_service_that_knows_is_asked_at_once() {
    timed(async |store: Store, _: Hand| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::new(|_| Err(NotDone::unknown("no answer")));
        *post.found.lock().unwrap() = Ok(Applied::new("250 queued"));
        runs(&store, &post).await;
        ended(&store, id, Status::Completed, "250 queued").await;
        assert_eq!(post.calls(), 1);
    })
    .await;
}

#[tokio::test]
async fn tool_panics() {
    each(async |store: Store| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::new(|_| panic!("out of stamps"));
        runs(&store, &post).await;
        assert_eq!(load(&store, id).await.status(), Status::Waiting);
        assert_eq!(store.in_doubt(id).await.unwrap().execution().id(), id);
        assert_eq!(post.calls(), 1);
    })
    .await;
}

/// A person decides in the end.
#[tokio::test]
async fn person_settles_what_is_in_doubt() {
    timed(async |store: Store, hand: Hand| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::new(|_| Err(NotDone::unknown("no answer")));
        runs(&store, &post).await;
        hand.advance(Duration::from_hours(1));
        let doubt = store.in_doubt(id).await.unwrap();
        let _ = store.confirm_applied(doubt, "I saw it", &ann()).await.unwrap();
        runs(&store, &post).await;
        assert_eq!(load(&store, id).await.status(), Status::Completed);
        assert_eq!(post.calls(), 1);
    })
    .await;
}

/// The call continues after its timeout; the late answer settles it.
#[tokio::test]
async fn tool_answers_late() {
    struct Slow(Arc<AtomicUsize>);
    impl Perform<Mail> for Slow {
        async fn perform(&self, _: &Call<Mail>) -> Answer {
            self.0.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(1300)).await;
            Ok(Applied::new("sent at last"))
        }
    }
    each(async |store: Store| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let calls = Arc::new(AtomicUsize::new(0));
        // The stop waits for the call.
        settle(worker(&store).tool::<Mail>(Slow(Arc::clone(&calls)))).await;
        settle(worker(&store).tool::<Mail>(Slow(Arc::clone(&calls)))).await;
        ended(&store, id, Status::Completed, "sent at last").await;
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test]
async fn gate_is_approved_while_the_worker_runs() {
    each(async |store: Store| {
        let (mut gate, mut action) = mail("bob").ask::<Mail>(None, &actors().ecs_node).unwrap();
        store.ask(&mut gate, &mut action).await.unwrap();
        let id = action.id();
        let post = Post::sends();
        let running = worker(&store).tool::<Mail>(post.clone()).start();
        tokio::task::yield_now().await;
        let _ = machine_tests::approve(&store, gate, &ann()).await.unwrap();
        let done = async {
            while load(&store, id).await.status() != Status::Completed {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), done).await.unwrap();
        running.stop().await.unwrap();
        assert_eq!(post.calls(), 1);
    })
    .await;
}

#[derive(Clone, Copy)]
enum Ends {
    Declined,
    Withdrawn,
    Unanswered,
}

/// After a gate that did not open, the action ends with the reason, and is never called.
#[tokio::test]
async fn gate_that_does_not_open() {
    for (ends, text) in [
        (Ends::Declined, "not approved: too dear"),
        (Ends::Withdrawn, "not approved: not needed"),
        (Ends::Unanswered, "not approved: nobody answered in time"),
    ] {
        timed(async |store: Store, hand: Hand| {
            let limit = Some(Duration::from_secs(10));
            let ask = mail("bob").ask::<Mail>(limit, &actors().ecs_node).unwrap();
            let (mut gate, mut action) = ask;
            store.ask(&mut gate, &mut action).await.unwrap();
            let (id, post) = (action.id(), Post::sends());
            runs(&store, &post).await;
            assert_eq!(load(&store, id).await.status(), Status::Pending);
            match ends {
                Ends::Declined => drop(store.decline(gate, "too dear", &ann()).await.unwrap()),
                Ends::Withdrawn => {
                    let by = actors().graph_runner;
                    drop(store.withdraw(gate, "not needed", &by).await.unwrap());
                }
                // The worker fires the deadline.
                Ends::Unanswered => hand.advance(Duration::from_secs(10)),
            }
            runs(&store, &post).await;
            ended(&store, id, Status::Cancelled, text).await;
            assert_eq!(post.calls(), 0);
        })
        .await;
    }
}

#[tokio::test]
async fn approval_expires_before_its_use() {
    timed(async |store: Store, hand: Hand| {
        let limit = Some(Duration::from_secs(10));
        let (mut gate, mut action) = mail("bob").ask::<Mail>(limit, &actors().ecs_node).unwrap();
        store.ask(&mut gate, &mut action).await.unwrap();
        let (id, gate_id, post) = (action.id(), gate.id(), Post::sends());
        let _ = machine_tests::approve(&store, gate, &ann()).await.unwrap();
        hand.advance(Duration::from_secs(10));
        runs(&store, &post).await;
        let text = format!("the approval by {gate_id} has expired");
        ended(&store, id, Status::Cancelled, &text).await;
        assert_eq!(post.calls(), 0);
    })
    .await;
}

/// An action that is planned twice: one is called, the other says who did it.
#[tokio::test]
async fn loser_of_a_key() {
    timed(async |store: Store, hand: Hand| {
        let first = planned::<Mail>(&store, mail("bob")).await;
        let second = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::sends();
        runs(&store, &post).await;
        // The loser waited while the call was in flight.
        hand.advance(Duration::from_secs(2));
        runs(&store, &post).await;
        let (won, lost) = match load(&store, first).await.status() {
            Status::Completed => (first, second),
            _ => (second, first),
        };
        ended(&store, won, Status::Completed, "sent").await;
        let text = format!("{won} has already done it");
        ended(&store, lost, Status::Cancelled, &text).await;
        assert_eq!(post.calls(), 1);
    })
    .await;
}

/// While the first is in doubt, the second waits; it continues when the key is free.
#[tokio::test]
async fn key_is_held() {
    timed(async |store: Store, hand: Hand| {
        let first = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::new(|call| match call {
            0 => Err(NotDone::unknown("no answer")),
            _ => Ok(Applied::new("sent")),
        });
        runs(&store, &post).await;
        let second = planned::<Mail>(&store, mail("bob")).await;
        hand.advance(Duration::from_secs(5));
        runs(&store, &post).await;
        assert_eq!(load(&store, second).await.status(), Status::Pending);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        *post.found.lock().unwrap() = Err(NotDone::not_applied("no such mail"));
        hand.advance(Duration::from_hours(1));
        runs(&store, &post).await;
        assert_eq!(load(&store, first).await.status(), Status::Failed);
        hand.advance(Duration::from_secs(2));
        runs(&store, &post).await;
        ended(&store, second, Status::Completed, "sent").await;
        assert_eq!(post.calls(), 2);
    })
    .await;
}

/// It is left alone, without an attempt, for a worker that has the tool.
#[tokio::test]
async fn tool_that_nobody_registered() {
    each(async |store: Store| {
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::sends();
        for _ in 0..10 {
            settle(worker(&store).tool::<Weigh>(post.clone())).await;
        }
        assert_eq!(load(&store, id).await.status(), Status::Pending);
        assert_eq!(store.set_aside().await.unwrap().machines, []);
        runs(&store, &post).await;
        ended(&store, id, Status::Completed, "sent").await;
    })
    .await;
}

/// Tools registered at run time, in addition to those that the program knows.
#[tokio::test]
async fn other_tools() {
    each(async |store: Store| {
        let spec = ToolSpec::irreversible("mcp", "print").unwrap();
        let by = &actors().reasoning_node;
        let print = Contract::tool_call(&spec, r#"{"page": 1}"#, by).unwrap();
        let spec = ToolSpec::idempotent("mcp", "look").unwrap();
        let look = Contract::tool_call(&spec, r#"{"page": 1}"#, by).unwrap();
        let print = create(&store, Planned::<Action>::new(print).unwrap().into_execution()).await;
        let look = create(&store, Planned::<Action>::new(look).unwrap().into_execution()).await;
        let known = planned::<Mail>(&store, mail("bob")).await;
        let (post, others) = (Post::sends(), Post::new(|_| Ok(Applied::new("done"))));
        settle(worker(&store).tool::<Mail>(post.clone()).other_tools(others.clone())).await;
        ended(&store, print, Status::Completed, "done").await;
        ended(&store, look, Status::Completed, "done").await;
        ended(&store, known, Status::Completed, "sent").await;
        assert_eq!((post.calls(), others.calls()), (1, 2));
    })
    .await;
}

/// A question is no call: a worker with tools leaves it to those who answer.
#[tokio::test]
async fn question_is_left_alone() {
    each(async |store: Store| {
        let question = Contract::ecs_request("Which port?", &actors().reasoning_node).unwrap();
        let id = create(&store, machine::contract::Execution::new(question)).await;
        let post = Post::sends();
        runs(&store, &post).await;
        assert_eq!(load(&store, id).await.status(), Status::Pending);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        assert_eq!(post.calls(), 0);
    })
    .await;
}

/// Two workers with one tool call it once.
#[tokio::test]
async fn two_workers() {
    each(async |store: Store| {
        let post = Post::sends();
        let mut ids = Vec::new();
        for number in 0..20 {
            ids.push(planned::<Mail>(&store, mail(&format!("bob {number}"))).await);
        }
        let both = [0, 1].map(|_| worker(&store).tool::<Mail>(post.clone()));
        let [first, second] = both;
        tokio::join!(settle(first), settle(second));
        for id in ids {
            ended(&store, id, Status::Completed, "sent").await;
        }
        assert_eq!(post.calls(), 20);
    })
    .await;
}

/// A worker ends what a policy repeats after the end of the approval, and calls nothing.
#[tokio::test]
async fn repetition_of_a_policy_ends_with_the_approval() {
    timed(async |store: Store, hand: Hand| {
        let limit = Duration::from_millis(300);
        let asked = mail("bob").ask::<Mail>(Some(limit), &actors().ecs_node).unwrap();
        let (mut gate, mut first) = asked;
        store.ask(&mut gate, &mut first).await.unwrap();
        let gate = gate.id();
        let _ =
            machine_tests::approve(&store, store.gate(gate).await.unwrap(), &ann()).await.unwrap();
        let post = Post::new(|_| Err(NotDone::not_applied("connection refused")));
        runs(&store, &post).await;
        let policy = Policy::new("the server refused it", &actors().graph_runner).unwrap();
        let mut id = first.id();
        let mut calls = 0;
        for _ in 0..5 {
            calls += 1;
            assert_eq!(post.calls(), calls);
            let AnyExecution::Failed(failed) = load(&store, id).await else { panic!() };
            id = planned::<Mail>(&store, Contract::retry(&failed, &policy)).await;
            hand.advance(Duration::from_millis(74));
            runs(&store, &post).await;
        }
        // The fifth was planned after 296 ms and begun after 370 ms.
        assert_eq!(post.calls(), 5);
        let text = format!("the approval by {gate} has expired");
        ended(&store, id, Status::Cancelled, &text).await;
    })
    .await;
}

/// A worker ends what was planned again after a person declined it, and calls nothing.
#[tokio::test]
async fn declined_action_that_is_planned_again() {
    each(async |store: Store| {
        let (mut gate, mut first) = mail("bob").ask::<Mail>(None, &actors().ecs_node).unwrap();
        store.ask(&mut gate, &mut first).await.unwrap();
        let gate = gate.id();
        let _ = store.decline(store.gate(gate).await.unwrap(), "never", &ann()).await.unwrap();
        let id = planned::<Mail>(&store, mail("bob")).await;
        let post = Post::sends();
        runs(&store, &post).await;
        ended(&store, id, Status::Cancelled, &format!("ann has declined it at {gate}")).await;
        ended(&store, first.id(), Status::Cancelled, "not approved: never").await;
        assert_eq!(post.calls(), 0);
    })
    .await;
}
