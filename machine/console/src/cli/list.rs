use std::{
    collections::BTreeSet,
    fmt::{Display, Write},
};

use serde_json::{Value, json};

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::{Ids, Short},
    table::{Table, cell, label, lines, said},
    terminal::Terminal,
    time::{local, relative},
    watch::Watch,
};
use crate::audience::Audience;
use machine::{
    Id,
    contract::Release,
    operate::{Selection, Wanted},
    store::{Cursor, Query, Store},
    text::OneLine,
    view::{NextStep, Observer, Phrase, Reason},
};

/// `list`: what needs attention first, then the other machines.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Only machines of this kind, such as `execution`.
    #[arg(long, value_name = "KIND")]
    machine: Option<String>,
    /// Only machines in this state, as the list shows it, such as `IN_DOUBT`, or by its name, such as `waiting`.
    #[arg(long, value_name = "STATE")]
    status: Option<String>,
    /// Only machines of this session.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only executions with this idempotency key.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Only executions that their gates let do this.
    #[arg(long, value_enum)]
    release: Option<Gated>,
    /// Only what needs attention.
    #[arg(long, conflicts_with = "after")]
    attention_only: bool,
    /// The order of the machines, by the time of their creation.
    #[arg(long, value_enum, default_value_t)]
    order: Order,
    /// The most machines on a page.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = at_least_one)]
    limit: usize,
    /// The page after this place, as the page before it says.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    after: Option<Cursor>,
    /// Who it is shown to.
    #[arg(long, value_enum, default_value_t)]
    audience: Audience,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    format: Format,
}

/// A [`Release`] as an option.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Gated {
    /// It is PENDING, and its gate waits for an answer.
    Deferred,
    /// It is PENDING, and its gate was approved: it may start.
    Released,
    /// Its gate was declined or withdrawn, or has expired: it never runs, and was CANCELLED with its gate.
    Refused,
}

impl From<Gated> for Release {
    fn from(gated: Gated) -> Self {
        match gated {
            Gated::Deferred => Self::Deferred,
            Gated::Released => Self::Released,
            Gated::Refused => Self::Refused,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// The newest first.
    #[default]
    Newest,
    /// The oldest first.
    Oldest,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let answer = async || self.answer(context, &store).await;
        self.watch.show(context, &store, self.format, answer).await
    }

    async fn answer(&self, context: &Context, store: &Store) -> Result<Answer, Error> {
        let observer = context.observer(store);
        let selection = self.selection(&observer).await?;
        let attention = match self.after {
            None => match self.audience {
                Audience::Human => super::answer::document(
                    &selection.attention::<machine::view::Human>(&observer).await?,
                )?,
                Audience::Diagnostic => super::answer::document(
                    &selection.attention::<machine::view::Diagnostic>(&observer).await?,
                )?,
                Audience::Internal => super::answer::document(
                    &selection.attention::<machine::view::Internal>(&observer).await?,
                )?,
            },
            Some(_) => Value::Null,
        };
        let mut document = json!({
            "attention": attention, "machines": [], "unreadable": [], "next": null,
        });
        if !self.attention_only {
            self.machines(&observer, &selection, &mut document).await?;
        }
        let text = if self.format.json {
            String::new()
        } else {
            self.text(context, store, &document).await?
        };
        Ok(Answer::new(document, text))
    }

    /// What is selected.
    async fn selection(&self, observer: &Observer) -> Result<Selection, Error> {
        let mut query = Query::new().limit(self.limit);
        if self.order == Order::Newest {
            query = query.newest_first();
        }
        if let Some(after) = self.after {
            query = query.after(after);
        }
        let wanted = Wanted {
            machine: self.machine.as_deref(),
            state: self.status.as_deref(),
            session: self.session.as_deref(),
            key: self.key.as_deref(),
            release: self.release.map(Release::from),
        };
        Ok(wanted.select(observer, query).await?)
    }

    async fn machines(
        &self,
        observer: &Observer,
        selection: &Selection,
        document: &mut Value,
    ) -> Result<(), Error> {
        let (machines, unreadable, next) = match self.audience {
            Audience::Human => page::<machine::view::Human>(observer, selection).await?,
            Audience::Diagnostic => page::<machine::view::Diagnostic>(observer, selection).await?,
            Audience::Internal => page::<machine::view::Internal>(observer, selection).await?,
        };
        document["machines"] = machines.into();
        document["unreadable"] = unreadable.into();
        document["next"] = next.map(|next| next.to_string()).into();
        Ok(())
    }

    async fn text(
        &self,
        context: &Context,
        store: &Store,
        document: &Value,
    ) -> Result<String, Error> {
        let (terminal, now) = (context.terminal(), store.now());
        let concerns = array(&document["attention"]["concerns"]);
        let machines = array(&document["machines"]);
        let shown = concerns.iter().chain(machines).filter_map(id);
        let short = Ids::read(store).await?.short(shown);
        let mut attention = Table::new(
            terminal,
            &[
                Phrase::ColumnId,
                Phrase::ColumnReason,
                Phrase::ColumnSince,
                Phrase::ColumnNext,
                Phrase::ColumnAbout,
            ],
        );
        let mut named = BTreeSet::new();
        for concern in concerns {
            named.extend(id(concern));
            let steps: Vec<_> = array(&concern["next"]).iter().filter_map(command).collect();
            let steps = steps.iter().map(|(id, step)| short.command(*id, step));
            let reason = text(concern, "reason");
            let words = words(terminal, reason);
            attention.row([
                short_id(&short, concern),
                said(terminal, reason, words),
                since(terminal, &concern["since"], now),
                lines(&steps.collect::<Vec<_>>()),
                cell(about(terminal, concern, now)),
            ]);
        }
        let columns = [
            Phrase::ColumnId,
            Phrase::ColumnKind,
            Phrase::ColumnState,
            Phrase::ColumnSince,
            Phrase::ColumnSession,
            Phrase::ColumnAbout,
        ];
        let mut others = Table::new(terminal, &columns);
        for machine in machines.iter().filter(|it| id(it).is_none_or(|id| !named.contains(&id))) {
            others.row([
                short_id(&short, machine),
                cell(text(machine, "machine")),
                label(terminal, text(machine, "label")),
                since(terminal, &machine["entered_at"], now),
                cell(text(machine, "session")),
                cell(text(machine, "summary")),
            ]);
        }
        let mut shown = String::new();
        if !attention.is_empty() {
            let _ =
                write!(shown, "{}\n{}", terminal.title(Phrase::NeedsAttention), attention.text());
            if document["attention"]["truncated"] == true {
                let _ = writeln!(shown, "{}", terminal.text(Phrase::MoreConcerns));
            }
        } else if self.attention_only {
            let _ = writeln!(shown, "{}", terminal.text(Phrase::NothingNeedsAttention));
        }
        if !others.is_empty() {
            if !shown.is_empty() {
                shown.push('\n');
            }
            let _ = write!(shown, "{}\n{}", terminal.title(Phrase::Machines), others.text());
        }
        for error in array(&document["unreadable"]) {
            let error = OneLine(error.as_str().unwrap_or_default()).to_string();
            let _ =
                writeln!(shown, "{}", terminal.say(Phrase::FieldUnreadable, &[("error", &error)]));
        }
        if let Some(next) = document["next"].as_str() {
            let order = if self.order == Order::Oldest { "--order=oldest " } else { "" };
            let options = format!("{order}--after={next}");
            let _ = writeln!(shown, "{}", terminal.say(Phrase::NextPage, &[("options", &options)]));
        }
        if shown.is_empty() {
            let _ = writeln!(shown, "{}", terminal.text(Phrase::NoMachine));
        }
        Ok(shown)
    }
}

type Found = (Vec<Value>, Vec<String>, Option<Cursor>);

async fn page<A: machine::view::Audience>(
    observer: &Observer,
    selection: &Selection,
) -> Result<Found, Error> {
    let page = selection.list::<A>(observer).await?;
    let (mut machines, mut unreadable) = (Vec::new(), Vec::new());
    for item in page.items {
        match item {
            Ok(overview) => machines.push(super::answer::document(&overview)?),
            Err(error) => unreadable.push(error.to_string()),
        }
    }
    Ok((machines, unreadable, page.next))
}

fn id(document: &Value) -> Option<Id> {
    document["id"].as_str()?.parse().ok()
}

fn short_id(short: &Short, document: &Value) -> comfy_table::Cell {
    cell(id(document).map_or_else(|| "-".to_owned(), |id| short.of(id)))
}

/// The name of a reason, in words.
fn words(terminal: Terminal, name: &str) -> &str {
    let mut reasons = Reason::ALL.into_iter();
    let reason = reasons.find(|reason| json!(reason) == name);
    reason.map_or(name, |reason| terminal.text(reason.phrase()))
}

/// What a concern is about; what went wrong, where the audience may see it.
fn about(terminal: Terminal, concern: &Value, now: i64) -> String {
    let summary = text(concern, "summary");
    let mut about = match (concern["error"].as_str(), &concern["trouble"]) {
        (error, trouble) if trouble.is_object() => {
            format!("{summary}: {}", failed(terminal, trouble, error, now))
        }
        (Some(error), _) => format!("{summary}: {error}"),
        (None, _) => summary.to_owned(),
    };
    if let Some(missing) = concern["missing"].as_str() {
        let _ = write!(about, ": {missing}");
    }
    if let Some(cause) = concern["cause"].as_str() {
        let _ = write!(about, "; {cause}");
    }
    if let Some(reference) = concern["reference"].as_str() {
        let _ = write!(about, "; its service accepted it as {reference}");
    }
    let call = &concern["open_call"];
    if let (Some(pid), Some(host)) =
        (call["process"]["pid"].as_u64(), call["process"]["host"].as_str())
    {
        let process = terminal.say(Phrase::Process, &[("pid", &pid), ("host", &host)]);
        let state = match call["cut_off_at"].as_i64() {
            Some(at) => {
                let time = relative(at, now, terminal.language);
                terminal.say(Phrase::CutOffIn, &[("time", &time), ("process", &process)])
            }
            None => terminal.say(Phrase::MayRunIn, &[("process", &process)]),
        };
        let _ = write!(about, "; {state}");
    }
    match concern["answered_with"].as_str() {
        Some(trigger) => {
            let values: [(_, &dyn Display); 2] = [("about", &about), ("trigger", &trigger)];
            terminal.say(Phrase::AnsweredWithNote, &values)
        }
        None => about,
    }
}

/// What failed, how often and when. The error may repeat data, so not everybody sees it.
pub(super) fn failed(terminal: Terminal, trouble: &Value, error: Option<&str>, now: i64) -> String {
    let mut shown = text(trouble, "reason").to_owned();
    let time = |at| relative(at, now, terminal.language);
    match trouble["attempts"].as_u64() {
        Some(1) => {
            let _ = write!(shown, "; {}", terminal.text(Phrase::OneAttempt));
        }
        Some(count) if count > 0 => {
            let _ = write!(shown, "; {}", terminal.say(Phrase::Attempts, &[("count", &count)]));
        }
        _ => {}
    }
    if let Some(at) = trouble["at"].as_i64() {
        let _ = write!(shown, ", {}", terminal.say(Phrase::TheLast, &[("time", &time(at))]));
    }
    if trouble["set_aside"] == true {
        let _ = write!(shown, "; {}", terminal.text(Phrase::SetAside));
    } else if let Some(at) = trouble["retry_at"].as_i64() {
        // No worker has tried it since, so perhaps none runs.
        let due = if at <= now {
            terminal.say(Phrase::DueSince, &[("time", &local(at))])
        } else {
            terminal.say(Phrase::TriedAgain, &[("time", &time(at))])
        };
        let _ = write!(shown, "; {due}");
    }
    match error {
        Some(error) => format!("{shown}: {error}"),
        None => format!("{shown}; {}", terminal.text(Phrase::InternalShowsError)),
    }
}

fn since(terminal: Terminal, at: &Value, now: i64) -> comfy_table::Cell {
    let time = |at| relative(at, now, terminal.language);
    cell(at.as_i64().map_or_else(|| "-".to_owned(), time))
}

/// The id and the command of a next step.
pub(super) fn command(step: &Value) -> Option<(Id, String)> {
    let step: NextStep = serde_json::from_value(step.clone()).ok()?;
    Some((step.id(), OneLine(&step.to_string()).to_string()))
}

pub(super) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
