//! The ways to leave a state, at each moment of its call.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{Answer, AnyExecution, Applied, Call, CallError, NoReceipt, Perform, Tool},
    effects::EffectError,
    machine,
    store::{CommitError, Message, Store},
    testing::TestEnvironment,
};
use serde::{Deserialize, Serialize};

use super::orders::{gate_of, is_intact};
use job::{Event, Status};

const DEADLINE: Duration = Duration::from_secs(10);

#[machine(
    durable,
    fields(plain: Option<Duration>, loose: Option<Duration>, in = Paying | Reading),
    on(leave => Left, from = Paying | Reading, by = Human),
    on(detach => Left, from = Paying | Reading, by = Human, detach),
    on(late => Left, from = Paying | Reading, by = GraphRunner, after = plain),
    on(late_detached => Left, from = Paying | Reading, by = GraphRunner, after = loose, detach)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Job {
    #[initial]
    #[on(pay(pay, plain, loose) => Paying, by = Human)]
    #[on(read(read, plain, loose) => Reading, by = Human)]
    Idle,
    #[invoke(pay, approve = Pay::asks, done = finished, failed = failed)]
    #[on(finished(receipt) => Done)]
    #[on(failed(why) => Failed)]
    Paying { pay: Pay },
    #[invoke(read, approve = Read::asks, done = found, failed = lost)]
    #[on(found(receipt) => Done)]
    #[on(lost(why) => Failed)]
    Reading { read: Read },
    #[terminal]
    Done { receipt: String },
    #[terminal]
    Failed { why: CallError },
    #[terminal]
    Left,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible)]
struct Pay {
    asks: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent)]
struct Read {
    asks: bool,
}

impl Pay {
    fn asks(&self) -> bool {
        self.asks
    }
}

impl Read {
    fn asks(&self) -> bool {
        self.asks
    }
}

/// The moment at which the machine is to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Asked,
    /// A person has approved the call, and no worker has come since.
    Approved,
    Pending,
    Running,
    InDoubt,
    /// The call has ended, and the machine has not taken its outcome.
    Untaken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Message,
    Deadline,
    Commit,
}

/// Where the machine is at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It has left; the call never ran.
    Withdrawn,
    /// It has left, and the call ran on.
    Left,
    /// It waited for the outcome, and took it.
    Took,
    /// It waits.
    Waits,
}

/// A service that takes longer than the deadline. The machine may be told to leave meanwhile.
#[derive(Clone)]
struct Service(Arc<World>);

struct World {
    moment: Moment,
    way: Way,
    detach: bool,
    has_machine: AtomicBool,
    has_tool: AtomicBool,
    calls: AtomicUsize,
    job: OnceLock<(Store, Id)>,
}

impl World {
    /// Tells the machine to leave, by a message or a commit; a deadline comes by itself.
    async fn leave(&self) {
        let (store, id) = self.job.get().unwrap();
        let ann = Human::new("ann").unwrap();
        let event = if self.detach { Event::Detach } else { Event::Leave };
        match self.way {
            Way::Message => {
                store.send(*id, &Message::new(&event, &ann).unwrap()).await.unwrap();
            }
            Way::Commit => {
                let job: AnyJob = store.load(*id).await.unwrap();
                let mut left = job.apply(event, &ann).unwrap();
                match store.commit(&mut left).await {
                    Ok(()) | Err(EffectError::Commit(CommitError::UnderWay { .. })) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            Way::Deadline => {}
        }
    }

    async fn call(&self) -> Answer {
        let is_first = self.calls.fetch_add(1, Ordering::SeqCst) == 0;
        if self.moment == Moment::Running && is_first {
            self.leave().await;
            tokio::time::sleep(2 * DEADLINE).await;
        }
        if self.moment == Moment::InDoubt {
            return Err(NoReceipt::unknown("the line went dead"));
        }
        Ok(Applied::new("receipt 7"))
    }
}

impl Perform<Pay> for Service {
    async fn perform(&self, _: &Call<Pay>) -> Answer {
        self.0.call().await
    }
}

impl Perform<Read> for Service {
    async fn perform(&self, _: &Call<Read>) -> Answer {
        self.0.call().await
    }
}

/// The reason of a call that was withdrawn, also of one that was approved.
fn why(way: Way, detach: bool) -> String {
    let (who, trigger) = match (way, detach) {
        (Way::Deadline, false) => ("graph_runner", "late"),
        (Way::Deadline, true) => ("graph_runner", "late_detached"),
        (Way::Message | Way::Commit, false) => ("a person", "leave"),
        (Way::Message | Way::Commit, true) => ("a person", "detach"),
    };
    format!("{who} moved the job to `left` by `{trigger}` before the call began")
}

/// Leaves in this way at this moment; returns the end.
async fn left(pays: bool, moment: Moment, way: Way, detach: bool) -> End {
    let world = Arc::new(World {
        moment,
        way,
        detach,
        has_machine: AtomicBool::new(true),
        has_tool: AtomicBool::new(!matches!(moment, Moment::Pending | Moment::Untaken)),
        calls: AtomicUsize::new(0),
        job: OnceLock::new(),
    });
    let service = Service(Arc::clone(&world));
    let shop = TestEnvironment::new(move |mut worker| {
        if service.0.has_machine.load(Ordering::SeqCst) {
            worker = worker.machine::<AnyJob>();
        }
        if service.0.has_tool.load(Ordering::SeqCst) {
            worker = worker.tool::<Pay>(service.clone()).tool::<Read>(service.clone());
        }
        worker
    });
    let id = shop.create(AnyJob::from(Job::new())).await;
    assert!(world.job.set((shop.store().clone(), id)).is_ok());
    let limit = (way == Way::Deadline).then_some(DEADLINE);
    let (plain, loose) = if detach { (None, limit) } else { (limit, None) };
    let asks = matches!(moment, Moment::Asked | Moment::Approved);
    let event = if pays {
        Event::Pay { pay: Pay { asks }, plain, loose }
    } else {
        Event::Read { read: Read { asks }, plain, loose }
    };
    shop.send(id, &event, &shop.person("ann")).await;
    if moment == Moment::Approved {
        let call = shop.store().children(id).await.unwrap().remove(0);
        let gate = gate_of(shop.store(), call.id).await;
        machine_tests::approve(shop.store(), gate, &Human::new("ann").unwrap()).await.unwrap();
    }
    if moment == Moment::Untaken {
        world.has_machine.store(false, Ordering::SeqCst);
        world.has_tool.store(true, Ordering::SeqCst);
        shop.run_until_idle().await;
        assert_eq!(world.calls.load(Ordering::SeqCst), 1);
    }
    if moment != Moment::Running {
        world.leave().await;
    }
    world.has_machine.store(true, Ordering::SeqCst);
    shop.advance(2 * DEADLINE).await;
    shop.run_until_idle().await;
    world.has_tool.store(true, Ordering::SeqCst);
    shop.run_until_idle().await;

    // Some moments have no worker with the tool.
    let is_of_tool = |failure: &String| failure.contains("no live worker has the tool");
    assert!(shop.failures().iter().all(is_of_tool), "{:?}", shop.failures());
    is_intact(&shop).await;
    let job: AnyJob = shop.load(id).await;
    let call = shop.store().children(id).await.unwrap().remove(0);
    let calls = world.calls.load(Ordering::SeqCst);
    match (job.status(), calls) {
        (Status::Left, 0) => {
            let AnyExecution::Cancelled(call) = shop.load(call.id).await else {
                panic!("{call:?}")
            };
            assert_eq!(call.state().reason, why(way, detach));
            let asked = shop.observer().approvals(&machine::store::Query::new()).await.unwrap();
            assert_eq!(asked.items.len(), 0);
            End::Withdrawn
        }
        (Status::Left, 1) => {
            let status = if moment == Moment::InDoubt { "waiting" } else { "completed" };
            assert_eq!(&*call.status, status, "its receipt is kept");
            End::Left
        }
        (Status::Done, 1) => End::Took,
        (Status::Paying | Status::Reading, 1) => End::Waits,
        other => panic!("{other:?}: {call:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_is_left_at_every_moment_of_its_call() {
    let ways = [Way::Message, Way::Deadline, Way::Commit];
    let mut failures = Vec::new();
    for (pays, moment, plain, detached) in [
        (true, Moment::Asked, [End::Withdrawn; 3], [End::Withdrawn; 3]),
        (true, Moment::Approved, [End::Withdrawn; 3], [End::Withdrawn; 3]),
        (true, Moment::Pending, [End::Withdrawn; 3], [End::Withdrawn; 3]),
        (true, Moment::Running, [End::Took; 3], [End::Left; 3]),
        (true, Moment::InDoubt, [End::Waits; 3], [End::Left; 3]),
        // The outcome came before the deadline was due.
        (true, Moment::Untaken, [End::Took; 3], [End::Took, End::Took, End::Left]),
        (false, Moment::Asked, [End::Withdrawn; 3], [End::Withdrawn; 3]),
        (false, Moment::Approved, [End::Withdrawn; 3], [End::Withdrawn; 3]),
        (false, Moment::Pending, [End::Withdrawn; 3], [End::Withdrawn; 3]),
        (false, Moment::Running, [End::Left; 3], [End::Left; 3]),
        (
            false,
            Moment::Untaken,
            [End::Took, End::Took, End::Left],
            [End::Took, End::Took, End::Left],
        ),
    ] {
        for (detach, ends) in [(false, plain), (true, detached)] {
            for (way, end) in ways.into_iter().zip(ends) {
                let found = left(pays, moment, way, detach).await;
                if found != end {
                    failures.push(format!(
                        "pays {pays}, {moment:?}, {way:?}, detach {detach}: {found:?}, not {end:?}"
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
