use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;

use super::{
    act::read, caller::Caller, extract::Named, json::Json, problem::Problem, state::Shared,
};
use crate::about::about;
use machine::{
    definition::Definition,
    text::{OneLine, shortened},
    view::{Topology, View},
};

/// The definitions of a store.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Definitions {
    /// Oldest first.
    definitions: Vec<Line>,
    /// The errors of those that cannot be read.
    unreadable: Vec<String>,
}

/// A definition in a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Line {
    /// Its identity.
    fingerprint: String,
    /// The kind of the machine.
    machine: String,
    /// The version of the stored data.
    version: u32,
    /// The first line of its documentation.
    about: String,
    /// The number of states.
    states: usize,
    /// The number of moves; a choice counts once for each of its targets.
    edges: usize,
    /// No newer definition of this kind is stored.
    newest: bool,
}

/// A definition.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Shown {
    /// Its identity.
    fingerprint: String,
    /// The kind of the machine.
    machine: String,
    /// The version of the stored data.
    version: u32,
    /// Its states and moves.
    #[schema(value_type = Topology)]
    topology: View<Topology>,
    /// Where a drawing has them.
    diagram: Diagram,
}

/// Where a drawing has the states and moves, in pixels.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Diagram {
    /// The whole width.
    width: f64,
    /// The whole height.
    height: f64,
    /// The states.
    nodes: Vec<Node>,
    /// The moves; those between the same two states are one arrow.
    arrows: Vec<Arrow>,
}

/// The box of a state.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Node {
    /// The state's name.
    status: String,
    /// The state's name in messages.
    label: String,
    /// The second line of the box: the call that the state makes.
    note: Option<String>,
    /// New machines are in it.
    initial: bool,
    /// It is never left.
    terminal: bool,
    /// It may last.
    stable: bool,
    /// The centre.
    x: f64,
    /// The centre.
    y: f64,
    /// The whole width.
    width: f64,
    /// The whole height.
    height: f64,
}

/// The moves from one state to another.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Arrow {
    /// The source.
    from: String,
    /// The target.
    to: String,
    /// The moves, one line of text each.
    moves: Vec<Step>,
    /// The centre of the text.
    x: f64,
    /// The centre of the text.
    y: f64,
    /// The whole width of the text.
    width: f64,
    /// The whole height of the text.
    height: f64,
    /// The points of the line.
    #[schema(value_type = Vec<Vec<f64>>)]
    line: [(f64, f64); 3],
}

/// A move.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Step {
    /// The trigger.
    trigger: String,
    /// The text, which also says when a choice goes this way.
    label: String,
}

read! {
    /// The definitions of the machines in the store.
    #[get("/api/definitions", "definitions", "list_definitions")]
    #[shows("The definitions.", Definitions)]
    async fn list(http, _: Caller) -> Json<Definitions> {
        let known = http.store.definitions().await?;
        let newest = |one: &Definition| {
            known.iter().rfind(|other| other.name == one.name).map(|it| it.fingerprint)
        };
        let lines = known.iter().map(|one| Line {
            fingerprint: one.fingerprint.to_string(),
            machine: one.name.to_string(),
            version: one.version,
            about: about(one),
            states: one.states.len(),
            edges: one.edges.len(),
            newest: newest(one) == Some(one.fingerprint),
        });
        let broken = http.observer.broken_definitions().await?;
        let unreadable = broken.iter().map(|reason| OneLine(reason).to_string()).collect();
        Ok(Json(Definitions { definitions: lines.collect(), unreadable }))
    }
}

read! {
    /// A definition, with a layout of its diagram.
    #[get("/api/definitions/{fingerprint}", "definitions", "show_definition", params(("fingerprint" = String, Path)))]
    #[shows("The definition.", Shown)]
    #[problem(404, "No such definition.")]
    async fn show(http, _: Caller, Named(fingerprint): Named) -> Json<Shown> {
        let definition = find(&http, &fingerprint).await?;
        Ok(Json(Shown {
            fingerprint: definition.fingerprint.to_string(),
            machine: definition.name.to_string(),
            version: definition.version,
            topology: Topology::of(&definition),
            diagram: Diagram::of(&definition),
        }))
    }
}

async fn find(http: &Shared, fingerprint: &str) -> Result<Arc<Definition>, Problem> {
    let known = http.store.definitions().await?;
    let found = known.into_iter().find(|known| known.fingerprint.to_string() == fingerprint);
    found.ok_or_else(|| {
        let shown = shortened(fingerprint);
        Problem::not_found(format!("no definition `{shown}`; see api/definitions"))
    })
}

impl Diagram {
    fn of(definition: &Definition) -> Self {
        let drawn = definition.diagram();
        let layout = drawn.layout();
        let nodes = definition.states.iter().enumerate().zip(&layout.nodes);
        let nodes = nodes.zip(&drawn.nodes).map(|(((index, state), rect), drawn)| Node {
            note: drawn.note.clone(),
            status: state.name.to_string(),
            label: state.label.to_string(),
            initial: index == definition.initial,
            terminal: state.terminal,
            stable: state.stable,
            x: rect.x,
            y: rect.y,
            width: rect.width,
            height: rect.height,
        });
        let name = |state: usize| definition.states[state].name.to_string();
        let arrows = layout.arrows.iter().map(|arrow| Arrow {
            from: name(arrow.from),
            to: name(arrow.to),
            moves: arrow
                .moves
                .iter()
                .map(|index| Step {
                    trigger: definition.edges[*index].trigger.to_string(),
                    label: drawn.arrows[*index].label.clone(),
                })
                .collect(),
            x: arrow.rect.x,
            y: arrow.rect.y,
            width: arrow.rect.width,
            height: arrow.rect.height,
            line: arrow.line,
        });
        Self {
            width: layout.width,
            height: layout.height,
            nodes: nodes.collect(),
            arrows: arrows.collect(),
        }
    }
}
