use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Audience, Human, Label, Language, View,
    audience::{due, is_hidden},
    consequence::{outcome, refusal},
};
use crate::{
    actor::Category,
    clock::{Millis, millis_between},
    contract::{ActionType, AnyExecution, Progress, Release, waits_for},
    id::Id,
    stored::Durable,
};

/// An execution at one moment, as an audience may see it. [`Snapshot`](super::Snapshot) is the
/// same for machines of any kind.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{AnyExecution, Contract, Execution, ToolSpec};
/// use machine::view::{Diagnostic, ExecutionSnapshot, Language};
///
/// let actors = Actors::issue("assistant")?;
/// let email = ToolSpec::irreversible("email", "send")?;
/// let contract = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?
///     .about("bob@example.com");
/// let pending = AnyExecution::from(Execution::new(contract));
///
/// let snapshot = ExecutionSnapshot::<Diagnostic>::of(&pending, 0, Language::English);
/// assert_eq!(snapshot.action_summary, "email.send → bob@example.com");
/// assert_eq!(snapshot.timeout_seconds, Some(30.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct ExecutionSnapshot<A: Audience = Human> {
    /// The execution.
    pub execution_id: Id,
    /// The type of the action.
    #[schema(value_type = String)]
    pub action_type: ActionType,
    /// A short description of the action.
    pub action_summary: String,
    /// The state's name, such as `waiting`.
    pub current_status: String,
    /// The status for reasoners: it also tells whether the outcome is doubtful or contradicted.
    pub label: Label,
    /// The session of the contract.
    pub session: Option<String>,
    /// When it was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When it entered its state (milliseconds since the Unix epoch).
    pub entered_at: Millis,
    /// The time that it has been in its state (milliseconds).
    pub duration_in_state_ms: u64,
    /// Its state is never left.
    pub is_terminal: bool,
    /// WAITING, or terminal.
    pub is_stable: bool,
    /// WAITING, and neither in doubt nor waiting for the report of its service.
    pub is_resumable: bool,
    /// The action is marked as irreversible, whether it has run or not. Of a
    /// [`ConsequenceView`](super::ConsequenceView) it is what [`took_effect`](Self::took_effect) is
    /// here.
    pub has_side_effects: bool,
    /// It took effect and is irreversible, even if its state says otherwise.
    pub took_effect: bool,
    /// The action is irreversible.
    pub irreversible: bool,
    /// The release by its gate; `None` if it has none, or has started.
    pub release: Option<Release>,
    /// A person approved it: at its gate, or as a retry.
    pub human_confirmed: bool,
    /// It is contradicted, and a person has acknowledged that.
    pub acknowledged: bool,
    /// The question that it waits with.
    pub question: Option<String>,
    /// It waits for the report of its service, which has accepted the call.
    pub waits_for_service: bool,
    /// Until when the question can be answered, or its service reports (milliseconds since the Unix
    /// epoch, by the clock of the store; for people rounded down, to the minute if they have two or
    /// more).
    pub answer_by: Option<Millis>,
    /// The answer of the tool or the person.
    pub result: Option<String>,
    /// Why it failed, or was not done.
    pub error_message: Option<String>,
    /// The refusal of the tool, if it is more than its text: as it was given, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub refusal: Option<Value>,
    /// The number of its transitions.
    pub transition_count: u64,
    /// The trigger of the last transition.
    pub last_trigger: Option<String>,
    /// The category of the actor of the last transition.
    pub last_actor_category: Option<Category>,
    /// The kind of the actor of the last transition.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub last_actor: A::Diagnostic<Option<String>>,
    /// The name of the person who approved it.
    pub approved_by: Option<String>,
    /// The name of the person who answered its question: a gate, or another one.
    pub answered_by: Option<String>,
    /// The idempotency key.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub idempotency_key: A::Diagnostic<Option<String>>,
    /// The time limit for an answer to the call, in seconds; `None` means no limit.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<f64>)]
    pub timeout_seconds: A::Diagnostic<Option<f64>>,
    /// The beginning of the reference under which its service has accepted the call.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub reference: A::Internal<Option<String>>,
    /// The raw action, with the digests of its secrets.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Object)]
    pub action_detail: A::Internal<Map<String, Value>>,
    /// The notes of the contract.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Object)]
    pub metadata: A::Internal<Map<String, Value>>,
}

impl<A: Audience> ExecutionSnapshot<A> {
    /// Projects an execution, with the summary and the sentences in a language. `now` is the time
    /// in milliseconds since the Unix epoch.
    #[must_use]
    pub fn of(execution: &AnyExecution, now: Millis, language: Language) -> View<Self> {
        View::new(Self::project(execution, now, language))
    }

    pub(crate) fn project(execution: &AnyExecution, now: Millis, language: Language) -> Self {
        let contract = execution.context();
        let progress = Progress::of(execution);
        let label = Label::from_parts(execution, &progress);
        let (result, error_message) = outcome(execution, &progress, language);
        let summary = execution.journal().past();
        let state = execution.status().definition();
        let question = match execution {
            AnyExecution::Waiting(waiting) if !progress.awaits_report() => {
                Some(waits_for(waiting, language))
            }
            _ => None,
        };
        let answered_by = progress.decision.as_ref().map(|decision| &decision.by);
        let answered_by = answered_by.or(progress.answered_by.as_ref());
        let actor = summary.last_actor.as_deref();
        let category = |kind| execution.definition().category(kind);
        Self {
            execution_id: execution.id(),
            action_type: contract.action().action_type().clone(),
            action_summary: contract.summary_in(language).into_owned(),
            current_status: state.name.to_string(),
            label,
            session: contract.session_id().map(str::to_owned),
            created_at: summary.created_at,
            entered_at: summary.entered_at,
            duration_in_state_ms: millis_between(summary.entered_at, now),
            is_terminal: state.terminal,
            is_stable: state.stable || state.terminal,
            is_resumable: label == Label::Waiting && !progress.awaits_report(),
            has_side_effects: contract.is_irreversible(),
            took_effect: contract.is_irreversible() && progress.applied,
            irreversible: contract.is_irreversible(),
            release: Release::of(execution),
            human_confirmed: progress.approved_by.is_some(),
            acknowledged: progress.acknowledged_by.is_some(),
            question,
            waits_for_service: progress.awaits_report(),
            answer_by: summary
                .due_at()
                .or(progress.report_by().filter(|_| progress.awaits_report()))
                .map(|at| due::<A>(at, summary.entered_at)),
            result,
            error_message,
            refusal: refusal(execution, &progress),
            transition_count: summary.transitions,
            last_trigger: summary.last_trigger.as_deref().map(str::to_owned),
            last_actor_category: actor.map(category),
            last_actor: A::__diagnostic(|| actor.map(str::to_owned)),
            approved_by: progress.approved_by.clone(),
            answered_by: answered_by.cloned(),
            idempotency_key: A::__diagnostic(|| {
                contract.idempotency_key().map(|key| key.as_str().to_owned())
            }),
            timeout_seconds: A::__diagnostic(|| {
                contract.timeout().map(|limit| limit.as_secs_f64())
            }),
            reference: A::__internal(|| progress.reference().map(str::to_owned)),
            action_detail: A::__internal(|| contract.action().shown_detail()),
            metadata: A::__internal(|| contract.metadata().clone()),
        }
    }
}
