//! Deadlines of stored machines: absolute by the store's clock, listed when due, fired once.

use std::time::Duration;

use machine::{
    actor::{Actor, Anyone, Category},
    clock::Millis,
    effects::EffectError,
    journal::Fact,
    machine,
    store::{CommitError, Query},
    stored::Context,
    typed::Reason,
};
use machine_tests::{assert_err, version};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, START, on_file};

on_file! {
    deadlines_are_absolute_by_the_stores_clock,
    staying_is_no_entry,
    a_deadline_that_fired_is_over_until_an_entry,
    a_retried_commit_counts_anew,
    due_deadlines_are_listed_and_fire_once,
    a_guard_that_refuses_leaves_it_due,
    a_group_deadline_runs_on_through_a_state_that_replaces_its_transition,
    a_renamed_trigger_keeps_its_deadline,
}

/// The runtime, which fires deadlines.
pub(crate) struct Timer;

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

fn unlocked<S>(_: &S, limits: &Limits) -> Result<(), String> {
    if limits.locked { Err("it is locked".to_owned()) } else { Ok(()) }
}

#[machine(
    durable,
    context = Limits,
    on(expire(why = format!("{status} took too long")) => Stopped, from = Working, by = Timer,
       after = context.whole_ms.map(Duration::from_millis), guard = unlocked -> String)
)]
#[derive(Debug, Serialize, Deserialize)]
enum Job {
    #[initial]
    #[on(start => Reading)]
    Idle,
    #[group(Working)]
    #[on(next => Writing)]
    #[on(again => Self)]
    #[on(reread => Reading)]
    #[on(step_timeout => Idle, by = Timer, after = Duration::from_millis(context.step_ms))]
    Reading,
    #[group(Working)]
    #[on(back => Reading)]
    #[on(rest => Idle)]
    Writing,
    #[terminal]
    Stopped { why: String },
}

fn limits(whole_ms: Option<u64>) -> Limits {
    Limits { whole_ms, step_ms: 100, locked: false }
}

/// The times of the deadlines of the group and of the state.
fn due(job: &AnyJob) -> (Option<Millis>, Option<Millis>) {
    let due = |trigger| {
        let mut running = job.journal().deadlines().iter();
        running.find(|due| due.trigger == trigger)?.due_at.map(|at| at - START)
    };
    (due("expire"), due("step_timeout"))
}

/// The journal has absolute times by the store's clock, not durations. They count from the commit.
async fn deadlines_are_absolute_by_the_stores_clock(place: Place) {
    use job::Event::{Again, Next, Reread, Rest, Start};

    let (place, clock) = place.clocked().await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))));
    place.store.create(&mut job).await.unwrap();
    assert!(job.journal().deadlines().is_empty());
    for (at, events, expected) in [
        (50, vec![Start], (Some(1050), Some(150))),
        // Staying restarts nothing. A state that names itself is entered again, and its group is
        // not.
        (110, vec![Again], (Some(1050), Some(150))),
        (115, vec![Reread], (Some(1050), Some(215))),
        (120, vec![Next], (Some(1050), None)),
        // Leaving and entering in one commit restarts it.
        (130, vec![Rest, Start], (Some(1130), Some(230))),
    ] {
        for event in events {
            job.apply_mut(event, &Anyone).unwrap();
        }
        clock.set(START + at);
        place.store.commit(&mut job).await.unwrap();
        assert_eq!(due(&job), expected, "at {at}");
        let loaded: AnyJob = place.store.load(job.id()).await.unwrap();
        assert_eq!(loaded.journal().deadlines(), job.journal().deadlines());
        let earliest = place.lines(&Query::new()).await[0].due_at.map(|at| at - START);
        assert_eq!(earliest, expected.1.or(expected.0), "at {at}");
    }
}

/// `=> Self` is no entry: the time of the last one stays, also after the journal is read again.
async fn staying_is_no_entry(place: Place) {
    let tick = || std::thread::sleep(Duration::from_millis(2));
    let mut job = place.created(AnyJob::from(Job::new(limits(None)).start())).await;
    let entered_at = job.journal().summary().entered_at;
    let number = job.journal().version();
    for (event, stays) in [(job::Event::Again, true), (job::Event::Reread, false)] {
        tick();
        job.apply_mut(event, &Anyone).unwrap();
        place.store.commit(&mut job).await.unwrap();
        let loaded: AnyJob = place.store.load(job.id()).await.unwrap();
        for job in [&job, &loaded] {
            assert_eq!(job.journal().summary().entered_at == entered_at, stays);
        }
    }
    let moved = place.entries(job.id()).await.split_off(usize::try_from(number).unwrap());
    let stays = moved.iter().map(|entry| match entry.fact {
        Fact::Moved { stays, .. } => stays,
        _ => panic!("{entry:?}"),
    });
    assert_eq!(stays.collect::<Vec<_>>(), [true, false]);
    place.store.verify::<AnyJob>(job.id()).await.unwrap();
}

/// A commit that fails leaves the machine as it was; the deadline counts from the one that
/// succeeds.
async fn a_retried_commit_counts_anew(place: Place) {
    let (place, clock) = place.clocked().await;
    let mut job = AnyJob::from(Job::new(limits(Some(1000))));
    place.store.create(&mut job).await.unwrap();
    job.apply_mut(job::Event::Start, &Anyone).unwrap();
    let started = job.journal().uncommitted().to_vec();
    // The refused item is another machine of the batch.
    let mut stored = place.created(AnyJob::from(Job::new(limits(None)))).await;
    let refused = place.store.batch().commit(&mut job).create(&mut stored).write().await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyStored { .. }));
    assert_eq!(due(&job), (None, None));
    assert_eq!(job.journal().uncommitted(), started);

    // The deadline of the group continues in the next state, from the same time.
    job.apply_mut(job::Event::Next, &Anyone).unwrap();
    clock.set(START + 500);
    place.store.commit(&mut job).await.unwrap();
    assert_eq!(due(&job), (Some(1500), None));
    assert_eq!(place.entries(job.id()).await.len(), 3);
    // The digests cover the absolute time, so the history still verifies, also elsewhere.
    place.store.verify::<AnyJob>(job.id()).await.unwrap();
    let claim = place.store.export(job.id()).await.unwrap();
    assert_eq!(due(&claim.verify::<AnyJob>().unwrap()), (Some(1500), None));
}

/// Of two workers that fire it, one wins.
async fn due_deadlines_are_listed_and_fire_once(place: Place) {
    let (place, clock) = place.clocked().await;
    let id = place.created(AnyJob::from(Job::new(limits(Some(1000))).start().next())).await.id();
    let forever = place.created(AnyJob::from(Job::new(limits(None)).start().next())).await;
    assert_eq!(due(&forever), (None, None), "`None` is no deadline");

    let uncommitted = AnyJob::from(Job::new(limits(Some(1000))).start());
    let refused = uncommitted.fire_deadline("expire", Millis::MAX).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NotDue(1000), "it has not begun");
    clock.set(START + 999);
    assert_eq!(place.lines(&Query::new().due()).await, []);
    let load = async || place.store.load::<AnyJob>(id).await.unwrap();
    let refused = load().await.fire_deadline("expire", place.store.now()).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NotDue(1));
    assert_eq!(refused.to_string(), "`expire` of WRITING is due in 1 ms; fire it then");

    clock.set(START + 1000);
    let found = place.lines(&Query::new().due()).await;
    assert_eq!(found.iter().map(|line| line.id).collect::<Vec<_>>(), [id]);
    let mut fired = refused.machine.fire_deadline("expire", place.store.now()).unwrap();
    let AnyJob::Stopped(stopped) = &fired else { panic!("{fired:?}") };
    assert_eq!(stopped.state().why, "writing took too long");
    assert_eq!(stopped.journal().summary().last_actor.as_deref(), Some("timer"));
    let mut other = load().await.fire_deadline("expire", place.store.now()).unwrap();
    place.store.commit(&mut fired).await.unwrap();
    assert_err!(
        place.store.commit(&mut other).await,
        EffectError::Commit(CommitError::Conflict { .. })
    );
    assert_eq!(place.lines(&Query::new().due()).await, []);
}

/// If a guard refuses, the deadline stays due, and the error reports it.
async fn a_guard_that_refuses_leaves_it_due(place: Place) {
    let (place, clock) = place.clocked().await;
    let locked = Limits { locked: true, ..limits(Some(10)) };
    let job = place.created(AnyJob::from(Job::new(locked).start())).await;
    clock.set(START + 10);
    let refused = job.fire_deadline("expire", place.store.now()).unwrap_err();
    let text = "READING is due to `expire`, but its guard refused: it is locked; it stays due";
    assert_eq!(refused.to_string(), text);
    assert_eq!(place.lines(&Query::new().due()).await.len(), 1);
    let refused = refused.machine.fire_deadline("rest", place.store.now()).unwrap_err();
    assert_eq!(refused.to_string(), "READING has no deadline for `rest`");
}

version!(#[allow(clippy::needless_pass_by_value, reason = "a test's machine")] mod paused [
    on(expire => Stopped, from = Working, by = Timer, after = Duration::from_millis(100))
] enum Task {
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
});

// A deadline of a group that stays, one of a state that enters it again, and a choice between the
// two.
version!(mod reminded [
    on(warn(warnings = warnings + 1) => Self, from = Working, by = Timer,
       after = Duration::from_millis(100))
] enum Task {
    #[initial]
    #[group(Working)]
    #[on(beat(beats = beats + 1) => Open, by = Timer, after = Duration::from_millis(10))]
    #[on(touch(again: bool) => if again { Open } else { Self })]
    #[on(pause => Paused)]
    Open { beats: u32, warnings: u32 },
    #[stable]
    #[on(resume => Open)]
    #[on(close => Closed)]
    Paused { beats: u32, warnings: u32 },
    #[terminal]
    Closed,
});

/// A worker would fire it again and again. Entering the state, or the group, starts it anew; of a
/// choice, the branch that was taken says whether it entered. The machine is loaded after each
/// step, so the journal has to say it.
async fn a_deadline_that_fired_is_over_until_an_entry(place: Place) {
    use reminded::{AnyTask, Task, task::Event};

    enum Step {
        Fire(&'static str),
        Apply(Event),
    }
    use Step::{Apply, Fire};

    let (place, clock) = place.clocked().await;
    let mut task = place.created(AnyTask::from(Task::new(0, 0))).await;
    let due = |task: &AnyTask| {
        let due = task.journal().deadlines().iter();
        due.map(|due| (due.trigger.to_string(), due.due_at.unwrap() - START)).collect::<Vec<_>>()
    };
    let at = |trigger: &str, at| (trigger.to_owned(), at);
    assert_eq!(due(&task), [at("beat", 10), at("warn", 100)]);
    // Each with the entry that began the visit after it.
    for (now, step, expected, visit) in [
        (10, Fire("beat"), vec![at("warn", 100), at("beat", 20)], 1),
        (100, Fire("warn"), vec![at("beat", 20)], 1),
        (110, Fire("beat"), vec![at("beat", 120)], 3),
        (112, Apply(Event::Touch { again: false }), vec![at("beat", 120)], 3),
        (114, Apply(Event::Touch { again: true }), vec![at("beat", 124)], 5),
        (116, Apply(Event::Pause), vec![], 6),
        (120, Apply(Event::Resume), vec![at("beat", 130), at("warn", 220)], 7),
    ] {
        clock.set(START + now);
        let has_warned = matches!(step, Fire("warn"));
        match step {
            Fire(trigger) => task = task.fire_deadline(trigger, place.store.now()).unwrap(),
            Apply(event) => task.apply_mut(event, &Anyone).unwrap(),
        }
        place.store.commit(&mut task).await.unwrap();
        let loaded: AnyTask = place.store.load(task.id()).await.unwrap();
        assert_eq!(loaded.journal().summary(), task.journal().summary(), "at {now}");
        task = loaded;
        assert_eq!((due(&task), task.journal().summary().entered), (expected, visit), "at {now}");
        if has_warned {
            let refused = task.fire_deadline("warn", Millis::MAX).unwrap_err();
            assert_eq!(refused.reason.reason(), &Reason::NoDeadline);
            task = refused.machine;
        }
    }
    place.store.verify::<AnyTask>(task.id()).await.unwrap();
    let AnyTask::Open(open) = task else { panic!("it is open") };
    assert_eq!((open.state().beats, open.state().warnings), (2, 1));
}

// The trigger of the deadline has another name.
version!(mod renamed [
    on(time_out => Stopped, from = Busy, by = Timer, after = Duration::from_secs(9), was = "expire")
] enum Task {
    #[initial]
    #[group(Busy)]
    #[on(next => Last)]
    First,
    #[group(Busy)]
    #[on(next => Stopped)]
    Last,
    #[terminal]
    Stopped,
});

/// A state that replaces its group's transition does not end the group's deadline: the deadline is
/// paused there, and can fire again after the machine leaves that state.
async fn a_group_deadline_runs_on_through_a_state_that_replaces_its_transition(place: Place) {
    use paused::{AnyTask, Task, task::Event};

    let (place, clock) = place.clocked().await;
    let mut task = place.created(AnyTask::from(Task::new())).await;
    task.apply_mut(Event::Next, &Anyone).unwrap();
    clock.set(START + 10);
    place.store.commit(&mut task).await.unwrap();
    clock.set(START + 500);
    assert_eq!(place.lines(&Query::new().due()).await, [], "it is paused");
    let refused = task.fire_deadline("expire", place.store.now()).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NoDeadline);

    let mut task = refused.machine;
    task.apply_mut(Event::Next, &Anyone).unwrap();
    place.store.commit(&mut task).await.unwrap();
    assert_eq!(task.journal().deadlines()[0].due_at, Some(START + 100));
    assert_eq!(place.lines(&Query::new().due()).await.len(), 1);
    task.fire_deadline("expire", place.store.now()).unwrap();
}

/// A newer definition renames the trigger of a group's deadline: the deadline runs on.
async fn a_renamed_trigger_keeps_its_deadline(place: Place) {
    use renamed::{AnyTask, task::Event};

    let (place, clock) = place.clocked().await;
    let id = place.created(paused::Task::new()).await.id();
    clock.set(START + 70);
    let task: AnyTask = place.store.load(id).await.unwrap();
    let refused = task.fire_deadline("expire", place.store.now()).unwrap_err();
    assert_eq!(refused.to_string(), "`time_out` of FIRST is due in 30 ms; fire it then");
    let mut task = refused.machine;
    task.apply_mut(Event::Next, &Anyone).unwrap();
    place.store.commit(&mut task).await.unwrap();
    assert_eq!(task.journal().deadlines()[0].due_at, Some(START + 100), "not restarted");
    clock.set(START + 100);
    let task: AnyTask = place.store.load(id).await.unwrap();
    task.fire_deadline("time_out", place.store.now()).unwrap();
}
