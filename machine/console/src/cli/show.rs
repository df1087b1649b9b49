use std::fmt::{Display, Write};

use serde_json::{Map, Value};

use super::{
    Context, Error, Exit,
    calls::calls,
    ids,
    list::failed,
    output::{Format, Output, document},
    sees::Sees,
    table::{Table, cell, colored, label},
    terminal::Terminal,
    time::{local, relative},
    watch::Watch,
};
use crate::audience::{Audience, for_audience};
use comfy_table::Color;
use machine::{
    observe::{ChildView, Detail, MessageView, OpenChild},
    store::Delivery,
    text::OneLine,
    view::{ExecutionSnapshot, Fields, Phrase, Snapshot},
};

/// `show`: one machine, why it waits, and the next steps.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// The id of the machine, or its last digits, at least 8.
    id: String,
    /// The audience.
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
        let id = ids::find(&store, &self.id).await?;
        let observer = context.observer(&store);
        let answer = async || {
            for_audience!(self.audience, A => {
                let detail = observer.detail::<A>(id).await?;
                Ok(Output::new(document(&detail)?, text(context, store.now(), &detail)))
            })
        };
        self.watch.show(context, &store, self.format, answer).await
    }
}

/// The lines at the top, each with a name.
struct Lines {
    terminal: Terminal,
    now: i64,
    shown: String,
}

impl Lines {
    fn line(&mut self, name: Phrase, value: impl AsRef<str>) {
        self.shown.push_str(&self.terminal.field(name, OneLine(value.as_ref())));
    }

    fn optional(&mut self, name: Phrase, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.line(name, value);
        }
    }

    fn time(&mut self, name: Phrase, at: i64) {
        let text = self.moment(at);
        self.line(name, text);
    }

    /// A time, and how long ago it is.
    fn moment(&self, at: i64) -> String {
        format!("{} ({})", local(at), relative(at, self.now, self.terminal.language))
    }

    fn by(&self, name: &str) -> String {
        self.terminal.say(Phrase::By, &[("name", &name)])
    }
}

fn text<A: Sees>(context: &Context, now: i64, detail: &Detail<A>) -> String {
    let terminal = context.terminal();
    let (machine, execution) = (&detail.machine, detail.execution.as_ref());
    let mut lines = Lines { terminal, now, shown: String::new() };
    lines.line(Phrase::FieldId, machine.id.to_string());
    lines.line(Phrase::FieldKind, &machine.machine);
    if let Some(execution) = execution {
        lines.line(Phrase::FieldState, execution.label.as_str());
        lines.line(Phrase::FieldAbout, &execution.action_summary);
    } else {
        let calls = detail.calls.as_ref();
        lines.line(Phrase::FieldState, calls.map_or(&machine.label, |calls| &calls.label));
    }
    lines.time(Phrase::FieldCreated, machine.created_at);
    lines.time(Phrase::FieldSince, machine.entered_at);
    if let Some(at) = machine.due_at {
        lines.time(Phrase::FieldDue, at);
    }
    lines.optional(Phrase::FieldSession, machine.session.as_ref());
    if let Some(execution) = execution {
        about(&mut lines, execution);
    }
    restricted(&mut lines, machine, execution);
    if let Some(trouble) = &detail.trouble {
        let error = A::internal::<Option<String>>(&detail.error).and_then(Option::as_deref);
        lines.line(Phrase::FieldFailed, failed(terminal, trouble, error, now));
    }
    waits(&mut lines, detail);
    lines.optional(Phrase::FieldStale, detail.stale.as_ref());
    let caution = detail.caution.as_ref().map(|caution| caution.replace('\n', " "));
    lines.optional(Phrase::FieldCaution, caution);
    lines.optional(Phrase::FieldParent, detail.parent.map(|id| id.to_string()));
    if let Some(trigger) = &detail.answered_with {
        let answered = terminal.say(Phrase::AnsweredWith, &[("trigger", trigger)]);
        lines.line(Phrase::FieldAnswered, answered);
    }
    let mut shown = lines.shown;
    let of_gate = detail.gate.as_ref().map(|gate| &gate.question);
    if let Some(question) = execution.and_then(|it| it.question.as_ref()).or(of_gate) {
        // It was made from the action, and what cannot be seen is escaped in it.
        let _ = writeln!(shown, "\n{}", terminal.title(Phrase::Question));
        let _ = writeln!(shown, "{}", super::terminal::question(question));
    }
    if execution.is_none() {
        fields(terminal, Phrase::Context, &machine.context, &mut shown);
        fields(terminal, Phrase::State, &machine.state, &mut shown);
    }
    messages(terminal, &detail.messages, now, &mut shown);
    calls(terminal, &detail.call_list, now, &mut shown);
    family(terminal, &detail.children, &mut shown);
    let of_children = detail.children.iter().filter_map(|child| child.open.as_ref());
    let of_children = of_children.flat_map(|open| &open.next);
    let mut next = detail.next.iter().chain(of_children).peekable();
    if next.peek().is_some() {
        let _ = writeln!(shown, "\n{}", terminal.title(Phrase::NextSteps));
    }
    for step in next {
        let _ = writeln!(shown, "  {}", context.line(step));
    }
    shown
}

/// The lines that only executions have.
fn about<A: Sees>(lines: &mut Lines, execution: &ExecutionSnapshot<A>) {
    let terminal = lines.terminal;
    if execution.irreversible {
        lines.line(Phrase::FieldIrreversible, terminal.text(Phrase::CannotBeTakenBack));
    }
    if execution.human_confirmed {
        let name = execution.approved_by.as_deref().unwrap_or(terminal.text(Phrase::APerson));
        let by = lines.by(name);
        lines.line(Phrase::FieldApproved, by);
    }
    let answered = execution.answered_by.as_deref().map(|name| lines.by(name));
    lines.optional(Phrase::FieldAnswered, answered);
    if execution.acknowledged {
        lines.line(Phrase::FieldAcknowledged, terminal.text(Phrase::Acknowledged));
    }
    lines.optional(Phrase::FieldResult, execution.result.as_ref());
    lines.optional(Phrase::FieldError, execution.error_message.as_ref());
    lines.optional(Phrase::FieldRefusal, execution.refusal.as_ref().map(ToString::to_string));
}

/// The lines that only some audiences see.
fn restricted<A: Sees>(
    lines: &mut Lines,
    machine: &Snapshot<A>,
    execution: Option<&ExecutionSnapshot<A>>,
) {
    let actor = A::diagnostic::<Option<String>>(&machine.last_actor);
    lines.optional(Phrase::FieldLastActor, actor.and_then(Option::as_ref));
    if let Some(execution) = execution {
        let key = A::diagnostic::<Option<String>>(&execution.idempotency_key);
        lines.optional(Phrase::FieldKey, key.and_then(Option::as_ref));
        let timeout = A::diagnostic::<Option<f64>>(&execution.timeout_seconds).copied().flatten();
        lines.optional(Phrase::FieldTimeout, timeout.map(|seconds| format!("{seconds:?}")));
        let reference = A::internal::<Option<String>>(&execution.reference);
        lines.optional(Phrase::FieldReference, reference.and_then(Option::as_ref));
        let object = |object: &Map<String, Value>| Value::Object(object.clone()).to_string();
        let action = A::internal::<Map<String, Value>>(&execution.action_detail);
        lines.optional(Phrase::FieldAction, action.map(object));
        let metadata = A::internal::<Map<String, Value>>(&execution.metadata);
        lines.optional(Phrase::FieldMetadata, metadata.map(object));
    }
    let number = |number: &u64| number.to_string();
    lines.optional(Phrase::FieldEpoch, A::diagnostic::<u64>(&machine.epoch).map(number));
    lines.optional(Phrase::FieldVersion, A::diagnostic::<u64>(&machine.version).map(number));
}

/// The lines about waiting, without the question.
fn waits<A: Sees>(lines: &mut Lines, detail: &Detail<A>) {
    let terminal = lines.terminal;
    let mut children = detail.children.iter();
    let open = children.find_map(|child| Some((child.id, child.open.as_ref()?)));
    match (&detail.missing, open) {
        (None, Some((id, open))) if !detail.machine.is_terminal => {
            let about = format!("{}, {}", open.summary, open.label);
            let values: [(_, &dyn Display); 2] = [("child", &id), ("about", &about)];
            lines.line(Phrase::FieldWaitsFor, terminal.say(Phrase::WaitsForChild, &values));
        }
        (missing, _) => lines.optional(Phrase::FieldWaitsFor, missing.as_ref()),
    }
    lines.optional(Phrase::FieldLate, detail.late.as_ref());
    if let Some(execution) = detail.execution.as_ref().filter(|it| it.waits_for_service) {
        let service = match execution.answer_by {
            Some(at) => terminal.say(Phrase::WaitsForServiceUntil, &[("time", &lines.moment(at))]),
            None => terminal.text(Phrase::WaitsForService).to_owned(),
        };
        lines.line(Phrase::FieldWaitsFor, service);
    }
    if let Some(gate) = &detail.gate {
        let gate = terminal.say(Phrase::WaitsForGate, &[("gate", &gate.id)]);
        lines.line(Phrase::FieldWaitsFor, gate);
    }
}

fn fields<A: Sees>(terminal: Terminal, title: Phrase, fields: &Fields<A>, shown: &mut String) {
    if fields.is_empty() {
        return;
    }
    let _ = writeln!(shown, "\n{}", terminal.title(title));
    for (name, value) in fields.iter() {
        let _ = writeln!(shown, "  {}: {}", OneLine(name), OneLine(&plain(value)));
    }
}

fn family(terminal: Terminal, children: &[ChildView], shown: &mut String) {
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
        let open = child.open.as_ref();
        table.row([
            cell(child.id.to_string()),
            cell(&child.machine),
            label(terminal, open.map_or(&child.status, |open| &open.label)),
            cell(open.map_or("", |open| &open.summary)),
            cell(open.map(|open| waits_for(terminal, open)).unwrap_or_default()),
        ]);
    }
    shown.push_str(&table.text());
}

/// The reason why a child waits.
fn waits_for(terminal: Terminal, open: &OpenChild) -> String {
    match (&open.missing, &open.gate, &open.question) {
        (Some(missing), ..) => missing.clone(),
        (None, Some(gate), _) => terminal.say(Phrase::WaitsForGate, &[("gate", gate)]),
        (None, None, Some(question)) => question.clone(),
        (None, None, None) => String::new(),
    }
}

fn messages<A: Sees>(
    terminal: Terminal,
    messages: &[MessageView<A>],
    now: i64,
    shown: &mut String,
) {
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
        let (words, color) = status(terminal, message);
        let sent = message.sent_at.map(|at| relative(at, now, terminal.language));
        table.row([
            colored(terminal, words, color),
            cell(sent.unwrap_or_default()),
            cell(message.attempts.map(|count| count.to_string()).unwrap_or_default()),
            cell(message.trigger.as_deref().unwrap_or_default()),
            cell(message.correlation.as_deref().unwrap_or_default()),
            cell(more(terminal, message)),
        ]);
    }
    shown.push_str(&table.text());
}

fn status<A: Sees>(terminal: Terminal, message: &MessageView<A>) -> (&'static str, Option<Color>) {
    let (phrase, color) = match message.status {
        _ if has_moved(message) => (Phrase::MessageNotApplied, None),
        None => return ("", None),
        Some(Delivery::Queued) => (Phrase::Queued, None),
        Some(Delivery::Handled) => (Phrase::Handled, None),
        Some(Delivery::SetAside) => (Phrase::SetAside, Some(Color::Magenta)),
        // A later version may have other states.
        Some(_) => return ("replaced", None),
    };
    (terminal.text(phrase), color)
}

fn has_moved<A: Sees>(message: &MessageView<A>) -> bool {
    message.moved_on == Some(true)
}

/// The last column of a message.
fn more<A: Sees>(terminal: Terminal, message: &MessageView<A>) -> String {
    let actor = A::diagnostic::<Option<String>>(&message.actor).and_then(Option::as_ref);
    let name = A::diagnostic::<Option<String>>(&message.actor_name).and_then(Option::as_ref);
    let error = A::internal::<Option<String>>(&message.error).and_then(Option::as_ref);
    let body = A::internal::<Value>(&message.body).filter(|body| !body.is_null()).map(plain);
    let mut more = Vec::new();
    if has_moved(message) {
        more.push(terminal.text(Phrase::MovedOn).to_owned());
    }
    more.extend(message.waits_for.clone());
    if let (Some(person), None) = (&message.person, name) {
        more.push(terminal.say(Phrase::By, &[("name", person)]));
    }
    let fields: [(&str, Option<&dyn Display>); 5] = [
        ("unreadable", message.unreadable.as_ref().map(|it| it as _)),
        ("actor", actor.map(|it| it as _)),
        ("actor_name", name.map(|it| it as _)),
        ("error", error.map(|it| it as _)),
        ("body", body.as_ref().map(|it| it as _)),
    ];
    for (name, value) in fields {
        more.extend(value.map(|value| format!("{name}: {value}")));
    }
    if let (Some(reason), None) = (&message.reason, error) {
        more.push(format!("{reason}; {}", terminal.text(Phrase::InternalShowsError)));
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
