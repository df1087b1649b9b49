//! The moves, on both paths.

use machine_tests::actors::graph_runner;
use proptest::prelude::*;

use crate::machines::AnyTask;

pub(super) use crate::machines::task::Event;

/// The trigger of an event and its payload.
pub(super) fn in_short(event: &Event) -> String {
    let mut payload = serde_json::to_value(event).unwrap();
    payload.as_object_mut().unwrap().remove("trigger");
    format!("{} {payload}", event.trigger())
}

/// The move on the typed path. What does not compile there is refused.
pub(super) fn on_typed_path(event: Event, task: AnyTask) -> Result<AnyTask, AnyTask> {
    Ok(match (task, event) {
        (AnyTask::Idle(task), Event::Note) => task.note().into(),
        (AnyTask::Idle(task), Event::Begin { limit_ms }) => task.begin(limit_ms).into(),
        (AnyTask::Idle(task), Event::Stop { why }) => task.stop(why).into(),
        (AnyTask::First(task), Event::Advance) => task.advance().into(),
        (AnyTask::First(task), Event::Again) => task.again().into(),
        (AnyTask::First(task), Event::Restart) => task.restart().into(),
        (AnyTask::First(task), Event::Pause) => task.pause().into(),
        (AnyTask::First(task), Event::Skip) => task.skip(graph_runner()).into(),
        (AnyTask::First(task), Event::GiveUp) => task.give_up(graph_runner()).into(),
        (AnyTask::Second(task), Event::Back) => task.back().into(),
        (AnyTask::Second(task), Event::Rate { score }) => match task.rate(score) {
            Ok(task) => task.into(),
            Err(refused) => return Err(refused.machine.into()),
        },
        (AnyTask::Second(task), Event::Finish { score }) => task.finish(score).into(),
        (AnyTask::Second(task), Event::GiveUp) => task.give_up(graph_runner()).into(),
        (task, _) => return Err(task),
    })
}

pub(super) fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => Just(Event::Note),
        3 => (0..2000_u64).prop_map(|limit_ms| Event::Begin { limit_ms }),
        1 => Just(Event::Stop { why: "enough".to_owned() }),
        3 => Just(Event::Advance),
        2 => Just(Event::Again),
        1 => Just(Event::Restart),
        1 => Just(Event::Pause),
        1 => Just(Event::Skip),
        2 => Just(Event::Back),
        2 => (-1..3_i64).prop_map(|score| Event::Rate { score }),
        1 => (-1..3_i64).prop_map(|score| Event::Finish { score }),
        1 => Just(Event::GiveUp),
    ]
}
