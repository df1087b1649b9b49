use serde_json::Value;

use super::{
    Context, Error, Exit, ids,
    output::{Format, Output},
    person::Person,
};
use machine::{Id, operate::Operator, store::Store};

/// The person who acts, and the format of the answer.
#[derive(Debug, clap::Args)]
pub(super) struct By {
    #[command(flatten)]
    person: Person,
    #[command(flatten)]
    format: Format,
}

impl By {
    pub(super) fn operates<'a>(&'a self, context: &'a Context, store: &'a Store) -> Operator<'a> {
        self.person.operates(context, store)
    }

    pub(super) fn report(&self, document: Value, text: String) -> Result<Exit, Error> {
        Output::of_act(document, text).print(self.format)
    }
}

/// The machine of an act.
#[derive(Debug, clap::Args)]
pub(super) struct One {
    /// The id of the machine, or its last digits, at least 8.
    id: String,
    #[command(flatten)]
    pub(super) by: By,
}

impl One {
    pub(super) async fn open(&self, context: &Context) -> Result<(Store, Id), Error> {
        let store = context.write().await?;
        let id = ids::find(&store, &self.id).await?;
        Ok((store, id))
    }
}

/// The machines of an act.
#[derive(Debug, clap::Args)]
pub(super) struct Several {
    /// The ids of the machines, or the last digits of each, at least 8.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    pub(super) by: By,
}

impl Several {
    pub(super) async fn open(&self, context: &Context) -> Result<(Store, Vec<Id>), Error> {
        let store = context.write().await?;
        let ids = ids::find_all(&store, &self.ids).await?;
        Ok((store, ids))
    }
}
