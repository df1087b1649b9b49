use std::fmt;

use serde::Serialize;

use super::{NextStep, aside};
use crate::view::{Audience, Human, StateCalls, audience::is_hidden};
use crate::{
    clock::Millis,
    contract::Process,
    id::Id,
    store::{Cause, Failing, Received, read::observe::Observed},
};

/// The reason why a machine needs a person's attention. The most urgent reason comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, crate::ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConcernReason {
    /// The execution ended as not done, and a receipt says that it took effect.
    Contradicted,
    /// The outcome of the call is unknown.
    InDoubt,
    /// The machine cannot be read.
    Unreadable,
    /// Workers set the machine, or a message to it, aside, and do not retry it.
    SetAside,
    /// For a minute or longer, the machine has needed a handler or a tool that no live worker has,
    /// or only workers that have not looked for work for a minute, such as frozen ones, or a
    /// program for a message that all live workers leave alone.
    NoWorker,
    /// Nothing can move the machine, for a minute or longer: its handler waits in a state that is
    /// not `#[stable]`, without an open call or child, a deadline, a message, or a move for a
    /// person.
    Stuck,
    /// A deadline has passed, or a call has run longer than it may.
    Overdue,
    /// The last attempt of a worker failed; workers try again.
    Failing,
    /// More than 1,000 messages are queued for it; with 10,000, it gets no more from programs and
    /// people.
    ManyMessages,
    /// The machine waits for a person.
    WaitsForPerson,
}

impl fmt::Display for ConcernReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Contradicted => "contradicted",
            Self::InDoubt => "in doubt",
            Self::Unreadable => "unreadable",
            Self::SetAside => "set aside",
            Self::NoWorker => "no worker",
            Self::Stuck => "stuck",
            Self::Overdue => "overdue",
            Self::Failing => "failing",
            Self::ManyMessages => "many messages",
            Self::WaitsForPerson => "waits for a person",
        })
    }
}

/// A call in doubt that can still take effect: before its process has ended and the call has
/// settled, only evidence, a person who found that it took effect, or an override ends the doubt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct OpenCall {
    /// The process of the call; while it runs, the one to restart.
    pub process: Process,
    /// When the call was found to be cut off (milliseconds since the Unix epoch, by the clock of
    /// the store); `None` if it may still answer.
    pub cut_off_at: Option<Millis>,
    /// Until when it can take effect, although its process has ended (milliseconds since the Unix
    /// epoch, by the clock of the store); from then on, a person can confirm that it did not.
    /// `None` while its process runs.
    pub settles_at: Option<Millis>,
}

/// A failure of a worker, for every audience. The text of the error may repeat data, so it is a
/// separate field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct Trouble {
    /// The reason.
    pub cause: Cause,
    /// Why, in words.
    pub reason: String,
    /// The number of attempts.
    pub attempts: u32,
    /// When it was last tried (milliseconds since the Unix epoch, by the clock of the store);
    /// `None` for a message.
    pub at: Option<Millis>,
    /// Workers do not try again before a person requeues it.
    pub set_aside: bool,
    /// When it is tried again.
    pub retry_at: Option<Millis>,
}

impl Trouble {
    pub(crate) fn of(failing: &Failing) -> Self {
        let Failing { cause, attempts, at, set_aside, retry_at, .. } = *failing;
        Self { cause, reason: cause.to_string(), attempts, at: Some(at), set_aside, retry_at }
    }

    /// A message that was set aside.
    pub(crate) fn of_message(message: &Received, machine: Option<&Observed>) -> Self {
        let cause = message.cause.unwrap_or(Cause::NotValid);
        let reason = aside::of_message(message, machine);
        let attempts = message.attempts;
        Self { cause, reason, attempts, at: None, set_aside: true, retry_at: None }
    }
}

/// A machine, a worker, or the log of the file, that needs attention, as an audience may see it.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Concern<A: Audience = Human> {
    /// The reason.
    pub reason: ConcernReason,
    /// The machine, if that is known.
    pub id: Option<Id>,
    /// Its kind, such as `execution`.
    pub machine: Option<String>,
    /// The state's name, such as `waiting`.
    pub status: Option<String>,
    /// The state as lists show it, such as `IN_DOUBT`.
    pub label: Option<String>,
    /// What the calls do that it made by entering its state.
    pub calls: Option<StateCalls>,
    /// Its session.
    pub session: Option<String>,
    /// Its subject, such as `email.send → bob@example.com`.
    pub summary: String,
    /// The question that it waits with.
    pub question: Option<String>,
    /// The trigger of an answer that was sent, and that the program of the machine has not applied
    /// yet.
    pub answered_with: Option<String>,
    /// The call that is in doubt and that can still take effect.
    pub open_call: Option<OpenCall>,
    /// The need that no live worker meets, such as a tool, and what to do about it.
    pub missing: Option<String>,
    /// The failure, if a worker failed.
    pub trouble: Option<Trouble>,
    /// In words that repeat no data: for what is overdue, the deadline or the call, and the calls
    /// that the deadline waits for; for what is stuck, what to do; for an inbox, the number of its
    /// messages; for a gate, why it can no longer be approved, or what to know before, which has
    /// the arguments of a call in doubt that it may repeat.
    pub cause: Option<String>,
    /// The beginning of the reference under which its service has accepted the call.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub reference: A::Internal<Option<String>>,
    /// The error, in the words of the program, which may repeat data.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub error: A::Internal<Option<String>>,
    /// Since when the reason holds (milliseconds since the Unix epoch): for what is overdue, since
    /// the deadline, or since the call should have ended; for anything else, since it entered its
    /// state.
    pub since: Option<Millis>,
    /// The number of its transitions, by which an answer says which question it is for.
    pub transition_count: Option<u64>,
    /// The actions that a person can take.
    pub next: Vec<NextStep>,
}

/// The concerns that need attention: most urgent first, then oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Attention<A: Audience = Human> {
    /// One for each machine, and for each row without an id that can be read.
    pub concerns: Vec<Concern<A>>,
    /// There are more that wait, or are overdue, than were asked for.
    pub truncated: bool,
}
