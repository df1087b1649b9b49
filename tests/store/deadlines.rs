//! Deadlines of stored machines: absolute by the store's clock, listed when due, fired once.

use std::time::Duration;

use machine::{
    actor::{Actor, Anyone, Category},
    clock::Millis,
    machine,
    store::{CommitError, LoadError, Query, Store},
    stored::Context,
    typed::Reason,
};
use machine_tests::assert_err;
use serde::{Deserialize, Serialize};

use crate::store::support::{Hand, Place, START, on_both};

on_both! {
    a_commit_makes_deadlines_absolute_by_the_stores_clock,
    a_group_deadline_is_not_restarted_inside_the_group,
    a_commit_that_is_tried_again_counts_anew,
    a_conflict_leaves_no_deadline_behind,
    what_is_due_is_listed_and_fires_once,
    two_workers_cannot_fire_the_same_deadline,
    a_guard_that_refuses_leaves_it_due,
    a_group_deadline_runs_on_through_a_state_that_replaces_its_transition,
    a_renamed_trigger_keeps_its_deadline,
}

/// The runtime, which fires deadlines.
struct Timer;

impl Actor for Timer {
    const KIND: &'static str = "timer";
    const CATEGORY: Category = Category::System;
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// The limit for the whole job; `None` means no limit.
    whole_ms: Option<u64>,
    step_ms: u64,
    locked: bool,
}

impl Context for Limits {
    type Summary = ();
}

#[derive(Debug)]
struct Locked;

impl std::fmt::Display for Locked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it is locked")
    }
}

fn unlocked<S>(_: &S, limits: &Limits) -> Result<(), Locked> {
    if limits.locked { Err(Locked) } else { Ok(()) }
}

#[machine(
    durable,
    context = Limits,
    on(expire(why = format!("{status} took too long")) => Stopped, from = Working, by = Timer,
       after = context.whole_ms.map(Duration::from_millis), guard = unlocked -> Locked)
)]
#[derive(Debug, Serialize, Deserialize)]
enum Job {
    #[initial]
    #[on(start => Reading)]
    Idle,
    #[group(Working)]
    #[on(next => Writing)]
    #[on(again => Self)]
    #[on(step_timeout => Idle, by = Timer, after = Duration::from_millis(context.step_ms))]
    Reading,
    #[group(Working)]
    #[on(back => Reading)]
    #[on(rest => Idle)]
    Writing,
    #[terminal]
    Stopped { why: String },
}

/// A store whose clock the test controls.
struct Clocked {
    place: Place,
    store: Store,
    clock: Hand,
}

impl Clocked {
    async fn new(place: Place) -> Self {
        let (place, clock) = place.clocked().await;
        Self { store: place.store.clone(), place, clock }
    }

    fn at(&self, after_start: Millis) {
        self.clock.set(START + after_start);
    }

    async fn due(&self) -> usize {
        self.place.lines(&Query::new().due()).await.len()
    }
}

fn limits(whole_ms: Option<u64>) -> Limits {
    Limits { whole_ms, step_ms: 100, locked: false }
}

fn due_at(job: &AnyJob, trigger: &str) -> Option<Millis> {
    let mut running = job.journal().deadlines().iter();
    running.find(|due| due.trigger == trigger)?.due_at.map(|at| at - START)
}

/// The journal has absolute times by the store's clock, not durations.
async fn a_commit_makes_deadlines_absolute_by_the_stores_clock(place: Place) {
    let place = Clocked::new(place).await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))));
    place.store.create(&mut job).await.unwrap();
    assert!(job.journal().deadlines().is_empty());

    job.apply_mut(job::Event::Start, &Anyone).unwrap();
    assert_eq!(due_at(&job, "expire"), None, "it counts from the commit");
    place.at(50);
    place.store.commit(&mut job).await.unwrap();
    assert_eq!((due_at(&job, "expire"), due_at(&job, "step_timeout")), (Some(1050), Some(150)));

    let loaded: AnyJob = place.store.load(job.id()).await.unwrap();
    assert_eq!(loaded.journal().deadlines(), job.journal().deadlines());
    let line = &place.place.lines(&Query::new()).await[0];
    assert_eq!(line.due_at, Some(START + 150), "the earliest");
}

/// A group's deadline runs from entering the group; `Self` restarts a state's own deadline.
async fn a_group_deadline_is_not_restarted_inside_the_group(place: Place) {
    let place = Clocked::new(place).await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))).start());
    place.store.create(&mut job).await.unwrap();
    assert_eq!((due_at(&job, "expire"), due_at(&job, "step_timeout")), (Some(1000), Some(100)));

    place.at(60);
    job.apply_mut(job::Event::Again, &Anyone).unwrap();
    place.store.commit(&mut job).await.unwrap();
    assert_eq!((due_at(&job, "expire"), due_at(&job, "step_timeout")), (Some(1000), Some(160)));

    place.at(70);
    job.apply_mut(job::Event::Next, &Anyone).unwrap();
    place.store.commit(&mut job).await.unwrap();
    assert_eq!((due_at(&job, "expire"), due_at(&job, "step_timeout")), (Some(1000), None));

    // Leaving and entering in one commit restarts it.
    place.at(80);
    job.apply_mut(job::Event::Rest, &Anyone).unwrap();
    job.apply_mut(job::Event::Start, &Anyone).unwrap();
    place.store.commit(&mut job).await.unwrap();
    assert_eq!((due_at(&job, "expire"), due_at(&job, "step_timeout")), (Some(1080), Some(180)));
}

/// A commit that fails leaves the machine as it was; the deadline counts from the one that succeeds.
async fn a_commit_that_is_tried_again_counts_anew(place: Place) {
    let place = Clocked::new(place).await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))));
    place.store.create(&mut job).await.unwrap();
    job.apply_mut(job::Event::Start, &Anyone).unwrap();
    let started = job.journal().uncommitted().to_vec();
    // The refused item is another machine of the batch.
    let mut stored = AnyJob::from(Job::new(limits(None)));
    place.store.create(&mut stored).await.unwrap();
    let refused = place.store.batch().commit(&mut job).create(&mut stored).write().await;
    assert_err!(refused, CommitError::AlreadyStored { .. });
    assert_eq!(due_at(&job, "expire"), None);
    assert_eq!(job.journal().uncommitted(), started);

    // The deadline of the group continues in the next state, from the same time.
    job.apply_mut(job::Event::Next, &Anyone).unwrap();
    place.at(500);
    place.store.commit(&mut job).await.unwrap();
    assert_eq!((due_at(&job, "expire"), due_at(&job, "step_timeout")), (Some(1500), None));
    assert_eq!(place.place.entries(job.id()).await.len(), 3);
    // The digests cover the absolute time, so the history still verifies, also elsewhere.
    place.store.verify::<AnyJob>(job.id()).await.unwrap();
    let claim = place.store.export(job.id()).await.unwrap();
    let copy: AnyJob = claim.verify().unwrap();
    assert_eq!(due_at(&copy, "expire"), Some(1500));
}

/// A conflict leaves no deadline behind, and the machine as useless as it was before.
async fn a_conflict_leaves_no_deadline_behind(place: Place) {
    let place = Clocked::new(place).await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))));
    place.store.create(&mut job).await.unwrap();
    let mut other: AnyJob = place.store.load(job.id()).await.unwrap();
    job.apply_mut(job::Event::Start, &Anyone).unwrap();
    other.apply_mut(job::Event::Start, &Anyone).unwrap();
    place.store.commit(&mut other).await.unwrap();
    for after_start in [0, 500] {
        place.at(after_start);
        assert_err!(place.store.commit(&mut job).await, CommitError::Conflict { .. });
        assert_eq!(due_at(&job, "expire"), None);
    }
    let loaded: AnyJob = place.store.load(job.id()).await.unwrap();
    assert_eq!(due_at(&loaded, "expire"), Some(1000));
}

async fn what_is_due_is_listed_and_fires_once(place: Place) {
    let place = Clocked::new(place).await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))).start().next());
    place.store.create(&mut job).await.unwrap();
    let mut forever = AnyJob::from(Job::new(limits(None)).start().next());
    place.store.create(&mut forever).await.unwrap();
    assert_eq!(due_at(&forever, "expire"), None, "`None` is no deadline");

    place.at(999);
    assert_eq!(place.due().await, 0);
    let loaded: AnyJob = place.store.load(job.id()).await.unwrap();
    let refused = loaded.fire_deadline("expire", place.store.now()).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NotDue(1));
    assert_eq!(refused.to_string(), "`expire` of WRITING is due in 1 ms; fire it then");

    place.at(1000);
    let due = place.place.lines(&Query::new().due()).await;
    assert_eq!(due.iter().map(|line| line.id).collect::<Vec<_>>(), [job.id()]);
    let fired = refused.machine.fire_deadline("expire", place.store.now()).unwrap();
    let AnyJob::Stopped(stopped) = &fired else { panic!("{fired:?}") };
    assert_eq!(stopped.state().why, "writing took too long");
    assert_eq!(stopped.journal().summary().last_actor.as_deref(), Some("timer"));
    let mut fired = fired;
    place.store.commit(&mut fired).await.unwrap();
    assert_eq!(place.due().await, 0);
}

/// Two workers fire the same deadline: one wins.
async fn two_workers_cannot_fire_the_same_deadline(place: Place) {
    let place = Clocked::new(place).await;
    let mut job = AnyJob::from(Job::new(limits(Some(10))).start());
    place.store.create(&mut job).await.unwrap();
    place.at(10);
    let fire = async |trigger: &str| {
        let job: AnyJob = place.store.load(job.id()).await.unwrap();
        job.fire_deadline(trigger, place.store.now()).unwrap()
    };
    let (mut one, mut other) = (fire("expire").await, fire("expire").await);
    place.store.commit(&mut one).await.unwrap();
    assert_err!(place.store.commit(&mut other).await, CommitError::Conflict { .. });
}

/// If a guard refuses, the deadline stays due, and the error says so.
async fn a_guard_that_refuses_leaves_it_due(place: Place) {
    let place = Clocked::new(place).await;
    let locked = Limits { locked: true, ..limits(Some(10)) };
    let mut job = AnyJob::from(Job::new(locked).start());
    place.store.create(&mut job).await.unwrap();
    place.at(10);
    let refused = job.fire_deadline("expire", place.store.now()).unwrap_err();
    let text = "READING is due to `expire`, but its guard refused: it is locked; it stays due";
    assert_eq!(refused.to_string(), text);
    assert_eq!(place.due().await, 1);
    let refused = refused.machine.fire_deadline("rest", place.store.now()).unwrap_err();
    assert_eq!(refused.to_string(), "READING has no deadline for `rest`");
}

/// The row's due time is a projection of the journal: an edited one does not match the seal.
#[tokio::test]
async fn an_edited_due_time_fails_verification() {
    let place = Clocked::new(Place::new().await).await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))).start());
    place.store.create(&mut job).await.unwrap();
    place.place.edit("UPDATE instance SET due_at = due_at + 1 WHERE id = ?1", job.id());
    let loaded = place.store.load::<AnyJob>(job.id()).await;
    assert_err!(loaded, LoadError::Unreadable(_));
}

/// A state that replaces its group's transition does not end the group's deadline: the deadline is
/// paused there, and can fire again after the machine leaves that state.
async fn a_group_deadline_runs_on_through_a_state_that_replaces_its_transition(place: Place) {
    #[allow(clippy::needless_pass_by_value, reason = "a test's machine")]
    mod paused {
        use super::{Deserialize, Duration, Serialize, Timer, machine};

        #[machine(
            durable,
            on(expire => Stopped, from = Working, by = Timer, after = Duration::from_millis(100))
        )]
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Task {
            #[initial]
            #[group(Working)]
            #[on(next => Holding)]
            First,
            #[group(Working)]
            #[on(expire => First, by = Timer)]
            #[on(next => Last)]
            Holding,
            #[group(Working)]
            #[on(next => Stopped)]
            Last,
            #[terminal]
            Stopped,
        }
    }
    use paused::{AnyTask, Task};

    let place = Clocked::new(place).await;
    let mut task = AnyTask::from(Task::new());
    place.store.create(&mut task).await.unwrap();
    task.apply_mut(paused::task::Event::Next, &Anyone).unwrap();
    place.at(10);
    place.store.commit(&mut task).await.unwrap();
    place.at(500);
    assert_eq!(place.due().await, 0, "it is paused");
    let refused = task.fire_deadline("expire", place.store.now()).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NoDeadline);

    let mut task = refused.machine;
    task.apply_mut(paused::task::Event::Next, &Anyone).unwrap();
    place.store.commit(&mut task).await.unwrap();
    assert_eq!(task.journal().deadlines()[0].due_at, Some(START + 100));
    assert_eq!(place.due().await, 1);
    task.fire_deadline("expire", place.store.now()).unwrap();
}

/// A newer definition renames the trigger of a group's deadline: the deadline runs on.
async fn a_renamed_trigger_keeps_its_deadline(place: Place) {
    mod before {
        use super::{Deserialize, Duration, Serialize, Timer, machine};

        #[machine(
            durable,
            on(expire => Stopped, from = Working, by = Timer, after = Duration::from_millis(100))
        )]
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Task {
            #[initial]
            #[group(Working)]
            #[on(next => Last)]
            First,
            #[group(Working)]
            #[on(next => Stopped)]
            Last,
            #[terminal]
            Stopped,
        }
    }
    mod after {
        use super::{Deserialize, Duration, Serialize, Timer, machine};

        #[machine(
            durable,
            on(time_out => Stopped, from = Busy, by = Timer, after = Duration::from_secs(9),
               was = "expire")
        )]
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Task {
            #[initial]
            #[group(Busy)]
            #[on(next => Last)]
            First,
            #[group(Busy)]
            #[on(next => Stopped)]
            Last,
            #[terminal]
            Stopped,
        }
    }

    let place = Clocked::new(place).await;
    let mut task = before::AnyTask::from(before::Task::new());
    place.store.create(&mut task).await.unwrap();
    place.at(70);
    let mut task: after::AnyTask = place.store.load(task.id()).await.unwrap();
    task.apply_mut(after::task::Event::Next, &Anyone).unwrap();
    place.store.commit(&mut task).await.unwrap();
    assert_eq!(task.journal().deadlines()[0].due_at, Some(START + 100), "not restarted");
    place.at(100);
    let task: after::AnyTask = place.store.load(task.id()).await.unwrap();
    task.fire_deadline("time_out", place.store.now()).unwrap();
}
