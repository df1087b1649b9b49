use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::json::Json;
use super::{
    caller::Caller,
    extract::{OfMachine, Query, limit, name, parsed},
    problem::Problem,
    router::Shared,
    steps::with_commands,
};
use crate::audience::{Audience, for_audience};
use machine::{
    contract::Release,
    operate::{Selection, Wanted},
    store,
    store::{Cursor, LoadError, Page},
    view::{self, Attention, Detail, Internal, Observer, Overview, Timeline},
};

/// Who it is shown to.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct For {
    /// By default people.
    #[param(inline)]
    audience: Option<Audience>,
}

/// How much attention.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Urgent {
    /// At most this many that wait, and as many that are overdue. By default 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// By default people.
    #[param(inline)]
    audience: Option<Audience>,
}

/// What needs attention, most urgent first.
#[utoipa::path(
    operation_id = "attention",
    get, path = "/api/attention", tag = "machines", params(Urgent),
    responses(
        (status = 200, description = "The concerns.", body = Attention<Internal>),
    )
)]
pub(super) async fn attention(
    State(http): State<Shared>,
    caller: Caller,
    Query(some): Query<Urgent>,
) -> Result<Json<Value>, Problem> {
    let audience = caller.may_see(some.audience)?;
    let query = store::Query::new().limit(limit(some.limit, 100)?);
    let mut attention = for_audience!(audience, http.observer, attention(&query))??;
    with_commands(&mut attention, &http.command);
    Ok(Json(attention))
}

/// Which machines.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// Of this kind, such as `execution`.
    machine: Option<String>,
    /// In this state: its label, such as `IN_DOUBT`, or its name, such as `waiting`; in any case.
    status: Option<String>,
    /// Of this session.
    session: Option<String>,
    /// With this idempotency key.
    key: Option<String>,
    /// Executions that their gates let do this.
    #[param(inline)]
    release: Option<Release>,
    /// By the time of creation; by default the newest first.
    #[param(inline)]
    order: Option<Order>,
    /// The most on a page. By default 50.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The page after this place, which the page before has as `next`.
    #[param(pattern = "^(oldest|newest)[.](0|[1-9][0-9]{0,18})$")]
    after: Option<String>,
    /// By default people.
    #[param(inline)]
    audience: Option<Audience>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    #[default]
    Newest,
    Oldest,
}

/// A page of machines.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[allow(dead_code, clippy::struct_field_names, reason = "it describes what `list` answers")]
pub(super) struct Machines {
    /// The machines.
    machines: Vec<Overview<Internal>>,
    /// What is wrong with those of the page that cannot be read.
    unreadable: Vec<String>,
    /// Where the next page begins.
    next: Option<String>,
}

/// The machines of any kind, in pages.
#[utoipa::path(
    operation_id = "list_machines",
    get, path = "/api/machines", tag = "machines", params(Which),
    responses(
        (status = 200, description = "A page of machines.", body = Machines),
        (status = 404, description = "There is no such kind, state or session; `detail` has those that there are.",
            body = Problem, content_type = "application/problem+json"),
    )
)]
pub(super) async fn list(
    State(http): State<Shared>,
    caller: Caller,
    Query(which): Query<Which>,
) -> Result<Json<Value>, Problem> {
    let audience = caller.may_see(which.audience)?;
    let mut query = store::Query::new().limit(limit(which.limit, 50)?);
    if which.order.unwrap_or_default() == Order::Newest {
        query = query.newest_first();
    }
    if which.key.is_some() {
        // Whether a machine has a key tells its arguments to who can guess them.
        caller.may_see(Some(Audience::Diagnostic))?;
    }
    if let Some(after) = parsed::<Cursor>("after", which.after.as_deref())? {
        query = query.after(after);
    }
    let wanted = Wanted {
        machine: named(which.machine.as_deref())?,
        state: named(which.status.as_deref())?,
        session: named(which.session.as_deref())?,
        key: named(which.key.as_deref())?,
        release: which.release,
    };
    let observer = &http.observer;
    let selection = wanted.select(observer, query).await?;
    let found = match audience {
        Audience::Human => page::<view::Human>(observer, &selection).await?,
        Audience::Diagnostic => page::<view::Diagnostic>(observer, &selection).await?,
        Audience::Internal => page::<view::Internal>(observer, &selection).await?,
    };
    Ok(Json(found))
}

fn named(text: Option<&str>) -> Result<Option<&str>, Problem> {
    text.map(name).transpose()
}

async fn page<A: view::Audience>(
    observer: &Observer,
    selection: &Selection,
) -> Result<Value, Problem> {
    let Page { items, next, .. }: Page<Result<Overview<A>, LoadError>> =
        selection.list(observer).await?;
    let (mut machines, mut unreadable) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Ok(overview) => machines.push(serde_json::to_value(&overview)?),
            // The words of an error may repeat data.
            Err(_) if A::LEVEL != <Internal as view::Audience>::LEVEL => {
                unreadable.push("a machine cannot be read; `machine check` names it".to_owned());
            }
            Err(error) => unreadable.push(machine::text::OneLine(&error.to_string()).to_string()),
        }
    }
    let next = next.map(|next| next.to_string());
    Ok(json!({ "machines": machines, "unreadable": unreadable, "next": next }))
}

/// A machine, what it waits for, and what to do next.
#[utoipa::path(
    operation_id = "show_machine",
    get, path = "/api/machines/{id}", tag = "machines",
    params(("id" = machine::Id, Path), For),
    responses(
        (status = 200, description = "The machine.", body = Detail<Internal>),
        (status = 404, description = "No machine has this id.", body = Problem,
            content_type = "application/problem+json"),
        (status = 409, description = "The stored data of the machine cannot be read.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn show(
    State(http): State<Shared>,
    caller: Caller,
    OfMachine(id): OfMachine,
    Query(shown): Query<For>,
) -> Result<Json<Value>, Problem> {
    let audience = caller.may_see(shown.audience)?;
    let detail = for_audience!(audience, http.observer, detail(id));
    let mut detail = detail.map_err(|error| Problem::of_unreadable(error, &caller))??;
    with_commands(&mut detail, &http.command);
    Ok(Json(detail))
}

/// Which part of a history.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// The events after the one with this number; by default from the first.
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_u64)]
    after: Option<u64>,
    /// The most events. By default 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// By default people.
    #[param(inline)]
    audience: Option<Audience>,
}

/// A part of the history of a machine.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[allow(dead_code, reason = "it describes what `timeline` answers")]
pub(super) struct TimelinePart {
    #[serde(flatten)]
    timeline: Timeline<Internal>,
    /// For `after`, if there are more events.
    next: Option<u64>,
}

/// The history of a machine.
#[utoipa::path(
    operation_id = "machine_timeline",
    get, path = "/api/machines/{id}/timeline", tag = "machines",
    params(("id" = machine::Id, Path), Part),
    responses(
        (status = 200, description = "A part of the history.", body = TimelinePart),
        (status = 404, description = "No machine has this id.", body = Problem,
            content_type = "application/problem+json"),
        (status = 409, description = "The stored data of the machine cannot be read.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn timeline(
    State(http): State<Shared>,
    caller: Caller,
    OfMachine(id): OfMachine,
    Query(part): Query<Part>,
) -> Result<Json<Value>, Problem> {
    let audience = caller.may_see(part.audience)?;
    let limit = limit(part.limit, 1000)?;
    // Larger numbers are not the same in every reader of JSON.
    if part.after.is_some_and(|after| after > 9_007_199_254_740_991) {
        return Err(Problem::malformed("`after` is at most 9007199254740991"));
    }
    let from = part.after.map_or(0, |after| after.saturating_add(1));
    let timeline = for_audience!(audience, http.observer, timeline_part(id, from, limit));
    let mut timeline = timeline.map_err(|error| Problem::of_unreadable(error, &caller))??;
    let last = timeline["events"].as_array().and_then(|events| events.last());
    let last = last.and_then(|event| event["number"].as_u64());
    let total = timeline["total"].as_u64().unwrap_or_default();
    timeline["next"] = last.filter(|last| last.saturating_add(1) < total).into();
    Ok(Json(timeline))
}
