use super::{Definition, Edge, StateDef};
use crate::actor::Category;

/// The answer to whether a machine takes a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit<'a> {
    /// It does, in its current state.
    Now,
    /// Another state does.
    Later,
    /// Some state does, but never from actors of this kind.
    NotFor(&'a Edge),
    /// No state does.
    Unknown,
}

impl Definition {
    /// The edges of a trigger, also by the names that it had before.
    pub(crate) fn edges_of<'a>(&'a self, trigger: &'a str) -> impl Iterator<Item = &'a Edge> {
        let is_named = move |edge: &&Edge| {
            edge.trigger == trigger || edge.was.iter().any(|was| was == trigger)
        };
        self.edges.iter().filter(is_named)
    }

    /// Returns whether a move names a kind of actors that are people.
    pub(crate) fn is_for_person(&self, edge: &Edge) -> bool {
        edge.actors.iter().any(|kind| self.category(kind) == Category::Human)
    }

    /// Returns whether a state is a question: it may last, or only people, deadlines and `cancel` leave it, so no program
    /// works in it. What a person sends to a machine in such a state is an answer: for this visit only, and the only one.
    pub(crate) fn is_question(&self, state: usize) -> bool {
        let StateDef { stable, terminal, .. } = self.states[state];
        let is_for_program = |edge: &Edge| {
            let mut kinds = edge.actors.iter();
            let names_program = kinds.any(|kind| self.category(kind) != Category::Human);
            (names_program || edge.actors.is_empty())
                && edge.deadline.is_none()
                && edge.trigger != "cancel"
        };
        let is_for_person = |edge: &Edge| self.is_for_person(edge);
        !terminal
            && (stable
                || self.leaving(state).any(is_for_person)
                    && !self.leaving(state).any(is_for_program))
    }

    /// Checks whether a machine in a state takes a trigger from an actor of a kind. Everything that sends, takes or
    /// offers messages asks this.
    pub(crate) fn fit(&self, state: Option<usize>, trigger: &str, kind: &str) -> Fit<'_> {
        let mut first = None;
        let mut fit = None;
        for edge in self.edges.iter() {
            if edge.trigger != trigger && edge.was.iter().all(|was| was != trigger) {
                continue;
            }
            first.get_or_insert(edge);
            if edge.is_for_kind(kind) {
                if Some(edge.from) == state {
                    return Fit::Now;
                }
                fit = Some(Fit::Later);
            }
        }
        fit.or(first.map(Fit::NotFor)).unwrap_or(Fit::Unknown)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The moves out of a state, each with its actors, or with `after` for a deadline; and whether the state is a question
    /// without `#[stable]`.
    const TABLE: &[(&str, bool)] = &[
        ("accept human, send_back human", true),
        ("accept customer", true),
        ("accept human customer", true),
        ("accept human, expire after", true),
        ("accept human, cancel graph_runner", true),
        ("accept human, cancel", true),
        ("expire after, cancel human graph_runner", true),
        ("done ecs_node", false),
        ("done ecs_node, stop human, cancel human", false),
        ("done, pause human", false),
        ("written call, accept human", false),
        ("accept human ecs_node", false),
        ("accept", false),
        ("expire after", false),
        ("expire after, cancel graph_runner", false),
        ("cancel", false),
        ("", false),
    ];

    fn edge(text: &str) -> Value {
        let mut words = text.split(' ');
        let trigger = words.next();
        let (actors, deadlines): (Vec<_>, Vec<_>) = words.partition(|word| *word != "after");
        let deadline = deadlines.first().map(|_| json!({ "after": "context.limit" }));
        json!({ "from": 0, "trigger": trigger, "to": 1, "actors": actors, "deadline": deadline })
    }

    fn definition(moves: &str, stable: bool) -> Definition {
        let actor = |kind: &str| {
            let is_human = ["human", "customer"].contains(&kind);
            json!({ "kind": kind, "category": if is_human { "human" } else { "system" } })
        };
        let actors = ["human", "customer", "ecs_node", "graph_runner", "call"].map(actor);
        let written = json!({
            "name": "one",
            "states": [
                { "name": "here", "label": "HERE", "stable": stable },
                { "name": "gone", "label": "GONE", "terminal": true },
            ],
            "edges": moves.split(", ").filter(|text| !text.is_empty()).map(edge).collect::<Vec<_>>(),
            "initial": 0,
            "actors": actors,
        });
        serde_json::from_value(written).unwrap()
    }

    #[test]
    fn a_state_that_may_last_or_that_only_people_leave_is_a_question() {
        for (moves, expected) in TABLE {
            let definition = |stable| definition(moves, stable);
            assert_eq!(definition(false).is_question(0), *expected, "{moves:?}");
            assert!(definition(true).is_question(0), "{moves:?}, and `#[stable]`");
            assert!(!definition(true).is_question(1), "a terminal state");
        }
    }
}
