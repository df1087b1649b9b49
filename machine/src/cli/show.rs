use std::fmt::Write;

use serde_json::{Map, Value};

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    list::{array, text},
    table::{Table, cell, label},
    terminal::Terminal,
    time::{local, relative},
    watch::Watch,
};
use crate::{
    id::Id,
    operate::{Audience, for_audience},
    store::Store,
    view::line::OneLine,
};

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
const RESTRICTED: [&str; 9] = [
    "last_actor",
    "reference",
    "idempotency_key",
    "timeout_seconds",
    "action_detail",
    "metadata",
    "epoch",
    "version",
    "transition_count",
];

fn written(context: &Context, now: i64, document: &Value) -> String {
    let (terminal, machine) = (context.terminal(), &document["machine"]);
    let execution = &document["execution"];
    let is_execution = execution.is_object();
    let view = if is_execution { execution } else { machine };
    let mut shown = String::new();
    let line = |shown: &mut String, name: &str, value: &str| {
        let _ = writeln!(shown, "{name:<12} {}", OneLine(value));
    };
    line(&mut shown, "id", text(machine, "id"));
    line(&mut shown, "kind", text(machine, "machine"));
    line(&mut shown, "state", text(view, "label"));
    if is_execution {
        line(&mut shown, "about", text(execution, "action_summary"));
    }
    let times = [("created", "created_at"), ("since", "entered_at"), ("due", "due_at")];
    for (name, field) in times {
        if let Some(at) = machine[field].as_i64() {
            line(&mut shown, name, &format!("{} ({})", local(at), relative(at, now)));
        }
    }
    if let Some(session) = machine["session"].as_str() {
        line(&mut shown, "session", session);
    }
    if execution["irreversible"] == true {
        line(&mut shown, "irreversible", "it cannot be taken back");
    }
    if execution["human_confirmed"] == true {
        let by = execution["approved_by"].as_str().unwrap_or("a person");
        line(&mut shown, "approved", &format!("by {by}"));
    }
    if let Some(by) = execution["answered_by"].as_str() {
        line(&mut shown, "answered", &format!("by {by}"));
    }
    if execution["acknowledged"] == true {
        line(&mut shown, "acknowledged", "a person has dealt with the contradiction");
    }
    for (name, field) in [("result", "result"), ("error", "error_message")] {
        if let Some(value) = execution[field].as_str() {
            line(&mut shown, name, value);
        }
    }
    for name in RESTRICTED {
        let value = if execution[name].is_null() { &machine[name] } else { &execution[name] };
        if !value.is_null() && name != "transition_count" {
            line(&mut shown, name, &plain(value));
        }
    }
    if document["trouble"].is_object() {
        let failed = super::list::failed(&document["trouble"], document["error"].as_str(), now);
        line(&mut shown, "failed", &failed);
    }
    for what in waits(document, now) {
        line(&mut shown, "waits for", &what);
    }
    let gate = &document["gate"];
    for (name, field) in [("stale", "stale"), ("caution", "caution"), ("parent", "parent")] {
        if let Some(value) = document[field].as_str() {
            line(&mut shown, name, value);
        }
    }
    if let Some(trigger) = document["answered_with"].as_str() {
        line(
            &mut shown,
            "answered",
            &format!("with `{trigger}`, which its program has not applied yet"),
        );
    }
    if let Some(question) = execution["question"].as_str().or(gate["question"].as_str()) {
        // It was made from the action, and what cannot be seen is escaped in it.
        let _ = writeln!(shown, "\n{}", terminal.title("Question"));
        let _ = writeln!(shown, "{}", super::terminal::question(question));
    }
    for (title, fields) in [("Context", &machine["context"]), ("State", &machine["state"])] {
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
        let _ = writeln!(shown, "\n{}", terminal.title("Next"));
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
    let _ = writeln!(shown, "\n{}", terminal.title("Children"));
    let mut table = Table::new(terminal, &["Id", "Kind", "State", "About", "Waits for"]);
    for child in children {
        let open = &child["open"];
        let state = open["label"].as_str().unwrap_or_else(|| text(child, "status"));
        table.row([
            cell(text(child, "id")),
            cell(text(child, "machine")),
            label(terminal, state),
            cell(text(open, "summary")),
            cell(waits_for(open)),
        ]);
    }
    shown.push_str(&table.text());
}

/// What a child waits for.
fn waits_for(open: &Value) -> String {
    match (open["gate"].as_str(), open["question"].as_str(), open["missing"].as_str()) {
        (_, _, Some(missing)) => missing.to_owned(),
        (Some(gate), ..) => format!("a person, who answers its gate {gate}"),
        (None, Some(question), _) => question.to_owned(),
        (None, None, None) => String::new(),
    }
}

/// What a machine waits for, if that is not its question.
fn waits(document: &Value, now: i64) -> Vec<String> {
    let (execution, gate) = (&document["execution"], &document["gate"]);
    let mut waits: Vec<_> = document["missing"].as_str().map(str::to_owned).into_iter().collect();
    if execution["waits_for_service"] == true {
        let mut service = "the report of its service, which has accepted it".to_owned();
        if let Some(at) = execution["answer_by"].as_i64() {
            let _ = write!(service, "; due {} ({})", local(at), relative(at, now));
        }
        waits.push(service);
    }
    if gate.is_object() {
        waits.push(format!("a person, who answers its gate {}", text(gate, "id")));
    }
    waits
}

fn messages(terminal: Terminal, messages: &[Value], now: i64, shown: &mut String) {
    if messages.is_empty() {
        return;
    }
    let _ = writeln!(shown, "\n{}", terminal.title("Messages"));
    let mut table =
        Table::new(terminal, &["Status", "Sent", "Attempts", "Trigger", "Correlation", "More"]);
    for message in messages {
        let more = ["unreadable", "why", "actor", "actor_name", "error", "body"];
        let more = more.iter().filter(|name| !message[**name].is_null());
        let mut more: Vec<_> =
            more.map(|name| format!("{name}: {}", plain(&message[*name]))).collect();
        if let (Some(person), true) = (message["person"].as_str(), message["actor_name"].is_null())
        {
            more.insert(0, format!("by {person}"));
        }
        if let (Some(reason), true) = (message["reason"].as_str(), message["error"].is_null()) {
            more.push(format!("{reason}; --audience internal shows the error"));
        }
        let has_moved = message["moved_on"] == true;
        if has_moved {
            more.insert(0, "the machine had moved on".to_owned());
        }
        let status = if has_moved { "not_applied" } else { text(message, "status") };
        let sent = message["sent_at"].as_i64();
        table.row([
            label(terminal, &status.replace('_', " ")),
            cell(sent.map(|at| relative(at, now)).unwrap_or_default()),
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
