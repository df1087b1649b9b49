use stateright::{Model, Property};

use super::{
    act::Act,
    ends,
    rules::{Hold, Needs},
    scenario::{Keys, Scenario},
    world::{Call, Fault, Gate, Member, MemberState, Outcome, Place, Request, Stage, World},
};

pub(super) const TRUE_NOT: &str = "a machine that says not has no call that has paid, or still may";
pub(super) const ONCE: &str = "the bank pays once for each key, and once more for each override";
pub(super) const ENDS: &str = "every machine can still come to an end";
pub(super) const NAMED: &str = "a machine that stands still says which act of a person it needs";
pub(super) const PROOF: &str = "a receipt is taken for its own machine and its own amount only";
pub(super) const TAKEN_ONCE: &str = "an outcome is taken at most once";
pub(super) const KEPT: &str = "a receipt that its machine has not seen is not marked as taken";
pub(super) const NAMES: &str =
    "AlreadyDone names a call of the same amount, and Differs of another";
pub(super) const FRESH: &str = "an idempotent call answers only the entry that made it";
pub(super) const ASKS_ONCE: &str =
    "nobody is asked again about what they declined, until the machine knows it";
pub(super) const GATES: &str = "a gate is open only for a call that waits for it";

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
        let mut all = all();
        if self.defect.is_none() {
            all.extend(possible());
        }
        all
    }
}

/// This violation is never seen.
macro_rules! never {
    ($name:ident, $fault:ident) => {
        Property::always($name, |_: &Scenario, world: &World| world.fault != Some(Fault::$fault))
    };
}

pub(super) fn all() -> Vec<Property<Scenario>> {
    vec![
        Property::always(TRUE_NOT, true_not),
        Property::always(ONCE, once),
        Property::always(ENDS, ends::can_end),
        Property::always(NAMED, ends::is_named),
        never!(PROOF, NoProof),
        never!(TAKEN_ONCE, TakenTwice),
        never!(NAMES, Misnamed),
        never!(FRESH, OldAnswer),
        never!(ASKS_ONCE, AskedAgain),
        Property::always(KEPT, |scenario: &Scenario, world: &World| {
            let is_kept = |call: &Call| {
                call.stage != Stage::Ended(Outcome::Receipt) || !call.taken || call.is_known
            };
            scenario.is_idempotent() || world.calls.iter().all(is_kept)
        }),
        Property::always(GATES, |_: &Scenario, world: &World| {
            world.calls.iter().all(|call| call.gate != Gate::Open || call.stage == Stage::Pending)
        }),
    ]
}

/// `detach` excuses the state that it leads to, and none after it.
fn true_not(scenario: &Scenario, world: &World) -> bool {
    let contradicts = |call: &Call| {
        let its = &world.machines[call.machine];
        let is_about_it = match its.place {
            Place::Cancelled => true,
            // It speaks of the keys of its newest entry.
            Place::Unpaid => {
                let mut amounts = scenario.sets[its.set].iter();
                amounts.any(|amount| scenario.have_one_key(*amount, call.amount))
            }
            _ => false,
        };
        let is_excused = its.by_detach || call.is_known || call.overridden;
        is_about_it && !is_excused && call.may_have_paid()
    };
    scenario.is_idempotent() || !world.calls.iter().any(contradicts)
}

fn once(scenario: &Scenario, world: &World) -> bool {
    let limit = 1 + world.overrides;
    match scenario.keys {
        Keys::One => world.paid.iter().sum::<u8>() <= limit,
        Keys::PerAmount => world.paid.iter().all(|paid| *paid <= limit),
        Keys::None => true,
    }
}

/// Situations that must be reachable, so that the other properties do not hold vacuously.
pub(super) fn possible() -> Vec<Property<Scenario>> {
    macro_rules! joined {
        ($name:literal, $stage:pat) => {
            Property::sometimes($name, |_: &Scenario, world: &World| {
                world.joined().any(|call| matches!(call.stage, $stage))
            })
        };
    }
    macro_rules! needs {
        ($name:literal, $needs:ident) => {
            Property::sometimes($name, |scenario: &Scenario, world: &World| {
                let mut machines = 0..world.machines.len();
                machines.any(|it| world.needs(scenario, it) == Some(Needs::$needs))
            })
        };
    }
    vec![
        joined!("an entry has joined a call that has begun", Stage::Begun),
        joined!("an entry has joined a call in doubt", Stage::InDoubt),
        joined!("an entry has joined a receipt", Stage::Ended(Outcome::Receipt)),
        joined!("an entry has joined what was declined", Stage::Ended(Outcome::NotApproved)),
        joined!(
            "a call that an entry joins was refused before the entry was written",
            Stage::Ended(Outcome::NotApplied)
        ),
        needs!("a machine needs an answer at the gate", Answer),
        needs!("a machine needs a confirmation", Confirmation),
        needs!("a machine needs another call", OtherCall),
        needs!("a machine needs a requeue", Requeue),
        Property::sometimes("a message to cancel waits", |scenario: &Scenario, world: &World| {
            let waits = |at| !world.may_leave(scenario, at, Place::Cancelled);
            world.machines.iter().enumerate().any(|(at, its)| its.kept && waits(at))
        }),
        Property::sometimes(
            "a machine learns that another one has paid",
            |_: &Scenario, world: &World| {
                world.calls.iter().any(|call| match call.stage {
                    Stage::Ended(Outcome::AlreadyDone(by)) => {
                        world.calls[by].machine != call.machine
                    }
                    _ => false,
                })
            },
        ),
        Property::sometimes(
            "a call differs from one that is in doubt",
            |_: &Scenario, world: &World| {
                world.calls.iter().any(|call| match call.stage {
                    Stage::Ended(Outcome::Differs(by)) => world.calls[by].stage == Stage::InDoubt,
                    _ => false,
                })
            },
        ),
        Property::sometimes("a receipt waits in PAUSED", |scenario: &Scenario, world: &World| {
            world.calls.iter().any(|call| {
                call.hold(scenario) == Hold::Applied
                    && call.is_under_way(scenario)
                    && world.machines[call.machine].place == Place::Paused
            })
        }),
        Property::sometimes(
            "what was overdue has a receipt after all",
            |_: &Scenario, world: &World| {
                let mut members = world.machines.iter().flat_map(|its| &its.members);
                members.any(|member| match member.state {
                    MemberState::Open { call, overdue: true } => {
                        world.calls[call].stage == Stage::Ended(Outcome::Receipt)
                    }
                    _ => false,
                })
            },
        ),
        Property::sometimes("an override pays twice", |_: &Scenario, world: &World| {
            world.paid.iter().any(|paid| *paid > 1)
        }),
        Property::sometimes(
            "a machine says not, by detach, and it was paid",
            |_: &Scenario, world: &World| {
                world.calls.iter().any(|call| {
                    let its = &world.machines[call.machine];
                    let says_not = matches!(its.place, Place::Unpaid | Place::Cancelled);
                    says_not && its.by_detach && call.request == Request::Paid
                })
            },
        ),
    ]
}

impl World {
    /// The calls of the current entries that an earlier entry created.
    fn joined(&self) -> impl Iterator<Item = &Call> {
        self.machines.iter().flat_map(|its| {
            let calls = its.members.iter().filter_map(Member::open_call);
            calls.map(|call| &self.calls[call]).filter(|call| call.entry < its.entry)
        })
    }
}
