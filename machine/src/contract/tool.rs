use super::InvalidContract;

/// A tool as it is registered: its name, and whether what it does can be taken back.
///
/// The registration is what counts (EX-15). A model may call an action irreversible that is
/// registered as idempotent; it cannot do the reverse.
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
    /// How long a tool call may take unless said otherwise, in seconds (EX-15).
    pub const DEFAULT_TIMEOUT_SECONDS: u64 = 30;

    /// A tool whose effect cannot be taken back, such as sending a mail.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] when a name is empty.
    pub fn irreversible(
        service: impl Into<String>,
        method: impl Into<String>,
    ) -> Result<Self, InvalidContract> {
        Self::new(service.into(), method.into(), true)
    }

    /// A tool that may be called again without harm, such as reading a file.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] when a name is empty.
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

    /// Sets how long a call may take, in seconds.
    #[must_use]
    pub fn timeout_seconds(mut self, seconds: u64) -> Self {
        self.timeout_seconds = seconds;
        self
    }
}
