use serde_json::{Map, Value};

use crate::{definition::Edge, id::shortened, line::OneLine};

/// The error in the payload of an event: it lacks what the move takes, has more than that, or a
/// value of another type. Values are not in the text; the names of what the move does not take are
/// in it only `with_names`, because they come from the sender.
pub(crate) fn misfit(
    edge: &Edge,
    payload: &Map<String, Value>,
    with_names: bool,
) -> Option<String> {
    let has = |name: &str| payload.contains_key(name);
    let missing = edge
        .payload
        .iter()
        .filter(|item| !item.optional && !has(&item.name) && !item.was.iter().any(|was| has(was)));
    let missing: Vec<_> = missing.map(|item| format!("`{}`", OneLine(&item.name))).collect();
    let is_known = |name: &String| {
        edge.payload
            .iter()
            .any(|item| item.name == **name || item.was.iter().any(|was| was == name))
    };
    let unknown: Vec<_> = payload.keys().filter(|name| !is_known(name)).collect();
    let unknown = match (unknown.is_empty(), with_names) {
        (true, _) => None,
        (false, false) => Some("everything that was sent".to_owned()),
        (false, true) => {
            let names = unknown.iter().map(|name| format!("`{}`", shortened(name)));
            Some(names.collect::<Vec<_>>().join(", "))
        }
    };
    let other = edge
        .payload
        .iter()
        .find(|item| payload.get(&*item.name).is_some_and(|value| !may_be(value, &item.ty)));
    let trigger = OneLine(&edge.trigger);
    let missing = (!missing.is_empty()).then(|| missing.join(", "));
    let text = match (other, &missing, &unknown) {
        (None, None, None) => return None,
        (Some(item), None, None) => {
            format!("`{trigger}` expects a different type for `{}`", OneLine(&item.name))
        }
        (_, Some(missing), None) => format!("`{trigger}` needs {missing}"),
        (_, None, Some(unknown)) => format!("`{trigger}` does not take {unknown}"),
        (_, Some(missing), Some(unknown)) => {
            format!("`{trigger}` needs {missing}, and does not take {unknown}")
        }
    };
    let takes = edge.payload.iter().map(|item| format!("{}: {}", item.name, item.ty));
    let takes = takes.collect::<Vec<_>>().join(", ");
    let takes = if takes.is_empty() { "nothing" } else { &takes };
    Some(format!("{text}; it takes {}", OneLine(takes)))
}

/// Returns whether a value can be of a type, judged by its name: a type of the program can be
/// anything.
pub(crate) fn may_be(value: &Value, ty: &str) -> bool {
    if let Some(inner) = ty.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return value.is_null() || may_be(value, inner);
    }
    match ty {
        "String" => value.is_string(),
        "bool" => value.is_boolean(),
        "u8" => value.as_u64().is_some_and(|it| u8::try_from(it).is_ok()),
        "u16" => value.as_u64().is_some_and(|it| u16::try_from(it).is_ok()),
        "u32" => value.as_u64().is_some_and(|it| u32::try_from(it).is_ok()),
        "u64" | "u128" | "usize" => value.is_u64(),
        "i8" => value.as_i64().is_some_and(|it| i8::try_from(it).is_ok()),
        "i16" => value.as_i64().is_some_and(|it| i16::try_from(it).is_ok()),
        "i32" => value.as_i64().is_some_and(|it| i32::try_from(it).is_ok()),
        "i64" | "i128" | "isize" => value.is_i64() || value.is_u64(),
        "f32" | "f64" => value.is_number(),
        _ => true,
    }
}
