use super::{Context, Error, terminal};
use machine::{actor::Human, contract::Contract, operate::Operator, store::Store, view::Language};

/// The person who decides. Every decision needs a name.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Person {
    /// The name of the person who decides.
    #[arg(long = "as", value_name = "NAME", value_parser = Human::new)]
    pub(super) by: Human,
}

impl Person {
    pub(super) fn operates<'a>(&'a self, context: &'a Context, store: &'a Store) -> Operator<'a> {
        Operator::new(store, &context.actors, &self.by, "cli")
    }
}

/// The confirmation before an act.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Yes {
    /// Do not ask for confirmation. Required without a terminal.
    #[arg(long, short)]
    pub(super) yes: bool,
}

impl Yes {
    /// Asks the person, unless that was decided before. With `--whole` the person sees it in any
    /// case.
    pub(super) fn agrees(self, what: &str, whole: Whole) -> Result<(), Error> {
        match (self.yes, whole.whole) {
            (false, _) => terminal::agrees(what),
            (true, true) => terminal::tell(what),
            (true, false) => Ok(()),
        }
    }
}

/// The extent of a question.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Whole {
    /// Show whole questions. Without this, long arguments are cut.
    #[arg(long)]
    pub(super) whole: bool,
}

impl Whole {
    /// The question of a contract, as it is shown to a person.
    pub(super) fn question_of(self, contract: &Contract, language: Language) -> String {
        self.question(&contract.question_in(language), &contract.whole_question_in(language))
    }

    /// A question as it is shown to a person.
    pub(super) fn question(self, short: &str, whole: &str) -> String {
        if self.whole || short == whole {
            return terminal::question(whole);
        }
        format!("{}\n`--whole` shows all of it.", terminal::question(short))
    }
}
