//! The rules of the chat APIs, as strict as any provider. They know nothing of turns and cards.

use std::collections::BTreeSet;

use serde_json::Value;

pub(super) type Checked<T = ()> = Result<T, String>;

/// After an answer with calls, there is one `tool` message for each of them, in their order, before
/// any other message.
pub(super) fn openai(messages: &[Value]) -> Checked {
    let (mut open, mut known) = (Vec::new(), BTreeSet::new());
    for message in messages {
        let role = text(&message["role"])?;
        if role == "tool" {
            text(&message["content"])?;
            answer(&mut open, text(&message["tool_call_id"])?)?;
            continue;
        }
        ensure(open.is_empty(), &format!("calls without results before {message}"))?;
        if role == "user" {
            text(&message["content"])?;
            continue;
        }
        ensure(role == "assistant", &format!("the role {role}"))?;
        let Some(calls) = message.get("tool_calls") else {
            text(&message["content"])?;
            continue;
        };
        if !message["content"].is_null() {
            text(&message["content"])?;
        }
        for call in list(calls)? {
            let (id, function) = (name(&call["id"], 40)?, &call["function"]);
            ensure(known.insert(id), &format!("the id {id} twice"))?;
            open.push(id);
            ensure(call["type"] == "function", "a call of another type")?;
            name(&function["name"], 64)?;
            let arguments = serde_json::from_str::<Value>(text(&function["arguments"])?);
            let is_object = arguments.is_ok_and(|arguments| arguments.is_object());
            ensure(is_object, "arguments that are not the text of an object")?;
        }
    }
    is_question(messages, &open)
}

/// Users and answers alternate. After an answer with calls, the next message begins with their
/// results, in their order.
pub(super) fn anthropic(messages: &[Value]) -> Checked {
    let (mut open, mut known) = (Vec::new(), BTreeSet::new());
    for (message, role) in messages.iter().zip(["user", "assistant"].into_iter().cycle()) {
        ensure(message["role"] == role, &format!("not a message of the {role}: {message}"))?;
        let content = &message["content"];
        if content.is_string() {
            ensure(open.is_empty(), &format!("calls without results before {message}"))?;
            text(content)?;
            continue;
        }
        let mut before = "";
        for block in list(content)? {
            let kind = text(&block["type"])?;
            match (role, kind) {
                (_, "text") => text(&block["text"]).map(|_| ())?,
                ("user", "tool_result") => {
                    ensure(before != "text", "a result after a text")?;
                    text(&block["content"])?;
                    answer(&mut open, text(&block["tool_use_id"])?)?;
                }
                ("assistant", "thinking") => text(&block["signature"]).map(|_| ())?,
                ("assistant", "redacted_thinking") => text(&block["data"]).map(|_| ())?,
                ("assistant", "tool_use") => {
                    let id = name(&block["id"], usize::MAX)?;
                    ensure(known.insert(id), &format!("the id {id} twice"))?;
                    open.push(id);
                    name(&block["name"], 64)?;
                    ensure(block["input"].is_object(), "an input that is not an object")?;
                }
                _ => return Err(format!("{block} in a message of the {role}")),
            }
            before = kind;
        }
        ensure(!before.ends_with("thinking"), "an answer ends with reasoning")?;
        ensure(role == "assistant" || open.is_empty(), "calls without results")?;
    }
    is_question(messages, &open)
}

/// It begins with a user, and ends with what the model answers.
fn is_question(messages: &[Value], open: &[&str]) -> Checked {
    ensure(open.is_empty(), "calls without results at the end")?;
    ensure(messages.first().is_some_and(|it| it["role"] == "user"), "no user begins")?;
    ensure(messages.last().is_some_and(|it| it["role"] != "assistant"), "an answer is last")
}

/// The next open call has its result.
fn answer(open: &mut Vec<&str>, id: &str) -> Checked {
    ensure(open.first() == Some(&id), &format!("a result that no call waits for: {id}"))?;
    open.remove(0);
    Ok(())
}

fn ensure(is_so: bool, otherwise: &str) -> Checked {
    if is_so { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// A text that is not blank.
fn text(value: &Value) -> Checked<&str> {
    let text = value.as_str().filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| format!("no text: {value}"))
}

/// Letters of ASCII, digits, hyphens and underscores; at most this many.
fn name(value: &Value, most: usize) -> Checked<&str> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let name = text(value)?;
    ensure(name.len() <= most && name.chars().all(fits), &format!("no name: {name}"))?;
    Ok(name)
}

fn list(value: &Value) -> Checked<&Vec<Value>> {
    let list = value.as_array().filter(|list| !list.is_empty());
    list.ok_or_else(|| format!("no list: {value}"))
}
