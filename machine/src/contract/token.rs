use std::fmt;

/// A fencing token. Later permits of a store have larger tokens.
///
/// Its `Display` has a fixed width, so that tokens also compare as text.
///
/// ```
/// # fn example<T>(call: &machine::contract::Call<T>, highest_seen: machine::contract::Token) {
/// let is_stale = call.token < highest_seen;
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Of the store: it rises when a backup is put to use.
    generation: u64,
    /// Of the journal entry that issued the permit.
    sequence: u64,
}

impl Token {
    pub(crate) fn new(generation: u64, sequence: u64) -> Self {
        Self { generation, sequence }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020}-{:020}", self.generation, self.sequence)
    }
}
