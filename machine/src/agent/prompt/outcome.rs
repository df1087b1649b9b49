//! What a model reads as the result of a call. No text has the mark of an error: a model repeats
//! what it takes for failed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{
    agent::CardId,
    contract::{ActionRefusal, CallError},
};

const ASK: &str = "It may have happened, or may still happen: do not repeat it, and ask.";

/// The card that the result of a delegated turn names.
pub(super) fn deliverable(body: &Value) -> Option<CardId> {
    body.get("end").and(CardId::deserialize(&body["deliverable"]).ok())
}

/// The text of a result, from the body of its card, and that of the call. Only a delegated turn has
/// a card of another agent; what an agent has closed a call with is no error that cannot be read.
pub(super) fn text(body: &Value, call: Option<&Value>, cards: &BTreeMap<CardId, &Value>) -> String {
    let is = |what: &str| call.is_some_and(|call| call.get(what).is_some());
    if let Some(id) = deliverable(body).filter(|_| is("turn")) {
        let result = cards.get(&id).map_or_else(|| format!("card {id}"), |body| plain(body));
        return format!("The other agent has ended: {}. Its result: {result}", plain(&body["end"]));
    }
    let is_single = body.as_object().is_some_and(|body| body.len() == 1);
    match (body.get("receipt").or(body.get("answer")), body.get("error")) {
        (Some(result), _) if is_single => plain(result),
        (_, Some(error)) if is_single => {
            failed(error).unwrap_or_else(|why| if is("closed") { plain(body) } else { why })
        }
        _ => plain(body),
    }
}

/// A text as it is, and other data as JSON.
pub(super) fn plain(data: &Value) -> String {
    data.as_str().map_or_else(|| data.to_string(), str::to_owned)
}

/// The text of an error; `Err` if it cannot be read.
fn failed(error: &Value) -> Result<String, String> {
    if let Some(overdue) = error.get("overdue") {
        let named = overdue.as_object().and_then(|named| named.iter().next());
        let what = named.map(|(what, id)| format!("{what} {}", plain(id)));
        let what = what.as_deref().unwrap_or("the call");
        return Ok(format!("Still running: {what} goes on, and this turn waits no longer. {ASK}"));
    }
    if let Some(why) = error["interrupted"].as_str() {
        return Ok(format!("Interrupted before it had a result: {why}. {ASK}"));
    }
    if let Some(why) = error["not_made"].as_str().or(error["refused"].as_str()) {
        return Ok(format!("Never started: {why}."));
    }
    Ok(match CallError::<ActionRefusal>::deserialize(error) {
        Ok(CallError::Declined { by, reason }) => format!("Denied by {by}, and not made: {reason}"),
        Ok(error @ (CallError::Refused(_) | CallError::NotApplied(_))) => {
            format!("It did not take effect: {error}")
        }
        Ok(CallError::Failed(why)) => format!("Failed: {why}"),
        // Perhaps a person has taken responsibility without a proof.
        Ok(error @ (CallError::Cancelled { .. } | CallError::Overdue { .. })) => {
            format!("Uncertain: {error}. {ASK}")
        }
        Ok(error) => format!("Never started: {error}."),
        Err(_) => return Err(format!("Uncertain: {}. {ASK}", plain(error))),
    })
}
