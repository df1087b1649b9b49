use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    Context, Error, Exit,
    output::{Format, Output, document, unreadable},
    table::{Table, cell},
    terminal::{Terminal, escaped, field},
};
use crate::about::about;
use machine::{
    definition::{Definition, Stays},
    store::Store,
    text::{OneLine, is_invisible, shortened},
    view,
};

/// `topology`: the states and moves of a kind of machine, under its newest definition in the file.
#[derive(Debug, clap::Args)]
pub(super) struct Topology {
    /// The kind, such as `execution`. Without one, the kinds in the file are listed.
    #[arg(value_name = "MACHINE")]
    machine: Option<String>,
    /// The format of the output.
    #[arg(long = "format", value_enum, default_value_t, requires = "machine")]
    drawing: Drawing,
    /// Print the stored definition as JSON, which `check --against` reads.
    #[arg(long, requires = "machine", conflicts_with_all = ["drawing", "json"])]
    definition: bool,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Drawing {
    /// A table of the moves.
    #[default]
    Table,
    /// A drawing for a browser.
    Svg,
    /// A drawing for Markdown.
    Mermaid,
    /// The states and moves as JSON.
    Json,
}

impl Topology {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let newest = newest(&store).await?;
        let broken = context.observer(&store).broken_definitions().await?;
        let Some(machine) = &self.machine else {
            return kinds(context.terminal(), &newest, &broken).print(self.format);
        };
        let Some(definition) = newest.get(machine.as_str()) else {
            if let Some(reason) = broken.first() {
                return Err(Error::refused(format!(
                    "no definition of `{}` can be read, and some cannot be read at all: {}; restore \
                     them from a backup",
                    shortened(machine),
                    OneLine(reason)
                )));
            }
            let known: Vec<_> = newest.keys().map(|name| format!("`{}`", OneLine(name))).collect();
            return Err(Error::usage(format!(
                "no machine of kind `{}` has been stored in this file; it has {}",
                shortened(machine),
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )));
        };
        let topology = view::Topology::of(definition);
        let text = match self.drawing {
            _ if self.definition => crate::json::line(&**definition)?,
            Drawing::Table => table(context.terminal(), &topology),
            Drawing::Svg => visible(&definition.svg()),
            Drawing::Mermaid => visible(&definition.mermaid()),
            Drawing::Json => crate::json::line(&topology)?,
        };
        Output::new(document(&topology)?, text).print(self.format)
    }
}

/// The newest definition of each kind, by its name.
async fn newest(store: &Store) -> Result<BTreeMap<String, Arc<Definition>>, Error> {
    let definitions = store.definitions().await?;
    Ok(definitions.into_iter().map(|known| (known.name.to_string(), known)).collect())
}

fn kinds(
    terminal: Terminal,
    newest: &BTreeMap<String, Arc<Definition>>,
    broken: &[String],
) -> Output {
    let mut table = Table::new(terminal, &["Kind", "Version", "States", "Moves", "About"]);
    let mut kinds: Vec<Value> = Vec::new();
    for definition in newest.values() {
        let about = about(definition);
        table.row([
            cell(&*definition.name),
            cell(definition.version.to_string()),
            cell(definition.states.len().to_string()),
            cell(definition.edges.len().to_string()),
            cell(&about),
        ]);
        kinds.push(json!({
            "machine": definition.name,
            "version": definition.version,
            "states": definition.states.len(),
            "edges": definition.edges.len(),
            "about": about,
        }));
    }
    let mut text = match (table.is_empty(), broken) {
        (true, []) => "No machine has been stored in this file.\n".to_owned(),
        (true, _) => String::new(),
        (false, _) => table.text(),
    };
    text.push_str(&unreadable(broken));
    Output::new(json!({ "kinds": kinds, "unreadable": broken }), text).problems(!broken.is_empty())
}

fn table(terminal: Terminal, topology: &view::Topology) -> String {
    let mut table = Table::new(terminal, &["From", "Trigger", "To", "For", "When"]);
    let label = |name: &str| {
        let node = topology.nodes.iter().find(|node| node.status == name);
        node.map_or_else(|| name.to_owned(), |node| node.label.clone())
    };
    for edge in &topology.edges {
        let actors = edge.allowed_actors.join(", ");
        table.row([
            cell(label(&edge.from_status)),
            cell(&edge.trigger),
            cell(label(&edge.to_status)),
            cell(if actors.is_empty() { "anyone" } else { &actors }),
            cell(when(edge)),
        ]);
    }
    let list = |names: &[String]| {
        let labels: Vec<_> = names.iter().map(|name| OneLine(&label(name)).to_string()).collect();
        if labels.is_empty() { "none".to_owned() } else { labels.join(", ") }
    };
    let mut shown = table.text();
    shown.push_str(&calls(terminal, topology));
    shown.push('\n');
    let initial = label(&topology.initial_status);
    shown.push_str(&field("initial", OneLine(&initial)));
    shown.push_str(&field("terminal", list(&topology.terminal_statuses)));
    shown.push_str(&field("waits in", list(&topology.resumable_statuses)));
    for problem in &topology.problems {
        shown.push_str(&field("problem", OneLine(problem)));
    }
    shown
}

/// The condition and the deadline of a move, and whether it stays in its state or leaves calls
/// under way.
fn when(edge: &view::TopologyEdge) -> String {
    let after = edge.after.as_ref().map(|after| format!("after = {after}"));
    let at = edge.at.as_ref().map(|at| format!("at = {at}"));
    let stays = match edge.stays {
        Stays::Never => None,
        Stays::Always => Some("stays"),
        Stays::ByBranch => Some("may stay"),
    };
    let detaches = edge.detaches.then_some("detaches its calls");
    let parts = [edge.when.as_deref(), after.as_deref(), at.as_deref(), stays, detaches];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn calls(terminal: Terminal, topology: &view::Topology) -> String {
    let mut table = Table::new(terminal, &["State", "Call", "Tool", "Approval", "Outcome", "More"]);
    for node in &topology.nodes {
        let Some(calls) = &node.calls else { continue };
        let outcomes = [("done", &calls.done), ("failed", &calls.failed), ("each", &calls.each)];
        let outcomes: Vec<_> = outcomes
            .into_iter()
            .filter_map(|(role, trigger)| Some(format!("{role} = {}", trigger.as_ref()?)))
            .collect();
        let more = [("expires", &calls.expires), ("within", &calls.within)];
        let more = more
            .into_iter()
            .filter_map(|(name, time)| Some(format!("{name} = {}", time.as_ref()?)));
        let flags = [
            calls.irreversible.then_some("it cannot be undone"),
            calls.unattended.then_some("unattended"),
        ];
        let flags = flags.into_iter().flatten().map(str::to_owned);
        table.row([
            cell(&node.label),
            cell(&calls.label),
            cell(calls.tool.as_deref().unwrap_or_default()),
            cell(&calls.approval),
            cell(outcomes.join(", ")),
            cell(flags.chain(more).collect::<Vec<_>>().join(", ")),
        ]);
    }
    table.part("Calls")
}

/// Several lines; what else cannot be seen is escaped.
fn visible(text: &str) -> String {
    escaped(text, |character| character != '\n' && is_invisible(character))
}
