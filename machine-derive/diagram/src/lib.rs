//! Draws state machines as SVG. The library draws `DEFINITION`s with it, the macro draws for
//! rustdoc.
//!
//! ```
//! use machine_diagram::{Arrow, Diagram, Node};
//!
//! let node = |label: &str, terminal: bool| Node { label: label.to_owned(), initial: !terminal, terminal };
//! let diagram = Diagram {
//!     nodes: vec![node("OPEN", false), node("SHUT", true)],
//!     arrows: vec![Arrow { from: 0, to: 1, label: "close".to_owned() }],
//! };
//! assert!(diagram.svg().starts_with("<svg"));
//! ```

mod layout;
mod svg;

pub use layout::Rect;

/// A machine, as far as a drawing shows it.
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
    /// What stands in its box.
    pub label: String,
    /// A new machine is in this state.
    pub initial: bool,
    /// It is never left.
    pub terminal: bool,
}

/// A move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// The source, as an index into [`Diagram::nodes`].
    pub from: usize,
    /// The target, as an index into [`Diagram::nodes`].
    pub to: usize,
    /// What stands on the arrow.
    pub label: String,
}

impl Diagram {
    /// The drawing, as one `<svg>` element. It takes its colours from where it stands, so that it
    /// reads on light and on dark.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::draw(self, &layout::layout(self))
    }

    /// Where every label stands, those of states first: no two of these overlap.
    #[must_use]
    pub fn labels(&self) -> Vec<Rect> {
        let layout = layout::layout(self);
        layout.nodes.into_iter().chain(layout.arrows.into_iter().map(|arrow| arrow.rect)).collect()
    }
}
