use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::id::Id;
use crate::{shell::shell_word, view::PayloadItem};

/// An action that a person can take on a machine. Its `Display` is the command of the command line,
/// without the program and its file, as a shell reads it; as data, it has that command as a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "do", remote = "Self")]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum NextStep {
    /// Approve a gate.
    Approve { id: Id },
    /// Decline a gate.
    Decline { id: Id },
    /// Say that an action in doubt took effect, or that it did not.
    Confirm {
        id: Id,
        applied: bool,
        /// The type of the receipt that it needs; `None` if a text will do.
        #[serde(skip_serializing_if = "Option::is_none")]
        receipt: Option<String>,
    },
    /// Record that a contradiction was seen and dealt with.
    Acknowledge { id: Id },
    /// Try what failed again.
    Retry { id: Id },
    /// Cancel a machine that is no longer needed.
    Cancel { id: Id },
    /// Fence the worker of a call.
    Fence { id: Id },
    /// Return work that was set aside, or a machine that nothing can move, to the workers.
    Requeue {
        id: Id,
        /// The correlation ids of the messages to it that were set aside.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        messages: Vec<String>,
    },
    /// Answer a question, and let it continue.
    Respond { id: Id },
    /// Send one of its events.
    #[serde(rename = "send")]
    SendEvent {
        id: Id,
        trigger: String,
        payload: Vec<PayloadItem>,
        /// For a machine whose state is a question, which is `#[stable]` or left by people only:
        /// the number of its transitions, so that the answer is for the question that was shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        seen: Option<u64>,
    },
    /// Look at it.
    Show { id: Id },
}

impl NextStep {
    /// The machine.
    #[must_use]
    pub fn id(&self) -> Id {
        match self {
            Self::Approve { id }
            | Self::Decline { id }
            | Self::Confirm { id, .. }
            | Self::Acknowledge { id }
            | Self::Retry { id }
            | Self::Cancel { id }
            | Self::Fence { id }
            | Self::Requeue { id, .. }
            | Self::Respond { id }
            | Self::SendEvent { id, .. }
            | Self::Show { id } => *id,
        }
    }
}

impl Serialize for NextStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct WithCommand<'a> {
            #[serde(flatten, with = "NextStep")]
            step: &'a NextStep,
            command: String,
        }

        let command = self.to_string();
        WithCommand { step: self, command }.serialize(serializer)
    }
}

/// The text in a command for a value of this type, which a person has to fill in. It is refused as
/// the value.
pub(crate) fn placeholder(ty: &str) -> String {
    format!("<{ty}>")
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approve { id } => write!(f, "approve {id} --as NAME"),
            Self::Decline { id } => write!(f, "decline {id} --as NAME"),
            Self::Confirm { id, applied: false, .. } => {
                write!(f, "confirm {id} not-applied --as NAME")
            }
            Self::Confirm { id, receipt, .. } => {
                write!(f, "confirm {id} applied --as NAME")?;
                receipt
                    .iter()
                    .try_for_each(|ty| write!(f, " --receipt {}", shell_word(placeholder(ty))))
            }
            Self::Acknowledge { id } => write!(f, "acknowledge {id} --as NAME"),
            Self::Retry { id } => write!(f, "retry {id} --as NAME"),
            Self::Cancel { id } => write!(f, "cancel {id} --as NAME"),
            Self::Fence { id } => write!(f, "fence {id} --as NAME"),
            Self::Requeue { id, messages } => {
                write!(f, "requeue {id} --as NAME")?;
                messages
                    .iter()
                    .try_for_each(|message| write!(f, " --message={}", shell_word(message)))
            }
            Self::Respond { id } => write!(f, "respond {id} '' --as NAME"),
            Self::SendEvent { id, trigger, payload, seen } => {
                write!(f, "send {id} {} --as NAME", shell_word(trigger))?;
                if let Some(seen) = seen {
                    write!(f, " --seen {seen}")?;
                }
                if payload.is_empty() {
                    return Ok(());
                }
                let json = |text: &str| Value::from(text).to_string();
                let items = payload
                    .iter()
                    .map(|it| format!("{}: {}", json(&it.name), json(&placeholder(&it.ty))));
                let items = items.collect::<Vec<_>>().join(", ");
                write!(f, " --payload {}", shell_word(format!("{{{items}}}")))
            }
            Self::Show { id } => write!(f, "show {id}"),
        }
    }
}
