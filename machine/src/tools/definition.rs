use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    actor::Actor,
    definition::{Move, StateDef},
    typed::Erased,
};

/// A legal move in the format of model APIs: `name`, `description`, `input_schema`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The trigger.
    pub name: String,
    /// The target state, and what the doc comments of the transition and the state say.
    pub description: String,
    /// The JSON Schema of the payload.
    pub input_schema: Value,
}

/// The moves that are legal now for this actor, each as a tool.
///
/// A guard may still refuse one; the text of the refusal is written for the model.
pub fn definitions<M>(machine: &M, by: &impl Actor) -> Vec<ToolDefinition>
where
    M: Erased<Event: JsonSchema>,
{
    let generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    // A `oneOf` of objects, tagged by `trigger`.
    let events = generator.into_root_schema_for::<M::Event>().to_value();
    offered(machine, by).map(|offered| tool(&offered, &events)).collect()
}

fn offered<M: Erased, A: Actor>(
    machine: &M,
    _by: &A,
) -> impl Iterator<Item = Move<'static>> + use<M, A> {
    M::DEFINITION.moves(machine.state_index()).filter(|legal| legal.edge().is_for::<A>())
}

fn tool(offered: &Move<'_>, events: &Value) -> ToolDefinition {
    let targets: Vec<&StateDef> = offered.targets().collect();
    let labels: Vec<&str> = targets.iter().map(|target| &*target.label).collect();
    let mut description = format!("{} to {}.", offered.source().label, labels.join(" or "));
    let docs = &offered.edge().docs;
    if !docs.is_empty() {
        description = format!("{description} {docs}");
    }
    for (target, edge) in targets.iter().zip(offered.edges()) {
        if let Some(when) = &edge.when {
            description = format!("{description} {} when: {when}.", target.label);
        }
        if !target.docs.is_empty() {
            description = format!("{description} {}: {}", target.label, target.docs);
        }
    }
    ToolDefinition {
        name: offered.trigger().to_owned(),
        description,
        input_schema: input_schema(offered.trigger(), events),
    }
}

/// The object schema of one trigger, without the `trigger` property: that is the tool's name.
fn input_schema(trigger: &str, events: &Value) -> Value {
    let choices = events["oneOf"].as_array().into_iter().flatten();
    let mut choices = choices.filter_map(Value::as_object);
    let chosen = choices.find(|choice| choice["properties"]["trigger"]["const"] == trigger);
    let mut schema = chosen.cloned().unwrap_or_default();
    // This describes the event variant; the description of the tool says more.
    schema.remove("description");
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("trigger");
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "trigger");
    }
    schema.entry("type").or_insert_with(|| "object".into());
    schema.entry("properties").or_insert_with(|| Map::new().into());
    schema.insert("additionalProperties".to_owned(), false.into());
    if let Some(shared) = events.get("$defs") {
        schema.insert("$defs".to_owned(), shared.clone());
    }
    Value::Object(schema)
}
