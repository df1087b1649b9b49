use serde::Serialize;
use serde_json::Value;

use super::{
    ChildView, NextStep, Observer, OpenCall, Trouble, Waiting, aside, calls::MachineCalls,
};
use crate::view::{
    Audience, CallView, ExecutionSnapshot, Human, Snapshot, StateCalls, View,
    audience::{due, is_hidden},
};
use crate::{
    actor::Category,
    clock::Millis,
    contract::{AnyExecution, execution},
    effects::Standing,
    id::Id,
    store::{Delivery, Failing, LoadError, Received, backend::Attempts, read::observe::Observed},
    stored::Hold,
};

/// One machine, why it waits, and the next steps, as an audience may see it.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Detail<A: Audience = Human> {
    /// The machine.
    pub machine: Snapshot<A>,
    /// The machine as an execution, if it is one.
    pub execution: Option<ExecutionSnapshot<A>>,
    /// The nearest cause why it has not moved on; `None` if it has ended.
    pub waits_for: Option<Waiting>,
    /// The gate that it waits behind, while that can be answered.
    pub gate: Option<WaitsBehind>,
    /// Why its gate, or it as a gate, can no longer be approved.
    pub stale: Option<String>,
    /// A caution before that is approved: another execution may be performing the same action, or a
    /// call of the same tool and session is in doubt.
    pub caution: Option<String>,
    /// The trigger of an answer that was sent, and that its program has not applied yet.
    pub answered_with: Option<String>,
    /// The call that is in doubt and that can still take effect.
    pub open_call: Option<OpenCall>,
    /// The need that no live worker meets, such as a tool, and what to do about it; `None` also
    /// while a machine waits for its children only.
    pub missing: Option<String>,
    /// The last failure, until a later attempt succeeds.
    pub trouble: Option<Trouble>,
    /// The error, in the words of the program, which may repeat data.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub error: A::Internal<Option<String>>,
    /// What the calls do that it made by entering its state.
    pub calls: Option<StateCalls>,
    /// Each of these calls, and those of earlier states that were left by a move that detaches
    /// them; at most 50, first those that a move waits for.
    pub call_list: Vec<CallView>,
    /// Why a deadline that has passed was not fired.
    pub late: Option<String>,
    /// The messages in its inbox.
    pub messages: Vec<MessageView<A>>,
    /// The machine that it is a child of.
    pub parent: Option<Id>,
    /// The machines that it has started.
    pub children: Vec<ChildView>,
    /// The actions that a person can take.
    pub next: Vec<NextStep>,
    /// The fingerprint of the definition that it was written under.
    pub definition: String,
}

/// A question to a person, who decides whether an execution may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct WaitsBehind {
    /// The gate.
    pub id: Id,
    /// The question to the person.
    pub question: String,
    /// Until when it can be answered (milliseconds since the Unix epoch, by the clock of the
    /// store).
    pub expires_at: Option<Millis>,
}

/// A message, as an audience may see it. What it brings is raw data.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct MessageView<A: Audience = Human> {
    /// The reason why it cannot be read; then the other fields are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// Its correlation id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// The trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Where it is on its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Delivery>,
    /// When it was sent (milliseconds since the Unix epoch).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<i64>,
    /// It was for a state that the machine has left, and is no longer applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_on: Option<bool>,
    /// The number of attempts of workers that did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// Why it waits, or was set aside, in words for every audience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The call that it waits for, in words for every audience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// The name of the person who sent it; `None` if no person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The kind of the actor who sent it.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub actor: A::Diagnostic<Option<String>>,
    /// The name of that actor.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub actor_name: A::Diagnostic<Option<String>>,
    /// The reason, in the words of the program, which may repeat data.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub error: A::Internal<Option<String>>,
    /// Its payload.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = serde_json::Value)]
    pub body: A::Internal<Value>,
}

impl Observer {
    /// One machine with its inbox, its family, and the next steps for a person.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::load`](crate::store::Store::load), and [`LoadError::Pruned`] for a
    /// machine that was pruned and had attempted a keyed action.
    pub async fn detail<A: Audience>(&self, id: Id) -> Result<View<Detail<A>>, LoadError> {
        let observed = self.observed_or_pruned(id).await?;
        let definition = observed.definition.fingerprint.to_string();
        let machine = Snapshot::of_subject(&observed.subject(&self.own), self.store.now());
        let (mut execution, mut open_call, mut answered_with) = (None, None, None);
        let (mut gate, mut standing) = (None, Standing::default());
        if observed.definition.name == execution::DEFINITION.name {
            let loaded: AnyExecution = self.store.load(id).await?;
            (gate, standing) = self.gate_before::<A>(&loaded).await?;
            open_call = self.open_call(&loaded).await;
            execution = Some(ExecutionSnapshot::project(&loaded, self.store.now(), self.language));
        } else {
            answered_with = self.answered_with(&observed).await?;
        }
        let inbox = self.store.inbox(id).await?;
        let children = self.store.children(id).await?;
        // A worker would wait for an open child, too, unless there is something else to do.
        let is_due = observed.summary.due_at().is_some_and(|due_at| due_at <= self.store.now());
        let is_queued = |message: &Received| message.status == Delivery::Queued;
        let has_news = is_due || inbox.iter().flatten().any(is_queued);
        let schedule = self.store.schedule(id).await?;
        let failing = schedule.as_ref().and_then(|schedule| Failing::of(id, schedule));
        // A worker has found that nothing can move it, and nothing has come since.
        let is_stuck = schedule.is_some_and(|schedule| schedule.stuck_at.is_some());
        let may_move = children.iter().all(|child| child.has_ended);
        let need = if has_news || may_move { self.store.need_of(id).await? } else { None };
        let calls = self.machine_calls(&observed, &children, &inbox).await?;
        let inbox = inbox.into_iter();
        let messages = inbox.map(|message| MessageView::of(message, &observed, &calls)).collect();
        let late = calls.late_deadline(&observed, self.store.now());
        let next = self.next(id).await?;
        let missing = need.as_ref().and_then(|need| need.unmet.as_ref());
        let mut detail: Detail<A> = Detail {
            machine,
            execution,
            waits_for: None,
            gate,
            stale: standing.stale,
            caution: standing.caution,
            answered_with,
            open_call,
            missing: missing.map(ToString::to_string),
            trouble: failing.as_ref().map(Trouble::of),
            error: A::__internal(|| failing.map(|failing| failing.error)),
            calls: calls.state,
            call_list: calls.list,
            late,
            messages,
            parent: self.store.parent(id).await?,
            children: self.children_of(children).await?,
            next,
            definition,
        };
        detail.waits_for = detail.waiting(need.as_ref(), is_stuck);
        Ok(View::new(detail))
    }

    /// A machine of any kind, with a distinct error for one that was pruned. Only machines that
    /// attempted a keyed action are known after pruning.
    async fn observed_or_pruned(&self, id: Id) -> Result<Observed, LoadError> {
        let found = self.store.observed_one(id).await;
        if !matches!(found, Err(LoadError::NotFound { .. })) {
            return found;
        }
        let attempts = self.store.inner.backend.attempts(Attempts::OfMachine(id)).await?;
        match attempts.into_iter().flatten().next() {
            Some(attempt) => Err(LoadError::Pruned { id, applied: attempt.hold == Hold::Applied }),
            None => found,
        }
    }

    /// The open gate before an execution that has not started, and the standing of that gate or, of
    /// a gate that waits, its own.
    async fn gate_before<A: Audience>(
        &self,
        execution: &AnyExecution,
    ) -> Result<(Option<WaitsBehind>, Standing), LoadError> {
        let gate = match execution {
            AnyExecution::Pending(pending) => pending.context().behind(),
            AnyExecution::Waiting(gate) if gate.context().approves().is_some() => Some(gate.id()),
            _ => None,
        };
        let gate = match gate {
            Some(gate) => self.waiting_gate(gate).await?,
            None => None,
        };
        let Some(gate) = gate else { return Ok((None, Standing::default())) };
        let standing = self.standing(&gate).await?;
        let is_before = gate.id() != execution.id() && standing.stale.is_none();
        let before = is_before.then(|| WaitsBehind {
            id: gate.id(),
            question: gate.question_in(self.language).into_owned(),
            expires_at: gate
                .expires_at()
                .map(|at| due::<A>(at, gate.journal().summary().entered_at)),
        });
        Ok((before, standing))
    }
}

impl<A: Audience> MessageView<A> {
    fn of(message: Result<Received, LoadError>, machine: &Observed, calls: &MachineCalls) -> Self {
        let (message, unreadable) = match message {
            Ok(message) => (Some(message), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let body: Option<Value> =
            message.as_ref().and_then(|message| serde_json::from_str(&message.body).ok());
        let of = message.as_ref();
        Self {
            unreadable,
            correlation: of.map(|message| message.correlation.clone()),
            trigger: body.as_ref().and_then(|body| body["trigger"].as_str()).map(str::to_owned),
            status: of.map(|message| message.status),
            sent_at: of.map(|message| message.sent_at),
            moved_on: of
                .filter(|it| matches!(it.status, Delivery::Queued | Delivery::SetAside))
                .map(|message| machine.has_moved_since(message))
                .filter(|moved| *moved),
            attempts: of.map(|message| message.attempts),
            reason: of
                .filter(|message| message.cause.is_some())
                .map(|message| aside::of_message(message, Some(machine))),
            waits_for: of.and_then(|message| calls.message_waits(machine, message)),
            person: of
                .filter(|message| machine.definition.category(&message.actor) == Category::Human)
                .and_then(|message| message.name.clone()),
            actor: A::__diagnostic(|| of.map(|message| message.actor.clone())),
            actor_name: A::__diagnostic(|| of.and_then(|message| message.name.clone())),
            error: A::__internal(|| of.and_then(|message| message.error.clone())),
            body: A::__internal(|| {
                body.clone()
                    .or_else(|| of.map(|message| message.body.clone().into()))
                    .unwrap_or_default()
            }),
        }
    }
}
