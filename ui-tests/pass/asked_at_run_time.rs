//! The erased machine answers what is legal, why something is not, and returns the typed machine.

use machine::actor::{Actor, Actors, Anyone, EcsNode, ToolNode};
use machine::machine;
use machine::typed::{Erased, Reason};

#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Job {
    #[initial]
    #[on(start(speed) => Busy, by = ToolNode | EcsNode)]
    #[on(forget => Gone)]
    Idle,

    #[on(stop => Idle, by = EcsNode)]
    Busy { speed: u8 },

    #[terminal]
    Gone,
}

fn legal(any: &AnyJob, by: &impl Actor) -> Vec<&'static str> {
    any.available(by).map(|legal| legal.trigger()).collect()
}

/// Accepts any machine.
fn label<M: Erased>(any: &M) -> &'static str {
    &M::DEFINITION.states[any.state_index()].label
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let idle = AnyJob::from(Job::new());
    assert_eq!(legal(&idle, &actors.tool_node), ["start", "forget"]);
    assert_eq!(legal(&idle, &actors.reasoning_node), ["forget"]);
    assert_eq!(label(&idle), "IDLE");

    let busy = idle.apply(job::Event::Start { speed: 3 }, &actors.ecs_node).unwrap();
    assert_eq!(legal(&busy, &actors.tool_node), Vec::<&str>::new());

    let why = |event: &job::Event, by| busy.why_not(event, by).map(|why| why.reason().clone());
    assert_eq!(why(&job::Event::Stop, &actors.tool_node), Some(Reason::Actor("tool_node")));
    assert_eq!(why(&job::Event::Forget, &actors.tool_node), Some(Reason::NotFromHere));
    assert_eq!(busy.why_not(&job::Event::Stop, &actors.ecs_node), None);
    let gone = AnyJob::from(Job::new().forget());
    let why = gone.why_not(&job::Event::Stop, &Anyone).unwrap();
    assert_eq!(why.reason(), &Reason::Terminal);

    // `TryFrom` returns the typed machine, or the erased one if the state differs.
    let busy = Job::<job::Idle>::try_from(busy).unwrap_err();
    assert_eq!(busy.status(), job::Status::Busy);
    let busy: Job<job::Busy> = busy.try_into().unwrap();
    assert_eq!(busy.state().speed, 3);
    let idle = Job::<job::Idle>::try_from(AnyJob::from(busy.stop(&actors.ecs_node))).unwrap();
    assert_eq!(idle.state(), &job::Idle);
}
