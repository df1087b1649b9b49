use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::IntoParams;

use super::json::Json;
use super::{
    access::Role,
    caller::{Caller, Writer},
    extract::{Body, OfMachine, Query, limit, parsed},
    problem::Problem,
    router::Shared,
    steps::with_commands,
};
use crate::{
    actor::Category,
    clock::Millis,
    contract::{AnyExecution, WholeQuestion, execution},
    id::Id,
    journal::Digest,
    operate::{self, Decided},
    store::{self, Cursor, LoadError, Standing},
    stored::VerifyError,
    view::{Human, NextStep, Phrase, due},
};

/// Which part.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Most {
    /// The most on a page. By default 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The page after this place, which the page before has as `next`.
    #[param(pattern = "^oldest[.](0|[1-9][0-9]{0,18})$")]
    after: Option<String>,
}

/// What people are asked to approve.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Approvals {
    /// Oldest first.
    approvals: Vec<Approval>,
    /// Where the next page begins.
    next: Option<String>,
}

/// A gate that waits for an answer.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Approval {
    /// The gate.
    gate: Id,
    /// The execution that may run once it is approved.
    execution: Id,
    /// The exact action, as a question. Long arguments are cut; then its second line names what is hidden.
    question: String,
    /// The digest of the question, for `approve`; `null` if a part is hidden: `api/approvals/{id}` has all of it.
    digest: Option<String>,
    /// A short description of the action.
    summary: String,
    /// The tool, such as `email.send`.
    tool: Option<String>,
    /// The category of who asks.
    asked_by: Category,
    /// The session.
    session: Option<String>,
    /// It cannot be taken back.
    irreversible: bool,
    /// Since when it waits (milliseconds since the Unix epoch).
    waiting_since: Millis,
    /// Until when it can be answered (milliseconds since the Unix epoch, by the clock of the store).
    expires_at: Option<Millis>,
    /// Why it cannot be approved any more.
    stale: Option<String>,
    /// What to know before it is approved: another execution may be doing the same.
    caution: Option<String>,
    /// What a person can do.
    next: Vec<NextStep>,
}

/// What people are asked to approve, oldest first.
#[utoipa::path(
    operation_id = "list_approvals",
    get, path = "/api/approvals", tag = "approvals", params(Most),
    responses(
        (status = 200, description = "The gates.", body = Approvals),
    )
)]
pub(super) async fn list(
    State(http): State<Shared>,
    _: Caller,
    Query(most): Query<Most>,
) -> Result<Json<Value>, Problem> {
    let limit = limit(most.limit, 100)?;
    let mut query = store::Query::new();
    query = query.machine(&*execution::DEFINITION.name).status("waiting").limit(limit);
    if let Some(after) = parsed::<Cursor>("after", most.after.as_deref())? {
        query = query.after(after);
    }
    let mut found = Approvals { approvals: Vec::new(), next: None };
    loop {
        let page = http.store.load_all::<AnyExecution>(&query).await?;
        // What cannot be read needs attention.
        for execution in page.items.into_iter().flatten() {
            if execution.context().approves().is_some() {
                found.approvals.extend(Approval::of(&http, &execution).await?);
            }
        }
        match page.next {
            // Other questions wait, too.
            Some(next) if found.approvals.is_empty() => query = query.after(next),
            next => {
                found.next = next.map(|next| next.to_string());
                break;
            }
        }
    }
    let mut found = serde_json::to_value(&found)?;
    with_commands(&mut found, &http.command);
    Ok(Json(found))
}

impl Approval {
    /// `None` if it was answered in the meantime.
    async fn of(http: &Shared, asked: &AnyExecution) -> Result<Option<Self>, LoadError> {
        let gate = match http.store.gate(asked.id()).await {
            Ok(gate) => gate,
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        let contract = gate.execution().context();
        let behind = gate.approval().execution();
        let (tool, irreversible) = match http.store.load::<AnyExecution>(behind).await {
            Ok(behind) => {
                (behind.context().action().tool_name(), behind.context().is_irreversible())
            }
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            Err(_) => (None, false),
        };
        let author = contract.made_by().0;
        let Standing { stale, caution } = http.store.standing(&gate).await?;
        let since = gate.execution().journal().summary().entered_at;
        Ok(Some(Self {
            gate: gate.id(),
            execution: behind,
            question: gate.question_in(http.language).into_owned(),
            digest: gate.digest_if_whole().map(|digest| digest.to_string()),
            summary: contract.summary_in(http.language).into_owned(),
            tool,
            asked_by: execution::DEFINITION.category(author),
            session: contract.session_id().map(str::to_owned),
            irreversible,
            waiting_since: since,
            expires_at: gate.expires_at().map(|at| due::<Human>(at, since)),
            stale,
            caution,
            next: http.observer.next_of_execution(asked).await?,
        }))
    }
}

/// The whole question of a gate that waits for an answer.
#[utoipa::path(
    operation_id = "show_approval",
    get, path = "/api/approvals/{id}", tag = "approvals", params(("id" = Id, Path)),
    responses(
        (status = 200, description = "All of the question, and its digest.", body = WholeQuestion),
        (status = 401, description = "The arguments are shown with a token.", body = Problem,
            content_type = "application/problem+json"),
        (status = 404, description = "No machine has this id.", body = Problem,
            content_type = "application/problem+json"),
        (status = 409, description = "It is not a gate that waits.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn show(
    State(http): State<Shared>,
    caller: Caller,
    OfMachine(id): OfMachine,
) -> Result<Json<WholeQuestion>, Problem> {
    let gate = http.store.gate(id).await.map_err(|error| match error {
        LoadError::Unreadable(VerifyError::OtherMachine { .. }) => {
            Problem::refused(format!("{id} is no gate: it asks for no approval"))
        }
        error => error.into(),
    })?;
    if caller.role == Role::Local {
        return Err(Problem::unauthorized(http.language.text(Phrase::SignInForArguments)));
    }
    gate.whole_question_in(http.language).map(Json).ok_or_else(|| {
        Problem::refused("what the gate asks for cannot be read, so nobody can approve it")
    })
}

/// The gates to approve.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approve {
    /// All of them, or none.
    #[schema(min_items = 1, max_items = 100)]
    gates: Vec<ShownGate>,
}

/// A gate whose question was shown.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ShownGate {
    /// The gate.
    id: Id,
    /// The digest of its whole question, which was shown to the person.
    #[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
    digest: Digest,
}

/// The gates to decline.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Decline {
    /// All of them, or none.
    #[schema(min_items = 1, max_items = 100)]
    gates: Vec<Id>,
    /// Why not.
    reason: Option<String>,
}

/// What was decided.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Decisions {
    /// In the order of the request.
    decided: Vec<Decided>,
}

/// What these gates ask for may run, once. All of them, or none.
#[utoipa::path(
    operation_id = "approve",
    post, path = "/api/approvals/approve", tag = "approvals", request_body = Approve,
    security(("bearer" = [])),
    responses(
        (status = 200, description = "The answers, as they are on record.", body = Decisions),
        (status = 409, description = "One of them cannot be approved, so none was.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn approve(
    State(http): State<Shared>,
    writer: Writer,
    Body(Approve { gates }): Body<Approve>,
) -> Result<Json<Decisions>, Problem> {
    let operator = writer.operates(&http);
    let digests: BTreeMap<Id, Digest> = gates.iter().map(|it| (it.id, it.digest)).collect();
    let ids = each_once(gates.into_iter().map(|it| it.id).collect())?;
    let decided = async {
        let gates = operator.gates("approve", &ids).await?.into_iter();
        let shown = gates.map(|gate| {
            let digest = digests.get(&gate.id()).copied();
            (gate, digest)
        });
        let approved = operator.approve(shown.collect()).await;
        approved.map_err(|error| match error.not_shown() {
            Some(id) => error.hint(format_args!("`api/approvals/{id}` has both")),
            None => error,
        })
    };
    decided_or_refused(&http, &ids, decided.await).await
}

/// What these gates ask for never runs. All of them, or none.
#[utoipa::path(
    operation_id = "decline",
    post, path = "/api/approvals/decline", tag = "approvals", request_body = Decline,
    security(("bearer" = [])),
    responses(
        (status = 200, description = "The answers, as they are on record.", body = Decisions),
        (status = 409, description = "One of them cannot be declined, so none was.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn decline(
    State(http): State<Shared>,
    writer: Writer,
    Body(Decline { gates, reason }): Body<Decline>,
) -> Result<Json<Decisions>, Problem> {
    let operator = writer.operates(&http);
    let ids = each_once(gates)?;
    let decided = async {
        let gates = operator.gates("decline", &ids).await?;
        operator.decline(gates, reason.as_deref()).await
    };
    decided_or_refused(&http, &ids, decided.await).await
}

/// A refusal of one gate has its legal moves; with several it is not known which of them was refused.
async fn decided_or_refused(
    http: &Shared,
    ids: &[Id],
    decided: Result<Vec<Decided>, operate::Error>,
) -> Result<Json<Decisions>, Problem> {
    match (decided, ids) {
        (Ok(decided), _) => Ok(Json(Decisions { decided })),
        (Err(error), [id]) => Err(http.refused(*id, error).await),
        (Err(error), _) => Err(error.into()),
    }
}

fn each_once(mut gates: Vec<Id>) -> Result<Vec<Id>, Problem> {
    if gates.is_empty() || gates.len() > 100 {
        return Err(Problem::malformed("`gates` has 1 to 100 ids"));
    }
    let mut seen = std::collections::BTreeSet::new();
    gates.retain(|gate| seen.insert(*gate));
    Ok(gates)
}
