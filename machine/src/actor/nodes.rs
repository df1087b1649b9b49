#[cfg(feature = "alloc")]
use super::InvalidName;
use super::{Actor, Category, Name, category::Library};

/// The actors of this library, with the name that the journal records for them.
///
/// They come from one place: call [`issue`](Self::issue) in `main`, and hand each component the
/// actor for its role. Code that is handed a [`ReasoningNode`] has no way to a [`GraphRunner`] but
/// that call, which a reviewer finds by its name, and which clippy's `disallowed-methods` can
/// forbid elsewhere.
///
/// ```
/// use machine::actor::{Actor, Actors};
///
/// let actors = Actors::issue("mailer")?;
/// assert_eq!(actors.tool_node.name(), Some("mailer"));
/// assert_eq!(actors.clone().graph_runner.name(), Some("mailer"));
/// # Ok::<(), machine::actor::InvalidName>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Actors {
    /// Runs tools.
    pub tool_node: ToolNode,
    /// Asks people.
    pub ecs_node: EcsNode,
    /// Drives the graph.
    pub graph_runner: GraphRunner,
    /// Decides what should happen.
    pub reasoning_node: ReasoningNode,
}

#[cfg(feature = "alloc")]
impl Actors {
    /// The four actors of this library, under this name in journals.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] if the name is empty, longer than 200 bytes, or has characters that cannot
    /// be seen.
    pub fn issue(name: &str) -> Result<Self, InvalidName> {
        let name = Name::new(name)?;
        Ok(Self {
            tool_node: ToolNode(Some(name.clone())),
            ecs_node: EcsNode(Some(name.clone())),
            graph_runner: GraphRunner(Some(name.clone())),
            reasoning_node: ReasoningNode(Some(name)),
        })
    }
}

/// All of them can be copied; a part that is handed a single actor cannot keep it.
impl Clone for Actors {
    fn clone(&self) -> Self {
        let Self { tool_node, ecs_node, graph_runner, reasoning_node } = self;
        Self {
            tool_node: ToolNode(tool_node.0.clone()),
            ecs_node: EcsNode(ecs_node.0.clone()),
            graph_runner: GraphRunner(graph_runner.0.clone()),
            reasoning_node: ReasoningNode(reasoning_node.0.clone()),
        }
    }
}

/// Runs tools. Starts, ends and suspends executions. See [`Actors::issue`].
#[derive(Debug)]
pub struct ToolNode(Option<Name>);

/// Asks people (human interaction). Starts, ends and suspends executions. See [`Actors::issue`].
#[derive(Debug)]
pub struct EcsNode(Option<Name>);

/// Drives the graph. Suspends, resumes, cancels, times out and ends executions. See
/// [`Actors::issue`].
#[derive(Debug)]
pub struct GraphRunner(Option<Name>);

/// Decides what should happen. Creates contracts and reads state, but cannot advance an execution.
/// See [`Actors::issue`].
#[derive(Debug)]
pub struct ReasoningNode(Option<Name>);

/// A person, by name. Make one at the border of the program, where it knows who is there: from an
/// access token, or from the user of a terminal.
///
/// Names that look the same are the same: they are compared in a normal form (Unicode NFKC, with
/// one plain space for spaces of any kind, none at the ends, and without U+FE0F). Names with other
/// characters that cannot be seen are refused. Letters of another alphabet that look alike, such as
/// a Cyrillic `а`, make another name; where people read it, they are escaped.
///
/// ```
/// use machine::actor::{Actor, Human};
///
/// let ann = Human::new("ann@example.com")?;
/// assert_eq!(ann.name(), Some("ann@example.com"));
/// assert_eq!(Human::new("ａnn@example.com\u{a0}")?.name(), ann.name());
/// assert!(Human::new("ann\u{202e}").is_err());
/// # Ok::<(), machine::actor::InvalidName>(())
/// ```
#[derive(Debug, Clone)]
pub struct Human(Name);

#[cfg(feature = "alloc")]
impl Human {
    /// The person with this name.
    ///
    /// # Errors
    ///
    /// See [`Actors::issue`].
    pub fn new(name: &str) -> Result<Self, InvalidName> {
        Name::new(name).map(Self)
    }
}

/// The actor for transitions without `by`, which any actor may take. It stands for none in
/// particular, and a journal names none for them.
#[derive(Debug)]
pub struct Anyone;

/// A service that reports the outcome of a call, by the token of that call.
#[cfg(feature = "store")]
#[derive(Debug)]
pub(crate) struct Callback;

/// A call that has ended, as the actor that brings its outcome to the machine that made it by
/// `#[invoke]`. Only the library has one, so a transition that takes an outcome proves that there
/// was one.
#[derive(Debug)]
pub struct Call(Option<Name>);

#[cfg(feature = "durable")]
impl GraphRunner {
    /// The library itself: it parks executions in doubt and completes gates that were decided.
    pub(crate) const STORE: Self = Self(None);
}

#[cfg(feature = "durable")]
impl ReasoningNode {
    /// The library, where the author of a contract is the machine that makes it.
    pub(crate) const STORE: Self = Self(None);
}

#[cfg(feature = "durable")]
impl EcsNode {
    /// The library itself: it ends calls that never begin.
    pub(crate) const STORE: Self = Self(None);
}

#[cfg(feature = "store")]
impl ToolNode {
    /// Returns the actor for a call that keeps running after its caller stopped waiting.
    pub(crate) fn again(&self) -> Self {
        Self(self.0.clone())
    }
}

macro_rules! library {
    ($($actor:ident, $kind:literal, $category:ident;)*) => {$(
        impl Actor for $actor {
            const KIND: &'static str = $kind;
            const CATEGORY: Category = Category::$category;
            const __LIBRARY: Option<Library<Self>> = Some(Library::MARK);

            fn name(&self) -> Option<&str> {
                self.0.as_ref().map(Name::as_str)
            }
        }
    )*};
}

library! {
    ToolNode, "tool_node", Tool;
    EcsNode, "ecs_node", System;
    GraphRunner, "graph_runner", System;
    ReasoningNode, "reasoning", Agent;
    Call, "call", Tool;
}

impl Actor for Human {
    const KIND: &'static str = "human";
    const CATEGORY: Category = Category::Human;
    const __LIBRARY: Option<Library<Self>> = Some(Library::MARK);

    fn name(&self) -> Option<&str> {
        Some(self.0.as_str())
    }
}

#[cfg(feature = "store")]
impl Actor for Callback {
    const KIND: &'static str = "callback";
    const CATEGORY: Category = Category::Tool;
    const __LIBRARY: Option<Library<Self>> = Some(Library::MARK);
}

impl Actor for Anyone {
    const KIND: &'static str = "anyone";
    const CATEGORY: Category = Category::System;
    const __LIBRARY: Option<Library<Self>> = Some(Library::MARK);
}
