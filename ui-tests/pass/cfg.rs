//! `cfg` removes states, transitions, fields and parameters from a machine.
#![deny(warnings)]
#![allow(clippy::non_minimal_cfg)]

use machine::machine;

/// A door with an optional alarm.
#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Door {
    /// Closed.
    #[initial]
    #[on(open => Open)]
    #[cfg_attr(any(), on(ring => Ringing))]
    #[cfg_attr(all(), on(lock(code) => Locked))]
    Closed,

    #[cfg_attr(all(), stable)]
    #[on(close => Closed)]
    Open,

    #[cfg(all())]
    #[on(unlock => Closed)]
    Locked { code: u16 },

    #[cfg(any())]
    #[on(calm => Closed)]
    Ringing { volume: NoSuchType },
}

/// Generics, docs and visibility are kept.
#[machine(context = &'static str)]
#[derive(Debug)]
pub(crate) enum Parcel<T>
where
    T: Clone,
{
    #[initial]
    #[on(fill(content) => Full)]
    Empty,

    #[terminal]
    Full {
        content: T,
        #[cfg(any())]
        weight: NoSuchType,
    },

    #[cfg(any())]
    #[terminal]
    Lost,
}

/// Shared fields, where only they have a `cfg`.
#[machine(
    fields(
        /// What is wanted.
        #[cfg(all())]
        goal: String,
        #[cfg(any())]
        price: NoSuchType,
        #[cfg_attr(all(), serde(rename = "tries"))]
        attempts: Vec<(u8, u8)>,
        in = Working | Done,
    ),
    fields(#[cfg(any())] owner: NoSuchType, in = Done),
    fields(epoch: u64),
    durable,
)]
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
enum Task {
    #[initial]
    #[on(start(goal, attempts = Vec::new()) => Working)]
    Idle,

    #[on(end => Done)]
    Working,

    #[terminal]
    Done,
}

/// Transitions of several states.
#[machine(
    on(
        /// Stops it.
        #[cfg(all())]
        stop => Off,
        from = Lit,
    ),
    on(#[cfg(any())] stop(by: NoSuchType) => Off, from = Lit),
    on(#[cfg(any())] dim => Off, from = NoSuchGroup),
)]
#[derive(Debug)]
enum Lamp {
    #[initial]
    #[on(turn_on => On)]
    Off,

    #[group(Lit)]
    On,
}

/// Attributes of other derives are kept.
#[machine(durable)]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum Letter {
    #[initial]
    #[on(post(stamp) => Posted)]
    Written,
    #[cfg_attr(all(), terminal, doc = "On its way.")]
    Posted {
        #[serde(rename = "postage")]
        stamp: u8,
    },
    #[cfg(any())]
    #[terminal]
    Lost,
}

/// Attributes of derives that the macro does not know are kept as well.
#[machine]
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[initial]
    #[error("seen at {line}")]
    #[on(repair => Repaired)]
    Seen { line: u32 },
    #[error("repaired")]
    #[terminal]
    Repaired,
    #[cfg(any())]
    #[error("gone")]
    #[terminal]
    Gone,
}

/// Parameters that are there only under a condition.
#[machine]
#[derive(Debug)]
enum Shelf<
    #[cfg(any())] 'a,
    T: Clone,
    #[cfg(any())] Label: NoSuchTrait<'a>,
    #[cfg(all())] Note,
    #[cfg(all())] const N: usize,
> {
    #[initial]
    #[on(fill(items, note) => Full)]
    Empty,
    #[terminal]
    Full {
        items: [T; N],
        note: Note,
        #[cfg(any())]
        label: &'a Label,
    },
}

#[test]
fn runs() {
    let full: Shelf<shelf::Full<u8, &str, 2>, u8, &str, 2> = Shelf::new().fill([1, 2], "new");
    assert_eq!((full.state().items, full.state().note), ([1, 2], "new"));
    assert_eq!(AnyShelf::from(full).status(), shelf::Status::Full);

    let done = Task::new(3).start("a shed".to_owned()).end();
    let expected = task::Done { goal: "a shed".to_owned(), attempts: vec![], epoch: 3 };
    assert_eq!((done.state(), done.goal(), done.epoch()), (&expected, &expected.goal, &3));
    let stored = serde_json::json!({ "goal": "a shed", "tries": [], "epoch": 3 });
    assert_eq!(serde_json::to_value(done.state()).unwrap(), stored);
    let fields: Vec<_> =
        task::DEFINITION.states[2].fields.iter().map(|field| &*field.name).collect();
    assert_eq!(fields, ["goal", "attempts", "epoch"]);

    let _off = Lamp::new().turn_on().stop();
    let edges = lamp::DEFINITION.edges.iter().map(|edge| (&*edge.trigger, &*edge.docs));
    assert_eq!(edges.collect::<Vec<_>>(), [("turn_on", ""), ("stop", "Stops it.")]);

    assert_eq!(Fault::new(7).state().to_string(), "seen at 7");
    let posted = Letter::new().post(1);
    assert_eq!(serde_json::to_value(posted.state()).unwrap()["postage"], 1);
    assert_eq!(letter::DEFINITION.states[1].docs, "On its way.");
    let names: Vec<&str> = door::Status::ALL.iter().map(|status| status.as_str()).collect();
    assert_eq!(names, ["closed", "open", "locked"]);
    assert_eq!(door::DEFINITION.docs, "A door with an optional alarm.");
    assert_eq!(door::DEFINITION.states[0].docs, "Closed.");
    assert!(door::DEFINITION.states[1].stable);
    let triggers: Vec<&str> = door::DEFINITION.edges.iter().map(|edge| &*edge.trigger).collect();
    assert_eq!(triggers, ["open", "lock", "close", "unlock"]);

    let locked = Door::new().open().close().lock(1234);
    assert_eq!(locked.state().code, 1234);
    assert_eq!(locked.unlock().state(), &door::Closed);

    let full = Parcel::new("books").fill(7_u8);
    assert_eq!((full.state().content, *full.context()), (7, "books"));
    assert_eq!(AnyParcel::from(full).status(), parcel::Status::Full);
}
