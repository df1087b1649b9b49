use super::InvalidContract;

/// A registered tool: its name, and whether its effect is irreversible.
///
/// The registration is authoritative (EX-15). A model may mark a call of an idempotent tool as
/// irreversible, but not the reverse.
///
/// ```
/// use machine::contract::Tool;
///
/// let email = Tool::irreversible("email", "send")?;
/// let weather = Tool::idempotent("weather", "get")?.timeout_seconds(5);
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    pub(super) service: String,
    pub(super) method: String,
    pub(super) irreversible: bool,
    pub(super) timeout_seconds: u64,
}

impl Tool {
    /// The default timeout of a tool call in seconds (EX-15).
    pub const DEFAULT_TIMEOUT_SECONDS: u64 = 30;

    /// A tool with an irreversible effect, such as sending a mail.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] if a name is empty.
    pub fn irreversible(
        service: impl Into<String>,
        method: impl Into<String>,
    ) -> Result<Self, InvalidContract> {
        Self::new(service.into(), method.into(), true)
    }

    /// A tool that can safely be called again, such as reading a file.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] if a name is empty.
    pub fn idempotent(
        service: impl Into<String>,
        method: impl Into<String>,
    ) -> Result<Self, InvalidContract> {
        Self::new(service.into(), method.into(), false)
    }

    fn new(service: String, method: String, irreversible: bool) -> Result<Self, InvalidContract> {
        if service.is_empty() {
            return Err(InvalidContract::Empty("service"));
        }
        if method.is_empty() {
            return Err(InvalidContract::Empty("method"));
        }
        Ok(Self { service, method, irreversible, timeout_seconds: Self::DEFAULT_TIMEOUT_SECONDS })
    }

    /// Sets the timeout of a call in seconds.
    #[must_use]
    pub fn timeout_seconds(mut self, seconds: u64) -> Self {
        self.timeout_seconds = seconds;
        self
    }
}
