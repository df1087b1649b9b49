use super::{Cow, Text};

/// The audience of a field: each audience sees what those before it see, and more.
///
/// `#[audience(human)]` on a field of a state, or on an item of a payload, declares it; a field
/// without a mark is [`Internal`](Self::Internal). [`view`](crate::view) has each of them as a
/// type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "durable",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Audience {
    /// People who use or approve what the machine does, and the model's prompt.
    Human = 2,
    /// The people who find out why it does not work.
    Diagnostic = 1,
    /// The program itself, and people who may see all of its data.
    #[default]
    Internal = 0,
}

/// The audience of a member of a context.
///
/// ```
/// use machine::definition::Mark;
/// use machine::stored::Context;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Order {
///     item: String,
///     warehouse: String,
///     card_number: String,
/// }
///
/// impl Context for Order {
///     type Summary = ();
///     /// The card number is internal.
///     const MARKS: &'static [Mark] = &[Mark::human("item"), Mark::diagnostic("warehouse")];
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Mark {
    /// The name of the member in its JSON form.
    pub name: Text,
    /// The audience that may see it.
    pub audience: Audience,
}

impl Mark {
    /// For everyone.
    #[must_use]
    pub const fn human(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), audience: Audience::Human }
    }

    /// For diagnosis.
    #[must_use]
    pub const fn diagnostic(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), audience: Audience::Diagnostic }
    }
}
