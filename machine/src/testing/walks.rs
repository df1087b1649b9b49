use std::{collections::VecDeque, iter, sync::Arc};

use proptest::{
    collection::{SizeRange, vec},
    option,
    prelude::{BoxedStrategy, Just, Strategy, any},
    sample::Index,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    definition::{Definition, Edge, Field, Text},
    stored::Restore,
    typed::Erased,
};

/// An event of a generated sequence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestEvent {
    /// The trigger.
    pub trigger: String,
    /// The kinds of actor that may send it, such as `human`; empty means anyone.
    pub actors: Vec<String>,
    /// The event as JSON, with its trigger and its payload.
    pub json: Value,
    pub(super) source: Source,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    Actor,
    Deadline,
    /// The calls of this tool, if it is known at compile time. Each outcome is a `Result` as JSON,
    /// for the call at its position.
    Call {
        tool: Option<String>,
        outcomes: Vec<Value>,
    },
}

impl Source {
    fn of(definition: &Definition, edge: &Edge, payload: &Map<String, Value>) -> Self {
        if edge.deadline.is_some() {
            return Self::Deadline;
        }
        let Some(invocation) = &definition.states[edge.from].invocation else {
            return Self::Actor;
        };
        let is = |trigger: Option<&Text>| trigger == Some(&edge.trigger);
        let item = edge.payload.first().and_then(|item| payload.get(&*item.name));
        let outcomes = match item.cloned().unwrap_or_default() {
            error if is(invocation.failed.as_ref()) => vec![json!({ "Err": error })],
            outcome if is(invocation.each.as_ref()) => vec![outcome],
            Value::Array(all) if invocation.set && is(invocation.done.as_ref()) => all,
            receipt if is(invocation.done.as_ref()) => vec![json!({ "Ok": receipt })],
            _ => return Self::Actor,
        };
        Self::Call { tool: invocation.tool_name(), outcomes }
    }
}

impl TestEvent {
    /// The event of this machine, such as `order::Event`.
    ///
    /// # Panics
    ///
    /// If the payload has another type: give [`walks`] one for this trigger.
    #[must_use]
    pub fn of<M: Erased<Event: DeserializeOwned>>(&self) -> M::Event {
        let read = serde_json::from_value(self.json.clone());
        read.unwrap_or_else(|error| {
            panic!("the payload of `{}` is not valid: {error}", self.trigger)
        })
    }
}

/// Sequences of events that reach every transition of a machine: each leads to one transition,
/// chosen evenly, on a shortest path from the initial state, and goes on at random for `length`
/// events, such as `0..20`. Some events in it are illegal in the state in which they come, because
/// guards and choices depend on data: apply each one, and let the machine refuse.
///
/// In half of the sequences, each choice on the path comes again, up to `length` times: a retry
/// that is counted to 10 needs a `length` of at least 10 to go on. A sequence ends early only where
/// the machine has certainly ended: no guard and no choice was on the way.
///
/// `payload` makes the payload of a transition as a JSON object; [`payload_of`] does it for simple
/// types.
///
/// ```
/// use machine::contract::{AnyExecution, execution};
/// use machine::testing::{payload_of, walks};
/// use proptest::strategy::{Strategy, ValueTree};
/// use proptest::test_runner::TestRunner;
///
/// let mut reached = std::collections::BTreeSet::new();
/// let mut runner = TestRunner::deterministic();
/// let events = walks::<AnyExecution>(0..8, payload_of);
/// for _ in 0..200 {
///     let events = events.new_tree(&mut runner).unwrap().current();
///     reached.extend(events.into_iter().map(|event| event.trigger));
/// }
/// let triggers = execution::DEFINITION.edges.iter().map(|edge| edge.trigger.to_string());
/// assert!(triggers.into_iter().all(|trigger| reached.contains(&trigger)));
/// ```
///
/// # Panics
///
/// If the machine has no transitions.
pub fn walks<M: Restore>(
    length: impl Into<SizeRange>,
    payload: impl Fn(&Edge) -> BoxedStrategy<Map<String, Value>> + 'static,
) -> impl Strategy<Value = Vec<TestEvent>> {
    let definition = M::DEFINITION;
    assert!(!definition.edges.is_empty(), "`{}` has no transitions", definition.name);
    let payload = Arc::new(payload);
    let choices = vec(any::<Index>(), length);
    (0..definition.edges.len(), choices, option::of(any::<Index>())).prop_flat_map(
        move |(goal, choices, again)| {
            let edges = walk(definition, goal, &choices, again);
            let events = edges.into_iter().map(|edge| event(definition, edge, &*payload));
            events.collect::<Vec<_>>()
        },
    )
}

fn walk(
    definition: &Definition,
    goal: usize,
    choices: &[Index],
    again: Option<Index>,
) -> Vec<usize> {
    let edges = &definition.edges;
    let again = again.map_or(0, |again| again.index(choices.len() + 1));
    let mut walk = path(definition, edges[goal].from).unwrap_or_default();
    walk.push(goal);
    let times = |edge: usize| if edges[edge].when.is_some() { 1 + again } else { 1 };
    let mut walk: Vec<_> =
        walk.into_iter().flat_map(|edge| iter::repeat_n(edge, times(edge))).collect();
    let is_sure = |edge: &Edge| edge.guard.is_none() && edge.when.is_none();
    let leaving = |state: usize| -> Vec<usize> {
        (0..edges.len()).filter(|&it| edges[it].from == state).collect()
    };
    let mut last = goal;
    for choice in choices {
        let mut next = leaving(edges[last].to);
        if next.is_empty() {
            if walk.iter().all(|&edge| is_sure(&edges[edge])) {
                break;
            }
            // The machine may still be in the state before.
            next = leaving(edges[last].from);
        }
        last = *choice.get(&next);
        walk.push(last);
    }
    walk
}

fn event(
    definition: &'static Definition,
    edge: usize,
    payload: &dyn Fn(&Edge) -> BoxedStrategy<Map<String, Value>>,
) -> BoxedStrategy<TestEvent> {
    let edge = &definition.edges[edge];
    let made = payload(edge).prop_map(move |mut json| {
        let source = Source::of(definition, edge, &json);
        let trigger = edge.trigger.to_string();
        json.insert("trigger".to_owned(), trigger.clone().into());
        let actors = edge.actors.iter().map(ToString::to_string).collect();
        TestEvent { trigger, actors, json: json.into(), source }
    });
    made.boxed()
}

/// The edges of a shortest path from the initial state; `None` if there is none.
fn path(definition: &Definition, to: usize) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; definition.states.len()];
    let mut queue = VecDeque::from([definition.initial]);
    while let Some(state) = queue.pop_front() {
        if state == to {
            let mut edges = Vec::new();
            let mut at = to;
            while at != definition.initial {
                let edge = before[at]?;
                edges.push(edge);
                at = definition.edges[edge].from;
            }
            edges.reverse();
            return Some(edges);
        }
        for (index, edge) in definition.edges.iter().enumerate() {
            if edge.from == state && edge.to != definition.initial && before[edge.to].is_none() {
                before[edge.to] = Some(index);
                queue.push_back(edge.to);
            }
        }
    }
    None
}

/// The payload of a transition whose items have simple types: `String`, `Value`, `bool`, integers,
/// `f64`, and options, vectors and [`CallError`](crate::contract::CallError)s of those: a refusal,
/// or that the call was in doubt and did not take effect.
///
/// # Panics
///
/// If an item has another type. Make its payload in the function that you give [`walks`].
pub fn payload_of(edge: &Edge) -> BoxedStrategy<Map<String, Value>> {
    let items: Vec<_> = edge.payload.iter().map(|item| item_of(edge, item)).collect();
    items.prop_map(|items| items.into_iter().collect()).boxed()
}

fn item_of(edge: &Edge, item: &Field) -> BoxedStrategy<(String, Value)> {
    let name = item.name.to_string();
    let ty: String = item.ty.chars().filter(|it| !it.is_whitespace()).collect();
    let value = value_of(&ty).unwrap_or_else(|| {
        panic!(
            "`{}` of `{}` has the type `{}`: make the payload of this transition in the function given to `walks`",
            item.name, edge.trigger, item.ty
        )
    });
    value.prop_map(move |value| (name.clone(), value)).boxed()
}

fn value_of(ty: &str) -> Option<BoxedStrategy<Value>> {
    let inside = |wrapper: &str| ty.strip_prefix(wrapper)?.strip_suffix('>');
    if let Some(inside) = inside("Option<") {
        let some = value_of(inside)?;
        return Some(proptest::prop_oneof![Just(Value::Null), some].boxed());
    }
    if let Some(inside) = inside("Vec<") {
        let item = value_of(inside)?;
        return Some(vec(item, 0..4).prop_map(Value::from).boxed());
    }
    if let Some(refusal) = inside("CallError<") {
        let made = (any::<bool>(), value_of(refusal)?).prop_map(|(is_certain, refusal)| {
            if is_certain {
                json!({ "refused": refusal })
            } else {
                json!({ "not_applied": { "service": refusal } })
            }
        });
        return Some(made.boxed());
    }
    Some(match ty {
        "CallError" => return value_of("CallError<String>"),
        "String" | "Value" => any::<String>().prop_map(Value::from).boxed(),
        "bool" => any::<bool>().prop_map(Value::from).boxed(),
        "u8" => any::<u8>().prop_map(Value::from).boxed(),
        "u16" => any::<u16>().prop_map(Value::from).boxed(),
        "u32" => any::<u32>().prop_map(Value::from).boxed(),
        "u64" | "usize" => any::<u64>().prop_map(Value::from).boxed(),
        "i8" => any::<i8>().prop_map(Value::from).boxed(),
        "i16" => any::<i16>().prop_map(Value::from).boxed(),
        "i32" => any::<i32>().prop_map(Value::from).boxed(),
        "i64" | "isize" => any::<i64>().prop_map(Value::from).boxed(),
        "f64" => (-1e9..1e9).prop_map(Value::from).boxed(),
        _ => return None,
    })
}
