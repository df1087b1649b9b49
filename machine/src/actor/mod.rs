//! Who may move a machine. An actor is a capability: code can take only the transitions that are
//! allowed for the actors it holds.

mod category;
mod nodes;

pub use category::Category;
pub use nodes::{Anyone, EcsNode, GraphRunner, ReasoningNode, ToolNode};

/// Something that can move a machine.
///
/// `by = ToolNode | EcsNode` in a machine names types that implement this trait. A program hands
/// each component the actor for its role. Code that holds only a [`ReasoningNode`] cannot advance a
/// contract: it does not compile (EX-4).
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
    /// The category that is shown to people (OB-3).
    const CATEGORY: Category;
    /// The previous name in the journal, from before a rename to [`KIND`](Self::KIND).
    const WAS: Option<&'static str> = None;
}
