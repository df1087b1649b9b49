//! One machine, as the model knows it.

use machine::clock::Millis;

use super::event::{Event, in_short};

/// The time limit of the group of states.
const WHOLE: Millis = 1000;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Core {
    pub(super) state: State,
    pub(super) entries: Vec<String>,
    pub(super) due: Vec<Due>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum State {
    #[default]
    Idle,
    First(u64, u64),
    Second(u64, u64, i64),
    Stopped(String),
    Done(i64, u64),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Due {
    pub(super) trigger: &'static str,
    pub(super) after: Millis,
    /// None until it is committed.
    pub(super) at: Option<Millis>,
}

impl State {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::First(..) => "first",
            Self::Second(..) => "second",
            Self::Stopped(_) => "stopped",
            Self::Done(..) => "done",
        }
    }

    pub(super) fn index(&self) -> usize {
        ["idle", "first", "second", "stopped", "done"]
            .iter()
            .position(|name| *name == self.name())
            .unwrap()
    }
}

impl Core {
    pub(super) fn new() -> Self {
        Self { state: State::Idle, entries: vec!["created".to_owned()], due: Vec::new() }
    }

    /// The core after the event; none if it is refused.
    pub(super) fn apply(&self, event: &Event) -> Option<Self> {
        let state = match (&self.state, event) {
            (State::Idle, Event::Note) | (State::First(..), Event::Pause) => State::Idle,
            (State::Idle, Event::Begin { limit_ms: limit }) => State::First(*limit, 0),
            (State::Idle, Event::Stop { why }) => State::Stopped(why.clone()),
            (State::First(limit, step), Event::Advance) => State::Second(*limit, step + 1, 0),
            (State::First(limit, step), Event::Skip) => State::Second(*limit, step + 100, 0),
            (State::First(limit, step), Event::Again | Event::Restart)
            | (State::Second(limit, step, _), Event::Back) => State::First(*limit, *step),
            (State::Second(limit, step, _), Event::Rate { score }) if *score > 0 => {
                State::Second(*limit, *step, *score)
            }
            (State::Second(_, step, _), Event::Finish { score }) => State::Done(*score, *step),
            (State::First(..), Event::GiveUp) => State::Stopped("first took too long".to_owned()),
            (State::Second(..), Event::GiveUp) => State::Stopped("second took too long".to_owned()),
            _ => return None,
        };
        // The deadline of the group runs on inside the group; that of a state starts when the state
        // is entered. `Again` stays in the state, `Restart` enters it again.
        let mut due = Vec::new();
        if let State::First(..) | State::Second(..) = state {
            let running = self.due.iter().find(|due| due.trigger == "give_up").cloned();
            due.push(running.unwrap_or(Due { trigger: "give_up", after: WHOLE, at: None }));
        }
        if let State::First(limit, _) = state {
            let after = Millis::try_from(limit).unwrap();
            let running = self.due.iter().find(|due| due.trigger == "skip");
            let running = running.filter(|_| matches!(event, Event::Again)).cloned();
            due.push(running.unwrap_or(Due { trigger: "skip", after, at: None }));
        }
        let mut entries = self.entries.clone();
        entries.push(in_short(event));
        Some(Self { state, entries, due })
    }

    /// Deadlines count from the commit that writes them.
    pub(super) fn commit(&mut self, now: Millis) {
        for due in &mut self.due {
            due.at = due.at.or(Some(now + due.after));
        }
    }

    pub(super) fn due_at(&self) -> Option<Millis> {
        self.due.iter().filter_map(|due| due.at).min()
    }
}
