use super::Context;
use crate::{actor::Human, operate::Operator, store::Store};

/// Who decides. Nothing is decided without a name.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Person {
    /// The name of the person who decides.
    #[arg(long = "as", value_name = "NAME", value_parser = Human::new)]
    pub(super) by: Human,
}

impl Person {
    /// The person, at work on a store.
    pub(super) fn operates<'a>(&'a self, context: &'a Context, store: &'a Store) -> Operator<'a> {
        Operator::new(store, &context.actors, &self.by, "cli")
    }
}

/// Whether a person is asked first.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Yes {
    /// Decide without being asked. Required where nobody can be asked.
    #[arg(long, short)]
    pub(super) yes: bool,
}
