use crate::actor::Human;

/// Who decides. Nothing is decided without a name.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Person {
    /// The name of the person who decides.
    #[arg(long = "as", value_name = "NAME", value_parser = Human::new)]
    pub(super) by: Human,
}

/// Whether a person is asked first.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Yes {
    /// Decide without being asked. Required where nobody can be asked.
    #[arg(long, short)]
    pub(super) yes: bool,
}
