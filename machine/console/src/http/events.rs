use std::{convert::Infallible, future::ready, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue},
    response::{IntoResponse, Response, Sse, sse::Event},
};
use futures_util::{
    StreamExt,
    stream::{once, unfold},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{
    caller::Caller,
    change::{Change, Changed, EVENTS, ExecutionState, MachineState},
    extract::{Query, parsed},
    feed::Reader,
    problem::Problem,
    state::Shared,
};
use machine::{Id, store::Position, stored::normal_session};

/// The time between two signs of life of a stream.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The choice of a subscriber.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Everything after this position, such as `1.42`. The header `Last-Event-ID` comes first.
    /// Without either, what happens from now on.
    #[param(pattern = "^(0|[1-9][0-9]{0,18})[.](0|[1-9][0-9]{0,18})$")]
    after: Option<String>,
    /// The events, separated by commas: `execution_state`, `machine_state`, `changed`. By default
    /// `execution_state` alone.
    events: Option<String>,
    /// Only machines of this session.
    session: Option<String>,
    /// Only machines of this kind.
    machine: Option<String>,
    /// Only this machine.
    id: Option<String>,
}

struct Filter {
    events: Vec<&'static str>,
    session: Option<String>,
    machine: Option<String>,
    id: Option<Id>,
}

/// Every transition from now on, or after a position, as server-sent events.
///
/// The id of an event is its position in the journal of the store. A client that reconnects with
/// the header `Last-Event-ID` misses nothing and gets nothing twice. A comment at the beginning and
/// every 15 seconds says that the stream is alive, with its position.
#[utoipa::path(
    operation_id = "events",
    get, path = "/api/events", tag = "events", params(Wanted),
    responses(
        (status = 200, description = "`data:` is one of these documents, by the name of the event.",
            content(
                (ExecutionState = "text/event-stream"),
                (MachineState = "text/event-stream"),
                (Changed = "text/event-stream"),
            )),
        (status = 410, description = "The store does not have the position.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn events(
    State(http): State<Shared>,
    _: Caller,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").map(HeaderValue::to_str).transpose();
    let last = last.map_err(|_| Problem::malformed("`Last-Event-ID` is not text"))?;
    let after = match last.filter(|last| !last.is_empty()) {
        Some(last) => parsed::<Position>("Last-Event-ID", Some(last))?,
        None => parsed::<Position>("after", wanted.after.as_deref())?,
    };
    let filter = Filter::new(wanted)?;
    let reader = http.feed.subscribe(after).await?;
    // A client that is cut before the first event has its position all the same.
    let first = alive(&reader);
    let rest = unfold((reader, filter), |(mut reader, filter)| async {
        let event = next(&mut reader, &filter).await?;
        Some((event, (reader, filter)))
    });
    let stream = once(ready(first)).chain(rest).map(Ok::<_, Infallible>);
    // Proxies must not hold events back.
    let headers = [("cache-control", "no-store"), ("x-accel-buffering", "no")];
    Ok((headers, Sse::new(stream)).into_response())
}

/// The position of a reader. Without data no event is made of it, but the client keeps it.
fn alive(reader: &Reader) -> Event {
    Event::default().id(reader.position().to_string()).comment("alive")
}

async fn next(reader: &mut Reader, filter: &Filter) -> Option<Event> {
    let heartbeat = tokio::time::sleep(HEARTBEAT);
    tokio::pin!(heartbeat);
    loop {
        let changed = tokio::select! {
            changed = reader.next() => changed?,
            () = &mut heartbeat => {
                // Without the file there is nothing to wait for. The client reconnects and gets the
                // reason.
                reader.check().await.ok()?;
                return Some(alive(reader));
            }
        };
        match changed {
            Ok(change) if filter.wants(&change) => {
                let event = Event::default().id(change.position.to_string()).event(change.event);
                return Some(event.data(&change.data));
            }
            Ok(_) => {}
            // The client reconnects and gets the reason.
            Err(_) => return None,
        }
    }
}

impl Filter {
    fn new(wanted: Wanted) -> Result<Self, Problem> {
        let events = wanted.events.as_deref().unwrap_or(EVENTS[0]).split(',').map(|name| {
            EVENTS.into_iter().find(|known| *known == name.trim()).ok_or_else(|| {
                Problem::malformed(format!("`events`: the events are {}", EVENTS.join(", ")))
            })
        });
        Ok(Self {
            events: events.collect::<Result<_, _>>()?,
            session: wanted.session.map(normal_session),
            machine: wanted.machine,
            id: parsed("id", wanted.id.as_deref())?,
        })
    }

    fn wants(&self, change: &Change) -> bool {
        self.events.contains(&change.event)
            && self.session.as_ref().is_none_or(|it| change.session.as_ref() == Some(it))
            && self.machine.as_ref().is_none_or(|it| change.machine == *it)
            && self.id.is_none_or(|it| change.id == it)
    }
}

#[cfg(test)]
mod tests;
