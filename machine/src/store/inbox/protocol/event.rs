use std::sync::Arc;

use super::Fault;
use crate::{clock::Millis, store::inbox::message::Outgoing};

/// An event of one machine, as far as inbox and lease are concerned.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// Workers drive machines of its kind from now on.
    Drive { now: Millis },
    /// A message arrives.
    Send { message: Arc<Outgoing>, now: Millis },
    /// The machine was changed without the lease (`moved`), or a machine that it waits for has ended.
    News { moved: bool, now: Millis },
    /// It has reached a terminal state.
    End,
    /// A worker wants the lease, and says what it will do first.
    Claim(Claim),
    /// The holder is alive.
    Renew { token: u64, until: Millis },
    /// The holder writes a transition of the machine.
    Moved(Moved),
    /// The holder changes nothing, and turns to other work.
    Turn(Turn),
    /// The holder has nothing to do for the machine.
    Park(Park),
    /// The holder's attempt has failed.
    Fail(Fail),
    /// The holder stops, and has not finished what it began.
    HandBack { token: u64, on: On, now: Millis },
    /// A person wants what was set aside to be tried again.
    Requeue { now: Millis, messages: Vec<String> },
}

/// A worker wants the lease, and says what it will do first.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) worker: String,
    /// The token that the worker read.
    pub(crate) token: u64,
    pub(crate) now: Millis,
    pub(crate) until: Millis,
    /// The holder of the lease has ended for certain.
    pub(crate) holder_ended: bool,
    pub(crate) on: On,
    /// The maximum number of attempts.
    pub(crate) most: u32,
}

/// The holder writes a transition of the machine.
#[derive(Debug, Clone)]
pub(crate) struct Moved {
    pub(crate) token: u64,
    /// The message that caused it.
    pub(crate) handled: Option<String>,
    /// Messages that can never be taken, with the reason.
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) next: Next,
    pub(crate) most: u32,
}

/// The holder changes nothing, and turns to other work.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) token: u64,
    /// The work that it had begun.
    pub(crate) was: On,
    pub(crate) on: On,
    pub(crate) refused: Vec<(String, String)>,
    /// Messages that stay queued, with the reason why the current state does not take them.
    pub(crate) kept: Vec<(String, String)>,
    pub(crate) most: u32,
}

/// The holder has nothing to do for the machine.
#[derive(Debug, Clone)]
pub(crate) struct Park {
    pub(crate) token: u64,
    /// The news that it has seen.
    pub(crate) news: u64,
    pub(crate) now: Millis,
    /// The work that it has done.
    pub(crate) on: On,
    /// The handler sends messages to its own machine, in the same batch.
    pub(crate) sends_itself: bool,
    /// When the handler wants to run again.
    pub(crate) wake_at: Option<Millis>,
    /// When the next deadline of the machine is due.
    pub(crate) due_at: Option<Millis>,
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) kept: Vec<(String, String)>,
}

/// The holder's attempt has failed.
#[derive(Debug, Clone)]
pub(crate) struct Fail {
    pub(crate) token: u64,
    pub(crate) on: On,
    pub(crate) fault: Fault,
    /// The news that it has seen.
    pub(crate) news: u64,
    pub(crate) now: Millis,
    /// When to try it again.
    pub(crate) retry_at: Millis,
    /// When the next deadline of the machine is due.
    pub(crate) due_at: Option<Millis>,
    pub(crate) most: u32,
    /// It would fail again.
    pub(crate) hopeless: bool,
}

/// The work of a worker on a machine. Each attempt at it is counted before it begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum On {
    /// It only looks.
    Look,
    /// It calls the handler of the state.
    State,
    /// It fires a deadline.
    Deadline,
    /// It applies the message with this correlation id.
    Message(String),
}

impl On {
    /// Its name, without the message.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::State => "state",
            Self::Deadline => "deadline",
            Self::Message(_) => "message",
        }
    }
}

/// The holder's next step after a transition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Next {
    /// It continues with this work.
    Go(On),
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
            Self::Claim(Claim { on: On::Message(correlation), .. })
            | Self::Fail(Fail { on: On::Message(correlation), .. })
            | Self::HandBack { on: On::Message(correlation), .. } => vec![correlation],
            Self::Drive { .. }
            | Self::News { .. }
            | Self::End
            | Self::Renew { .. }
            | Self::Claim(_)
            | Self::Fail(_)
            | Self::HandBack { .. } => Vec::new(),
            Self::Moved(Moved { handled, refused, next, .. }) => {
                let next = match next {
                    Next::Go(On::Message(correlation)) => Some(correlation.as_str()),
                    _ => None,
                };
                handled.as_deref().into_iter().chain(firsts(refused)).chain(next).collect()
            }
            Self::Turn(Turn { was, on, refused, kept, .. }) => {
                let both = [was, on].into_iter().filter_map(|on| match on {
                    On::Message(correlation) => Some(correlation.as_str()),
                    _ => None,
                });
                firsts(refused).chain(firsts(kept)).chain(both).collect()
            }
            Self::Park(Park { refused, kept, .. }) => firsts(refused).chain(firsts(kept)).collect(),
            Self::Requeue { messages, .. } => messages.iter().map(String::as_str).collect(),
        }
    }
}
