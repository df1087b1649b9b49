//! The moves, on both paths.

use machine_tests::actors::graph_runner;
use proptest::prelude::*;

use crate::machines::{AnyTask, task};

/// A move of a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    Note,
    Begin(u64),
    Stop(String),
    Advance,
    Again,
    Pause,
    Skip,
    Back,
    Rate(i64),
    Finish(i64),
    GiveUp,
}

impl Event {
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Note => "note {}".to_owned(),
            Self::Begin(limit) => format!(r#"begin {{"limit_ms":{limit}}}"#),
            Self::Stop(why) => format!(r#"stop {{"why":"{why}"}}"#),
            Self::Advance => "advance {}".to_owned(),
            Self::Again => "again {}".to_owned(),
            Self::Pause => "pause {}".to_owned(),
            Self::Skip => "skip {}".to_owned(),
            Self::Back => "back {}".to_owned(),
            Self::Rate(score) => format!(r#"rate {{"score":{score}}}"#),
            Self::Finish(score) => format!(r#"finish {{"score":{score}}}"#),
            Self::GiveUp => "give_up {}".to_owned(),
        }
    }

    pub(super) fn erased(&self) -> task::Event {
        match self.clone() {
            Self::Note => task::Event::Note,
            Self::Begin(limit_ms) => task::Event::Begin { limit_ms },
            Self::Stop(why) => task::Event::Stop { why },
            Self::Advance => task::Event::Advance,
            Self::Again => task::Event::Again,
            Self::Pause => task::Event::Pause,
            Self::Skip => task::Event::Skip,
            Self::Back => task::Event::Back,
            Self::Rate(score) => task::Event::Rate { score },
            Self::Finish(score) => task::Event::Finish { score },
            Self::GiveUp => task::Event::GiveUp,
        }
    }

    /// The move on the typed path. What does not compile there is refused.
    pub(super) fn typed(&self, task: AnyTask) -> Result<AnyTask, AnyTask> {
        Ok(match (task, self.clone()) {
            (AnyTask::Idle(task), Self::Note) => task.note().into(),
            (AnyTask::Idle(task), Self::Begin(limit)) => task.begin(limit).into(),
            (AnyTask::Idle(task), Self::Stop(why)) => task.stop(why).into(),
            (AnyTask::First(task), Self::Advance) => task.advance().into(),
            (AnyTask::First(task), Self::Again) => task.again().into(),
            (AnyTask::First(task), Self::Pause) => task.pause().into(),
            (AnyTask::First(task), Self::Skip) => task.skip(graph_runner()).into(),
            (AnyTask::First(task), Self::GiveUp) => task.give_up(graph_runner()).into(),
            (AnyTask::Second(task), Self::Back) => task.back().into(),
            (AnyTask::Second(task), Self::Rate(score)) => match task.rate(score) {
                Ok(task) => task.into(),
                Err(refused) => return Err(refused.machine.into()),
            },
            (AnyTask::Second(task), Self::Finish(score)) => task.finish(score).into(),
            (AnyTask::Second(task), Self::GiveUp) => task.give_up(graph_runner()).into(),
            (task, _) => return Err(task),
        })
    }
}

pub(super) fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => Just(Event::Note),
        3 => (0..2000_u64).prop_map(Event::Begin),
        1 => Just(Event::Stop("enough".to_owned())),
        3 => Just(Event::Advance),
        1 => Just(Event::Again),
        1 => Just(Event::Pause),
        1 => Just(Event::Skip),
        2 => Just(Event::Back),
        2 => (-1..3_i64).prop_map(Event::Rate),
        1 => (-1..3_i64).prop_map(Event::Finish),
        1 => Just(Event::GiveUp),
    ]
}
