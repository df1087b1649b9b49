use std::fmt::Write;

use serde_json::Value;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    list::{array, text},
    show::plain,
    table::{Table, cell, label},
    terminal::Terminal,
    time::{local, relative},
    watch::Watch,
};
use crate::audience::{Audience, for_audience};
use machine::{Id, clock::length, operate::has_session, store::Store, text::OneLine, view::Phrase};

/// `timeline`: the history of one machine, or the executions of a session.
#[derive(Debug, clap::Args)]
pub struct Timeline {
    /// The id of the machine, or a part of it.
    #[arg(required_unless_present = "session", conflicts_with = "session")]
    id: Option<String>,
    /// The executions of this session, with their transitions.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Who it is shown to.
    #[arg(long, value_enum, default_value_t)]
    audience: Audience,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    format: Format,
}

impl Timeline {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let id = match &self.id {
            Some(id) => Some(Ids::read(&store).await?.find(id)?),
            None => None,
        };
        if let Some(session) = &self.session
            // One that is watched may be about to begin.
            && !self.watch.watch
        {
            has_session(&context.observer(&store), session).await?;
        }
        let answer = async || match (id, &self.session) {
            (Some(id), _) => self.of_machine(context, &store, id).await,
            (None, session) => {
                self.of_session(context, &store, session.as_deref().unwrap_or_default()).await
            }
        };
        self.watch.show(context, &store, self.format, answer).await
    }

    async fn of_machine(&self, context: &Context, store: &Store, id: Id) -> Result<Answer, Error> {
        let observer = context.observer(store);
        let timeline = for_audience!(self.audience, observer, timeline(id))??;
        let text = format!("{id}\n{}", events(context.terminal(), array(&timeline["events"])));
        Ok(Answer::new(timeline, text))
    }

    async fn of_session(
        &self,
        context: &Context,
        store: &Store,
        session: &str,
    ) -> Result<Answer, Error> {
        let observer = context.observer(store);
        let timeline = for_audience!(self.audience, observer, session(session))??;
        let text = Self::session_text(context.terminal(), store.now(), &timeline);
        Ok(Answer::new(timeline, text))
    }

    fn session_text(terminal: Terminal, now: i64, timeline: &Value) -> String {
        // People get their number, others also what is wrong with them.
        let errors = array(&timeline["unreadable"]);
        let unreadable = timeline["unreadable"].as_u64().unwrap_or(errors.len() as u64);
        let mut shown = terminal.say(
            Phrase::SessionLine,
            &[
                ("session", &OneLine(text(timeline, "session_id"))),
                ("total", &timeline["total_contracts"]),
                ("ended", &timeline["terminal_contracts"]),
                ("open", &timeline["active_contracts"]),
            ],
        );
        shown.push('\n');
        if unreadable > 0 {
            let more = terminal.say(Phrase::MoreUnreadable, &[("count", &unreadable)]);
            let _ = writeln!(shown, "{more}");
        }
        let mut table = Table::new(
            terminal,
            &[
                Phrase::ColumnId,
                Phrase::ColumnState,
                Phrase::ColumnSince,
                Phrase::ColumnTook,
                Phrase::ColumnAbout,
                Phrase::ColumnOutcome,
            ],
        );
        for execution in array(&timeline["contracts"]) {
            let (created, entered) = (&execution["created_at"], &execution["entered_at"]);
            let (created, entered) =
                (created.as_i64().unwrap_or_default(), entered.as_i64().unwrap_or_default());
            let took = length(entered.abs_diff(created), terminal.language);
            let outcome = [text(execution, "result"), text(execution, "error_message")];
            table.row([
                cell(text(execution, "execution_id")),
                label(terminal, text(execution, "label")),
                cell(relative(entered, now, terminal.language)),
                cell(if execution["is_terminal"] == true { &took } else { "" }),
                cell(text(execution, "action_summary")),
                cell(outcome.join("")),
            ]);
        }
        if !table.is_empty() {
            shown.push_str(&table.text());
        }
        let mut table = Table::new(
            terminal,
            &[
                Phrase::ColumnAt,
                Phrase::ColumnExecution,
                Phrase::ColumnTransition,
                Phrase::ColumnBy,
            ],
        );
        for step in array(&timeline["transitions"]) {
            let transition = format!(
                "{} → {} ({})",
                text(step, "from_status"),
                text(step, "to_status"),
                text(step, "trigger")
            );
            table.row([
                cell(at(&step["timestamp"])),
                cell(text(step, "execution_id")),
                cell(transition),
                cell(who(terminal, step)),
            ]);
        }
        if !table.is_empty() {
            let _ = write!(shown, "\n{}\n{}", terminal.title(Phrase::Transitions), table.text());
        }
        for attempts in array(&timeline["attempts"]) {
            let ids: Vec<_> = array(attempts).iter().filter_map(Value::as_str).collect();
            let ids = ids.join(", ");
            let _ = writeln!(shown, "{}", terminal.say(Phrase::SameAction, &[("ids", &ids)]));
        }
        for error in errors {
            let error = OneLine(error.as_str().unwrap_or_default());
            let _ =
                writeln!(shown, "{}", terminal.say(Phrase::FieldUnreadable, &[("error", &error)]));
        }
        shown
    }
}

fn events(terminal: Terminal, events: &[Value]) -> String {
    let mut table = Table::new(
        terminal,
        &[Phrase::ColumnAt, Phrase::ColumnBy, Phrase::ColumnWhat, Phrase::ColumnWith],
    );
    for event in events {
        let mut with: Vec<String> = Vec::new();
        if let Some(payload) = event["payload"].as_object() {
            with.extend(payload.iter().map(|(name, value)| format!("{name}: {}", plain(value))));
        }
        if !event["fact"].is_null() {
            with.push(format!("fact: {}", event["fact"]));
        }
        table.row([
            cell(at(&event["at"])),
            cell(who(terminal, event)),
            cell(text(event, "text")),
            cell(with.join(", ")),
        ]);
    }
    table.text()
}

fn at(value: &Value) -> String {
    value.as_i64().map(local).unwrap_or_default()
}

/// The category of the actor, and the name of a person; kind and any name, where the audience may see them.
fn who(terminal: Terminal, step: &Value) -> String {
    let mut who = match text(step, "actor_category") {
        "agent" => terminal.text(Phrase::Agent),
        "tool" => terminal.text(Phrase::ToolCategory),
        "human" => terminal.text(Phrase::Human),
        "system" => terminal.text(Phrase::System),
        other => other,
    }
    .to_owned();
    let name = step["actor_name"].as_str().or(step["person"].as_str());
    for more in step["actor"].as_str().into_iter().chain(name) {
        let _ = write!(who, " {more}");
    }
    who
}
