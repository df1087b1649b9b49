/// A machine is one: nothing implements this.
#[diagnostic::on_unimplemented(
    message = "`{M}` cannot be cloned: a transition consumes the one machine there is",
    label = "a machine has no copies",
    note = "clone its data with `.state().clone()`, or go on with the machine that the transition returns"
)]
pub trait Copied<M> {}
