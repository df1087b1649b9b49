use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use super::json::Json;
use super::{
    caller::Caller,
    extract::{Named, name},
    problem::Problem,
    state::Shared,
};
use machine::{
    definition::Definition,
    text::{OneLine, shortened},
    view::Topology,
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
    topology: Topology,
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

/// The definitions of the machines in the store.
#[utoipa::path(
    operation_id = "list_definitions",
    get, path = "/api/definitions", tag = "definitions",
    responses(
        (status = 200, description = "The definitions.", body = Definitions),
    )
)]
pub(super) async fn list(
    State(http): State<Shared>,
    _: Caller,
) -> Result<Json<Definitions>, Problem> {
    let known = http.store.definitions().await?;
    let newest = |one: &Definition| {
        known.iter().rfind(|other| other.name == one.name).map(|it| it.fingerprint)
    };
    let lines = known.iter().map(|one| Line {
        fingerprint: one.fingerprint.to_string(),
        machine: one.name.to_string(),
        version: one.version,
        about: one.docs.trim().lines().next().unwrap_or_default().to_owned(),
        states: one.states.len(),
        edges: one.edges.len(),
        newest: newest(one) == Some(one.fingerprint),
    });
    let broken = http.observer.broken_definitions().await?;
    let unreadable = broken.iter().map(|reason| OneLine(reason).to_string()).collect();
    Ok(Json(Definitions { definitions: lines.collect(), unreadable }))
}

/// A definition, with a layout of its diagram.
#[utoipa::path(
    operation_id = "show_definition",
    get, path = "/api/definitions/{fingerprint}", tag = "definitions",
    params(("fingerprint" = String, Path)),
    responses(
        (status = 200, description = "The definition.", body = Shown),
        (status = 404, description = "There is no such definition.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn show(
    State(http): State<Shared>,
    _: Caller,
    Named(fingerprint): Named,
) -> Result<Json<Shown>, Problem> {
    let definition = find(&http, &fingerprint).await?;
    Ok(Json(Shown {
        fingerprint: definition.fingerprint.to_string(),
        machine: definition.name.to_string(),
        version: definition.version,
        topology: Topology::of(&definition),
        diagram: Diagram::of(&definition),
    }))
}

/// The diagram of a definition.
#[utoipa::path(
    operation_id = "definition_diagram",
    get, path = "/api/definitions/{fingerprint}/diagram.svg", tag = "definitions",
    params(("fingerprint" = String, Path)),
    responses(
        (status = 200, description = "The drawing.", content_type = "image/svg+xml",
            body = String),
        (status = 404, description = "There is no such definition.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn svg(
    State(http): State<Shared>,
    _: Caller,
    Named(fingerprint): Named,
) -> Result<Response, Problem> {
    let definition = find(&http, &fingerprint).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        ),
    ];
    Ok((headers, definition.svg()).into_response())
}

/// The states and moves of a kind of machine, under its newest definition.
#[utoipa::path(
    operation_id = "definition_topology",
    get, path = "/api/topology/{machine}", tag = "definitions",
    params(("machine" = String, Path)),
    responses(
        (status = 200, description = "The states and moves.", body = Topology),
        (status = 404, description = "No machine of this kind was ever stored.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn topology(
    State(http): State<Shared>,
    _: Caller,
    Named(machine): Named,
) -> Result<Json<Topology>, Problem> {
    let topology = http.observer.topology(name(&machine)?).await?;
    topology.map(Json).ok_or_else(|| {
        let shown = shortened(&machine);
        Problem::not_found(format!(
            "no machine of kind `{shown}` was ever stored; see api/definitions"
        ))
    })
}

async fn find(http: &Shared, fingerprint: &str) -> Result<Arc<Definition>, Problem> {
    let known = http.store.definitions().await?;
    let found = known.into_iter().find(|known| known.fingerprint.to_string() == fingerprint);
    found.ok_or_else(|| {
        let shown = shortened(fingerprint);
        Problem::not_found(format!("there is no definition `{shown}`; see api/definitions"))
    })
}

impl Diagram {
    fn of(definition: &Definition) -> Self {
        let drawn = definition.diagram();
        let layout = drawn.layout();
        let nodes = definition.states.iter().enumerate().zip(&layout.nodes);
        let nodes = nodes.map(|((index, state), rect)| Node {
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
