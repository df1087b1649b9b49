//! Legal moves as tools: a model that is given only these cannot make an illegal move.
//!
//! The machine derives `JsonSchema` beside `Serialize` and `Deserialize`; its events then have a
//! schema, and each legal move is a tool definition in the form that model APIs take.
//!
//! ```
//! use machine::actor::Anyone;
//! use machine::{machine, tools};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! /// A support ticket.
//! #[machine]
//! #[derive(Debug, Serialize, Deserialize, JsonSchema)]
//! enum Ticket {
//!     /// Nobody has answered.
//!     #[initial]
//!     #[on(answer(text) => Answered)]
//!     Open,
//!     /// The customer has an answer.
//!     #[terminal]
//!     Answered { text: String },
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ticket = AnyTicket::from(Ticket::new());
//! let offered = tools::definitions(&ticket, &Anyone);
//! assert_eq!(offered[0].name, "answer");
//! assert_eq!(offered[0].input_schema["properties"]["text"]["type"], "string");
//!
//! // What the model calls, parsed, checked and applied:
//! let answered = tools::call(ticket, "answer", r#"{"text": "Try again."}"#, &Anyone)?;
//! assert_eq!(answered.status(), ticket::Status::Answered);
//!
//! // A call of anything else is answered with text that the model can use.
//! let refused = tools::call(answered, "reopen", "{}", &Anyone).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "there is no move `reopen`; ANSWERED is terminal: nothing leaves it"
//! );
//! # Ok(())
//! # }
//! ```

mod call;
mod definition;

pub use call::{CallError, call};
pub use definition::{ToolDefinition, definitions};
