use serde::Serialize;
use serde_json::{Map, Value};

use super::{Error, Operator};
use crate::{
    actor::{Actor, Human},
    contract::execution,
    definition::{Definition, Edge, Fit},
    id::{Id, shortened},
    line::OneLine,
    observe::{misfit, placeholder},
    store::{Message, Received, SendError, Sent, Store},
};

/// A message that the stored definition of its machine allows.
#[derive(Debug)]
pub(super) struct Draft {
    id: Id,
    body: Value,
    warning: Option<String>,
    transitions: u64,
    /// It answers the question that the machine is at.
    answers: bool,
    /// The message is not applied once the machine has moved on.
    seen: Option<u64>,
}

/// Options of sending an event.
#[derive(Debug, Default)]
pub struct SendOptions {
    /// The correlation id of the message; by default a new one.
    pub correlation: Option<String>,
    /// The number of transitions that the machine had when the person viewed it. If it has moved
    /// on, nothing is sent.
    pub seen: Option<u64>,
    /// It is an answer to a question that will come.
    pub early: bool,
}

/// A message that was sent; its machine's program applies it.
#[derive(Debug, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct SentMessage {
    /// The correlation id of the message.
    pub correlation: String,
    /// A warning for the person.
    pub warning: Option<String>,
}

impl Operator<'_> {
    /// Sends a machine one of its events, for its program to apply. `seen` is the number of
    /// transitions that the machine had when the person viewed it. `early` allows an answer to a
    /// future question.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn send(
        &self,
        id: Id,
        trigger: &str,
        payload: Map<String, Value>,
        options: SendOptions,
    ) -> Result<SentMessage, Error> {
        self.send_parsed(id, trigger, Ok(payload), options).await
    }

    /// Like [`send`](Self::send), with the payload as the text that the person wrote.
    ///
    /// # Errors
    ///
    /// Also for a text that is not a JSON object.
    pub async fn send_text(
        &self,
        id: Id,
        trigger: &str,
        payload: &str,
        options: SendOptions,
    ) -> Result<SentMessage, Error> {
        let payload = serde_json::from_str(payload)
            .map_err(|error| Error::invalid(format!("the payload is not a JSON object: {error}")));
        self.send_parsed(id, trigger, payload, options).await
    }

    async fn send_parsed(
        &self,
        id: Id,
        trigger: &str,
        payload: Result<Map<String, Value>, Error>,
        SendOptions { correlation, seen, early }: SendOptions,
    ) -> Result<SentMessage, Error> {
        let draft = match payload {
            Ok(payload) => Draft::new(&self.store, id, trigger, payload, early).await,
            // A request about an unknown machine is not logged.
            Err(error) => self.store.observed_one(id).await.map_err(Error::from).and(Err(error)),
        };
        let draft = draft.and_then(|draft| match seen {
            // It was never shown to anybody.
            Some(seen) if seen > draft.transitions => Err(Error::refused(format!(
                "{id} has not made {seen} transitions yet, only {}; nothing was sent; see `show {id}`",
                draft.transitions
            ))),
            Some(seen) if seen != draft.transitions => Err(Error::refused(format!(
                "{id} has moved on since you viewed it; nothing was sent; review it and try again"
            ))),
            _ => Ok(draft),
        });
        let mut draft = self.checked("send", &[id], trigger, draft).await?;
        // An answer is to the question that the person has seen. A state that is no question is
        // left at any moment, and the event may be for the next one, too.
        draft.seen = seen.or(draft.answers.then_some(draft.transitions));
        let act = self.act("send", &[id], trigger);
        let sent = draft.send(&act, self.by, correlation).await;
        self.checked("send", &[id], trigger, sent).await
    }
}

impl Draft {
    /// Checks a message against the definition of its machine, whose moves are offered, and against
    /// the newest one in the store, which may know more: a newer program that runs for a while
    /// takes no move from anybody.
    pub(super) async fn new(
        store: &Store,
        id: Id,
        trigger: &str,
        payload: Map<String, Value>,
        early: bool,
    ) -> Result<Self, Error> {
        let observed = store.observed_one(id).await?;
        let (written, newest) = (&*observed.definition, &*observed.newest);
        let (state, label) = observed.state();
        if observed.has_ended() {
            return Err(Error::refused(format!("{id} is {label}, so it accepts no more messages")));
        }
        let check =
            |definition, state| is_taken(definition, (state, label), trigger, &payload, early);
        let by_newest = || check(newest, written.successor(state, newest));
        let is_taken = match check(written, Some(state)) {
            Ok(true) => true,
            Ok(false) => by_newest().unwrap_or(false),
            Err(_) if written.edges_of(trigger).next().is_none() => by_newest()?,
            Err(refused) => by_newest().map_err(|_| refused)?,
        };
        let warning = (!is_taken).then(|| {
            let shown = shortened(trigger);
            format!("{label} does not accept `{shown}`, so it waits for a state that does")
        });
        let mut body = payload;
        body.insert("trigger".to_owned(), trigger.into());
        Ok(Self {
            id,
            body: body.into(),
            warning,
            transitions: observed.summary.transitions,
            answers: is_taken && observed.is_question(),
            seen: None,
        })
    }

    pub(super) async fn send(
        self,
        store: &Store,
        by: &Human,
        correlation: Option<String>,
    ) -> Result<SentMessage, Error> {
        let mut message = Message::new(&self.body, by)?;
        if let Some(seen) = self.seen {
            message = message.unless_moved(seen);
        }
        if let Some(correlation) = correlation {
            message = message.with_correlation(correlation)?;
        }
        if let Some(answer) = self.other_answer(store, message.correlation()).await? {
            return Err(Error::refused(format!(
                "{} has already answered {} with `{}`, but its program has not applied that yet; nothing \
                 was sent; see `show {}`",
                sender(&answer),
                self.id,
                OneLine(&answer.trigger().unwrap_or_default()),
                self.id
            )));
        }
        let sent = match store.send(self.id, &message).await {
            Err(SendError::Ended { id }) => {
                return Err(Error::refused(format!("{id} has ended; nothing was sent")));
            }
            sent => sent?,
        };
        if sent == Sent::Duplicate {
            return Err(Error::refused(format!(
                "{} has a message `{}` already; nothing was sent",
                self.id,
                OneLine(message.correlation())
            )));
        }
        let correlation = message.correlation().to_owned();
        // Both were sent at the same time. A message that was sent stays sent, even if this fails.
        let warning = match self.other_answer(store, &correlation).await.ok().flatten() {
            Some(first) => Some(format!(
                "{} answered first with `{}`; this applies only if that one is rejected",
                sender(&first),
                OneLine(&first.trigger().unwrap_or_default())
            )),
            None => self.warning,
        };
        Ok(SentMessage { correlation, warning })
    }

    /// The first answer to the same question, if different from this one.
    async fn other_answer(
        &self,
        store: &Store,
        correlation: &str,
    ) -> Result<Option<Received>, Error> {
        if !self.answers || self.seen != Some(self.transitions) {
            return Ok(None);
        }
        let machine = store.observed_one(self.id).await?;
        if machine.summary.transitions != self.transitions {
            return Ok(None);
        }
        let answer = store.queued_answer(&machine).await?;
        Ok(answer.filter(|answer| answer.correlation != correlation))
    }
}

/// Checks a message against a definition: whether the machine takes it in this state, and not only
/// later.
fn is_taken(
    definition: &Definition,
    (state, label): (Option<usize>, &str),
    trigger: &str,
    payload: &Map<String, Value>,
    early: bool,
) -> Result<bool, Error> {
    let shown = shortened(trigger);
    let is_taken = match definition.fit(state, trigger, Human::KIND) {
        Fit::Now => true,
        Fit::Later => false,
        Fit::NotFor(edge) => {
            return Err(Error::refused(format!(
                "`{shown}` is not for people, only for {}; {}",
                actors(edge),
                legal(definition, state)
            )));
        }
        Fit::Unknown => {
            return Err(Error::refused(format!(
                "no state of `{}` accepts `{shown}`; {}",
                OneLine(&definition.name),
                legal(definition, state)
            )));
        }
    };
    let mut edges = definition.edges_of(trigger).filter(|edge| edge.is_for::<Human>()).peekable();
    let mistake = edges
        .peek()
        .and_then(|edge| unfilled(edge, payload).or_else(|| misfit(edge, payload, true)));
    if let Some(mistake) = mistake {
        return Err(Error::payload(mistake));
    }
    // An answer that waits for a question answers one that was never shown.
    let is_answer = edges.all(|edge| definition.is_question(edge.from));
    if !is_taken && is_answer && !early {
        return Err(Error::refused(format!(
            "{label} does not accept `{shown}`; sent now, it would answer a later question that you have not seen; \
             {}, or allow it with `early`",
            legal(definition, state)
        )));
    }
    Ok(is_taken)
}

/// The error in a payload with a value that is still that of the printed command.
fn unfilled(edge: &Edge, payload: &Map<String, Value>) -> Option<String> {
    let open = edge.payload.iter().filter(|item| {
        payload.get(&*item.name).is_some_and(|value| *value == placeholder(&item.ty))
    });
    let open = open.map(|item| {
        let or_not = if item.optional { ", or leave it out" } else { "" };
        format!("`{}: {}`{or_not}", OneLine(&item.name), OneLine(&item.ty))
    });
    let open = open.collect::<Vec<_>>().join("; ");
    (!open.is_empty())
        .then(|| format!("fill in the payload of `{}`: {open}", OneLine(&edge.trigger)))
}

fn sender(message: &Received) -> String {
    OneLine(message.name.as_deref().unwrap_or(&message.actor)).to_string()
}

fn legal(definition: &Definition, state: Option<usize>) -> String {
    let of = |state: usize| {
        let moves = definition.moves(state).filter(|step| step.edge().is_for::<Human>());
        moves.map(|step| format!("`{}`", OneLine(step.trigger()))).collect::<Vec<_>>()
    };
    let now = state.map(of).unwrap_or_default();
    if !now.is_empty() {
        return format!("now a person can send {}", now.join(", "));
    }
    let mut ever: Vec<_> = (0..definition.states.len()).flat_map(of).collect();
    ever.sort();
    ever.dedup();
    if ever.is_empty() {
        return if definition.name == execution::DEFINITION.name {
            "people move an execution only by the commands that `show` lists, such as `approve`"
                .to_owned()
        } else {
            "none of its moves is for people".to_owned()
        };
    }
    format!("people can send nothing now; later, {}", ever.join(", "))
}

fn actors(edge: &Edge) -> String {
    let kinds: Vec<_> = edge.actors.iter().map(|kind| format!("`{}`", OneLine(kind))).collect();
    kinds.join(", ")
}
