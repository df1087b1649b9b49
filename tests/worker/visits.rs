//! Whoever moves a machine out of a state: what a program made there by hand, and has not begun, does not stay behind.

use machine::stored::Context;

use crate::worker::prelude::*;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Terms {
    /// The trigger that is due after five seconds.
    due: Option<String>,
}

impl Context for Terms {
    type Summary = ();
}

impl Terms {
    fn due(&self, trigger: &str) -> Option<Duration> {
        (self.due.as_deref() == Some(trigger)).then_some(Duration::from_secs(5))
    }
}

// A deadline that stays belongs to a group.
#[machine(
    durable,
    context = Terms,
    on(stay => Self, from = Present, by = GraphRunner, after = context.due("stay")),
)]
#[derive(Debug, Serialize, Deserialize)]
enum Matter {
    #[initial]
    #[group(Present)]
    #[on(leave => Away, by = GraphRunner, after = context.due("leave"))]
    #[on(repeat => Open, by = GraphRunner, after = context.due("repeat"))]
    #[on(part => Away, by = GraphRunner, after = context.due("part"), detach)]
    #[on(ann_leaves => Away, by = Human)]
    #[on(ann_repeats => Open, by = Human)]
    #[on(ann_stays => Self, by = Human)]
    #[on(ann_parts => Away, by = Human, detach)]
    Open,
    #[stable]
    #[on(close => Closed, by = Human)]
    Away,
    #[terminal]
    Closed,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Helper {
    #[initial]
    #[on(cancel(reason) => Released, by = GraphRunner)]
    Working,
    #[terminal]
    Released { reason: String },
}

/// A machine without a move `cancel`.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Stone {
    #[initial]
    #[on(roll => Rolled, by = Human)]
    Lying,
    #[terminal]
    Rolled,
}

/// The move out of OPEN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Leaves,
    /// Into the same state, by its name.
    Repeats,
    /// By `Self`.
    Stays,
    /// By `detach`.
    Parts,
}

impl Way {
    const ALL: [Self; 4] = [Self::Leaves, Self::Repeats, Self::Stays, Self::Parts];

    /// The trigger of programs.
    fn trigger(self) -> &'static str {
        match self {
            Self::Leaves => "leave",
            Self::Repeats => "repeat",
            Self::Stays => "stay",
            Self::Parts => "part",
        }
    }

    fn target(self) -> &'static str {
        if matches!(self, Self::Leaves | Self::Parts) { "away" } else { "open" }
    }

    /// Returns whether it ends what is open.
    fn ends(self) -> bool {
        matches!(self, Self::Leaves | Self::Repeats)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mover {
    Person,
    Handler,
    Message,
    Deadline,
}

impl Mover {
    const ALL: [Self; 4] = [Self::Person, Self::Handler, Self::Message, Self::Deadline];

    /// Moves a matter that is open.
    async fn moves(self, store: &Store, hand: &Hand, (id, way): (Id, Way)) {
        match self {
            Self::Person => by_ann(store, id, way).await,
            Self::Handler => settle(worker(store).handler(moves_once(way))).await,
            Self::Message => {
                let body = format!(r#"{{"trigger": "{}"}}"#, way.trigger());
                store.send(id, &tells(&body, "1")).await.unwrap();
            }
            Self::Deadline => hand.advance(6_000),
        }
    }
}

async fn open(store: &Store, id: Id) -> Matter<matter::Open> {
    let AnyMatter::Open(matter) = store.load(id).await.unwrap() else { panic!("it is not open") };
    matter
}

async fn by_ann(store: &Store, id: Id, way: Way) {
    let matter = open(store, id).await;
    let written = match way {
        Way::Leaves => store.commit(&mut matter.ann_leaves(ann())).await,
        Way::Repeats => store.commit(&mut matter.ann_repeats(ann())).await,
        Way::Stays => store.commit(&mut matter.ann_stays(ann())).await,
        Way::Parts => store.commit(&mut matter.ann_parts(ann())).await,
    };
    written.unwrap();
}

/// Moves a matter, and then waits.
fn moves_once(way: Way) -> Does<AnyMatter> {
    let (calls, by) = (Count::default(), graph_runner());
    moves(move |matter, _| match matter {
        AnyMatter::Open(matter) if calls.add() == 0 => match way {
            Way::Leaves => Next::to(matter.leave(by)),
            Way::Repeats => Next::to(matter.repeat(by)),
            Way::Stays => Next::to(matter.stay(by)),
            Way::Parts => Next::to(matter.part(by)),
        },
        _ => Next::Wait,
    })
}

/// Drives everything but calls, and leaves matters as they are.
fn rest(store: &Store) -> Worker {
    let worker = worker(store).handler(rests::<AnyMatter>());
    worker.handler(rests::<AnyHelper>()).handler(rests::<AnyStone>())
}

/// The children of a visit.
struct Children {
    gate: Id,
    gated: Id,
    plain: Id,
    helper: Id,
    stone: Id,
}

impl Children {
    /// A call behind a gate, one without, and two machines. Of one matter, the calls are of different amounts.
    async fn of(store: &Store, parent: Id, cents: u32) -> Self {
        let (mut gate, mut gated) = charge(cents).ask::<Charge>(None, ecs_node()).unwrap();
        let mut plain = Planned::<Charge>::new(charge(cents + 1)).unwrap();
        let (mut helper, mut stone) = (Helper::new(), Stone::new());
        let batch = store.batch().create(gate.machine()).create_child(parent, gated.machine());
        let batch = batch.create_child(parent, plain.machine());
        let batch = batch.create_child(parent, &mut helper).create_child(parent, &mut stone);
        batch.write().await.unwrap();
        let (gate, gated, plain) = (gate.id(), gated.id(), plain.id());
        Self { gate, gated, plain, helper: helper.id(), stone: stone.id() }
    }

    /// They have ended, or are as before; nothing of it needs attention.
    async fn have_ended(&self, store: &Store, ended: bool) {
        let text = |open, end| if ended { end } else { open };
        for (id, status) in [
            (self.gate, text("waiting", "cancelled")),
            (self.gated, text("pending", "cancelled")),
            (self.plain, text("pending", "cancelled")),
            (self.helper, text("working", "released")),
            (self.stone, "lying"),
        ] {
            is(store, id, status).await;
        }
        for id in [self.helper, self.stone] {
            let statuses: Vec<_> = inbox(store, id).await.iter().map(|it| it.status).collect();
            assert_eq!(statuses, vec![Delivery::Handled; usize::from(ended)]);
        }
        assert_eq!(store.set_aside().await.unwrap().messages, []);
    }
}

async fn matter(store: &Store, due: Option<&str>) -> Id {
    create(store, Matter::new(Terms { due: due.map(str::to_owned) })).await
}

#[test]
fn a_move_ends_what_the_visit_has_open() {
    for way in Way::ALL {
        for mover in Mover::ALL {
            timed(async |store, hand| {
                let due = Some(way.trigger()).filter(|_| mover == Mover::Deadline);
                let id = matter(&store, due).await;
                let children = Children::of(&store, id, 1).await;
                mover.moves(&store, &hand, (id, way)).await;
                settle(rest(&store)).await;
                is(&store, id, way.target()).await;
                children.have_ended(&store, way.ends()).await;
                if !way.ends() {
                    return;
                }
                let AnyExecution::Cancelled(call) = store.load(children.plain).await.unwrap()
                else {
                    panic!("{way:?} by {mover:?}")
                };
                let (who, trigger) = match (mover, way) {
                    (Mover::Person, Way::Leaves) => ("a person", "ann_leaves"),
                    (Mover::Person, _) => ("a person", "ann_repeats"),
                    _ => ("graph_runner", way.trigger()),
                };
                let to = way.target();
                let why = format!(
                    "{who} moved the matter to `{to}` by `{trigger}` before the call began"
                );
                assert_eq!(call.state().reason, why);
                let AnyHelper::Released(helper) = store.load(children.helper).await.unwrap() else {
                    panic!("{way:?} by {mover:?}")
                };
                assert_eq!(helper.state().reason, format!("its parent {id} has moved to `{to}`"));
            });
        }
    }
}

/// What comes with a move belongs to the next visit, also the same call again.
#[test]
fn a_call_that_is_made_again() {
    each(async |store| {
        let id = matter(&store, None).await;
        let [mut first, mut again] = [(); 2].map(|()| Planned::<Charge>::new(charge(1)).unwrap());
        store.batch().create_child(id, first.machine()).write().await.unwrap();
        let (mut helper, mut next) = (Helper::new(), open(&store, id).await.repeat(graph_runner()));
        let batch = store.batch().commit(&mut next).create_child(id, again.machine());
        batch.create_child(id, &mut helper).write().await.unwrap();
        settle(rest(&store)).await;
        is(&store, first.id(), "cancelled").await;
        is(&store, again.id(), "pending").await;
        is(&store, helper.id(), "working").await;
        by_ann(&store, id, Way::Leaves).await;
        settle(rest(&store)).await;
        is(&store, again.id(), "cancelled").await;
        is(&store, helper.id(), "released").await;
    });
}

/// The end of a machine reaches the visit that ends, and not an earlier one that was detached.
#[test]
fn the_end_after_a_detached_visit() {
    each(async |store| {
        let id = matter(&store, None).await;
        let earlier = Children::of(&store, id, 1).await;
        by_ann(&store, id, Way::Parts).await;
        let last = Children::of(&store, id, 11).await;
        let AnyMatter::Away(away) = store.load(id).await.unwrap() else { panic!("it is not away") };
        store.commit(&mut away.close(ann())).await.unwrap();
        settle(rest(&store)).await;
        earlier.have_ended(&store, false).await;
        last.have_ended(&store, true).await;
        let bank = Service::default();
        settle(rest(&store).tool::<Charge>(bank.clone())).await;
        is(&store, earlier.plain, "completed").await;
        assert_eq!(bank.calls(), 1);
    });
}

/// It keeps its receipt.
#[test]
fn a_begun_call_of_a_visit_continues() {
    for way in Way::ALL {
        each(async |store| {
            let (id, bank) = (matter(&store, None).await, Service::held());
            let mut call = Planned::<Charge>::new(charge(1)).unwrap();
            store.batch().create_child(id, call.machine()).write().await.unwrap();
            let running = rest(&store).tool::<Charge>(bank.clone()).start();
            bank.called().await;
            by_ann(&store, id, way).await;
            is(&store, call.id(), "running").await;
            bank.release();
            running.stop().await.unwrap();
            is(&store, call.id(), "completed").await;
            assert_eq!(inbox(&store, call.id()).await, []);
        });
    }
}
