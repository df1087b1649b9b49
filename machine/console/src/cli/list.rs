use std::{collections::BTreeSet, fmt::Write};

use comfy_table::Color;
use serde::Serialize;

use super::{
    Context, Error, Exit,
    ids::{self, Short},
    limit::limit,
    output::{Output, document, more, unreadable},
    sees::internal,
    table::{Table, cell, colored, lines, state},
    terminal::Terminal,
    time::{local, relative},
    view_options::ViewOptions,
};
use crate::{audience::for_audience, page::split, stage::Stage};
use machine::{
    Id,
    contract::{CallStage, Release, without_arguments},
    observe::{Attention, Concern, ConcernReason, Observer, OpenCall, Overview, Trouble},
    operate::{Selection, Wanted},
    store::{Cursor, Query, Store},
    view::{Audience, View},
};

/// `list`: what needs attention first, then the other machines.
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Only machines of this kind, such as `execution`.
    #[arg(long, value_name = "KIND")]
    machine: Option<String>,
    /// Only machines in this state: its label in the list, such as `IN_DOUBT`, or its name, such as
    /// `waiting`.
    #[arg(long, value_name = "STATE")]
    status: Option<String>,
    /// Only machines of this session.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only executions with this idempotency key.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Only executions with this status at their gate.
    #[arg(long, value_enum)]
    release: Option<Gated>,
    /// Only machines in a state with a call in this stage.
    #[arg(long, value_enum)]
    calls: Option<Stage>,
    /// Only what needs attention.
    #[arg(long, conflicts_with = "after")]
    attention_only: bool,
    /// The order of the machines, by the time of their creation.
    #[arg(long, value_enum, default_value_t)]
    order: Order,
    /// The maximum number of machines on a page.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = limit)]
    limit: usize,
    /// Start after this position, which the previous page prints.
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    after: Option<Cursor>,
    #[command(flatten)]
    options: ViewOptions,
}

/// A [`Release`] as an option.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Gated {
    /// The execution is PENDING, and its gate waits for an answer.
    Deferred,
    /// The execution is PENDING, and its gate was approved: it may start.
    Released,
    /// The gate was declined or withdrawn, or has expired; the execution was CANCELLED with it and
    /// never runs.
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

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        self.answer(context, &store).await?.print(self.options.format)
    }

    async fn answer(&self, context: &Context, store: &Store) -> Result<Output, Error> {
        let observer = context.observer(store);
        let selection = self.selection(store, &observer).await?;
        for_audience!(self.options.audience, A => {
            let found = self.find::<A>(&observer, &selection).await?;
            let text = if self.options.format.json {
                String::new()
            } else {
                self.text(context, store, &found).await?
            };
            Ok(Output::new(document(&found)?, text))
        })
    }

    async fn find<A: Audience>(
        &self,
        observer: &Observer,
        selection: &Selection,
    ) -> Result<Listing<A>, Error> {
        let attention = match self.after {
            None => Some(selection.attention(observer).await?),
            Some(_) => None,
        };
        if self.attention_only {
            let (machines, unreadable) = (Vec::new(), Vec::new());
            return Ok(Listing { attention, machines, unreadable, next: None });
        }
        let page = selection.list::<A>(observer).await?;
        let (machines, unreadable) = split(page.items);
        let next = page.next.map(|next| next.to_string());
        Ok(Listing { attention, machines, unreadable, next })
    }

    async fn selection(&self, store: &Store, observer: &Observer) -> Result<Selection, Error> {
        let mut query = Query::new().limit(self.limit);
        if self.order == Order::Newest {
            query = query.newest_first();
        }
        if let Some(after) = self.after {
            query = query.after(after);
        }
        let session = match &self.session {
            Some(session) => Some(ids::session(store, session).await?),
            None => None,
        };
        let wanted = Wanted {
            machine: self.machine.as_deref(),
            state: self.status.as_deref(),
            session: session.as_deref(),
            key: self.key.as_deref(),
            release: self.release.map(Release::from),
            calls: self.calls.map(CallStage::from),
        };
        Ok(wanted.select(observer, query).await?)
    }

    async fn text<A: Audience>(
        &self,
        context: &Context,
        store: &Store,
        found: &Listing<A>,
    ) -> Result<String, Error> {
        let (terminal, now) = (context.terminal(), store.now());
        let concerns = found.attention.as_ref().map_or(&[][..], |it| &it.concerns);
        let named: BTreeSet<Id> = concerns.iter().filter_map(|concern| concern.id).collect();
        let ids = named.iter().copied().chain(found.machines.iter().map(|machine| machine.id));
        let short = ids::short(store, ids).await?;
        let others = found.machines.iter().filter(|machine| !named.contains(&machine.id));
        let mut shown = attention(context, now, &short, concerns);
        if !concerns.is_empty() && found.attention.as_ref().is_some_and(|it| it.truncated) {
            let _ = writeln!(shown, "There are more; raise --limit to see them.");
        } else if self.attention_only && shown.is_empty() {
            let _ = writeln!(shown, "Nothing needs attention.");
        }
        shown.push_str(&machines(terminal, now, &short, others));
        shown.push_str(&unreadable(&found.unreadable));
        if let Some(next) = &found.next {
            let order = if self.order == Order::Oldest { "--order=oldest " } else { "" };
            shown.push_str(&more(format_args!("{order}--after={next}")));
        }
        if shown.is_empty() {
            let _ = writeln!(shown, "No machine matches.");
        }
        // Each part begins with an empty line.
        Ok(shown.trim_start_matches('\n').to_owned())
    }
}

#[derive(Debug, Serialize)]
#[serde(bound = "")]
struct Listing<A: Audience> {
    /// `None` on later pages.
    attention: Option<View<Attention<A>>>,
    machines: Vec<View<Overview<A>>>,
    unreadable: Vec<String>,
    next: Option<String>,
}

fn attention<A: Audience>(
    context: &Context,
    now: i64,
    short: &Short,
    concerns: &[Concern<A>],
) -> String {
    let columns = ["Id", "Reason", "Since", "Next", "About"];
    let terminal = context.terminal();
    let mut table = Table::new(terminal, &columns);
    for concern in concerns {
        let steps = concern.next.iter();
        let steps = steps.map(|step| context.line(short.command(step.id(), &step.to_string())));
        let steps: Vec<_> = steps.collect();
        table.row([
            cell(concern.id.map_or_else(|| "-".to_owned(), |id| short.of(id))),
            colored(terminal, &concern.reason.to_string(), color(concern.reason)),
            cell(concern.since.map_or_else(|| "-".to_owned(), |at| relative(at, now))),
            lines(&steps),
            cell(about(context, concern, now)),
        ]);
    }
    table.part("Needs attention")
}

fn color(reason: ConcernReason) -> Option<Color> {
    match reason {
        ConcernReason::Contradicted | ConcernReason::InDoubt | ConcernReason::Unreadable => {
            Some(Color::Red)
        }
        ConcernReason::SetAside | ConcernReason::Stuck | ConcernReason::Overdue => {
            Some(Color::Magenta)
        }
        ConcernReason::WaitsForPerson => Some(Color::Yellow),
        _ => None,
    }
}

fn machines<'a, A: Audience>(
    terminal: Terminal,
    now: i64,
    short: &Short,
    machines: impl Iterator<Item = &'a View<Overview<A>>>,
) -> String {
    let mut table = Table::new(terminal, &["Id", "Kind", "State", "Since", "Session", "About"]);
    for machine in machines {
        table.row([
            cell(short.of(machine.id)),
            cell(&machine.machine),
            state(terminal, &machine.label, machine.calls.as_ref()),
            cell(relative(machine.entered_at, now)),
            cell(machine.session.as_deref().unwrap_or_default()),
            cell(&machine.summary),
        ]);
    }
    table.part("Machines")
}

/// The subject of a concern, with the error where the audience sees it.
fn about<A: Audience>(context: &Context, concern: &Concern<A>, now: i64) -> String {
    let error = internal::<A, Option<String>>(&concern.error).and_then(Option::as_deref);
    let reference = internal::<A, Option<String>>(&concern.reference).and_then(Option::as_ref);
    let failure = match &concern.trouble {
        Some(trouble) => Some(failed(trouble, error, now)),
        None => error.map(str::to_owned),
    };
    let more = [
        concern.cause.as_ref().map(|cause| cause.replace('\n', " ")),
        reference.map(|reference| format!("its service accepted it as {reference}")),
        concern.open_call.as_ref().map(|call| open_call(call, now)),
    ];
    let mut about = subject(context, concern).to_owned();
    about.extend(failure.iter().chain(&concern.missing).map(|text| format!(": {text}")));
    about.extend(more.iter().flatten().map(|text| format!("; {text}")));
    match &concern.answered_with {
        Some(trigger) => {
            format!("{about} (answered with `{trigger}`, which is not applied yet)")
        }
        None => about,
    }
}

/// Why a call in doubt cannot be confirmed as not applied yet.
pub(super) fn open_call(call: &OpenCall, now: i64) -> String {
    let process = &call.process;
    match (call.settles_at, call.cut_off_at) {
        (Some(until), _) => format!(
            "can still take effect until {} ({}): `not-applied` is accepted from then on; or override",
            local(until),
            relative(until, now)
        ),
        (None, Some(at)) => {
            let time = relative(at, now);
            format!("was cut off {time} in {process}: restart it, then answer; or override")
        }
        (None, None) => {
            format!(
                "may still be running in {process}: wait, or restart it, then answer; or override"
            )
        }
    }
}

/// The question of a gate in the words of its tool, or the summary.
fn subject<'a, A: Audience>(context: &Context, concern: &'a Concern<A>) -> &'a str {
    let question = concern.question.as_deref();
    let worded = question.filter(|it| without_arguments(it, context.language) == Some(""));
    worded.and_then(|question| question.lines().next()).unwrap_or(&concern.summary)
}

/// A failure with its attempts and times. The error may repeat data, so only some audiences see it.
pub(super) fn failed(trouble: &Trouble, error: Option<&str>, now: i64) -> String {
    let attempts = match trouble.attempts {
        0 => String::new(),
        1 => "; 1 attempt".to_owned(),
        count => format!("; {count} attempts"),
    };
    let last = trouble.at.map(|at| format!(", last {}", relative(at, now))).unwrap_or_default();
    let next = match trouble.retry_at {
        _ if trouble.set_aside => "; set aside".to_owned(),
        // No worker has tried it since, so perhaps none runs.
        Some(at) if at <= now => format!("; next attempt due since {}", local(at)),
        Some(at) => format!("; retries {}", relative(at, now)),
        None => String::new(),
    };
    let error = match error {
        Some(error) => format!(": {error}"),
        None => "; --audience internal shows the error".to_owned(),
    };
    format!("{}{attempts}{last}{next}{error}", trouble.reason)
}
