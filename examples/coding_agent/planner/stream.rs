//! The answer of a model, from the events that servers really send: the reason of the end can be
//! empty or unknown, and the usage; calls come in pieces, and their ids repeat.

use std::io::BufRead;

use machine::worker::Failure;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::context::end;

/// The event after the last one. Some servers leave it out.
const DONE: &str = "[DONE]";

/// The reason of an answer that was cut at the limit of the model.
const TOO_LONG: &str = "length";

/// The most calls that are kept. An answer with more than one cannot be used.
const MOST_CALLS: usize = 200;

/// A whole answer, and what it cost.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Message {
    text: String,
    calls: Vec<Called>,
    /// Why it ended, in the words of the server.
    reason: String,
    /// As the server says it.
    usage: Value,
}

/// A call of a tool, as the model wrote it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Called {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Message {
    /// Reads a stream. An answer that is cut off, or has a part that cannot be read, is an error.
    pub fn read(stream: impl BufRead) -> Result<Self, Failure> {
        let mut message = Self::default();
        for line in stream.lines() {
            let line = line?;
            let data = line.strip_prefix("data:").unwrap_or_default().trim();
            if data == DONE {
                return Ok(message);
            }
            if !data.is_empty() {
                message.add(&serde_json::from_str::<Value>(data)?)?;
            }
        }
        if message.reason.is_empty() { Err("the answer was cut off".into()) } else { Ok(message) }
    }

    /// Reads an answer that a server sends as a whole, although it was asked for a stream; `None`
    /// if it is something else.
    pub fn whole(text: &str) -> Option<Self> {
        let (mut message, answer) = (Self::default(), serde_json::from_str::<Value>(text).ok()?);
        message.add(&answer).ok()?;
        answer["choices"].is_array().then_some(message)
    }

    /// Changes all its texts.
    pub fn rewrite(&mut self, change: impl Fn(&str) -> String) {
        let calls = self.calls.iter_mut();
        let texts = calls.flat_map(|it| [&mut it.id, &mut it.name, &mut it.arguments]);
        for text in texts.chain([&mut self.text, &mut self.reason]) {
            *text = change(text);
        }
        self.usage = serde_json::from_str(&change(&self.usage.to_string())).unwrap_or_default();
    }

    fn add(&mut self, event: &Value) -> Result<(), Failure> {
        if let Some(error) = event.get("error").filter(|it| !it.is_null()) {
            return Err(format!("the server has failed: {error}").into());
        }
        if let Some(usage) = event.get("usage").filter(|it| !it.is_null()) {
            self.usage = usage.clone();
        }
        let choice = &event["choices"][0];
        let part = choice.get("delta").unwrap_or(&choice["message"]);
        self.text.push_str(text(&part["content"]));
        for piece in part["tool_calls"].as_array().into_iter().flatten() {
            self.add_piece(piece);
        }
        self.reason.push_str(text(&choice["finish_reason"]));
        Ok(())
    }

    /// Adds a piece to the call that it goes on with: one with this index, unless the piece begins
    /// another. Some servers count no calls, and some repeat the name in each piece. Calls that
    /// nothing tells apart become one, whose arguments cannot be used.
    fn add_piece(&mut self, piece: &Value) {
        let (index, id) = (piece["index"].as_u64(), text(&piece["id"]));
        let (name, more) = (text(&piece["function"]["name"]), &piece["function"]["arguments"]);
        let goes_on = |call: &Called| name.is_empty() || call.id == id && call.name == name;
        let last = self.calls.iter().rposition(|call| index.is_none() || call.index == index);
        let at = last.filter(|at| goes_on(&self.calls[*at])).unwrap_or(self.calls.len());
        if at == MOST_CALLS {
            return;
        }
        if at == self.calls.len() {
            let (id, name) = (id.to_owned(), name.to_owned());
            self.calls.push(Called { index, id, name, arguments: String::new() });
        }
        match more {
            Value::String(text) => self.calls[at].arguments.push_str(text),
            Value::Null => {}
            object => self.calls[at].arguments.push_str(&object.to_string()),
        }
    }

    /// The arguments of its only call, which is one of this tool, or why they cannot be used.
    pub fn answer<T: DeserializeOwned>(&self, tool: &str) -> Result<T, String> {
        if self.reason == TOO_LONG {
            return Err("the answer is too long: make a shorter one".to_owned());
        }
        let [call] = &self.calls[..] else {
            return Err(format!("there are {} calls: call `{tool}` once", self.calls.len()));
        };
        if call.name != tool {
            return Err(format!("unknown tool `{}`: call `{tool}` once", call.name));
        }
        serde_json::from_str(&call.arguments)
            .map_err(|error| format!("call `{tool}` once, with arguments of its schema: {error}"))
    }

    /// All of it as a text, for a model that is told why it cannot be used. As calls, servers would
    /// refuse it: models repeat ids, and make up names and arguments.
    pub fn told(&self) -> String {
        let calls = self.calls.iter().map(|it| format!("\n{}({})", it.name, it.arguments));
        end(&calls.fold(self.text.clone(), |text, call| text + &call))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
