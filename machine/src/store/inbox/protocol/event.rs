use std::sync::Arc;

use super::{EventOutcome, Fault, Wake};
use crate::{clock::Millis, store::inbox::message::Outgoing};

/// An event of one machine, as far as inbox and lease are concerned.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// Workers drive machines of its kind from now on.
    Drive { now: Millis },
    /// A message arrives.
    Send { message: Arc<Outgoing>, now: Millis },
    /// The machine was changed without the lease (`moved`), or something that it waits for has
    /// happened.
    Notify { moved: bool, now: Millis },
    /// A child has ended that is no call of an invocation.
    ChildEnded { now: Millis },
    /// It has left a visit of a state, without `detach`.
    Left,
    /// It has reached a terminal state.
    End,
    /// A worker requests the lease, and names its first task.
    Claim(Claim),
    /// The holder is alive.
    Renew { token: u64, until: Millis },
    /// The holder writes a transition of the machine.
    Moved(Moved),
    /// The holder knows what these messages say, and no transition is to follow from them.
    Acknowledge { token: u64, messages: Vec<String> },
    /// The holder changes nothing, and turns to other work.
    Switch(Switch),
    /// The holder has nothing to do for the machine.
    Wait(Wait),
    /// The holder's attempt has failed.
    Fail(Fail),
    /// The holder stops before it has finished its task.
    HandBack { token: u64, on: Attempted, now: Millis },
    /// A person requeues work that was set aside, or a machine that nothing can move.
    Requeue { now: Millis, messages: Vec<String> },
}

impl Event {
    /// Returns whether it takes a queued message, if it is accepted.
    pub(crate) fn handles(&self, correlation: &str) -> bool {
        match self {
            Self::Moved(Moved { handled, .. }) => handled.as_deref() == Some(correlation),
            Self::Acknowledge { messages, .. } => messages.iter().any(|it| it == correlation),
            _ => false,
        }
    }

    /// The outcome of a message that its machine did not have before; `None` for every other event.
    pub(crate) fn new_message(&self, outcome: Option<EventOutcome>) -> Option<EventOutcome> {
        let is_sent = matches!(self, Self::Send { .. });
        outcome.filter(|outcome| is_sent && *outcome != EventOutcome::Duplicate)
    }
}

#[derive(Debug, Clone)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Claim {
    pub(crate) worker: String,
    /// The token that the worker read.
    pub(crate) token: u64,
    pub(crate) now: Millis,
    pub(crate) until: Millis,
    /// The holder of the lease has ended for certain.
    pub(crate) holder_ended: bool,
    pub(crate) on: Attempted,
    pub(crate) max_attempts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MovedBy {
    /// A message, or a deadline.
    Input,
    Handler,
    /// The handler. The transition says only that it took over from another worker, so the attempt
    /// goes on.
    Takeover,
}

#[derive(Debug, Clone)]
pub(crate) struct Moved {
    pub(crate) token: u64,
    /// The revision that it has seen.
    pub(crate) revision: u64,
    pub(crate) by: MovedBy,
    /// The message that caused it.
    pub(crate) handled: Option<String>,
    /// Messages that can never be taken, with the reason.
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) next: AfterMove,
    pub(crate) max_attempts: u32,
}

#[derive(Debug, Clone)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Switch {
    pub(crate) token: u64,
    pub(crate) revision: u64,
    pub(crate) was: Attempted,
    pub(crate) on: Attempted,
    pub(crate) refused: Vec<(String, String)>,
    /// Messages that stay queued, with the reason why the current state does not take them.
    pub(crate) kept: Vec<(String, String)>,
    pub(crate) max_attempts: u32,
}

#[derive(Debug, Clone)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Wait {
    pub(crate) token: u64,
    pub(crate) revision: u64,
    pub(crate) now: Millis,
    /// The work that it has done.
    pub(crate) on: Attempted,
    /// The handler sends messages to its own machine, in the same batch.
    pub(crate) sends_itself: bool,
    /// Nothing can move the machine, unless there is news.
    pub(crate) stuck: bool,
    /// When the handler wants to run again.
    pub(crate) wake: Option<Wake>,
    /// When the next deadline of the machine is due.
    pub(crate) due_at: Option<Millis>,
    /// Since when it has been ready, if another program supports a message that this one does not.
    pub(crate) others_at: Option<Millis>,
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) kept: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Fail {
    pub(crate) token: u64,
    pub(crate) on: Attempted,
    pub(crate) fault: Fault,
    pub(crate) revision: u64,
    pub(crate) now: Millis,
    pub(crate) retry_at: Millis,
    pub(crate) due_at: Option<Millis>,
    /// As for [`Wait`].
    pub(crate) others_at: Option<Millis>,
    pub(crate) max_attempts: u32,
    pub(crate) hopeless: bool,
}

/// The work of a worker on a machine. Each attempt at it is counted before it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) enum Attempted {
    /// It only looks.
    #[default]
    Recheck,
    /// It calls the handler of the state.
    State,
    /// It fires a deadline.
    Deadline,
    /// It applies the message with this correlation id.
    Message(String),
}

impl Attempted {
    /// Its name, without the message.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Recheck => "look",
            Self::State => "state",
            Self::Deadline => "deadline",
            Self::Message(_) => "message",
        }
    }
}

/// The holder's next step after a transition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum AfterMove {
    /// It continues with this work.
    Go(Attempted),
    /// It gives others a chance, and comes back.
    Yield { now: Millis },
}

impl Event {
    /// The messages whose state [`step`](super::step) needs.
    pub(crate) fn messages(&self) -> Vec<&str> {
        fn firsts(pairs: &[(String, String)]) -> impl Iterator<Item = &str> {
            pairs.iter().map(|(correlation, _)| correlation.as_str())
        }
        match self {
            Self::Send { message, .. } => vec![&message.correlation],
            Self::Claim(Claim { on: Attempted::Message(correlation), .. })
            | Self::Fail(Fail { on: Attempted::Message(correlation), .. })
            | Self::HandBack { on: Attempted::Message(correlation), .. } => vec![correlation],
            Self::Drive { .. }
            | Self::Notify { .. }
            | Self::ChildEnded { .. }
            | Self::Left
            | Self::End
            | Self::Renew { .. }
            | Self::Claim(_)
            | Self::Fail(_)
            | Self::HandBack { .. } => Vec::new(),
            Self::Moved(Moved { handled, refused, next, .. }) => {
                let next = match next {
                    AfterMove::Go(Attempted::Message(correlation)) => Some(correlation.as_str()),
                    _ => None,
                };
                handled.as_deref().into_iter().chain(firsts(refused)).chain(next).collect()
            }
            Self::Switch(Switch { was, on, refused, kept, .. }) => {
                let both = [was, on].into_iter().filter_map(|on| match on {
                    Attempted::Message(correlation) => Some(correlation.as_str()),
                    _ => None,
                });
                firsts(refused).chain(firsts(kept)).chain(both).collect()
            }
            Self::Wait(Wait { refused, kept, .. }) => firsts(refused).chain(firsts(kept)).collect(),
            Self::Acknowledge { messages, .. } | Self::Requeue { messages, .. } => {
                messages.iter().map(String::as_str).collect()
            }
        }
    }
}
