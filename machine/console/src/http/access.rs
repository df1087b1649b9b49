use std::fmt;

use machine::actor::{Actor, Human};

/// The rights of callers over HTTP.
///
/// Every write needs the token of an operator, whose name is recorded. Without a token, only
/// programs of this computer can read, and only what is for people;
/// [`tokens_only`](Self::tokens_only) closes that, too.
///
/// ```
/// use machine::actor::Human;
/// use machine_console::http::Access;
///
/// let access = Access::new()
///     .operator(Human::new("ann@example.com")?, "3c7ad1f5-of-ann")?
///     .reader(Human::new("dashboard")?, "90f2b6c4-of-dashboard")?;
/// # drop(access);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Access {
    tokens: Vec<Token>,
    tokens_only: bool,
}

#[derive(Clone)]
struct Token {
    /// Comparing digests takes constant time.
    digest: blake3::Hash,
    role: Role,
    person: Human,
}

/// The rights of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Read human-audience data, without a token, on this computer.
    Local,
    /// Read, including diagnostic data.
    Reader,
    /// Read everything, and write.
    Operator,
}

/// The token is too short to be a secret, has characters that a header cannot have, or is of
/// another person.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidToken(String);

impl Access {
    /// The fewest characters of a token.
    const SHORTEST: usize = 12;

    /// No tokens: all writes are refused, and programs of this computer can read.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the token of a person who may read everything, and write.
    ///
    /// # Errors
    ///
    /// [`InvalidToken`]
    pub fn operator(self, person: Human, token: &str) -> Result<Self, InvalidToken> {
        self.with(Role::Operator, person, token)
    }

    /// With the token of a person or a program that may read human-audience and diagnostic data.
    ///
    /// # Errors
    ///
    /// [`InvalidToken`]
    pub fn reader(self, person: Human, token: &str) -> Result<Self, InvalidToken> {
        self.with(Role::Reader, person, token)
    }

    /// Reading needs a token, too, also on this computer.
    #[must_use]
    pub fn tokens_only(mut self) -> Self {
        self.tokens_only = true;
        self
    }

    fn with(mut self, role: Role, person: Human, token: &str) -> Result<Self, InvalidToken> {
        if token.len() < Self::SHORTEST || !token.bytes().all(|it| it.is_ascii_graphic()) {
            return Err(InvalidToken(format!(
                "a token has at least {} visible ASCII characters, and no spaces",
                Self::SHORTEST
            )));
        }
        if self.find(token.as_bytes()).is_some() {
            return Err(InvalidToken("two people have the same token; give each their own".into()));
        }
        self.tokens.push(Token { digest: blake3::hash(token.as_bytes()), role, person });
        Ok(self)
    }

    #[cfg(feature = "cli")]
    pub(crate) fn can_write(&self) -> bool {
        self.tokens.iter().any(|known| known.role == Role::Operator)
    }

    #[cfg(feature = "cli")]
    pub(crate) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    pub(super) fn find(&self, token: &[u8]) -> Option<(Role, &Human)> {
        let digest = blake3::hash(token);
        let found = self.tokens.iter().find(|known| known.digest == digest)?;
        Some((found.role, &found.person))
    }

    /// True if programs of this computer can read without a token.
    pub(super) fn is_local_open(&self) -> bool {
        !self.tokens_only
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let people = self.tokens.iter().map(|known| (known.person.name(), known.role));
        f.debug_struct("Access")
            .field("tokens", &people.collect::<Vec<_>>())
            .field("local", &self.is_local_open())
            .finish_non_exhaustive()
    }
}
