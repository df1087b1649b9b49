use machine::agent::TurnStatus;
use stateright::{Model, Property};

use super::{
    act::Act,
    ends,
    scenario::Scenario,
    world::{Fault, World},
};

pub(super) const ONE_ANSWER: &str =
    "each enqueued turn has one event and one deliverable, and both when it has ended";
pub(super) const ONE_RESULT: &str = "each call waits, or has one result";
pub(super) const BOUGHT_ONCE: &str = "a step has at most one answer of the model";
pub(super) const EPOCHS: &str = "a stale epoch changes nothing";
pub(super) const RAISED: &str = "a dispatch and a takeover raise the epoch";
pub(super) const ENDS: &str = "every turn can still end, whatever the services do";
pub(super) const ONE_ACTIVE: &str = "an agent has one active turn";
pub(super) const ONE_WRITER: &str = "a box has one writer";
pub(super) const DELIVERED: &str = "an event names a card of its batch in the output box";

impl Model for Scenario {
    type State = World;
    type Action = Act;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self)]
    }

    fn actions(&self, world: &World, acts: &mut Vec<Act>) {
        world.acts(self, acts);
    }

    fn next_state(&self, last: &World, act: Act) -> Option<World> {
        let mut world = last.clone();
        world.step(self, act);
        (world != *last).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        all()
    }
}

/// This violation is never seen.
macro_rules! never {
    ($name:ident, $fault:ident) => {
        Property::always($name, |_: &Scenario, world: &World| {
            !world.faults.contains(&Fault::$fault)
        })
    };
}

pub(super) fn all() -> Vec<Property<Scenario>> {
    vec![
        Property::always(ONE_ANSWER, one_answer),
        Property::always(ONE_RESULT, one_result),
        Property::always(BOUGHT_ONCE, |_: &Scenario, world: &World| {
            world.seen.values().all(|seen| seen.answers.values().all(|count| *count == 1))
        }),
        Property::always(ONE_ACTIVE, one_active),
        Property::always(ONE_WRITER, one_writer),
        Property::always(ENDS, ends::can_end),
        never!(EPOCHS, StaleWrote),
        never!(RAISED, EpochKept),
        never!(DELIVERED, Misdelivered),
    ]
}

fn one_answer(_: &Scenario, world: &World) -> bool {
    world.rows.turns.iter().all(|(turn, record)| {
        let count = u8::from(matches!(record.status, TurnStatus::Delivered { .. }));
        let seen = world.seen.get(turn);
        let found = seen.map_or((0, 0), |seen| (seen.events, seen.deliverables));
        found == (count, count)
    })
}

fn one_result(_: &Scenario, world: &World) -> bool {
    let waits = |id| {
        let active = world.rows.heads.values().filter_map(|head| head.active.as_ref());
        let open = active.flat_map(|active| active.open.iter());
        u8::try_from(open.filter(|member| member.id == id).count()).unwrap()
    };
    let mut results = world.seen.values().flat_map(|seen| &seen.results);
    results.all(|(id, results)| waits(*id) + results == 1)
}

fn one_active(_: &Scenario, world: &World) -> bool {
    world.rows.turns.iter().all(|(turn, record)| {
        let active = world.rows.heads[&record.agent].active.as_ref();
        (record.status == TurnStatus::Active) == active.is_some_and(|active| active.id == *turn)
    })
}

fn one_writer(_: &Scenario, world: &World) -> bool {
    let active = world.rows.heads.values().filter_map(|head| head.active.as_ref());
    let mut boxes: Vec<_> = active.map(|active| active.task.output_box).collect();
    let count = boxes.len();
    boxes.sort();
    boxes.dedup();
    boxes.len() == count && !world.faults.contains(&Fault::OtherWriter)
}
