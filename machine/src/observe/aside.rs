//! Why workers set a message aside, in words that repeat no data: errors of programs may.

use serde_json::{Map, Value};

use super::misfit::misfit;
use crate::store::{Cause, Received, read::observe::Observed};

/// The reason why a message was set aside; for an invalid message, its error.
pub(crate) fn of_message(message: &Received, machine: Option<&Observed>) -> String {
    let cause = message.cause.unwrap_or(Cause::NotValid);
    let machine = machine.filter(|_| cause == Cause::NotValid);
    let misfit = machine.and_then(|machine| misfit_of(message, machine));
    misfit.unwrap_or_else(|| cause.to_string())
}

fn misfit_of(message: &Received, machine: &Observed) -> Option<String> {
    let body = serde_json::from_str::<Map<String, Value>>(&message.body).ok();
    let trigger = body.as_ref().and_then(|body| body.get("trigger")?.as_str());
    let (Some(body), Some(trigger)) = (&body, trigger) else {
        return Some("it is not an event".to_owned());
    };
    let payload: Map<String, Value> = body
        .iter()
        .filter(|(name, _)| *name != "trigger")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut edges = machine.newest.edges.iter();
    match edges.find(|edge| edge.is_called(trigger)) {
        Some(edge) => misfit(edge, &payload, false),
        None => Some("no state of the machine accepts such an event".to_owned()),
    }
}
