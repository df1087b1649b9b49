//! Deadlines of stored machines. That they are absolute by the clock of the store, count from the
//! commit, are listed when due and fire once is in the model of `durability`.

use std::time::Duration;

use machine::{
    actor::{Actor, Anyone, Category},
    clock::Millis,
    store::Query,
    typed::Reason,
};
use machine_tests::version;

use crate::store::support::{Place, START, on_file};

on_file! {
    a_deadline_that_fired_is_over_until_an_entry,
    a_group_deadline_runs_on_through_a_state_that_replaces_its_transition,
    a_renamed_trigger_keeps_its_deadline,
}

/// The runtime, which fires deadlines.
pub(crate) struct Timer;

impl Actor for Timer {
    const KIND: &'static str = "timer";
    const CATEGORY: Category = Category::System;
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
            assert_eq!(refused.to_string(), "OPEN has no deadline for `warn`");
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
