use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::{
    act::read,
    caller::Caller,
    extract::{OfMachine, Query, limit, name, parsed},
    json::Json,
    problem::Problem,
    state::Shared,
};
use crate::{
    audience::{Audience, for_audience},
    page::split,
    stage::Stage,
};
use machine::{
    contract::{CallStage, Release},
    observe::{Attention, Detail, Observer, Overview},
    operate::{Selection, Wanted},
    store::{self, Cursor},
    text::OneLine,
    view::{self, Internal, Timeline, View},
};

/// The audience.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct For {
    /// By default people.
    #[param(inline)]
    pub(super) audience: Option<Audience>,
}

/// The size and the audience of a list of concerns.
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

read! {
    /// The machines that need attention, most urgent first.
    #[get("/api/attention", "machines", "attention", params(Urgent))]
    #[shows("The concerns.", Attention<Internal>)]
    async fn attention(http, caller: Caller, Query(some): Query<Urgent>) -> Response {
        let audience = caller.may_see(some.audience)?;
        let query = store::Query::new().limit(limit(some.limit, 100)?);
        for_audience!(audience, A => {
            Ok(Json(http.observer.attention::<A>(&query).await?).into_response())
        })
    }
}

/// Which machines.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct MachinesQuery {
    /// Of this kind, such as `execution`.
    machine: Option<String>,
    /// In this state: its label, such as `IN_DOUBT`, or its name, such as `waiting`; in any case.
    status: Option<String>,
    /// Of this session.
    session: Option<String>,
    /// With this idempotency key.
    #[param(pattern = "^[\\s\\S]+:[0-9a-f]{64}$")]
    key: Option<String>,
    /// Executions that their gates let do this.
    #[param(inline)]
    release: Option<Release>,
    /// In a state with a call in this stage.
    #[param(inline)]
    calls: Option<Stage>,
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
#[serde(bound = "")]
#[schema(bound = "A: view::Audience + utoipa::ToSchema")]
#[allow(clippy::struct_field_names, reason = "they are the names in the document")]
pub(super) struct Machines<A: view::Audience> {
    /// The machines.
    #[schema(value_type = Vec<Overview<A>>)]
    machines: Vec<View<Overview<A>>>,
    /// The errors of those of the page that cannot be read.
    unreadable: Vec<String>,
    /// Where the next page begins.
    next: Option<String>,
}

read! {
    /// Machines of any kind, in pages.
    #[get("/api/machines", "machines", "list_machines", params(MachinesQuery))]
    #[shows("A page of machines.", Machines<Internal>)]
    #[problem(404, "No such kind, state or session; `detail` lists the existing ones.")]
    async fn list(http, caller: Caller, Query(which): Query<MachinesQuery>) -> Response {
        let audience = caller.may_see(which.audience)?;
        let mut query = store::Query::new().limit(limit(which.limit, 50)?);
        if which.order.unwrap_or_default() == Order::Newest {
            query = query.newest_first();
        }
        if which.key.is_some() {
            // A caller could confirm guessed arguments by the key.
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
            calls: which.calls.map(CallStage::from),
        };
        let selection = wanted.select(&http.observer, query).await?;
        for_audience!(audience, A => {
            Ok(Json(page::<A>(&http.observer, &selection).await?).into_response())
        })
    }
}

fn named(text: Option<&str>) -> Result<Option<&str>, Problem> {
    text.map(name).transpose()
}

async fn page<A: view::Audience>(
    observer: &Observer,
    selection: &Selection,
) -> Result<Machines<A>, Problem> {
    let page = selection.list::<A>(observer).await?;
    let (machines, errors) = split(page.items);
    let unreadable = errors.iter().map(|error| {
        if A::LEVEL == <Internal as view::Audience>::LEVEL {
            OneLine(error).to_string()
        } else {
            // The words of an error may repeat data.
            "a machine cannot be read; `machine check` names it".to_owned()
        }
    });
    let unreadable = unreadable.collect();
    Ok(Machines { machines, unreadable, next: page.next.map(|next| next.to_string()) })
}

read! {
    /// A machine, why it waits, and the next steps.
    #[get("/api/machines/{id}", "machines", "show_machine", params(("id" = machine::Id, Path), For))]
    #[shows("The machine.", Detail<Internal>)]
    #[problem(404, "No machine has this id.")]
    #[problem(409, "The stored data of the machine cannot be read.")]
    async fn show(http, caller: Caller, OfMachine(id): OfMachine, Query(shown): Query<For>) -> Response {
        for_audience!(caller.may_see(shown.audience)?, A => {
            let detail = http.observer.detail::<A>(id).await;
            Ok(Json(detail.map_err(|error| caller.unreadable(error))?).into_response())
        })
    }
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
#[serde(bound = "")]
#[schema(bound = "A: view::Audience + utoipa::ToSchema")]
pub(super) struct TimelinePart<A: view::Audience> {
    #[serde(flatten)]
    #[schema(value_type = Timeline<A>)]
    timeline: View<Timeline<A>>,
    /// For `after`, if there are more events.
    next: Option<u64>,
}

read! {
    /// The history of a machine.
    #[get("/api/machines/{id}/timeline", "machines", "machine_timeline", params(("id" = machine::Id, Path), Part))]
    #[shows("A part of the history.", TimelinePart<Internal>)]
    #[problem(404, "No machine has this id.")]
    #[problem(409, "The stored data of the machine cannot be read.")]
    async fn timeline(http, caller: Caller, OfMachine(id): OfMachine, Query(part): Query<Part>) -> Response {
        let audience = caller.may_see(part.audience)?;
        let limit = limit(part.limit, 1000)?;
        // Larger numbers are not the same in every reader of JSON.
        if part.after.is_some_and(|after| after > 9_007_199_254_740_991) {
            return Err(Problem::malformed("`after` is at most 9007199254740991"));
        }
        let from = part.after.map_or(0, |after| after.saturating_add(1));
        for_audience!(audience, A => {
            let timeline = http.observer.timeline_part::<A>(id, from, limit).await;
            let timeline = timeline.map_err(|error| caller.unreadable(error))?;
            let last = timeline.events.last().map(|event| event.number);
            let next = last.filter(|last| last.saturating_add(1) < timeline.total);
            Ok(Json(TimelinePart { timeline, next }).into_response())
        })
    }
}
