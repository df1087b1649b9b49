use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::{
    access::Role,
    act::{act, read},
    caller::{Caller, Writer},
    extract::{Body, OfMachine, Query, limit, parsed},
    json::Json,
    problem::Problem,
    state::Shared,
    withhold::SIGN_IN,
};
use machine::{
    Id,
    contract::{WholeQuestion, without_arguments},
    effects::StateError,
    journal::Digest,
    observe::Approval,
    operate::Decided,
    store::{self, Cursor, LoadError},
    stored::VerifyError,
    view::View,
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

/// The gates that wait for an answer.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Approvals {
    /// Oldest first.
    #[schema(value_type = Vec<Approval>)]
    approvals: Vec<View<Approval>>,
    /// Where the next page begins.
    next: Option<String>,
}

read! {
    /// The gates that wait for an answer, oldest first.
    #[get("/api/approvals", "approvals", "list_approvals", params(Most))]
    #[shows("The gates.", Approvals)]
    async fn list(http, caller: Caller, Query(page): Query<Most>) -> Json<Approvals> {
        let limit = limit(page.limit, 100)?;
        let mut query = store::Query::new().limit(limit);
        if let Some(after) = parsed::<Cursor>("after", page.after.as_deref())? {
            query = query.after(after);
        }
        let mut page = http.observer.approvals(&query).await?;
        if caller.role == Role::Local {
            let shown = page.items.into_iter().map(|approval| {
                match without_arguments(&approval.question, http.language) {
                    // Its arguments are withheld, and an approval requires that they were shown.
                    Some(_) => approval.without_digest(),
                    None => approval,
                }
            });
            page.items = shown.collect();
        }
        Ok(Json(Approvals { approvals: page.items, next: page.next.map(|next| next.to_string()) }))
    }
}

read! {
    /// The whole question of a gate that waits for an answer.
    #[get("/api/approvals/{id}", "approvals", "show_approval", params(("id" = Id, Path)))]
    #[shows("All of the question, and its digest.", WholeQuestion)]
    #[problem(401, "The arguments are shown with a token.")]
    #[problem(404, "No machine has this id.")]
    #[problem(409, "Not a gate that waits for an answer.")]
    async fn show(http, caller: Caller, OfMachine(id): OfMachine) -> Json<WholeQuestion> {
        let gate = http.store.gate(id).await.map_err(|error| match error {
            StateError::Load(LoadError::Unreadable(VerifyError::OtherMachine { .. })) => {
                Problem::refused(format!("{id} is not a gate: it asks for no approval"))
            }
            error => error.into(),
        })?;
        if caller.role == Role::Local {
            return Err(Problem::unauthorized(SIGN_IN));
        }
        gate.whole_question_in(http.language).map(Json).ok_or_else(|| {
            Problem::refused(
                "the action behind the gate cannot be read, so the gate cannot be approved",
            )
        })
    }
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
    /// The reason.
    reason: Option<String>,
}

/// The decisions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Decisions {
    /// In the order of the request.
    decided: Vec<Decided>,
}

act! {
    /// Lets the actions behind these gates run, once. All of them, or none.
    #[post("/api/approvals/approve", "approvals", "approve")]
    #[answers(200, "The decisions, as they are stored.")]
    async fn approve(http, operator, shown: Approve) -> Decisions {
        let digests: BTreeMap<Id, Digest> = shown.gates.iter().map(|it| (it.id, it.digest)).collect();
        let ids = each_once(shown.gates.into_iter().map(|it| it.id).collect())?;
        let act = async {
            let gates = operator.gates("approve", &ids).await?.into_iter();
            let shown = gates.map(|gate| {
                let digest = digests.get(&gate.id()).copied();
                (gate, digest)
            });
            let decided = operator.approve(shown.collect()).await;
            let decided = decided.map_err(|error| match error.not_shown() {
                Some(id) => error.hint(format_args!("`api/approvals/{id}` has both")),
                None => error,
            })?;
            Ok(Decisions { decided })
        };
        http.answer(&ids, act).await
    }
}

act! {
    /// Cancels the actions behind these gates. All of them, or none.
    #[post("/api/approvals/decline", "approvals", "decline")]
    #[answers(200, "The decisions, as they are stored.")]
    async fn decline(http, operator, declined: Decline) -> Decisions {
        let Decline { gates, reason } = declined;
        let ids = each_once(gates)?;
        let act = async {
            let gates = operator.gates("decline", &ids).await?;
            Ok(Decisions { decided: operator.decline(gates, reason.as_deref()).await? })
        };
        http.answer(&ids, act).await
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
