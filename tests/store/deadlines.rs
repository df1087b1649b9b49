//! Deadlines of stored machines. That they are absolute by the clock of the store, count from the
//! commit, are listed when due and fire once is in the model of `durability`.

use std::time::Duration;

use machine::{
    actor::{Actor, Anyone, Category},
    clock::Millis,
    journal::Fact,
    machine,
    store::Query,
    stored::Context,
    typed::Reason,
};
use machine_tests::version;
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, START, on_file};

on_file! {
    staying_is_no_entry,
    a_deadline_that_fired_is_over_until_an_entry,
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
    #[on(again => Self)]
    #[on(reread => Reading)]
    Reading,
    #[terminal]
    Stopped { why: String },
}

/// `=> Self` is no entry: the time of the last one stays, also after the journal is read again.
async fn staying_is_no_entry(place: Place) {
    let tick = || std::thread::sleep(Duration::from_millis(2));
    let mut job = place
        .created(AnyJob::from(Job::new(Limits { whole_ms: None, locked: false }).start()))
        .await;
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

/// If a guard refuses, the deadline stays due, and the error reports it.
async fn a_guard_that_refuses_leaves_it_due(place: Place) {
    let (place, clock) = place.clocked().await;
    let locked = Limits { whole_ms: Some(10), locked: true };
    let job = place.created(AnyJob::from(Job::new(locked).start())).await;
    clock.set(START + 10);
    let refused = job.fire_deadline("expire", place.store.now()).unwrap_err();
    let text = "READING is due to `expire`, but its guard refused: it is locked; it stays due";
    assert_eq!(refused.to_string(), text);
    assert_eq!(place.lines(&Query::new().due()).await.len(), 1);
    let refused = refused.machine.fire_deadline("again", place.store.now()).unwrap_err();
    assert_eq!(refused.to_string(), "READING has no deadline for `again`");
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
