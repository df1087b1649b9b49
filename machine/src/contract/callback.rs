//! Services that accept a call and report its outcome later.

use std::{fmt, time::Duration};

#[cfg(feature = "store")]
use super::Sealed;
use crate::journal::Digest;
#[cfg(feature = "store")]
use crate::{
    actor::who::{Who, who},
    actor::{Callback, ToolNode},
};

/// The right to report the outcome of one call, for the service that accepted it.
///
/// A store makes one for each call of a tool whose effect is
/// [`AnswersLater`](crate::contract::AnswersLater), before the call, and keeps only its digest.
/// Give [`Call::callback_token`](crate::contract::Call::callback_token) to the service;
/// [`new`](Self::new) turns the text in its request back into a token. The `Debug` output hides the
/// token.
///
/// ```
/// use machine::contract::CallbackToken;
///
/// let token = CallbackToken::new("775ba94a7dd3cc1083c4129eceb6f1c9");
/// assert_eq!(format!("{token:?}"), "CallbackToken(..)");
/// ```
#[derive(Clone)]
pub struct CallbackToken(String);

impl CallbackToken {
    /// The token in a request.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// An unguessable token of 192 random bits.
    #[cfg(feature = "store")]
    pub(crate) fn fresh() -> Result<Self, getrandom::Error> {
        crate::id::unguessable().map(Self)
    }

    /// The text to send to the service. Keep it out of logs.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&[b"callback", self.0.as_bytes()])
    }

    /// Returns `true` if it is the token with this digest. The time that this takes does not depend
    /// on what is wrong, nor on whether there is a token at all.
    pub(crate) fn is(&self, expected: Option<Digest>) -> bool {
        // Digests are compared in constant time.
        (self.digest() == expected.unwrap_or(Digest::ZERO)) & expected.is_some()
    }
}

impl fmt::Debug for CallbackToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackToken(..)")
    }
}

/// The service has accepted a call, and reports its outcome later.
/// [`Call::accepted`](crate::contract::Call::accepted) makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub(crate) reference: String,
    pub(crate) within: Duration,
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The reference is not for people, and this becomes a part of a question.
        f.write_str("the service accepted the call and reports later")
    }
}

/// The reporter of the outcome of a call: the service itself, by its [`CallbackToken`], or the
/// [`ToolNode`](crate::actor::ToolNode) of a program that has received the report in another way,
/// such as from a queue.
#[cfg(feature = "store")]
pub trait Reporter: Sealed + Sync {
    #[doc(hidden)]
    fn __token(&self) -> Option<&CallbackToken>;

    #[doc(hidden)]
    fn __who(&self) -> Who<'_>;
}

#[cfg(feature = "store")]
impl Reporter for ToolNode {
    fn __token(&self) -> Option<&CallbackToken> {
        None
    }

    fn __who(&self) -> Who<'_> {
        who(self)
    }
}

#[cfg(feature = "store")]
impl Reporter for CallbackToken {
    fn __token(&self) -> Option<&CallbackToken> {
        Some(self)
    }

    fn __who(&self) -> Who<'_> {
        who(&Callback)
    }
}

#[cfg(feature = "store")]
impl Sealed for ToolNode {}

#[cfg(feature = "store")]
impl Sealed for CallbackToken {}
