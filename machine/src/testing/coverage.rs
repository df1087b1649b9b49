use std::{collections::BTreeSet, fmt};

use crate::{
    definition::Definition,
    journal::Fact,
    stored::{History, Restore},
};

/// The states and transitions of a machine that tests have reached, and the moves that were
/// refused.
///
/// Its `Display` is a report: a line for each state and transition, with those that were never
/// reached first.
#[derive(Debug, Clone)]
pub struct Coverage {
    definition: &'static Definition,
    states: BTreeSet<usize>,
    /// As indices into the edges of the definition.
    edges: BTreeSet<usize>,
    /// Labels of states, with the triggers that were refused in them.
    refused: BTreeSet<(String, String)>,
}

impl Coverage {
    /// Of a kind of machine, with nothing reached.
    #[must_use]
    pub fn of<M: Restore>() -> Self {
        let (states, edges, refused) = Default::default();
        Self { definition: M::DEFINITION, states, edges, refused }
    }

    pub(super) fn name(&self) -> &str {
        &self.definition.name
    }

    /// Adds what one machine has reached. Entries of another version of the machine are skipped.
    pub(super) fn add_history(&mut self, history: &History) {
        for entry in &history.entries {
            match &entry.fact {
                Fact::Created { machine, state, .. } if *machine == self.definition.name => {
                    self.states.extend(self.definition.state(state));
                }
                Fact::Moved { from, to, trigger, .. } => {
                    let states = self.definition.state(from).zip(self.definition.state(to));
                    let Some((from, to)) = states else { continue };
                    self.edges.extend(self.definition.edge_index(from, trigger, to));
                    self.states.insert(to);
                }
                _ => {}
            }
        }
    }

    pub(super) fn add_refused(&mut self, state: &str, trigger: &str) {
        self.refused.insert((state.to_owned(), trigger.to_owned()));
    }

    /// The states that were never reached, by their labels.
    #[must_use]
    pub fn missing_states(&self) -> Vec<&str> {
        let states = self.definition.states.iter().enumerate();
        let missing = states.filter(|(state, _)| !self.states.contains(state));
        missing.map(|(_, state)| state.label.as_ref()).collect()
    }

    /// The transitions that were never made, such as `CART -place-> PAYING`.
    #[must_use]
    pub fn missing_transitions(&self) -> Vec<String> {
        let edges = 0..self.definition.edges.len();
        edges.filter(|edge| !self.edges.contains(edge)).map(|edge| self.text(edge)).collect()
    }

    /// Returns `true` if every state and every transition was reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.states.len() == self.definition.states.len()
            && self.edges.len() == self.definition.edges.len()
    }

    fn text(&self, edge: usize) -> String {
        let edge = &self.definition.edges[edge];
        let label = |state: usize| &self.definition.states[state].label;
        format!("{} -{}-> {}", label(edge.from), edge.trigger, label(edge.to))
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Definition { name, states, edges, .. } = self.definition;
        let (reached, made) = (self.states.len(), self.edges.len());
        writeln!(
            f,
            "{name}: {reached} of {} states, {made} of {} transitions",
            states.len(),
            edges.len()
        )?;
        for state in self.missing_states() {
            writeln!(f, "  never reached: {state}")?;
        }
        for transition in self.missing_transitions() {
            writeln!(f, "  never made: {transition}")?;
        }
        for &edge in &self.edges {
            writeln!(f, "  made: {}", self.text(edge))?;
        }
        for (state, trigger) in &self.refused {
            writeln!(f, "  refused: {trigger} in {state}")?;
        }
        Ok(())
    }
}
