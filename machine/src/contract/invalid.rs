use crate::{actor::InvalidName, journal::Unportable};

/// The maximum size of the detail of an action as JSON text.
pub(super) const MAX_DETAIL_BYTES: usize = 256 * 1024;

/// The maximum nesting depth of the detail of an action. `serde_json` stops at 128, and a stored
/// detail is nested inside other JSON.
pub(super) const MAX_DETAIL_DEPTH: usize = 64;

/// Why a contract could not be made. Nothing was stored.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum InvalidContract {
    /// The arguments are not valid JSON.
    #[error("the arguments are not valid JSON: {0}; pass an object such as {{\"to\": \"bob\"}}")]
    NotJson(#[source] serde_json::Error),
    /// The arguments are JSON, but not an object.
    #[error("the arguments are {0}, not an object; pass an object such as {{\"to\": \"bob\"}}")]
    NotAnObject(&'static str),
    /// The arguments have more than 256 KiB as JSON text.
    #[error(
        "the arguments are {bytes} bytes long, the limit is {limit}; store the content elsewhere \
         and pass a reference to it",
        limit = MAX_DETAIL_BYTES
    )]
    TooLarge { bytes: usize },
    /// The arguments are nested more than 64 levels deep.
    #[error(
        "the arguments are nested more than {limit} levels deep; flatten them",
        limit = MAX_DETAIL_DEPTH
    )]
    TooDeep,
    /// Programs that enable other features of `serde_json` read the arguments differently, or not
    /// at all.
    #[error("the arguments are not portable: {0}")]
    Unportable(String),
    /// The detail does not describe a tool call.
    #[error("this is not a tool call: {0}")]
    NotACall(&'static str),
    /// The arguments do not fit the tool.
    #[error("the arguments do not match `{tool}`: {reason}; correct them")]
    Arguments { tool: String, reason: String },
    /// The call would run with another value of an argument than the stored one, which may have
    /// been approved. The call stays unchanged: a program that reads the stored value can run it.
    #[error(
        "`{place}` of `{tool}` is stored with another value than this program reads; run the older program until the \
         call has ended, or cancel it and ask again"
    )]
    OtherArguments {
        tool: String,
        /// The place of the argument, such as `to.city` or `items[0].cents`.
        place: String,
    },
    /// An irreversible call would run with arguments that are not stored, so no one has approved
    /// them, and the tool does not list them in [`Tool::ADDED`](super::Tool::ADDED).
    #[error(
        "`{tool}` is irreversible, and this program adds {added} to its stored arguments; set `Tool::ADDED` to \
         `[{listed}]` if the call still does the same, or run the older program until the call has ended"
    )]
    AddedArguments {
        tool: String,
        /// The places of the added arguments.
        added: String,
        /// The places to list, including those already listed.
        listed: String,
    },
    /// The contract is for another tool.
    #[error("the contract is for {found}, not for `{expected}`; use the matching tool")]
    OtherTool { expected: String, found: String },
    /// The contract says that the tool is idempotent, and its type says that it is irreversible.
    #[error("`{tool}` is irreversible, but the contract says otherwise; plan the action again")]
    EffectLowered { tool: String },
    /// The tool now derives the key from other arguments than when the action was planned, or than
    /// a moment ago.
    #[error(
        "`{tool}` derives a different identity from these arguments than \
         before; make `Tool::identity` depend only on the arguments, and plan the action \
         again"
    )]
    OtherIdentity { tool: String },
    /// The action was put behind a gate, so a person decides whether it is done again.
    #[error(
        "it required a person's approval, so only a person can approve another attempt; ask again"
    )]
    NeedsApproval,
    /// No tool of this name is registered.
    #[error("the tool `{0}` is not registered; add it to the registry")]
    UnknownTool(String),
    /// The JSON Schema of a tool is not valid.
    #[error("the schema of `{tool}` is not a valid JSON Schema: {reason}; correct it")]
    InvalidSchema { tool: String, reason: String },
    /// The name of an occurrence is not a line of visible text.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A stored contract contradicts itself.
    #[error("the contract contradicts itself: {0}; restore it from a backup")]
    Inconsistent(&'static str),
    /// A name or a question is empty.
    #[error("the {0} is empty; pass a non-empty {0}")]
    Empty(&'static str),
}

impl From<Unportable> for InvalidContract {
    fn from(found: Unportable) -> Self {
        Self::Unportable(found.to_string())
    }
}
