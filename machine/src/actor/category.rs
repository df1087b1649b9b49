use core::{any::TypeId, fmt, marker::PhantomData};

/// The category of an actor, as shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, crate::ToSchema)]
#[cfg_attr(
    feature = "durable",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum Category {
    /// An actor that runs tools.
    Tool,
    /// Infrastructure; also the category of every unknown kind.
    System,
    /// A reasoner.
    Agent,
    /// A person.
    Human,
}

/// The mark of an actor of this library. No other code can make one, and each actor has its own.
#[doc(hidden)]
pub struct Library<A: ?Sized> {
    /// The name and kind of an actor whose type represents many.
    pub(super) acts_as: Option<ActsAs<A>>,
    actor: PhantomData<fn() -> A>,
}

pub(super) type ActsAs<A> = fn(&A) -> (TypeId, &'static str);

impl<A: ?Sized> Library<A> {
    pub(super) const MARK: Self = Self { acts_as: None, actor: PhantomData };

    #[cfg(feature = "worker")]
    pub(super) const fn acting(acts_as: ActsAs<A>) -> Self {
        Self { acts_as: Some(acts_as), actor: PhantomData }
    }
}

impl<A: ?Sized> fmt::Debug for Library<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}

impl Category {
    /// The category of an actor kind, as recorded in a journal.
    pub(crate) fn of_kind(kind: &str) -> Self {
        match kind {
            "tool_node" | "callback" | "call" => Self::Tool,
            "reasoning" => Self::Agent,
            "human" => Self::Human,
            _ => Self::System,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::System => "system",
            Self::Agent => "agent",
            Self::Human => "human",
        })
    }
}
