use std::fmt;

/// A fencing token. Later permits of a store have larger tokens.
///
/// Its `Display` has a fixed width, so that tokens also compare as text.
///
/// ```
/// # fn example<T>(call: &machine::contract::Call<T>, highest_seen: machine::contract::Token) {
/// let is_stale = call.token() < highest_seen;
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    generation: u64,
    sequence: u64,
}

impl Token {
    pub(crate) fn new(generation: u64, sequence: u64) -> Self {
        Self { generation, sequence }
    }

    /// The generation of the store: it rises when a backup is put to use.
    #[must_use]
    pub fn generation(self) -> u64 {
        self.generation
    }

    /// The sequence number of the journal entry that issued the permit.
    #[must_use]
    pub fn sequence(self) -> u64 {
        self.sequence
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020}-{:020}", self.generation, self.sequence)
    }
}
