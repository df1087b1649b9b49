/// The return type of a guard: `Result<(), E>`.
#[diagnostic::on_unimplemented(
    message = "a guard returns `Result<(), {E}>`, but this one returns `{Self}`",
    label = "this function is not a guard",
    note = "a guard takes the state, the context if there is one, and each item of the payload, all by \
            reference, and is not `async`: pass the result of anything it would await as an item of the payload"
)]
pub trait Verdict<E> {
    /// Converts the verdict to a result.
    ///
    /// # Errors
    ///
    /// The reason why the transition is refused.
    fn into_result(self) -> Result<(), E>;
}

impl<E> Verdict<E> for Result<(), E> {
    fn into_result(self) -> Self {
        self
    }
}
