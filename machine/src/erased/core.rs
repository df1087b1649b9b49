use super::Context;
use crate::{definition::Definition, journal::Journal};

/// What a durable machine keeps in every state. It stands behind one pointer, made at creation, so
/// that a transition moves a few words and allocates only what the journal must keep.
#[derive(Debug)]
pub struct Core<C> {
    /// What happened to it.
    pub journal: Journal,
    /// What was fixed at creation.
    pub context: C,
}

impl<C> Core<C> {
    // `rules` stands for `C: Context`, so that a context without the trait is one error.
    #[doc(hidden)]
    #[must_use]
    pub fn __create(
        definition: &'static Definition,
        context: C,
        rules: fn(&C) -> &dyn Context,
    ) -> Box<Self> {
        let journal = Journal::create(definition, rules(&context).author());
        Box::new(Self { journal, context })
    }
}
