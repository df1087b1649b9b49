//! The microwave oven of the SCXML specification (W3C Recommendation of 1 September 2015, appendix
//! "Examples", the variant without `<parallel>`).
//!
//! A machine here has one level of states, so `on` is flattened into its substates `idle` and
//! `cooking`. SCXML takes a transition without an event as soon as its condition holds; here it is a
//! branch of the move that makes the condition true. An event that a state does not handle is refused,
//! whereas SCXML discards it.

use machine::{actor::Anyone, machine};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::machines::source::Source;

/// The oven. The context is the cooking time in seconds.
#[machine(
    context = u32,
    fields(door_closed: bool, timer: u32),
    on(turn_off => Off, from = On)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Microwave {
    #[initial]
    #[stable]
    #[on(turn_on => if timer >= *context {
        Self
    } else if door_closed {
        Cooking
    } else {
        Idle
    })]
    Off,

    /// Switched on, with the door open.
    #[stable]
    #[group(On)]
    #[on(door_close(door_closed = true) => Cooking)]
    Idle,

    #[group(On)]
    #[on(door_open(door_closed = false) => Idle)]
    #[on(time(timer = timer + 1) => if timer + 1 >= *context { Off } else { Self })]
    Cooking,
}

pub(crate) use microwave::DEFINITION;

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &["off", "idle", "cooking"],
        initial: "off",
        terminal: &[],
        stable: &["off", "idle"],
        rows: &[
            // <transition event="turn.on" target="on"/>, then the transition of `idle` with
            // cond="door_closed", or that of `on` with cond="timer >= cook_time".
            ("off", "turn_on", "idle"),
            ("off", "turn_on", "cooking"),
            ("off", "turn_on", "off"),
            ("idle", "turn_off", "off"),
            ("cooking", "turn_off", "off"),
            ("idle", "door_close", "cooking"),
            ("cooking", "door_open", "idle"),
            ("cooking", "time", "cooking"),
            ("cooking", "time", "off"),
        ],
        deadlines: &[],
    }
    .matches(DEFINITION);
}

/// `cook_time` of the example is 5, the door is closed, and the timer is 0.
fn oven() -> Microwave<microwave::Off> {
    Microwave::new(5, true, 0)
}

fn cooking() -> Microwave<microwave::Cooking> {
    match oven().turn_on() {
        microwave::AfterTurnOn::Cooking(cooking) => cooking,
        other => panic!("{other:?}"),
    }
}

#[test]
fn typed_it_cooks_for_five_seconds() {
    use microwave::{AfterTime, AfterTurnOn};

    let mut cooking = cooking();
    for second in 1..5 {
        let AfterTime::Cooking(next) = cooking.time() else { panic!("{second} s") };
        assert_eq!(next.state().timer, second);
        cooking = next;
    }
    // The door is opened; meanwhile no time passes.
    let idle = cooking.door_open();
    assert_eq!(idle.state(), &microwave::Idle { door_closed: false, timer: 4 });
    let AfterTime::Off(off) = idle.door_close().time() else { panic!("5 s are over") };
    assert_eq!(off.state(), &microwave::Off { door_closed: true, timer: 5 });
    // As in the example, nothing sets the timer back.
    assert!(matches!(off.turn_on(), AfterTurnOn::Off(_)));
}

#[test]
fn typed_it_waits_for_the_door() {
    use microwave::AfterTurnOn;

    let off = cooking().door_open().turn_off();
    assert!(!off.state().door_closed);
    let AfterTurnOn::Idle(idle) = off.turn_on() else { panic!("the door is open") };
    assert!(idle.door_close().state().door_closed);
}

fn event() -> impl Strategy<Value = microwave::Event> {
    use microwave::Event::{DoorClose, DoorOpen, Time, TurnOff, TurnOn};

    // Time passes more often than anything else happens.
    prop_oneof![
        Just(TurnOn),
        Just(TurnOff),
        Just(DoorOpen),
        Just(DoorClose),
        Just(Time),
        Just(Time)
    ]
}

proptest! {
    /// The oven never cooks with the door open, nor for longer than the cooking time.
    #[test]
    fn it_never_cooks_with_the_door_open(
        cook_time in 1_u32..8,
        door_closed: bool,
        events in prop::collection::vec(event(), 0..60),
    ) {
        let mut any = AnyMicrowave::from(Microwave::new(cook_time, door_closed, 0));
        let mut door = door_closed;
        let mut seconds = 0;
        for event in events {
            let before = any.status();
            let accepted = any.apply_mut(event.clone(), &Anyone).is_ok();
            match event {
                microwave::Event::DoorOpen if accepted => door = false,
                microwave::Event::DoorClose if accepted => door = true,
                microwave::Event::Time if accepted => {
                    prop_assert_eq!(before, microwave::Status::Cooking);
                    seconds += 1;
                }
                _ => {}
            }
            let (door_closed, timer) = match &any {
                AnyMicrowave::Off(off) => (off.state().door_closed, off.state().timer),
                AnyMicrowave::Idle(idle) => (idle.state().door_closed, idle.state().timer),
                AnyMicrowave::Cooking(cooking) => {
                    prop_assert!(cooking.state().door_closed, "it cooks with the door open");
                    prop_assert!(cooking.state().timer < cook_time, "it cooks for too long");
                    (true, cooking.state().timer)
                }
            };
            prop_assert_eq!((door_closed, timer), (door, seconds));
            if door && seconds < cook_time {
                prop_assert_ne!(any.status(), microwave::Status::Idle);
            }
        }
    }
}
