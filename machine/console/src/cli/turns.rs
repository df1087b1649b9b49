//! The turns of agents.

use serde_json::json;

use super::{
    Context, Error, Exit,
    limit::limit,
    on::By,
    output::{Format, Output, more, unreadable},
    table::{Table, cell},
    terminal::Terminal,
    time::relative,
};
use crate::page::split;
use machine::{
    Id,
    agent::{AgentOverview, TurnId, TurnOverview, TurnStop},
    clock::Millis,
    store::{Cursor, Query},
};

/// `turns`: the agents with their turns, those of the oldest agent first.
#[derive(Debug, clap::Args)]
pub(super) struct Turns {
    /// The maximum number of agents on a page.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = limit)]
    limit: usize,
    /// The maximum number of queued turns of each agent; JSON has up to as many delivered turns,
    /// too.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = limit)]
    queued: usize,
    /// Start after this position, which the previous page prints.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    after: Option<Cursor>,
    #[command(flatten)]
    format: Format,
}

impl Turns {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let query = Query::new().limit(self.limit);
        let query = self.after.into_iter().fold(query, Query::after);
        let page = context.observer(&store).agents(&query, self.queued).await?;
        let (agents, errors) = split(page.items);
        let mut text = match (&*agents, self.after) {
            ([], _) if !errors.is_empty() => String::new(),
            ([], Some(_)) => "No agents after this one.\n".to_owned(),
            ([], None) => "No agents.\n".to_owned(),
            (agents, _) => tables(context.terminal(), store.now(), agents),
        };
        text.push_str(&unreadable(&errors));
        let next = page.next.map(|next| next.to_string());
        text.extend(next.iter().map(|next| more(format_args!("--after={next}"))));
        let document = json!({ "agents": agents, "unreadable": errors, "next": next });
        Output::new(document, text).print(self.format)
    }
}

/// The turns, and below them the waiting sets.
fn tables(terminal: Terminal, now: Millis, agents: &[AgentOverview]) -> String {
    let mut turns =
        Table::new(terminal, &["Agent", "Turn", "Phase", "Since", "Epoch", "Step", "About"]);
    let mut calls = Table::new(terminal, &["Turn", "Call", "Since", "Waits for", "Due"]);
    for one in agents {
        let (agent, epoch) = (one.agent.0.as_str(), one.epoch.to_string());
        let mut row =
            |cells: [&str; 6]| turns.row([&[agent][..], &cells].concat().into_iter().map(cell));
        match &one.active {
            None => row(["-", "idle", "-", &epoch, "-", ""]),
            Some(turn) => {
                let (id, since) = (turn.turn.to_string(), relative(turn.entered_at, now));
                row([&id, &turn.phase, &since, &epoch, &turn.step.to_string(), &about(turn, now)]);
                waiting(&mut calls, turn, now);
            }
        }
        for turn in &one.queued {
            let (id, since) = (turn.turn.to_string(), relative(turn.enqueued_at, now));
            row([&id, "queued", &since, "-", "-", turn.stop.as_deref().unwrap_or_default()]);
        }
        if one.more_queued {
            row(["-", "queued", "-", "-", "-", "and more; pass a larger --queued"]);
        }
    }
    turns.text() + &calls.part("Waiting for results")
}

fn waiting(table: &mut Table, turn: &TurnOverview, now: Millis) {
    for call in &turn.waiting {
        let id = call.id.map(|id| format!(" {id}")).unwrap_or_default();
        table.row([
            cell(turn.turn.to_string()),
            cell(&call.call_id),
            cell(relative(call.since, now)),
            cell(format!("{}{id}", call.source)),
            cell(call.deadline.map_or_else(|| "-".to_owned(), |at| relative(at, now))),
        ]);
    }
}

/// The stop of a turn, its time limit, and what it has used.
fn about(turn: &TurnOverview, now: Millis) -> String {
    let stop = turn.stop.as_ref().map(|why| format!("stopped: {why}"));
    let ends = turn.ends_at.map(|at| format!("time limit {}", relative(at, now)));
    let used = format!("{} calls, {} tokens", turn.calls, turn.tokens);
    stop.into_iter().chain(ends).chain([used]).collect::<Vec<_>>().join("; ")
}

/// `stop`: a turn, in the queue or active.
#[derive(Debug, clap::Args)]
pub(super) struct StopTurn {
    /// The id of the turn, as `turns` shows it.
    turn: Id,
    #[command(flatten)]
    by: By,
}

impl StopTurn {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, turn) = (context.write().await?, TurnId(self.turn));
        match self.by.operates(context, &store).stop_turn(turn).await? {
            TurnStop::Stopped(why) => self.by.report(
                json!({ "turn": turn, "stopped": why }),
                format!("{turn} is stopped ({why}): a worker delivers it with this reason\n"),
            ),
            TurnStop::AlreadyStopped { why, by } => {
                let name = by.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
                self.by.report(
                    json!({ "turn": turn, "stopped": why, "already": true, "by": by }),
                    format!("{turn} was already stopped{name} ({why}): a worker delivers it\n"),
                )
            }
            TurnStop::Ended { end, deliverable } => self.by.report(
                json!({ "turn": turn, "end": end, "deliverable": deliverable }),
                format!(
                    "{turn} has already ended ({end}); its deliverable is card {deliverable}\n"
                ),
            ),
        }
    }
}
