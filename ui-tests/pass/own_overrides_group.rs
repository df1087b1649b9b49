//! A state's own transition overrides its group's for the same trigger.

use std::time::Duration;

use machine::{
    actor::{Actors, Anyone, GraphRunner, ToolNode},
    machine,
};

/// A turn.
#[machine(
    on(stop(reason) => Stopped, from = Active, by = GraphRunner),
    on(rest => Resting, from = Active),
    on(expire => Expired, from = Active, by = GraphRunner, after = Duration::from_secs(60)),
)]
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    #[initial]
    #[group(Active)]
    #[on(run => Running)]
    Idle,

    #[group(Active)]
    #[on(stop(reason) => Aborted, by = ToolNode)]
    #[on(expire => Resting, by = GraphRunner, after = Duration::from_secs(5))]
    Running,

    #[on(wake => Idle)]
    Resting,

    #[terminal]
    Stopped { reason: String },

    #[terminal]
    Aborted { reason: String },

    #[terminal]
    Expired,
}

fn other_states_of_the_group_keep_its_transition(by: &GraphRunner) {
    let stopped: Turn<turn::Stopped> = Turn::new().stop("late".to_owned(), by);
    assert_eq!(stopped.state().reason, "late");
    let _expired: Turn<turn::Expired> = Turn::new().expire(by);
}

fn the_state_has_its_own_target_and_actor(by: &ToolNode) {
    let aborted: Turn<turn::Aborted> = Turn::new().run().stop("late".to_owned(), by);
    assert_eq!(aborted.state().reason, "late");
}

fn the_state_has_its_own_deadline() {
    let after = |any: AnyTurn| any.deadlines().next().unwrap().after.as_secs();
    assert_eq!(after(Turn::new().into()), 60);
    assert_eq!(after(Turn::new().run().into()), 5);
    let any = AnyTurn::from(Turn::new().run()).fire_deadline("expire").unwrap();
    assert_eq!(any.status(), turn::Status::Resting);
}

fn a_trigger_that_the_state_does_not_declare_is_the_groups() {
    let _resting: Turn<turn::Resting> = Turn::new().run().rest();
}

fn the_erased_machine_follows_the_state(actors: &Actors) {
    let event = || turn::Event::Stop { reason: "late".to_owned() };
    let running = AnyTurn::from(Turn::new().run());
    let refused = running.apply(event(), &actors.graph_runner).unwrap_err();
    let any = refused.machine.apply(event(), &actors.tool_node).unwrap();
    assert_eq!(any.status(), turn::Status::Aborted);
    let any = AnyTurn::from(Turn::new()).apply(event(), &actors.graph_runner).unwrap();
    assert_eq!(any.status(), turn::Status::Stopped);
    assert!(any.available(&Anyone).next().is_none());
}

#[test]
fn runs() {
    let actors = Actors::issue("turn").unwrap();
    other_states_of_the_group_keep_its_transition(&actors.graph_runner);
    the_state_has_its_own_target_and_actor(&actors.tool_node);
    the_state_has_its_own_deadline();
    a_trigger_that_the_state_does_not_declare_is_the_groups();
    the_erased_machine_follows_the_state(&actors);
}
