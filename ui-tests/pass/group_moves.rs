//! Code for any state of a group can make the group's transitions, with their actors and guards.

use std::fmt;

use machine::actor::{Actor, Actors, Category, ToolNode};

/// A name that a generated type parameter would shadow.
#[derive(Debug, Clone, PartialEq)]
pub struct S(u8);

impl fmt::Display for S {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "only {} left", self.0)
    }
}

#[derive(Debug)]
pub struct Clerk;

impl Actor for Clerk {
    const KIND: &'static str = "clerk";
    const CATEGORY: Category = Category::Human;
}

/// Refuses to take more than there is.
fn enough<From>(_: &From, taken: &u8) -> Result<(), S> {
    if *taken > 9 { Err(S(9)) } else { Ok(()) }
}

mod shop {
    #[machine::machine(
        durable,
        on(cancel(reason, note: super::S) => Cancelled, from = Open, by = super::ToolNode | super::Clerk),
        on(take(taken) => Taken, from = Open, guard = super::enough -> super::S),
        on(remind => Reminded, from = Open),
    )]
    #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
    pub enum Order {
        #[initial]
        #[on(place => Placed)]
        Draft,
        #[group(Open)]
        #[on(pay => Paid)]
        Placed,
        #[group(Open)]
        Reminded,
        #[terminal]
        Paid,
        #[terminal]
        Taken { taken: u8 },
        #[terminal]
        Cancelled { reason: String },
    }
}

use shop::{AnyOrder, Order, order};

impl serde::Serialize for S {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_u8(self.0)
    }
}

impl<'de> serde::Deserialize<'de> for S {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u8::deserialize(deserializer).map(S)
    }
}

/// Takes the amount, or cancels the order if the guard refuses.
fn close<From: order::Open>(order: Order<From>, taken: u8) -> AnyOrder {
    match order.take(taken) {
        Ok(taken) => taken.into(),
        Err(refused) => {
            let note = refused.reason;
            refused.machine.cancel(note.to_string(), note, &Clerk).into()
        }
    }
}

fn remind<From: order::Open>(order: Order<From>) -> Order<order::Reminded> {
    order.remind()
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let _: Task<task::Sealed> = end(Task::new().go());
    let dropped = Parcel::new().cancel("late".to_owned(), &Clerk);
    assert_eq!(dropped.state().reason, "late");
    assert_eq!(cancel(Parcel::new().go(), &actors.tool_node).state().reason, "lost");
    let _ended = Short::new().end(&Clerk);

    let taken = close(Order::new().place(), 3);
    assert_eq!(taken.status(), order::Status::Taken);
    let cancelled = close(remind(remind(Order::new().place())), 10);
    let AnyOrder::Cancelled(order) = &cancelled else { panic!("{cancelled:?}") };
    assert_eq!(order.state().reason, "only 9 left");

    // The journal records the source state and the actor of each transition.
    let moved = serde_json::to_string(order.journal().uncommitted()).unwrap();
    assert!(moved.contains(r#""from":"reminded","to":"cancelled""#), "{moved}");
    assert!(moved.contains(r#""actor":"clerk""#), "{moved}");

    // The erased machine has the same transitions, with the same actors and guards.
    let placed = AnyOrder::from(Order::new().place());
    let take = order::Event::Take { taken: 10 };
    let refused = placed.apply(take, &actors.tool_node).unwrap_err();
    assert_eq!(refused.to_string(), "PLACED cannot `take` now: only 9 left");
    let cancel = order::Event::Cancel { reason: "late".to_owned(), note: S(0) };
    let reminded = refused.machine.apply(order::Event::Remind, &actors.tool_node).unwrap();
    assert_eq!(
        reminded.apply(cancel, &actors.tool_node).unwrap().status(),
        order::Status::Cancelled
    );
}

/// State names that are close to generated names.
#[machine::machine(on(go => InProgress, from = Progress), on(end => Sealed, from = Progress))]
enum Task {
    #[initial]
    #[group(Progress)]
    Asked,
    #[group(Progress)]
    InProgress,
    #[terminal]
    Sealed,
}

fn end<S: task::Progress>(task: Task<S>) -> Task<task::Sealed> {
    task.go().end()
}

/// A state outside the group declares the same trigger, earlier: to another state, by another
/// actor, and without a guard.
#[machine::machine(on(cancel(reason) => Cancelled, from = Sent, by = ToolNode))]
enum Parcel {
    #[initial]
    #[on(go => Running)]
    #[on(cancel(reason) => Dropped, by = Clerk)]
    Waiting,
    #[group(Sent)]
    Running,
    #[terminal]
    Dropped { reason: String },
    #[terminal]
    Cancelled { reason: String },
}

fn cancel<From: parcel::Sent>(parcel: Parcel<From>, by: &ToolNode) -> Parcel<parcel::Cancelled> {
    parcel.cancel("lost".to_owned(), by)
}

/// A group with the name of a generated type parameter.
#[machine::machine(on(end => Ended, from = S, by = Clerk))]
enum Short {
    #[initial]
    #[group(S)]
    A,
    #[terminal]
    Ended,
}
