//! The data of each state in a history, which a timeline folds from the journal.

use machine::{actor::Anyone, clock::Millis, stored::Durable, view::TimelineEvent};
use machine_tests::version;
use proptest::prelude::*;

use crate::view::prelude::*;

/// Fields that are brought, carried over, computed, chosen, and stored in odd ways.
#[machine(durable)]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Job {
    #[initial]
    #[on(plan(title, steps) => Planned)]
    #[on(skip(extra: u32) => Odd(plain = extra, renamed = 1, hidden = 2, spelt = 3))]
    Draft {
        #[audience(human)]
        owner: String,
    },
    #[on(edit(title) => Self)]
    #[on(hand_over(owner, note: String) => Self)]
    #[on(add(steps = steps + 1) => Self)]
    #[on(start(limit: u32) => if steps > limit {
        Running(worker = title.clone())
    } else {
        Waiting(why = format!("{limit}"))
    })]
    Planned {
        #[audience(human)]
        owner: String,
        title: String,
        steps: u32,
    },
    #[on(help(worker) => Self)]
    #[on(swap(title = worker.clone(), worker = title) => Self)]
    #[on(stop => Planned)]
    #[on(measure(plain, renamed, hidden, spelt) => Odd)]
    Running { owner: String, title: String, steps: u32, worker: String },
    #[on(replan(title) => Planned)]
    #[on(answer(why) => Self)]
    Waiting {
        owner: String,
        title: String,
        steps: u32,
        #[audience(human)]
        why: String,
    },
    #[on(turn(plain) => Self)]
    #[on(rename => Loud(size = renamed))]
    Odd {
        plain: u32,
        #[serde(rename = "other")]
        renamed: u32,
        #[lossy]
        #[serde(skip, default)]
        hidden: u32,
        #[serde(with = "text")]
        spelt: u32,
        #[serde(default)]
        owner: String,
    },
    #[serde(rename_all = "UPPERCASE")]
    #[terminal]
    Loud { size: u32, plain: u32, owner: String },
}

/// Stores a number as text.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(number: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

fn event() -> impl Strategy<Value = job::Event> {
    use job::Event;
    let word = || prop::sample::select(vec!["a", "b", "c", "\u{202e}", ""]).prop_map(str::to_owned);
    let number = 0..5_u32;
    prop_oneof![
        3 => (word(), number.clone()).prop_map(|(title, steps)| Event::Plan { title, steps }),
        1 => number.clone().prop_map(|extra| Event::Skip { extra }),
        2 => word().prop_map(|title| Event::Edit { title }),
        2 => (word(), word()).prop_map(|(owner, note)| Event::HandOver { owner, note }),
        2 => Just(Event::Add),
        3 => number.clone().prop_map(|limit| Event::Start { limit }),
        2 => word().prop_map(|worker| Event::Help { worker }),
        2 => Just(Event::Swap),
        2 => Just(Event::Stop),
        1 => (number.clone(), number.clone(), number.clone(), number.clone()).prop_map(
            |(plain, renamed, hidden, spelt)| Event::Measure { plain, renamed, hidden, spelt }
        ),
        2 => word().prop_map(|title| Event::Replan { title }),
        2 => word().prop_map(|why| Event::Answer { why }),
        2 => number.prop_map(|plain| Event::Turn { plain }),
        1 => Just(Event::Rename),
    ]
}

/// The data of the state as a store keeps them, as far as an audience may see them.
fn state<A: Audience>(machine: &dyn Durable) -> Value {
    json!(Snapshot::<A>::of(machine, 0).unwrap().state)
}

/// Everything that is shown is true, and what is not shown is named; returns the number of values.
fn check<A: Audience>(event: &TimelineEvent<A>, real: &Value) -> usize {
    for (name, value) in &*event.data {
        assert_eq!(Some(value), real.get(name), "{name} of {event:#?}");
        assert!(!event.unknown.iter().any(|unknown| unknown == name), "{event:#?}");
    }
    event.data.iter().count()
}

/// The timeline of a machine in memory, with the time of the commit that writes it.
fn written_at<A: Audience>(at: Millis, timeline: &Timeline<A>) -> Timeline<A> {
    let mut timeline = timeline.clone();
    for event in &mut timeline.events {
        event.at = at;
        if let Some(record) = &mut event.transition {
            record.timestamp = at;
        }
    }
    timeline
}

/// A job, and what its data really were after each entry.
fn walked(events: Vec<job::Event>) -> (AnyJob, Vec<[Value; 2]>) {
    let real = |job: &AnyJob| [state::<Internal>(job), state::<Human>(job)];
    let mut job = AnyJob::from(Job::new("ann".to_owned()));
    let mut states = vec![real(&job)];
    for event in events {
        // Most are illegal most of the time.
        if job.apply_mut(event, &Anyone).is_ok() {
            states.push(real(&job));
        }
    }
    (job, states)
}

proptest! {
    /// In memory and in a store, for every audience.
    #[test]
    fn the_shown_data_is_the_recorded_data(events in prop::collection::vec(event(), 0..60)) {
        let (mut job, states) = walked(events);
        let history = History::of(&job).unwrap();
        let internal = Timeline::<Internal>::of(&history);
        let human = Timeline::<Human>::of(&history);
        prop_assert_eq!(internal.events.len(), states.len());
        for (position, [all, for_people]) in states.iter().enumerate() {
            let event = &internal.events[position];
            check(event, all);
            check(&human.events[position], for_people);
            // The program sees everything that people see.
            for (name, value) in &*human.events[position].data {
                prop_assert_eq!(event.data.get(name), Some(value));
            }
            for name in &human.events[position].unknown {
                prop_assert!(event.unknown.contains(name));
            }
        }
        // The newest state is at hand.
        let [all, for_people] = states.last().unwrap();
        let (newest, shown) = (internal.events.last().unwrap(), human.events.last().unwrap());
        prop_assert_eq!(&json!(newest.data), all);
        prop_assert_eq!(&json!(shown.data), for_people);
        prop_assert!(newest.unknown.is_empty() && shown.unknown.is_empty());

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = Store::memory();
            store.create(&mut job).await.unwrap();
            let observer = Observer::new(&store);
            let stored = observer.timeline::<Internal>(job.id()).await.unwrap();
            let at = stored.events[0].at;
            let (internal, human) = (written_at(at, &internal), written_at(at, &human));
            assert_eq!(*stored, internal);
            assert_eq!(*observer.timeline::<Human>(job.id()).await.unwrap(), human);
            // A part is a part of the whole.
            let half = internal.events.len() / 2;
            let part = observer.timeline_part::<Internal>(job.id(), half as u64, 3).await.unwrap();
            let end = internal.events.len().min(half + 3);
            assert_eq!(part.events, internal.events[half..end]);
            assert_eq!(part.total, internal.total);
        });
    }
}

/// The journal tells what the payload set, and forgets what the program computes.
#[test]
fn the_journal_tells_what_it_can() {
    let word = |text: &str| text.to_owned();
    let job = Job::new(word("ann"))
        .plan(word("t"), 2)
        .hand_over(word("bob"), word("ill"))
        .add()
        .edit(word("u"));
    let started = match job.start(2) {
        job::AfterStart::Running(running) => running.stop(),
        job::AfterStart::Waiting(_) => unreachable!(),
    };
    let history = History::of(&started).unwrap();
    let timeline = Timeline::<Internal>::of(&history);
    let seen: Vec<_> = timeline.events.iter().map(|it| (json!(it.data), &it.unknown[..])).collect();
    let owner: &[String] = &[word("owner")];
    let steps: &[String] = &[word("steps")];
    let both: &[String] = &[word("steps"), word("worker")];
    assert_eq!(
        seen,
        [
            (json!({}), owner),
            (json!({ "title": "t", "steps": 2 }), owner),
            (json!({ "owner": "bob", "title": "t", "steps": 2 }), &[]),
            (json!({ "owner": "bob", "title": "t" }), steps),
            (json!({ "owner": "bob", "title": "u" }), steps),
            (json!({ "owner": "bob", "title": "u" }), both),
            // It was computed, and is stored.
            (json!({ "owner": "bob", "title": "u", "steps": 3 }), &[]),
        ]
    );
    // Others neither see what they may not, nor learn its name.
    let people = Timeline::<Human>::of(&history);
    let seen: Vec<_> = people.events.iter().map(|it| (json!(it.data), &it.unknown[..])).collect();
    assert_eq!(seen[1], (json!({}), owner));
    assert_eq!(seen[3], (json!({ "owner": "bob" }), &[][..]));
    assert_eq!(seen[5], (json!({}), &[][..]));
}

// A field for people that a hidden item has set stays hidden, whatever state it is carried to.
version!(mod hidden [] enum Note {
    #[initial]
    #[on(write(#[audience(internal)] body, #[audience(diagnostic)] by_whom) => Written)]
    Blank,
    #[on(file => Filed)]
    Written {
        #[audience(human)]
        body: String,
        #[audience(human)]
        by_whom: String,
    },
    #[terminal]
    Filed {
        #[audience(human)]
        body: String,
        #[audience(human)]
        by_whom: String,
    },
});

#[test]
fn the_strictest_mark_counts() {
    let note = hidden::Note::new().write("secret".to_owned(), "ann".to_owned()).file();
    let history = History::of(&note).unwrap();
    for event in Timeline::<Human>::of(&history).events.clone() {
        assert!(event.data.is_empty() && event.unknown.is_empty(), "{event:?}");
    }
    for event in &Timeline::<Diagnostic>::of(&history).events[1..] {
        assert_eq!(json!(event.data), json!({ "by_whom": "ann" }));
    }
    for event in &Timeline::<Internal>::of(&history).events[1..] {
        assert_eq!(json!(event.data), json!({ "body": "secret", "by_whom": "ann" }));
    }
}

// An older program, and two newer ones: one that renames and adds, one that upgrades.
version!(mod first [] enum Task {
    #[initial]
    #[on(open(name, size) => Open)]
    New,
    #[on(grow(size) => Self)]
    #[on(end => Ended)]
    Open { name: String, size: u32 },
    #[terminal]
    Ended,
});

version!(mod second [] enum Task {
    #[initial]
    #[on(open(title, size, tag = None) => Active)]
    New,
    #[was = "open"]
    #[on(grow(size) => Self)]
    #[on(end => Ended)]
    Active {
        #[was = "name"]
        title: String,
        size: u32,
        tag: Option<String>,
    },
    #[terminal]
    Ended,
});

mod third {
    use super::{Deserialize, Serialize, machine};

    #[derive(Deserialize)]
    pub(super) struct Before {
        title: String,
        size: u32,
        tag: Option<String>,
    }

    #[allow(clippy::unnecessary_wraps, reason = "an upgrade may fail")]
    fn doubled(Before { title, size, tag }: Before) -> Result<task::Active, String> {
        Ok(task::Active { title: format!("{title}{title}"), size: u64::from(size) * 2, tag })
    }

    #[machine(durable, version = 2)]
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(super) enum Task {
        #[initial]
        #[on(open(title, size, tag = None) => Active)]
        New,
        #[was = "open"]
        #[upgrade(1 => doubled)]
        #[on(grow(size) => Self)]
        #[on(end => Ended)]
        Active { title: String, size: u64, tag: Option<String> },
        #[terminal]
        Ended,
    }
}

#[tokio::test]
async fn newer_programs_take_the_data_over() {
    let store = Store::memory();
    let mut real = Vec::new();
    let task = first::Task::new();
    real.push(state::<Internal>(&task));
    let mut task = task.open("t".to_owned(), 1);
    real.push(state::<Internal>(&task));
    let id = task.id();
    store.create(&mut task).await.unwrap();

    let mut task: second::AnyTask = store.load(id).await.unwrap();
    task.apply_mut(second::task::Event::Grow { size: 2 }, &Anyone).unwrap();
    real.push(state::<Internal>(&task));
    store.commit(&mut task).await.unwrap();

    let mut task: third::AnyTask = store.load(id).await.unwrap();
    for size in [3, 4] {
        task.apply_mut(third::task::Event::Grow { size }, &Anyone).unwrap();
        real.push(state::<Internal>(&task));
    }
    store.commit(&mut task).await.unwrap();

    let timeline = Observer::new(&store).timeline::<Internal>(id).await.unwrap();
    let known: Vec<_> =
        timeline.events.iter().zip(&real).map(|(event, real)| check(event, real)).collect();
    // The value is known under its new name, until a function of the program makes another one.
    assert_eq!(known, [0, 2, 2, 1, 3]);
    assert_eq!(timeline.events[2].data.get("title"), Some(&json!("t")));
    assert_eq!(timeline.events[2].unknown, ["tag"]);
    assert_eq!(timeline.events[3].unknown, ["title", "tag"]);
}

/// A row that fails verification does not hide the history.
#[tokio::test]
async fn a_broken_row_leaves_what_the_journal_tells() {
    let place = Place::new().await;
    let job = place.created(Job::new("ann".to_owned()).plan("t".to_owned(), 2).add()).await;
    let edit = "UPDATE instance SET state = '{\"steps\": 9}' WHERE id = ?1";
    assert_eq!(place.edit(edit, job.id()), 1);
    let timeline = Observer::new(&place.store).timeline::<Internal>(job.id()).await.unwrap();
    let last = timeline.events.last().unwrap();
    assert_eq!(json!(last.data), json!({ "title": "t" }));
    assert_eq!(last.unknown, ["owner", "steps"]);
    assert!(timeline.error.as_ref().unwrap().contains("the seal does not match"), "{timeline:?}");
}
