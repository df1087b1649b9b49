//! The results of a waiting set.

use std::{slice, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ActiveTurn, AfterExecution, CallSource, Member, MemberId, TurnRecord, TurnStatus, WaitOutcome,
    stored::{Asked, StoredRows},
};
use crate::{
    clock::{Millis, millis_between},
    contract::{ActionRefusal, AnyExecution, CallError, Outcome, ToolCall, outcome},
    id::Id,
    store::{
        LoadError, Store, Unavailable,
        backend::{Broken, CallRow, Messages},
        inbox::outcome::OutcomePlace,
    },
};

/// The visit of a head in which its turn waits: its id, and the number of the entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    pub(super) head: Id,
    pub(super) entered: u64,
}

/// The result that came first.
#[derive(Debug)]
pub(super) struct NextReport {
    pub(super) member: MemberId,
    /// When the call ended, if it has.
    pub(super) ended_at: Option<Millis>,
    pub(super) outcome: WaitOutcome,
    pub(super) body: Value,
    /// The correlation id of the message that has brought it.
    pub(super) message: Option<String>,
}

pub(super) struct End {
    at: Millis,
    after: Option<AfterExecution>,
    pub(super) body: Value,
    pub(super) message: Option<String>,
}

/// A call of the set that has ended.
enum Ended {
    /// When the execution ended, by its row. Its result is not read yet.
    Execution(Id, Millis),
    Read(End),
}

/// Finds the call of the set that ended first, or was overdue first. If none has or was, no result
/// is due before the time of the error has passed.
pub(super) async fn next(
    store: &Store,
    visit: Visit,
    turn: &ActiveTurn,
    stored: &mut StoredRows,
) -> Result<Result<NextReport, Option<Duration>>, LoadError> {
    let calls = calls(store, visit).await?.into_iter().collect::<Result<Vec<CallRow>, _>>()?;
    let ends = ends(store, visit, &turn.waiting, &calls, stored).await?;
    let (now, mut first) = (store.now(), None::<(Millis, &Member, Option<Ended>)>);
    for (member, end) in ends {
        // The clock may have jumped back since: what has ended is ready.
        let times = [end.as_ref().map(|end| end.at().min(now)), member.deadline];
        let Some(at) = times.into_iter().flatten().min() else { continue };
        if first.as_ref().is_none_or(|(earliest, ..)| at < *earliest) {
            first = Some((at, member, end));
        }
    }
    Ok(match first {
        None => Err(None),
        Some((at, ..)) if at > now => Err(Some(Duration::from_millis(millis_between(now, at)))),
        Some((_, member, end)) => Ok(report(member, Ended::read(end, store).await?, &calls)),
    })
}

/// The calls of the set that have ended, by index. Each is read by itself: one that cannot be read
/// has no end, so that a stopped turn ends.
pub(super) async fn ended(
    store: &Store,
    visit: Visit,
    turn: &ActiveTurn,
    stored: &mut StoredRows,
) -> Result<Vec<(u32, End)>, LoadError> {
    let calls: Vec<CallRow> = calls(store, visit).await?.into_iter().flatten().collect();
    let mut ended = Vec::new();
    for member in &turn.waiting {
        let ends = ends(store, visit, slice::from_ref(member), &calls, stored).await;
        let end = LoadError::readable(ends)?.and_then(|mut ends| ends.pop()?.1);
        let end = LoadError::readable(Ended::read(end, store).await)?.flatten();
        ended.extend(end.map(|end| (member.id.index, end)));
    }
    Ok(ended)
}

async fn calls(store: &Store, visit: Visit) -> Result<Vec<Result<CallRow, Broken>>, Unavailable> {
    store.inner.backend.calls(visit.head, visit.entered.saturating_add(1)).await
}

async fn ends<'a>(
    store: &Store,
    visit: Visit,
    waiting: &'a [Member],
    calls: &[CallRow],
    stored: &mut StoredRows,
) -> Result<Vec<(&'a Member, Option<Ended>)>, LoadError> {
    let delegated: Vec<_> = waiting.iter().filter_map(|member| member.source.turn()).collect();
    stored.load(store, &delegated, &[]).await?;
    let outside = waiting.iter().filter(|member| member.source == CallSource::Outside);
    let answers = stored.asked(store, outside.map(|member| member.id.answer()).collect()).await?;
    let mut ends = Vec::with_capacity(waiting.len());
    for member in waiting {
        let end = match member.source {
            CallSource::Execution(place) => Ended::call(store, visit, place, calls).await?,
            CallSource::Turn(turn) => {
                stored.rows.turns.get(&turn).and_then(End::of_turn).map(Ended::Read)
            }
            CallSource::Outside => {
                answers.get(&member.id.answer()).and_then(End::of_answer).map(Ended::Read)
            }
        };
        ends.push((member, end));
    }
    Ok(ends)
}

/// Of end and deadline the earlier one counts.
fn report(member: &Member, end: Option<End>, calls: &[CallRow]) -> NextReport {
    let (id, ended_at) = (member.id, end.as_ref().map(|end| end.at));
    let in_time = |end: &End| member.deadline.is_none_or(|due| end.at < due);
    if let Some(End { after, body, message, .. }) = end.filter(in_time) {
        let outcome = WaitOutcome::Ended { after };
        return NextReport { member: id, ended_at, outcome, body, message };
    }
    let overdue = match member.source {
        CallSource::Execution(place) => {
            let call = calls.iter().find(|call| call.position == place);
            call.map(|call| json!({ "execution": call.id }))
        }
        CallSource::Turn(turn) => Some(json!({ "turn": turn })),
        CallSource::Outside => None,
    };
    // The message of a call that ends later is not taken: an equal call can take it.
    let body = json!({ "error": { "overdue": overdue } });
    NextReport { member: id, ended_at, outcome: WaitOutcome::TimedOut, body, message: None }
}

impl Ended {
    async fn call(
        store: &Store,
        Visit { head, entered }: Visit,
        place: u32,
        calls: &[CallRow],
    ) -> Result<Option<Self>, LoadError> {
        let Some(call) = calls.iter().find(|call| call.position == place) else {
            // A call that was not made has a message instead of an execution.
            let place = OutcomePlace::Entry { entry: entered, position: Some(place) }.to_string();
            let which = Messages::One(head, place);
            let found = store.inner.backend.messages(which).await?.pop().transpose()?;
            return Ok(found.map(|message| {
                let body: Value = serde_json::from_str(&message.body).unwrap_or_default();
                let (at, body) = (message.sent_at, json!({ "error": body["error"] }));
                Self::Read(End { at, after: None, body, message: Some(message.correlation) })
            }));
        };
        Ok(call.ended_at.map(|at| Self::Execution(call.id, at)))
    }

    fn at(&self) -> Millis {
        match self {
            Self::Execution(_, at) => *at,
            Self::Read(end) => end.at,
        }
    }

    /// Reads the result of an execution.
    async fn read(ended: Option<Self>, store: &Store) -> Result<Option<End>, LoadError> {
        let id = match ended {
            None => return Ok(None),
            Some(Self::Read(end)) => return Ok(Some(end)),
            Some(Self::Execution(id, _)) => id,
        };
        let execution: AnyExecution = store.load(id).await?;
        let at = execution.journal().past().entered_at;
        let read: serde_json::Result<Option<Outcome<ToolCall>>> = outcome::<ToolCall>(&execution);
        let (after, body) = match read {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(receipt))) => {
                let after = serde_json::from_str(&receipt).ok();
                (after.as_ref().and_then(after_of), json!({ "receipt": receipt }))
            }
            Ok(Some(Err(error))) => (None, json!({ "error": error })),
            Err(error) => {
                let why = format!("the outcome of {id} cannot be read: {error}");
                (None, json!({ "error": CallError::<ActionRefusal>::Failed(why) }))
            }
        };
        let message = Some(OutcomePlace::Execution(id).to_string());
        Ok(Some(End { at, after, body, message }))
    }
}

impl End {
    fn of_answer(Asked { answer, .. }: &Asked) -> Option<Self> {
        let (at, answer) = answer.as_ref()?;
        let (after, body) = (after_of(answer), json!({ "answer": answer }));
        Some(Self { at: *at, after, body, message: None })
    }

    fn of_turn(record: &TurnRecord) -> Option<Self> {
        let TurnStatus::Delivered { end, deliverable, at } = record.status else { return None };
        let body = json!({ "end": end, "deliverable": deliverable });
        Some(Self { at, after: None, body, message: None })
    }
}

/// The continuation that a result asks for.
fn after_of(result: &Value) -> Option<AfterExecution> {
    let after = result.get("__cg_control")?.get("after_execution")?;
    AfterExecution::deserialize(after).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
