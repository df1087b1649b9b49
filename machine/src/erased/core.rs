use serde::{Serialize, de::DeserializeOwned};

use super::Context;
use crate::{definition::Definition, journal::Journal};

/// The data of a durable machine in every state. It is boxed once, at creation, so that a
/// transition moves only a few words and allocates only for the journal.
#[derive(Debug)]
pub struct Core<C> {
    /// The journal.
    pub journal: Journal,
    /// The context, fixed at creation.
    pub context: C,
    /// The context as JSON text, as it was loaded. It is written back as it is, so that a program
    /// that does not know all of its fields does not lose the others.
    text: Option<String>,
}

impl<C> Core<C> {
    // `rules` replaces the bound `C: Context`, so that a missing implementation makes one error.
    #[doc(hidden)]
    #[must_use]
    pub fn __create(
        definition: &'static Definition,
        context: C,
        rules: fn(&C) -> &dyn Context,
    ) -> Box<Self> {
        let journal = Journal::create(definition, rules(&context).author());
        Box::new(Self { journal, context, text: None })
    }

    pub(crate) fn restored(journal: Journal, context: C, text: Option<String>) -> Self {
        Self { journal, context, text }
    }

    /// The context as JSON text.
    #[doc(hidden)]
    pub fn __context(&self) -> serde_json::Result<String>
    where
        C: Serialize + DeserializeOwned,
    {
        match &self.text {
            Some(text) => Ok(text.clone()),
            None => crate::__private::encode(&self.context),
        }
    }
}
