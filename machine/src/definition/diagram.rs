use alloc::{
    format,
    string::{String, ToString},
};
use core::iter::once;

use super::Definition;

impl Definition {
    /// The machine as a Mermaid state diagram.
    ///
    /// ```
    /// use machine::contract::execution;
    ///
    /// let text = execution::DEFINITION.mermaid();
    /// assert!(text.starts_with("stateDiagram-v2\n    [*] --> PENDING\n"));
    /// assert!(text.contains("    WAITING --> RUNNING: resume\n"));
    /// ```
    #[must_use]
    pub fn mermaid(&self) -> String {
        let label = |state: usize| mermaid_text(&self.states[state].label);
        let start = format!("    [*] --> {}\n", label(self.initial));
        let moves = self.edges.iter().map(|edge| {
            format!(
                "    {} --> {}: {}\n",
                label(edge.from),
                label(edge.to),
                mermaid_text(&edge.label().to_string())
            )
        });
        let ends = self.states.iter().filter(|state| state.terminal);
        let ends = ends.map(|state| format!("    {} --> [*]\n", mermaid_text(&state.label)));
        let notes = self.states.iter().filter_map(|state| {
            // The text of a note ends at a colon.
            let note = mermaid_text(&state.invocation.as_ref()?.label().to_string());
            let note = note.replace(':', "#58;");
            Some(format!("    note right of {}: {note}\n", mermaid_text(&state.label)))
        });
        once(String::from("stateDiagram-v2\n"))
            .chain(once(start))
            .chain(notes)
            .chain(moves)
            .chain(ends)
            .collect()
    }

    /// The machine as an `<svg>` element, which inherits its colours.
    ///
    /// ```
    /// use machine::contract::execution;
    ///
    /// assert!(execution::DEFINITION.svg().contains(">WAITING</text>"));
    /// ```
    #[cfg(feature = "diagram")]
    #[must_use]
    pub fn svg(&self) -> String {
        self.diagram().svg()
    }

    /// The nodes and arrows of the drawing.
    #[cfg(feature = "diagram")]
    #[must_use]
    pub fn diagram(&self) -> machine_diagram::Diagram {
        let nodes = self.states.iter().enumerate().map(|(index, state)| machine_diagram::Node {
            label: state.label.clone().into_owned(),
            note: state.invocation.as_ref().map(|invocation| invocation.label().to_string()),
            initial: index == self.initial,
            terminal: state.terminal,
        });
        let arrows = self.edges.iter().map(|edge| machine_diagram::Arrow {
            from: edge.from,
            to: edge.to,
            label: edge.label().to_string(),
        });
        machine_diagram::Diagram { nodes: nodes.collect(), arrows: arrows.collect() }
    }
}

/// A label of Mermaid ends at a line break or a semicolon, and `#` starts an entity.
fn mermaid_text(label: &str) -> String {
    let mut text = String::new();
    for character in label.chars() {
        match character {
            '#' => text.push_str("#35;"),
            ';' => text.push_str("#59;"),
            other if other.is_control() || matches!(other, '\u{2028}' | '\u{2029}') => {
                text.push(' ');
            }
            other => text.push(other),
        }
    }
    text
}
