use std::fmt::Write;

use serde_json::{Map, Value};

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    list::{array, text},
    table::{Table, cell, label, said},
    terminal::Terminal,
    time::{local, relative},
    watch::Watch,
};
use crate::audience::{Audience, for_audience};
use machine::{Id, store::Store, text::OneLine, view::Phrase};

/// `show`: one machine, what it waits for, and what to do next.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// The id of the machine, or a part of it.
    id: String,
    /// Who it is shown to.
    #[arg(long, value_enum, default_value_t)]
    audience: Audience,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    format: Format,
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let id = Ids::read(&store).await?.find(&self.id)?;
        let answer = async || shown(context, &store, id, self.audience).await;
        self.watch.show(context, &store, self.format, answer).await
    }
}

/// A machine as `show` shows it.
pub(super) async fn shown(
    context: &Context,
    store: &Store,
    id: Id,
    audience: Audience,
) -> Result<Answer, Error> {
    let observer = context.observer(store);
    let document = for_audience!(audience, observer, detail(id))??;
    let text = written(context, store.now(), &document);
    Ok(Answer::new(document, text))
}

/// What a view has only for some audiences.
const RESTRICTED: [(&str, Phrase); 8] = [
    ("last_actor", Phrase::FieldLastActor),
    ("idempotency_key", Phrase::FieldKey),
    ("timeout_seconds", Phrase::FieldTimeout),
    ("reference", Phrase::FieldReference),
    ("action_detail", Phrase::FieldAction),
    ("metadata", Phrase::FieldMetadata),
    ("epoch", Phrase::FieldEpoch),
    ("version", Phrase::FieldVersion),
];

fn written(context: &Context, now: i64, document: &Value) -> String {
    let (terminal, machine) = (context.terminal(), &document["machine"]);
    let execution = &document["execution"];
    let is_execution = execution.is_object();
    let view = if is_execution { execution } else { machine };
    let mut shown = String::new();
    let line = |shown: &mut String, name: Phrase, value: &str| {
        shown.push_str(&terminal.field(name, OneLine(value)));
    };
    line(&mut shown, Phrase::FieldId, text(machine, "id"));
    line(&mut shown, Phrase::FieldKind, text(machine, "machine"));
    line(&mut shown, Phrase::FieldState, text(view, "label"));
    if is_execution {
        line(&mut shown, Phrase::FieldAbout, text(execution, "action_summary"));
    }
    let times = [
        (Phrase::FieldCreated, "created_at"),
        (Phrase::FieldSince, "entered_at"),
        (Phrase::FieldDue, "due_at"),
    ];
    for (name, field) in times {
        if let Some(at) = machine[field].as_i64() {
            let ago = relative(at, now, terminal.language);
            line(&mut shown, name, &format!("{} ({ago})", local(at)));
        }
    }
    if let Some(session) = machine["session"].as_str() {
        line(&mut shown, Phrase::FieldSession, session);
    }
    if execution["irreversible"] == true {
        line(&mut shown, Phrase::FieldIrreversible, terminal.text(Phrase::CannotBeTakenBack));
    }
    let by = |name: &str| terminal.say(Phrase::By, &[("name", &name)]);
    if execution["human_confirmed"] == true {
        let name = execution["approved_by"].as_str().unwrap_or(terminal.text(Phrase::APerson));
        line(&mut shown, Phrase::FieldApproved, &by(name));
    }
    if let Some(name) = execution["answered_by"].as_str() {
        line(&mut shown, Phrase::FieldAnswered, &by(name));
    }
    if execution["acknowledged"] == true {
        line(&mut shown, Phrase::FieldAcknowledged, terminal.text(Phrase::Acknowledged));
    }
    for (field, name) in [("result", Phrase::FieldResult), ("error_message", Phrase::FieldError)] {
        execution[field].as_str().into_iter().for_each(|value| line(&mut shown, name, value));
    }
    for (name, field) in RESTRICTED {
        let value = if execution[name].is_null() { &machine[name] } else { &execution[name] };
        if !value.is_null() {
            line(&mut shown, field, &plain(value));
        }
    }
    if document["trouble"].is_object() {
        let error = document["error"].as_str();
        let failed = super::list::failed(terminal, &document["trouble"], error, now);
        line(&mut shown, Phrase::FieldFailed, &failed);
    }
    for what in waits(terminal, document, now) {
        line(&mut shown, Phrase::FieldWaitsFor, &what);
    }
    let gate = &document["gate"];
    let about = [
        (Phrase::FieldStale, "stale"),
        (Phrase::FieldCaution, "caution"),
        (Phrase::FieldParent, "parent"),
    ];
    for (name, field) in about {
        if let Some(value) = document[field].as_str() {
            line(&mut shown, name, value);
        }
    }
    if let Some(trigger) = document["answered_with"].as_str() {
        let answered = terminal.say(Phrase::AnsweredWith, &[("trigger", &trigger)]);
        line(&mut shown, Phrase::FieldAnswered, &answered);
    }
    if let Some(question) = execution["question"].as_str().or(gate["question"].as_str()) {
        // It was made from the action, and what cannot be seen is escaped in it.
        let _ = writeln!(shown, "\n{}", terminal.title(Phrase::Question));
        let _ = writeln!(shown, "{}", super::terminal::question(question));
    }
    let data = [(Phrase::Context, &machine["context"]), (Phrase::State, &machine["state"])];
    for (title, fields) in data {
        if let Some(fields) = fields.as_object().filter(|it| !it.is_empty() && !is_execution) {
            let _ = writeln!(shown, "\n{}", terminal.title(title));
            object(fields, &mut shown);
        }
    }
    messages(terminal, array(&document["messages"]), now, &mut shown);
    let children = array(&document["children"]);
    family(terminal, children, &mut shown);
    let of_children = children.iter().flat_map(|child| array(&child["open"]["next"]));
    let next: Vec<_> = array(&document["next"]).iter().chain(of_children).collect();
    if !next.is_empty() {
        let _ = writeln!(shown, "\n{}", terminal.title(Phrase::NextSteps));
        for step in next {
            if let Some((_, command)) = super::list::command(step) {
                let _ = writeln!(shown, "  {command}");
            }
        }
    }
    shown
}

fn family(terminal: Terminal, children: &[Value], shown: &mut String) {
    if children.is_empty() {
        return;
    }
    let _ = writeln!(shown, "\n{}", terminal.title(Phrase::Children));
    let columns = [
        Phrase::ColumnId,
        Phrase::ColumnKind,
        Phrase::ColumnState,
        Phrase::ColumnAbout,
        Phrase::ColumnWaitsFor,
    ];
    let mut table = Table::new(terminal, &columns);
    for child in children {
        let open = &child["open"];
        let state = open["label"].as_str().unwrap_or_else(|| text(child, "status"));
        table.row([
            cell(text(child, "id")),
            cell(text(child, "machine")),
            label(terminal, state),
            cell(text(open, "summary")),
            cell(waits_for(terminal, open)),
        ]);
    }
    shown.push_str(&table.text());
}

/// What a child waits for.
fn waits_for(terminal: Terminal, open: &Value) -> String {
    match (open["gate"].as_str(), open["question"].as_str(), open["missing"].as_str()) {
        (_, _, Some(missing)) => missing.to_owned(),
        (Some(gate), ..) => terminal.say(Phrase::WaitsForGate, &[("gate", &gate)]),
        (None, Some(question), _) => question.to_owned(),
        (None, None, None) => String::new(),
    }
}

/// What a machine waits for, if that is not its question.
fn waits(terminal: Terminal, document: &Value, now: i64) -> Vec<String> {
    let (execution, gate) = (&document["execution"], &document["gate"]);
    let mut waits: Vec<_> = document["missing"].as_str().map(str::to_owned).into_iter().collect();
    if execution["waits_for_service"] == true {
        waits.push(match execution["answer_by"].as_i64() {
            Some(at) => {
                let time = format!("{} ({})", local(at), relative(at, now, terminal.language));
                terminal.say(Phrase::WaitsForServiceUntil, &[("time", &time)])
            }
            None => terminal.text(Phrase::WaitsForService).to_owned(),
        });
    }
    if gate.is_object() {
        waits.push(terminal.say(Phrase::WaitsForGate, &[("gate", &text(gate, "id"))]));
    }
    waits
}

fn messages(terminal: Terminal, messages: &[Value], now: i64, shown: &mut String) {
    if messages.is_empty() {
        return;
    }
    let _ = writeln!(shown, "\n{}", terminal.title(Phrase::Messages));
    let columns = [
        Phrase::ColumnStatus,
        Phrase::ColumnSent,
        Phrase::ColumnAttempts,
        Phrase::ColumnTrigger,
        Phrase::ColumnCorrelation,
        Phrase::ColumnMore,
    ];
    let mut table = Table::new(terminal, &columns);
    for message in messages {
        let more = ["unreadable", "why", "actor", "actor_name", "error", "body"];
        let more = more.iter().filter(|name| !message[**name].is_null());
        let mut more: Vec<_> =
            more.map(|name| format!("{name}: {}", plain(&message[*name]))).collect();
        if let (Some(person), true) = (message["person"].as_str(), message["actor_name"].is_null())
        {
            more.insert(0, terminal.say(Phrase::By, &[("name", &person)]));
        }
        if let (Some(reason), true) = (message["reason"].as_str(), message["error"].is_null()) {
            more.push(format!("{reason}; {}", terminal.text(Phrase::InternalShowsError)));
        }
        let has_moved = message["moved_on"] == true;
        if has_moved {
            more.insert(0, terminal.text(Phrase::MovedOn).to_owned());
        }
        let status = if has_moved { "not_applied" } else { text(message, "status") };
        let words = match status {
            "not_applied" => terminal.text(Phrase::MessageNotApplied),
            "queued" => terminal.text(Phrase::Queued),
            "handled" => terminal.text(Phrase::Handled),
            "set_aside" => terminal.text(Phrase::SetAside),
            other => other,
        };
        let sent = message["sent_at"].as_i64();
        table.row([
            said(terminal, status, words),
            cell(sent.map(|at| relative(at, now, terminal.language)).unwrap_or_default()),
            cell(plain(&message["attempts"])),
            cell(text(message, "trigger")),
            cell(text(message, "correlation")),
            cell(more.join(", ")),
        ]);
    }
    shown.push_str(&table.text());
}

fn object(fields: &Map<String, Value>, shown: &mut String) {
    for (name, value) in fields {
        let _ = writeln!(shown, "  {}: {}", OneLine(name), OneLine(&plain(value)));
    }
}

/// A text without quotation marks, and anything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
