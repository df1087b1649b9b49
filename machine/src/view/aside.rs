//! Why workers set something aside, in words that repeat no data: errors of programs may.

use serde_json::{Map, Value};

use super::misfit::misfit;
use crate::{
    definition::Definition,
    store::{Received, observe::Observed},
};

/// The cause of a machine that is set aside as a whole.
pub(crate) const MACHINE: &str = "its handler failed too often";

/// Why a message to a machine was set aside.
pub(crate) fn of_message(message: &Received, machine: &Observed) -> String {
    if machine.has_moved_since(message) {
        return "the machine had moved on".to_owned();
    }
    if machine.has_ended() {
        return "the machine has ended".to_owned();
    }
    let body = serde_json::from_str::<Map<String, Value>>(&message.body).ok();
    let trigger = body.as_ref().and_then(|body| body.get("trigger")?.as_str());
    let (Some(body), Some(trigger)) = (&body, trigger) else {
        return "it is not an event".to_owned();
    };
    let payload: Map<String, Value> = body
        .iter()
        .filter(|(name, _)| *name != "trigger")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(misfit) = of_payload(machine.newest(), trigger, &payload) {
        return misfit;
    }
    match message.attempts {
        0 | 1 => "its program refused it".to_owned(),
        attempts => format!("it failed {attempts} times"),
    }
}

fn of_payload(
    definition: &Definition,
    trigger: &str,
    payload: &Map<String, Value>,
) -> Option<String> {
    let mut edges = definition
        .edges
        .iter()
        .filter(|edge| edge.trigger == trigger || edge.was.iter().any(|was| was == trigger));
    let Some(edge) = edges.next() else {
        return Some("no state of the machine takes such an event".to_owned());
    };
    misfit(edge, payload, false)
}
