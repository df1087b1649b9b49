use std::fmt::Write;

use serde_json::Value;

use super::{
    Context, Error, Exit,
    calls::calls,
    ids,
    list::{failed, open_call},
    output::{Output, document},
    sees::{diagnostic, internal},
    table::{Table, cell, colored, label},
    terminal::{Terminal, field},
    time::{local, relative},
    view_options::ViewOptions,
};
use crate::audience::for_audience;
use comfy_table::Color;
use machine::{
    observe::{ChildView, Detail, MessageView, OpenChild},
    store::Delivery,
    text::OneLine,
    view::{Audience, ExecutionSnapshot, Fields},
};

/// `show`: one machine, why it waits, and the next steps.
#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The id of the machine, or its last digits, at least 8.
    id: String,
    #[command(flatten)]
    options: ViewOptions,
}

impl Show {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let id = ids::find(&store, &self.id).await?;
        let observer = context.observer(&store);
        for_audience!(self.options.audience, A => {
            let detail = observer.detail::<A>(id).await?;
            let document = document(&detail)?;
            let text = text(context, store.now(), &detail, &document);
            Output::new(document, text).print(self.options.format)
        })
    }
}

/// The lines at the top, each with a name.
struct Lines {
    now: i64,
    shown: String,
}

impl Lines {
    fn line(&mut self, name: &str, value: impl AsRef<str>) {
        self.shown.push_str(&field(name, OneLine(value.as_ref())));
    }

    fn optional(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.line(name, value);
        }
    }

    fn time(&mut self, name: &str, at: i64) {
        let text = self.moment(at);
        self.line(name, text);
    }

    fn moment(&self, at: i64) -> String {
        format!("{} ({})", local(at), relative(at, self.now))
    }
}

fn text<A: Audience>(context: &Context, now: i64, detail: &Detail<A>, document: &Value) -> String {
    let terminal = context.terminal();
    let (machine, execution) = (&detail.machine, detail.execution.as_ref());
    let mut lines = Lines { now, shown: String::new() };
    lines.line("id", machine.id.to_string());
    lines.line("kind", &machine.machine);
    if let Some(execution) = execution {
        lines.line("state", execution.label.as_str());
        lines.line("about", &execution.action_summary);
    } else {
        let calls = detail.calls.as_ref();
        lines.line("state", calls.map_or(&machine.label, |calls| &calls.label));
    }
    lines.time("created", machine.created_at);
    lines.time("since", machine.entered_at);
    if let Some(at) = machine.due_at {
        lines.time("due", at);
    }
    lines.optional("session", machine.session.as_ref());
    if let Some(execution) = execution {
        about(&mut lines, execution);
    }
    let hidden = machine.context.hidden() + machine.state.hidden();
    if execution.is_none() && hidden > 0 {
        let (fields, them) = if hidden == 1 { ("field", "it") } else { ("fields", "them") };
        lines.line("hidden", format!("{hidden} {fields}; --audience internal shows {them}"));
    }
    restricted(&mut lines, document);
    if let Some(trouble) = &detail.trouble {
        let error = internal::<A, Option<String>>(&detail.error).and_then(Option::as_deref);
        lines.line("failed", failed(trouble, error, now));
    }
    waits(&mut lines, detail);
    lines.optional("call", detail.open_call.as_ref().map(|call| open_call(call, now)));
    lines.optional("stale", detail.stale.as_ref());
    let caution = detail.caution.as_ref().map(|caution| caution.replace('\n', " "));
    lines.optional("caution", caution);
    lines.optional("parent", detail.parent.map(|id| id.to_string()));
    if let Some(trigger) = &detail.answered_with {
        let with = format!("with `{trigger}`, which its program has not applied yet");
        lines.line("answered", with);
    }
    let mut shown = lines.shown;
    let of_gate = detail.gate.as_ref().map(|gate| &gate.question);
    if let Some(question) = execution.and_then(|it| it.question.as_ref()).or(of_gate) {
        // It was made from the action, and what cannot be seen is escaped in it.
        let _ = writeln!(shown, "\n{}", terminal.title("Question"));
        let _ = writeln!(shown, "{}", super::terminal::question(question));
    }
    if execution.is_none() {
        fields(terminal, "Context", &machine.context, &mut shown);
        fields(terminal, "State", &machine.state, &mut shown);
    }
    shown.push_str(&messages(terminal, &detail.messages, now));
    shown.push_str(&calls(terminal, &detail.call_list, now));
    shown.push_str(&family(terminal, &detail.children));
    let of_children = detail.children.iter().filter_map(|child| child.open.as_ref());
    let of_children = of_children.flat_map(|open| &open.next);
    let mut next = detail.next.iter().chain(of_children).peekable();
    if next.peek().is_some() {
        let _ = writeln!(shown, "\n{}", terminal.title("Next"));
    }
    for step in next {
        let _ = writeln!(shown, "  {}", context.line(step));
    }
    shown
}

/// The lines that only executions have.
fn about<A: Audience>(lines: &mut Lines, execution: &ExecutionSnapshot<A>) {
    if execution.irreversible {
        lines.line("irreversible", "it cannot be undone");
    }
    if execution.human_confirmed {
        let name = execution.approved_by.as_deref().unwrap_or("a person");
        lines.line("approved", format!("by {name}"));
    }
    let answered = execution.answered_by.as_deref().map(|name| format!("by {name}"));
    lines.optional("answered", answered);
    if execution.acknowledged {
        lines.line("acknowledged", "a person acknowledged the contradiction");
    }
    lines.optional("result", execution.result.as_ref());
    lines.optional("error", execution.error_message.as_ref());
    lines.optional("refusal", execution.refusal.as_ref().map(ToString::to_string));
}

/// The lines that only some audiences see: the document has no others.
fn restricted(lines: &mut Lines, document: &Value) {
    let (machine, execution) = (&document["machine"], &document["execution"]);
    for (of, name) in [
        (machine, "last_actor"),
        (execution, "idempotency_key"),
        (execution, "timeout_seconds"),
        (execution, "reference"),
        (execution, "action_detail"),
        (execution, "metadata"),
        (machine, "epoch"),
        (machine, "version"),
    ] {
        let value = &of[name];
        lines.optional(name, (!value.is_null()).then(|| plain(value)));
    }
}

/// The lines about waiting, without the question.
fn waits<A: Audience>(lines: &mut Lines, detail: &Detail<A>) {
    if let Some(waiting) = &detail.waits_for {
        let due = waiting.until.map(|at| format!("; due {}", lines.moment(at)));
        lines.line("waits for", format!("{}{}", waiting.text, due.unwrap_or_default()));
    }
    lines.optional("late", detail.late.as_ref());
}

fn fields<A: Audience>(terminal: Terminal, title: &str, fields: &Fields<A>, shown: &mut String) {
    if fields.is_empty() {
        return;
    }
    let _ = writeln!(shown, "\n{}", terminal.title(title));
    for (name, value) in fields.iter() {
        let _ = writeln!(shown, "  {}: {}", OneLine(name), OneLine(&plain(value)));
    }
}

fn family(terminal: Terminal, children: &[ChildView]) -> String {
    let mut table = Table::new(terminal, &["Id", "Kind", "State", "About", "Waits for"]);
    for child in children {
        let open = child.open.as_ref();
        table.row([
            cell(child.id.to_string()),
            cell(&child.machine),
            label(terminal, open.map_or(&child.status, |open| &open.label)),
            cell(open.map_or("", |open| &open.summary)),
            cell(open.map(waits_for).unwrap_or_default()),
        ]);
    }
    table.part("Children")
}

/// The reason why a child waits.
fn waits_for(open: &OpenChild) -> String {
    match (&open.missing, &open.gate, &open.question) {
        (Some(missing), ..) => missing.clone(),
        (None, Some(gate), _) => format!("a person, who answers its gate {gate}"),
        (None, None, Some(question)) => question.clone(),
        (None, None, None) => String::new(),
    }
}

fn messages<A: Audience>(terminal: Terminal, messages: &[MessageView<A>], now: i64) -> String {
    let mut table =
        Table::new(terminal, &["Status", "Sent", "Attempts", "Trigger", "Correlation", "More"]);
    for message in messages {
        let (words, color) = status(message);
        let sent = message.sent_at.map(|at| relative(at, now));
        table.row([
            colored(terminal, words, color),
            cell(sent.unwrap_or_default()),
            cell(message.attempts.map(|count| count.to_string()).unwrap_or_default()),
            cell(message.trigger.as_deref().unwrap_or_default()),
            cell(message.correlation.as_deref().unwrap_or_default()),
            cell(more(message)),
        ]);
    }
    table.part("Messages")
}

fn status<A: Audience>(message: &MessageView<A>) -> (&'static str, Option<Color>) {
    match message.status {
        _ if has_moved(message) => ("not applied", None),
        None => ("", None),
        Some(Delivery::Queued) => ("queued", None),
        Some(Delivery::Handled) => ("handled", None),
        Some(Delivery::SetAside) => ("set aside", Some(Color::Magenta)),
        // A later version may have other states.
        Some(_) => ("replaced", None),
    }
}

fn has_moved<A: Audience>(message: &MessageView<A>) -> bool {
    message.moved_on == Some(true)
}

/// The last column of a message.
fn more<A: Audience>(message: &MessageView<A>) -> String {
    let actor = diagnostic::<A, Option<String>>(&message.actor).and_then(Option::as_ref);
    let name = diagnostic::<A, Option<String>>(&message.actor_name).and_then(Option::as_ref);
    let error = internal::<A, Option<String>>(&message.error).and_then(Option::as_ref);
    let body = internal::<A, Value>(&message.body).filter(|body| !body.is_null()).map(plain);
    let mut more = Vec::new();
    if has_moved(message) {
        more.push("the machine had moved on".to_owned());
    }
    more.extend(message.waits_for.clone());
    if let (Some(person), None) = (&message.person, name) {
        more.push(format!("by {person}"));
    }
    let fields = [
        ("unreadable", message.unreadable.as_ref()),
        ("actor", actor),
        ("actor_name", name),
        ("error", error),
        ("body", body.as_ref()),
    ];
    for (name, value) in fields {
        more.extend(value.map(|value| format!("{name}: {value}")));
    }
    if let (Some(reason), None) = (&message.reason, error) {
        more.push(format!("{reason}; --audience internal shows the error"));
    }
    more.join(", ")
}

/// A text without quotation marks, and anything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
