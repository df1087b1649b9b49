// A message is from an actor.

use machine::store::{InvalidMessage, Message};

struct Stranger;

fn confirm() -> Result<Message, InvalidMessage> {
    Message::from_json(r#"{"trigger": "confirm"}"#, &Stranger)
}

fn main() {}
