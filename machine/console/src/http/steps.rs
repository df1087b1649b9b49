use serde_json::Value;

use machine::{text::OneLine, view::NextStep};

/// Adds to each next step in a document the command that does the same on the command line.
pub(super) fn with_commands(document: &mut Value, prefix: &str) {
    match document {
        Value::Object(fields) => {
            if let Some(Value::Array(steps)) = fields.get_mut("next") {
                for step in steps {
                    add_command(step, prefix);
                }
            }
            for (name, value) in fields.iter_mut() {
                // Data of machines are theirs.
                if !matches!(&**name, "next" | "state" | "context" | "payload" | "data") {
                    with_commands(value, prefix);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| with_commands(item, prefix)),
        _ => {}
    }
}

/// Adds the command to one step.
pub(super) fn add_command(step: &mut Value, prefix: &str) {
    let Ok(parsed) = serde_json::from_value::<NextStep>(step.clone()) else { return };
    step["command"] = format!("{prefix}{}", OneLine(&parsed.to_string())).into();
}
