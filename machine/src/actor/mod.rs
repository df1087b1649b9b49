//! Who moves a machine. An actor is a capability: what you hold is what you may do.

mod category;
mod nodes;

pub use category::Category;
pub use nodes::{Anyone, EcsNode, GraphRunner, ReasoningNode, ToolNode};

/// Somebody who can move a machine.
///
/// `by = ToolNode | EcsNode` in a machine names types that implement this trait. A program hands
/// each part the actor that it is meant to be; code that was given only a [`ReasoningNode`] has
/// nothing to advance a contract with, and the compiler says so (EX-4).
///
/// ```
/// use machine::actor::{Actor, Category};
///
/// /// A person in the release team.
/// #[derive(Debug)]
/// struct Releaser;
///
/// impl Actor for Releaser {
///     const KIND: &'static str = "releaser";
///     const CATEGORY: Category = Category::Human;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor",
    label = "this type cannot move a machine",
    note = "`by` names types that implement `machine::actor::Actor`; implement it for this one"
)]
pub trait Actor: 'static {
    /// The name in the journal, such as `tool_node`.
    const KIND: &'static str;
    /// What people are shown instead of the name (OB-3).
    const CATEGORY: Category;
    /// The name in the journal before it was changed to [`KIND`](Self::KIND).
    const WAS: Option<&'static str> = None;
}
