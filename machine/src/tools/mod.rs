//! Legal moves as tools: a model that only has these tools cannot make an illegal move.
//!
//! The machine derives `JsonSchema`, `Serialize` and `Deserialize`. Its events then have a schema,
//! and each legal move becomes a tool definition in the format of model APIs.
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
//!     /// Not answered yet.
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
//! // Parse, check and apply a call of the model:
//! let answered = tools::call(ticket, "answer", r#"{"text": "Try again."}"#, &Anyone)?;
//! assert_eq!(answered.status(), ticket::Status::Answered);
//!
//! // The error text of an illegal call is written for the model.
//! let refused = tools::call(answered, "reopen", "{}", &Anyone).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "unknown move `reopen`; ANSWERED is terminal: nothing leaves it"
//! );
//! # Ok(())
//! # }
//! ```

mod call;
mod definition;

pub use call::{MoveError, call};
pub use definition::{ToolDefinition, definitions};
