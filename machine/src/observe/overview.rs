use serde::Serialize;

use crate::view::{
    Audience, Human, Label, Language, Snapshot, StateCalls, View,
    audience::{due, is_hidden},
};
use crate::{
    clock::Millis,
    contract::{AnyExecution, Release},
    id::Id,
    stored::Durable,
    view::subject::Subject,
};

/// A machine of any kind as one line of a list.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Overview<A: Audience = Human> {
    /// The machine.
    pub id: Id,
    /// Its kind, such as `execution`.
    pub machine: String,
    /// The state's name, such as `waiting`.
    pub status: String,
    /// The state's name in messages; for an execution its [`Label`], which also marks doubt.
    pub label: String,
    /// What the calls do that it made by entering its state.
    pub calls: Option<StateCalls>,
    /// The release of an execution by its gate; `None` if it has none, or has started.
    pub release: Option<Release>,
    /// Its subject: the summary of an execution, the visible data of any other machine.
    pub summary: String,
    /// Its session.
    pub session: Option<String>,
    /// When it was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When it entered its state (milliseconds since the Unix epoch).
    pub entered_at: Millis,
    /// When the next deadline is due, as in a [`Snapshot`] (milliseconds since the Unix epoch, by
    /// the clock of the store).
    pub due_at: Option<Millis>,
    /// Its state is never left.
    pub is_terminal: bool,
    /// The idempotency key of an execution.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub idempotency_key: A::Diagnostic<Option<String>>,
}

impl<A: Audience> Overview<A> {
    pub(crate) fn of_subject(
        subject: &Subject<'_>,
        calls: Option<StateCalls>,
        now: Millis,
    ) -> Self {
        let snapshot = Snapshot::<A>::of_subject(subject, now);
        Self {
            summary: snapshot.data(),
            id: snapshot.id,
            machine: snapshot.machine,
            status: snapshot.status,
            label: snapshot.label,
            calls,
            release: None,
            session: snapshot.session,
            created_at: snapshot.created_at,
            entered_at: snapshot.entered_at,
            due_at: snapshot.due_at,
            is_terminal: snapshot.is_terminal,
            idempotency_key: A::__diagnostic(|| None),
        }
    }

    pub(crate) fn of(execution: &AnyExecution, language: Language) -> View<Self> {
        let (contract, summary) = (execution.context(), execution.journal().past());
        let state = execution.status().definition();
        View::new(Self {
            id: execution.id(),
            machine: execution.definition().name.to_string(),
            status: state.name.to_string(),
            label: Label::of(execution).to_string(),
            calls: None,
            release: Release::of(execution),
            summary: contract.summary_in(language).into_owned(),
            session: contract.session_id().map(str::to_owned),
            created_at: summary.created_at,
            entered_at: summary.entered_at,
            due_at: summary.due_at().map(|at| due::<A>(at, summary.entered_at)),
            is_terminal: state.terminal,
            idempotency_key: A::__diagnostic(|| {
                contract.idempotency_key().map(|key| key.as_str().to_owned())
            }),
        })
    }
}
