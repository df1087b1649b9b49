//! The answer of a model in a step, whose calls have all ended.

use serde_json::{Map, Value, json};

use super::{Bodies, Conversation, outcome};
use crate::agent::{Card, MemberId};

/// An answer in both forms. Each call is written together with its result.
pub(super) struct Answer<'a> {
    bodies: &'a Bodies<'a>,
    next: MemberId,
    text: String,
    calls: Vec<Value>,
    tools: Vec<Value>,
    content: Vec<Value>,
    results: Vec<Value>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(card: &Card, bodies: &'a Bodies<'a>) -> Self {
        let (text, calls, tools, content, results) = Default::default();
        let next = MemberId { index: 0, ..card.member() };
        Self { bodies, next, text, calls, tools, content, results }
    }

    pub(super) fn of(card: &Card, body: &Value, bodies: &'a Bodies<'a>) -> Self {
        let mut answer = Self::new(card, bodies);
        answer.say(body["content"].as_str().unwrap_or_default());
        for block in body["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("text") => answer.say(block["text"].as_str().unwrap_or_default()),
                Some("thinking" | "redacted_thinking") => answer.content.push(block.clone()),
                Some("tool_use") => answer.call(&block["name"], &block["input"]),
                _ => {}
            }
        }
        for call in body["tool_calls"].as_array().into_iter().flatten() {
            answer.call(&call["function"]["name"], &call["function"]["arguments"]);
        }
        // Calls that are only in the cards.
        while bodies.results.contains_key(&answer.next) {
            let card = bodies.calls.get(&answer.next).copied().unwrap_or(&Value::Null);
            answer.call(&card["tool"], &card["call"]["action"]["action_detail"]["args"]);
        }
        answer
    }

    pub(super) fn say(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.text.push_str(text);
            self.content.push(json!({ "type": "text", "text": text }));
        }
    }

    /// Adds the next call, if it has a card of its result.
    fn call(&mut self, name: &Value, arguments: &Value) {
        let (card, result) =
            (self.bodies.calls.get(&self.next), self.bodies.results.get(&self.next));
        let id = self.next.in_messages().to_string();
        self.next.index = self.next.index.saturating_add(1);
        let Some(body) = result else { return };
        let result = outcome::text(body, card.copied(), &self.bodies.all);
        let (result, name, input) = (visible(&result), name_of(name), object(arguments));
        let function = json!({ "name": name, "arguments": json!(input).to_string() });
        self.calls.push(json!({ "id": id, "type": "function", "function": function }));
        self.tools.push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
        self.content.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
        self.results.push(json!({ "type": "tool_result", "tool_use_id": id, "content": result }));
    }

    /// Adds its messages. Returns whether it makes calls.
    pub(super) fn end(self, body: &Value, to: &mut Conversation) -> bool {
        let Self { text, calls, tools, mut content, results, .. } = self;
        let has_calls = !calls.is_empty();
        let mut message = body.as_object().cloned().unwrap_or_default();
        message.retain(|name, _| name.starts_with("reasoning"));
        let is_silent = text.is_empty() && has_calls;
        let said = if is_silent { Value::Null } else { visible(&text).into() };
        message.extend([("role".to_owned(), "assistant".into()), ("content".to_owned(), said)]);
        if has_calls {
            message.insert("tool_calls".to_owned(), calls.into());
        }
        to.openai.push(message.into());
        to.openai.extend(tools);
        // An answer does not end with reasoning.
        let last = content.last().and_then(|block| block["type"].as_str());
        if !matches!(last, Some("text" | "tool_use")) {
            content.push(json!({ "type": "text", "text": visible("") }));
        }
        to.anthropic.push(json!({ "role": "assistant", "content": content }));
        if has_calls {
            to.anthropic.push(json!({ "role": "user", "content": results }));
        }
        has_calls
    }
}

/// A text that is not blank: providers refuse blank ones.
pub(super) fn visible(text: &str) -> &str {
    if text.trim().is_empty() { "(no text)" } else { text }
}

/// A name that providers accept.
fn name_of(name: &Value) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let name = name.as_str().filter(|name| !name.is_empty()).unwrap_or("unnamed");
    name.chars().take(64).map(|letter| if fits(letter) { letter } else { '_' }).collect()
}

/// The arguments of a call: an object, or its text. A model may write something else.
fn object(arguments: &Value) -> Map<String, Value> {
    let read = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
    match read.as_ref().unwrap_or(arguments) {
        Value::Object(object) => object.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("not_an_object".to_owned(), other.clone())]),
    }
}
