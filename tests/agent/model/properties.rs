use stateright::{Model, Property};

use super::{
    act::Act,
    ends,
    scenario::Scenario,
    world::{Fault, World},
};
use crate::agent::tally::{has_one_active, stops_children};

pub(super) const ONE_ANSWER: &str =
    "each enqueued turn has one event and one deliverable, and both when it has ended";
pub(super) const ONE_RESULT: &str = "each call waits, or has one result";
pub(super) const STOPS: &str = "a stopped turn ends with the first reason of its stop";
pub(super) const CHILDREN: &str = "the queued turns of a stopped turn are stopped";
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
        Property::always(ONE_ANSWER, |_, world: &World| world.tally.has_one_answer(&world.rows)),
        Property::always(ONE_RESULT, |_, world: &World| world.tally.has_one_result(&world.rows)),
        Property::always(STOPS, |_, world: &World| world.tally.keeps_stops()),
        Property::always(CHILDREN, |_, world: &World| stops_children(&world.rows)),
        Property::always(BOUGHT_ONCE, |_, world: &World| world.tally.is_bought_once()),
        Property::always(ONE_ACTIVE, |_, world: &World| has_one_active(&world.rows)),
        Property::always(ONE_WRITER, |_, world: &World| world.tally.has_one_writer(&world.rows)),
        Property::always(DELIVERED, |_, world: &World| world.tally.is_delivered()),
        Property::always(ENDS, ends::can_end),
        never!(EPOCHS, StaleWrote),
        never!(RAISED, EpochKept),
    ]
}
