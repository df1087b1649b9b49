//! Whoever moves a machine out of a state: calls that have not begun do not stay behind, nor do
//! child machines.

use machine::{effects::EffectError, stored::Context};

use crate::worker::{
    leave::{Calls, is_asked_for},
    prelude::*,
};

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
    // One call behind a gate, and one without.
    #[invoke(
        charges: [Charge] = [1, 2].map(|cents| Charge { cents }),
        approve = is_asked_for,
        unattended,
    )]
    #[on(leave => Away, by = GraphRunner, after = context.due("leave"))]
    #[on(repeat => Open, by = GraphRunner, after = context.due("repeat"))]
    #[on(part => Away, by = GraphRunner, after = context.due("part"), detach)]
    #[on(ann_leaves => Away, by = Human)]
    #[on(ann_repeats => Open, by = Human)]
    #[on(ann_stays => Self, by = Human)]
    #[on(ann_parts => Away, by = Human, detach)]
    Open,
    #[stable]
    #[on(reopen => Open, by = Human)]
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

    /// Returns whether it ends child machines.
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
            Self::Person => by_ann(store, id, way).await.unwrap(),
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

async fn by_ann(store: &Store, id: Id, way: Way) -> Result<(), EffectError> {
    let matter = open(store, id).await;
    match way {
        Way::Leaves => store.commit(&mut matter.ann_leaves(ann())).await,
        Way::Repeats => store.commit(&mut matter.ann_repeats(ann())).await,
        Way::Stays => store.commit(&mut matter.ann_stays(ann())).await,
        Way::Parts => store.commit(&mut matter.ann_parts(ann())).await,
    }
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

impl Calls {
    /// They have not begun, and have ended or wait.
    async fn have_ended(&self, store: &Store, ended: bool) {
        let open = ["waiting", "pending", "pending"];
        self.are(store, if ended { ["cancelled"; 3] } else { open }).await;
    }
}

/// The child machines of a visit.
struct Children {
    helper: Id,
    stone: Id,
}

impl Children {
    async fn of(store: &Store, parent: Id) -> Self {
        let (mut helper, mut stone) = (Helper::new(), Stone::new());
        let batch = store.batch().create_child(parent, &mut helper);
        batch.create_child(parent, &mut stone).write().await.unwrap();
        Self { helper: helper.id(), stone: stone.id() }
    }

    /// The helper has ended, or is as before; nothing of it needs attention.
    async fn have_ended(&self, store: &Store, ended: bool) {
        is(store, self.helper, if ended { "released" } else { "working" }).await;
        is(store, self.stone, "lying").await;
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
                let calls = Calls::of(&store, id).await;
                let children = Children::of(&store, id).await;
                mover.moves(&store, &hand, (id, way)).await;
                settle(rest(&store)).await;
                is(&store, id, way.target()).await;
                // A call that has not begun is withdrawn also with `detach`.
                calls.have_ended(&store, way != Way::Stays).await;
                children.have_ended(&store, way.ends()).await;
                if way == Way::Stays {
                    return;
                }
                let AnyExecution::Cancelled(call) = store.load(calls.plain).await.unwrap() else {
                    panic!("{way:?} by {mover:?}")
                };
                let (who, trigger) = match (mover, way) {
                    (Mover::Person, Way::Leaves) => ("a person", "ann_leaves"),
                    (Mover::Person, Way::Repeats) => ("a person", "ann_repeats"),
                    (Mover::Person, _) => ("a person", "ann_parts"),
                    _ => ("graph_runner", way.trigger()),
                };
                let to = way.target();
                let why = format!(
                    "{who} moved the matter to `{to}` by `{trigger}` before the call began"
                );
                assert_eq!(call.state().reason, why);
                if !way.ends() {
                    return;
                }
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
        let first = Calls::of(&store, id).await;
        let (mut helper, mut next) = (Helper::new(), open(&store, id).await.repeat(graph_runner()));
        let batch = store.batch().commit(&mut next);
        batch.create_child(id, &mut helper).write().await.unwrap();
        settle(rest(&store)).await;
        first.have_ended(&store, true).await;
        let again = Calls::of(&store, id).await;
        again.have_ended(&store, false).await;
        is(&store, helper.id(), "working").await;
        by_ann(&store, id, Way::Leaves).await.unwrap();
        settle(rest(&store)).await;
        again.have_ended(&store, true).await;
        is(&store, helper.id(), "released").await;
    });
}

/// The end of a machine reaches the visit that ends, and not an earlier one that was detached.
#[test]
fn the_end_after_a_detached_visit() {
    each(async |store| {
        let id = matter(&store, None).await;
        let earlier = Children::of(&store, id).await;
        by_ann(&store, id, Way::Parts).await.unwrap();
        let last = Children::of(&store, id).await;
        let AnyMatter::Away(away) = store.load(id).await.unwrap() else { panic!("it is not away") };
        store.commit(&mut away.close(ann())).await.unwrap();
        settle(rest(&store)).await;
        earlier.have_ended(&store, false).await;
        last.have_ended(&store, true).await;
    });
}
