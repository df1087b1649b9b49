use serde_json::json;

use super::{
    Context, Error, Exit,
    ids::{self, Short},
    limit::limit,
    output::{Format, Output, more, unreadable},
    table::{Table, cell},
    time::local,
};
use crate::page::split;
use machine::Id;

/// The number of ids that a row has; JSON has all.
const NAMED: usize = 3;

/// `operations`: the operator log, newest first.
#[derive(Debug, clap::Args)]
pub(super) struct Operations {
    /// The maximum number of operations on a page.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = limit)]
    limit: usize,
    /// Start after this operation, which the previous page prints.
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    #[command(flatten)]
    format: Format,
}

impl Operations {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let page = store.operations(self.limit, self.after).await?;
        let (operations, errors) = split(page.items);
        let ids = operations.iter().flat_map(|it| &it.machines).copied();
        let short = ids::short(&store, ids).await?;
        let terminal = context.terminal();
        let mut table = Table::new(
            terminal,
            &["No.", "At", "By", "Via", "What", "Machines", "Detail", "Outcome"],
        );
        for it in &operations {
            table.row([
                cell(it.number.to_string()),
                cell(local(it.at)),
                cell(&it.by),
                cell(&it.via),
                cell(&it.operation),
                cell(machines(&short, &it.machines)),
                cell(&it.detail),
                cell(it.outcome.as_deref().unwrap_or("running or interrupted")),
            ]);
        }
        let mut text = if !table.is_empty() {
            table.text()
        } else if self.after.is_some() {
            "No operations after this one.\n".to_owned()
        } else {
            "No operations yet from the command line or over HTTP.\n".to_owned()
        };
        text.push_str(&unreadable(&errors));
        let next = page.next.map(|next| next.to_string());
        text.extend(next.iter().map(|next| more(format_args!("--after={next}"))));
        let document = json!({ "operations": operations, "unreadable": errors, "next": next });
        Output::new(document, text).print(self.format)
    }
}

/// The first ids, and the number of the rest.
fn machines(short: &Short, ids: &[Id]) -> String {
    let named: Vec<_> = ids.iter().take(NAMED).map(|id| short.of(*id)).collect();
    match ids.len() - named.len() {
        0 => named.join(", "),
        more => format!("{}, and {more} more", named.join(", ")),
    }
}
