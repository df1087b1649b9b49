use std::{fmt::Display, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{EffectType, InvalidContract};
use crate::journal::canonical_whole;

/// A tool, as a type: its fields are the arguments of a call.
///
/// A [`Contract`](crate::contract::Contract) is made from a value of the tool. The call later runs
/// with this value, parsed from the stored action that was approved. A service that implements
/// [`Perform`](super::Perform) performs the call.
///
/// A field that is not serialized is neither stored nor approved: with `#[serde(skip)]` or
/// `#[serde(skip_serializing)]`, the call runs with the default at that time, and no question shows
/// the field. The library cannot see such a field. So do not skip a field if its default affects
/// the call, or can change.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Irreversible, Tool};
/// use serde::{Deserialize, Serialize};
///
/// /// Sends a mail.
/// #[derive(Debug, Serialize, Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct SendMail {
///     to: String,
///     subject: String,
/// }
///
/// impl Tool for SendMail {
///     const SERVICE: &'static str = "email";
///     const METHOD: &'static str = "send";
///     type Effect = Irreversible;
///     type Receipt = String;
///     type Refusal = String;
///
///     fn subject(&self, _language: &str) -> Option<String> {
///         Some(self.to.clone())
///     }
/// }
///
/// let actors = Actors::issue("assistant")?;
/// let mail = SendMail { to: "bob@example.com".to_owned(), subject: "Meeting".to_owned() };
/// let contract = Contract::of(&mail, &actors.reasoning_node)?;
/// assert_eq!(contract.summary(), "email.send → bob@example.com");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "this type declares neither service nor effect",
    note = "implement `machine::contract::Tool` for it; for a tool known only at run time, use \
            `ToolSpec`"
)]
pub trait Tool: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the service, such as `email`.
    const SERVICE: &'static str;
    /// The name of the method, such as `send`.
    const METHOD: &'static str;
    /// The effect of a call on the outside world. A store remembers it, and refuses a program in
    /// which the tool has become less risky.
    type Effect: EffectType;
    /// The receipt of a successful call.
    type Receipt: Serialize + DeserializeOwned + Send + 'static;
    /// Why a call provably did not take effect, such as an enum of reasons; use `String` if
    /// programs do not distinguish reasons. Its `Display` is the text for people. The refusal is
    /// stored, and a handler gets the same value.
    type Refusal: Serialize + DeserializeOwned + Display + Send + 'static;
    /// The time to wait for an answer, by default 30 s; `None` means without a limit. After that
    /// the outcome of an irreversible call is unknown.
    const TIMEOUT: Option<Duration> = Some(Duration::from_secs(30));
    /// How long a call can still take effect after its worker has ended, because a request may be
    /// in transit; by default 60 s. "Not applied" counts only after that time; if it is zero, as
    /// soon as the worker has ended. With the derive, write
    /// `settling_time = Duration::from_secs(10)` in `#[tool]`.
    const SETTLING_TIME: Duration = Duration::from_mins(1);
    /// The arguments that later versions of the tool added, and whose defaults preserve the old
    /// behaviour, such as `express`. An irreversible call that an older program planned, and a
    /// person may have approved, runs only with these defaults: if an added argument is not listed,
    /// the call is refused. Write `to.city` for a member of an argument, `items[].gift` for a
    /// member of each item of a list, `rates{}.unit` for a member of each value of a map. With the
    /// derive, write `added = [".."]` in `#[tool]`.
    const ADDED: &'static [&'static str] = &[];
    /// The languages that [`subject`](Self::subject) and [`question`](Self::question) know, besides
    /// the default, such as `zh`.
    const LANGUAGES: &'static [&'static str] = &[];

    /// The subject of the call, for people: the summary is `service.method → subject`, which lists,
    /// views and prompts show. The question to an approver does not use it: see
    /// [`question`](Self::question). `language` is one of [`LANGUAGES`](Self::LANGUAGES), or empty
    /// for the default.
    fn subject(&self, _language: &str) -> Option<String> {
        None
    }

    /// The question to an approver, worded by the tool, such as
    /// `Send the mail to bob@example.com?`. The tool, its arguments and the digest always follow
    /// this line. By default the question is `Allow service.method?`, in the languages of the
    /// library. `language` is one of [`LANGUAGES`](Self::LANGUAGES), or empty for the default.
    fn question(&self, _language: &str) -> Option<String> {
        None
    }

    /// The arguments that make the idempotency key; by default all. Leave out what differs between
    /// two attempts at the same thing, such as a timestamp.
    ///
    /// The same arguments must give the same identity in every program that uses the tool on one
    /// file, and at any time: otherwise one action has two keys, and can run twice. It is a
    /// function of the fields and of nothing else, and returns a value for every call or for none.
    /// A store compares it with the newest 100 attempts of the tool, and refuses a program that
    /// derives another key. An identity that has to change takes a new [`METHOD`](Self::METHOD),
    /// whose keys are new.
    ///
    /// With the derive, write `identity = order` or `identity = [order, line]` in `#[tool]`: the
    /// array of the values of these fields.
    fn identity(&self) -> Option<Value> {
        None
    }
}

pub(crate) fn tool_name<T: Tool>() -> String {
    format!("{}.{}", T::SERVICE, T::METHOD)
}

/// The identity of a call. It is computed twice, because one that differs makes two keys.
pub(super) fn identity<T: Tool>(tool: &T) -> Result<Option<Value>, InvalidContract> {
    let first = tool.identity();
    if !same(first.as_ref(), tool.identity().as_ref()) {
        return Err(InvalidContract::OtherIdentity { tool: tool_name::<T>() });
    }
    Ok(first)
}

/// Returns `true` if two identities make the same key.
pub(super) fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    one.map(canonical_whole) == other.map(canonical_whole)
}
