//! Draws state machines as SVG. Used by the library for `DEFINITION`s and by the macro for rustdoc.
//!
//! ```
//! use machine_diagram::{Arrow, Diagram, Node};
//!
//! let node = |label: &str, terminal: bool| {
//!     Node { label: label.to_owned(), note: None, initial: !terminal, terminal }
//! };
//! let diagram = Diagram {
//!     nodes: vec![node("OPEN", false), node("SHUT", true)],
//!     arrows: vec![Arrow { from: 0, to: 1, label: "close".to_owned() }],
//! };
//! assert!(diagram.svg().starts_with("<svg"));
//! ```

mod layout;
mod svg;

pub use layout::{Layout, Placed, Rect};

/// The parts of a machine that a diagram shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagram {
    /// The states.
    pub nodes: Vec<Node>,
    /// The moves.
    pub arrows: Vec<Arrow>,
}

/// A state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The text in the box.
    pub label: String,
    /// A second line in the box, in small letters.
    pub note: Option<String>,
    /// True for the initial state.
    pub initial: bool,
    /// True for a terminal state.
    pub terminal: bool,
}

/// A move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// The source, as an index into [`Diagram::nodes`].
    pub from: usize,
    /// The target, as an index into [`Diagram::nodes`].
    pub to: usize,
    /// The text on the arrow.
    pub label: String,
}

impl Node {
    /// The lines of text in the box.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.label).chain(self.note.as_deref())
    }
}

impl Diagram {
    /// The diagram as one `<svg>` element. It inherits its colours from the page, so that it is
    /// readable on light and dark backgrounds.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::draw(self, &self.layout())
    }

    /// The positions of its parts, for a custom drawing.
    #[must_use]
    pub fn layout(&self) -> Layout {
        layout::layout(self)
    }
}
