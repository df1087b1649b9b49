use std::{collections::HashMap, fmt::Write, sync::Arc};

use serde_json::Value;

use super::{
    Context, Error, Exit, ids,
    output::{Output, document, unreadable},
    sees::{diagnostic, internal},
    show::plain,
    table::{Table, cell, label},
    terminal::{Terminal, field},
    time::{dated, passed, relative},
    view_options::ViewOptions,
};
use crate::audience::for_audience;
use machine::{
    Id,
    actor::Category,
    clock::Millis,
    definition::Text,
    store::Store,
    text::OneLine,
    view::{Audience, ExecutionSnapshot, ExecutionTimeline, TimelineEvent},
};

/// `timeline`: the history of one machine, or the executions of a session.
#[derive(Debug, clap::Args)]
pub(super) struct Timeline {
    /// The id of the machine, or its last digits, at least 8.
    #[arg(required_unless_present = "session", conflicts_with = "session")]
    id: Option<String>,
    /// The executions of this session, with their transitions.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    #[command(flatten)]
    options: ViewOptions,
}

impl Timeline {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let answer = if let Some(id) = &self.id {
            let id = ids::find(&store, id).await?;
            self.of_machine(context, &store, id).await?
        } else {
            let named = self.session.as_deref().unwrap_or_default();
            let session = ids::session(&store, named).await?;
            self.of_session(context, &store, &session).await?
        };
        answer.print(self.options.format)
    }

    async fn of_machine(&self, context: &Context, store: &Store, id: Id) -> Result<Output, Error> {
        for_audience!(self.options.audience, A => {
            let timeline = context.observer(store).timeline::<A>(id).await?;
            let events = events(context.terminal(), store.now(), &timeline.events);
            let mut text = format!("{id}\n{events}");
            if let Some(calls) = &timeline.calls {
                text.push_str(&field("state", OneLine(&calls.label)));
            }
            let error = internal::<A, Option<String>>(&timeline.error).and_then(Option::as_ref);
            if let Some(problem) = error.or(timeline.problem.as_ref()) {
                let _ = writeln!(text, "{}", OneLine(problem));
            }
            Ok(Output::new(document(&timeline)?, text).problems(timeline.problem.is_some()))
        })
    }

    async fn of_session(
        &self,
        context: &Context,
        store: &Store,
        session: &str,
    ) -> Result<Output, Error> {
        for_audience!(self.options.audience, A => {
            let timeline = context.observer(store).session::<A>(session).await?;
            let text = session_text(context.terminal(), store.now(), &timeline);
            Ok(Output::new(document(&timeline)?, text))
        })
    }
}

fn session_text<A: Audience>(
    terminal: Terminal,
    now: Millis,
    timeline: &ExecutionTimeline<A>,
) -> String {
    let mut shown = format!(
        "{}: {} executions, {} ended, {} not ended\n",
        OneLine(&timeline.session_id),
        timeline.total_contracts,
        timeline.terminal_contracts,
        timeline.active_contracts
    );
    if timeline.unreadable > 0 {
        let count = timeline.unreadable;
        let _ = writeln!(shown, "{count} more cannot be read; `list --session` lists them");
    }
    shown.push_str(&executions(terminal, now, &timeline.contracts));
    shown.push_str(&transitions(terminal, now, timeline));
    for attempts in &timeline.attempts {
        let ids: Vec<_> = attempts.iter().map(ToString::to_string).collect();
        let ids = ids.join(", ");
        let _ = writeln!(shown, "attempts at the same action: {ids}");
    }
    // People see only their number.
    let errors = internal::<A, Vec<String>>(&timeline.errors);
    shown.push_str(&unreadable(errors.map_or(&[][..], Vec::as_slice)));
    shown
}

fn executions<A: Audience>(
    terminal: Terminal,
    now: Millis,
    executions: &[ExecutionSnapshot<A>],
) -> String {
    let mut table = Table::new(terminal, &["Id", "State", "Since", "Took", "About", "Outcome"]);
    for execution in executions {
        let (created, entered) = (execution.created_at, execution.entered_at);
        let took = passed(created, entered);
        let outcome = [&execution.result, &execution.error_message];
        let outcome = outcome.map(|text| text.as_deref().unwrap_or_default()).concat();
        table.row([
            cell(execution.execution_id.to_string()),
            label(terminal, execution.label.as_str()),
            cell(relative(entered, now)),
            cell(if execution.is_terminal { &took } else { "" }),
            cell(&execution.action_summary),
            cell(outcome),
        ]);
    }
    if table.is_empty() { String::new() } else { table.text() }
}

fn transitions<A: Audience>(
    terminal: Terminal,
    now: Millis,
    timeline: &ExecutionTimeline<A>,
) -> String {
    let mut table = Table::new(terminal, &["At", "Execution", "Transition", "By"]);
    // The entry before may be anywhere among the rows: they are in the order of their times, and
    // the clock may have gone back.
    let created = timeline.contracts.iter().map(|it| ((it.execution_id, 0), it.created_at));
    let moved = timeline.transitions.iter();
    let moved = moved.map(|it| ((it.execution_id, it.sequence_number + 1), it.timestamp));
    let before: HashMap<_, _> = created.chain(moved).collect();
    for step in &timeline.transitions {
        let before = before.get(&(step.execution_id, step.sequence_number)).copied();
        let transition = format!("{} → {} ({})", step.from_status, step.to_status, step.trigger);
        let kind = diagnostic::<A, Option<Text>>(&step.actor).and_then(Option::as_deref);
        let name = diagnostic::<A, Option<Arc<str>>>(&step.actor_name).and_then(Option::as_deref);
        let name = name.or(step.person.as_deref());
        table.row([
            cell(dated(step.timestamp, before, now)),
            cell(step.execution_id.to_string()),
            cell(transition),
            cell(who(step.actor_category, kind, name)),
        ]);
    }
    table.part("Transitions")
}

fn events<A: Audience>(terminal: Terminal, now: Millis, events: &[TimelineEvent<A>]) -> String {
    let mut table = Table::new(terminal, &["At", "By", "What", "With"]);
    let mut before = None;
    let mut date = |at| cell(dated(at, before.replace(at), now));
    for event in events {
        let payload = event.payload.iter();
        let mut with: Vec<_> =
            payload.map(|(name, value)| format!("{name}: {}", plain(value))).collect();
        let fact = internal::<A, Value>(&event.fact).filter(|fact| !fact.is_null());
        with.extend(fact.map(|fact| format!("fact: {fact}")));
        let kind = diagnostic::<A, Option<String>>(&event.actor).and_then(Option::as_deref);
        let name = diagnostic::<A, Option<String>>(&event.actor_name).and_then(Option::as_deref);
        let name = name.or(event.person.as_deref());
        table.row([
            date(event.at),
            cell(who(event.actor_category, kind, name)),
            cell(&event.text),
            cell(with.join(", ")),
        ]);
    }
    table.text()
}

/// The category of an actor, with its kind and its name where the audience sees them.
fn who(category: Category, kind: Option<&str>, name: Option<&str>) -> String {
    let words = match category {
        Category::Agent => "agent",
        Category::Tool => "tool",
        Category::Human => "human",
        // It is the category of every unknown kind, too.
        _ => "system",
    };
    let words = [Some(words), kind, name].into_iter().flatten();
    words.collect::<Vec<_>>().join(" ")
}
