//! The actors that may move a machine. An actor is a capability: code can take only the transitions
//! that are allowed for the actors it holds.

mod category;
pub(crate) mod name;
mod nodes;
#[cfg(feature = "worker")]
mod sender;
pub(crate) mod who;

pub use category::Category;
#[doc(hidden)]
pub use category::Library;
pub use name::InvalidName;
pub(crate) use name::Name;
#[cfg(feature = "durable")]
pub(crate) use name::is_invisible;
#[cfg(feature = "store")]
pub(crate) use nodes::Callback;
pub use nodes::{Actors, Anyone, Call, EcsNode, GraphRunner, Human, ReasoningNode, ToolNode};
#[cfg(feature = "worker")]
pub(crate) use sender::Senders;

/// Returns `true` if this kind is that of an actor of this library.
pub(crate) const fn is_reserved(kind: &str) -> bool {
    let mut reserved = RESERVED;
    while let [first, rest @ ..] = reserved {
        if same(first, kind) {
            return true;
        }
        reserved = rest;
    }
    false
}

const RESERVED: &[&str] = &[
    "tool_node",
    "ecs_node",
    "graph_runner",
    "reasoning",
    "human",
    "anyone",
    "callback",
    "call",
    "machine",
];

/// Compares two texts, in a constant too.
pub(crate) const fn same(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let ([first, lefts @ ..], [second, rights @ ..]) = (left, right) {
        if *first != *second {
            return false;
        }
        (left, right) = (lefts, rights);
    }
    left.is_empty() && right.is_empty()
}

/// Returns `true` if an actor is what its kind says: a type of another crate does not become an
/// actor of this library by its name.
pub(crate) const fn is_genuine<A: Actor>() -> bool {
    A::__LIBRARY.is_some() || !is_reserved(A::KIND)
}

/// The actor that a value represents, if not its own type.
pub(crate) fn acts_as<A: Actor>(actor: &A) -> Option<(core::any::TypeId, &'static str)> {
    // Known at compile time for every actor but one, so a check costs nothing.
    match A::__LIBRARY {
        Some(library) => library.acts_as.map(|acts_as| acts_as(actor)),
        None => None,
    }
}

/// Something that can move a machine.
///
/// `by = ToolNode | EcsNode` in a machine names types that implement this trait. A program hands
/// each component the actor for its role. Code that holds only a [`ReasoningNode`] cannot advance a
/// contract: it does not compile.
///
/// ```
/// use machine::actor::{Actor, Category};
///
/// /// A person in the release team.
/// #[derive(Debug)]
/// struct Releaser {
///     name: String,
/// }
///
/// impl Actor for Releaser {
///     const KIND: &'static str = "releaser";
///     const CATEGORY: Category = Category::Human;
///
///     fn name(&self) -> Option<&str> {
///         Some(&self.name)
///     }
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
    /// The category that is shown to people.
    const CATEGORY: Category;
    /// The previous name in the journal, from before a rename to [`KIND`](Self::KIND).
    const WAS: Option<&'static str> = None;

    /// The name of the actor, for the journal: `mailer`, or `ann@example.com`. `None` if that does
    /// not matter.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Only this library can make the value that its own actors have here, so that a type of
    /// another crate cannot pass for one of them by its name.
    #[doc(hidden)]
    const __LIBRARY: Option<Library<Self>> = None;
}
