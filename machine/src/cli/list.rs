use std::fmt::Write;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::{Ids, Short},
    table::{Table, cell, label, lines},
    time::{local, relative},
    watch::Watch,
};
use crate::{
    contract::Release,
    id::Id,
    operate::{Audience, Selection, Wanted},
    store::{Cursor, Query, Store},
    view::{NextStep, Observer, line::OneLine},
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
    release: Option<Release>,
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
            None => selection.attention(&observer, self.audience).await?,
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
            release: self.release,
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
            Audience::Human => page::<crate::view::Human>(observer, selection).await?,
            Audience::Diagnostic => page::<crate::view::Diagnostic>(observer, selection).await?,
            Audience::Internal => page::<crate::view::Internal>(observer, selection).await?,
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
        let mut attention = Table::new(terminal, &["Id", "Reason", "Since", "Next", "About"]);
        let mut named = BTreeSet::new();
        for concern in concerns {
            named.extend(id(concern));
            let steps: Vec<_> = array(&concern["next"]).iter().filter_map(command).collect();
            let steps = steps.iter().map(|(id, step)| short.command(*id, step));
            let reason = match text(concern, "reason") {
                "waits_for_person" => "waits for a person".to_owned(),
                reason => reason.replace('_', " "),
            };
            attention.row([
                short_id(&short, concern),
                label(terminal, &reason),
                since(&concern["since"], now),
                lines(&steps.collect::<Vec<_>>()),
                cell(about(concern, now)),
            ]);
        }
        let mut others =
            Table::new(terminal, &["Id", "Kind", "State", "Since", "Session", "About"]);
        for machine in machines.iter().filter(|it| id(it).is_none_or(|id| !named.contains(&id))) {
            others.row([
                short_id(&short, machine),
                cell(text(machine, "machine")),
                label(terminal, text(machine, "label")),
                since(&machine["entered_at"], now),
                cell(text(machine, "session")),
                cell(text(machine, "summary")),
            ]);
        }
        let mut shown = String::new();
        if !attention.is_empty() {
            let _ = write!(shown, "{}\n{}", terminal.title("Needs attention"), attention.text());
            if document["attention"]["truncated"] == true {
                shown.push_str("There are more; see them with a larger --limit.\n");
            }
        } else if self.attention_only {
            shown.push_str("Nothing needs attention.\n");
        }
        if !others.is_empty() {
            if !shown.is_empty() {
                shown.push('\n');
            }
            let _ = write!(shown, "{}\n{}", terminal.title("Machines"), others.text());
        }
        for error in array(&document["unreadable"]) {
            let error = OneLine(error.as_str().unwrap_or_default()).to_string();
            let _ = writeln!(shown, "unreadable: {error}");
        }
        if let Some(next) = document["next"].as_str() {
            let order = if self.order == Order::Oldest { "--order=oldest " } else { "" };
            let _ =
                writeln!(shown, "There are more; the next page begins with {order}--after={next}");
        }
        if shown.is_empty() {
            shown.push_str("There is no machine that matches.\n");
        }
        Ok(shown)
    }
}

type Found = (Vec<Value>, Vec<String>, Option<Cursor>);

async fn page<A: crate::view::Audience>(
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

/// What a concern is about; what went wrong, where the audience may see it.
fn about(concern: &Value, now: i64) -> String {
    let summary = text(concern, "summary");
    let mut about = match (concern["error"].as_str(), &concern["trouble"]) {
        (error, trouble) if trouble.is_object() => {
            format!("{summary}: {}", failed(trouble, error, now))
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
        let process = format!("in process {pid} on {host}");
        let state = match call["cut_off_at"].as_i64() {
            Some(at) => format!("cut off {} {process}: restart it, then answer", relative(at, now)),
            None => format!("may still be running {process}: wait, or restart it, then answer"),
        };
        let _ = write!(about, "; {state}; or override");
    }
    match concern["answered_with"].as_str() {
        Some(trigger) => format!("{about} (answered with `{trigger}`, which is not applied yet)"),
        None => about,
    }
}

/// What failed, how often and when. The error may repeat data, so not everybody sees it.
pub(super) fn failed(trouble: &Value, error: Option<&str>, now: i64) -> String {
    let mut shown = text(trouble, "reason").to_owned();
    match trouble["attempts"].as_u64() {
        Some(1) => shown.push_str("; 1 attempt"),
        Some(attempts) if attempts > 0 => {
            let _ = write!(shown, "; {attempts} attempts");
        }
        _ => {}
    }
    if let Some(at) = trouble["at"].as_i64() {
        let _ = write!(shown, ", the last {}", relative(at, now));
    }
    if trouble["set_aside"] == true {
        shown.push_str("; set aside");
    } else if let Some(at) = trouble["retry_at"].as_i64() {
        // No worker has tried it since, so perhaps none runs.
        let _ = if at <= now {
            write!(shown, "; next attempt due since {}", local(at))
        } else {
            write!(shown, "; tried again {}", relative(at, now))
        };
    }
    match error {
        Some(error) => format!("{shown}: {error}"),
        None => format!("{shown}; --audience internal shows the error"),
    }
}

fn since(at: &Value, now: i64) -> comfy_table::Cell {
    cell(at.as_i64().map_or_else(|| "-".to_owned(), |at| relative(at, now)))
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
