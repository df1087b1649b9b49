/// A machine is one: nothing implements this.
#[diagnostic::on_unimplemented(
    message = "`{M}` cannot be cloned: a transition consumes the one machine there is",
    label = "machines cannot be copied",
    note = "clone its data with `.state().clone()`, or use the machine that the transition returns"
)]
pub trait Copied<M> {}
