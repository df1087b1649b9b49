use std::sync::{Arc, OnceLock};

use super::{Data, Rules, Unwritten};
use crate::{
    actor::who::Who,
    definition::Definition,
    id::Id,
    journal::{Journal, Payload},
    typed::Deadline,
};

/// The data of a durable machine in every state. It is boxed once, at creation, so that a
/// transition moves only a few words and allocates only for the journal.
///
/// Its fields are private: only a transition changes the journal.
#[derive(Debug)]
pub struct Core<C> {
    journal: Journal,
    context: C,
    /// The context as JSON text. One that was loaded is written back as it is, so that a program
    /// that does not know all of its fields does not lose the others.
    text: OnceLock<Arc<str>>,
}

impl<C: Clone> Core<C> {
    /// A copy, for the library only: of the two, one is dropped.
    #[doc(hidden)]
    #[must_use]
    pub fn __fork(&self, _: crate::journal::Pass) -> Self {
        let Self { journal, context, text } = self;
        Self { journal: journal.clone(), context: context.clone(), text: text.clone() }
    }
}

impl<C> Core<C> {
    // `rules` replaces the bound `C: Context`, so that a missing implementation makes one error.
    #[doc(hidden)]
    #[must_use]
    pub fn __create(
        definition: &'static Definition,
        context: C,
        rules: fn(&C) -> &dyn Rules,
    ) -> Box<Self> {
        let rules = rules(&context);
        let id = rules.__id().unwrap_or_else(Id::fresh);
        let journal = Journal::create(id, definition, rules.__author());
        Box::new(Self { journal, context, text: OnceLock::new() })
    }

    pub(crate) fn restored(journal: Journal, context: C, text: Option<Arc<str>>) -> Self {
        Self { journal, context, text: text.map_or_else(OnceLock::new, OnceLock::from) }
    }

    #[doc(hidden)]
    pub fn __journal(&self) -> &Journal {
        &self.journal
    }

    #[doc(hidden)]
    pub fn __journal_mut(&mut self, _: crate::journal::Pass) -> &mut Journal {
        &mut self.journal
    }

    #[doc(hidden)]
    pub fn __context(&self) -> &C {
        &self.context
    }

    /// Starts the deadlines of the initial state.
    #[doc(hidden)]
    pub fn __created(
        &mut self,
        definition: &'static Definition,
        started: &[(usize, Option<Deadline>)],
    ) {
        self.journal.created(definition, started);
    }

    #[doc(hidden)]
    pub fn __moved(
        &mut self,
        definition: &'static Definition,
        edge: usize,
        by: Option<Who<'_>>,
        payload: Payload,
        started: &[(usize, Option<Deadline>)],
    ) {
        self.journal.moved(definition, edge, by, payload, Some(started));
    }

    /// Records a transition that stays in its state, which starts no deadline.
    #[doc(hidden)]
    pub fn __stayed(
        &mut self,
        definition: &'static Definition,
        edge: usize,
        by: Option<Who<'_>>,
        payload: Payload,
    ) {
        self.journal.moved(definition, edge, by, payload, None);
    }

    /// The context as JSON text. A new one is read back and compared.
    #[doc(hidden)]
    pub fn __context_text(
        &self,
        differs: impl FnOnce(&C, &C) -> bool,
    ) -> Result<Arc<str>, Unwritten>
    where
        C: Data,
    {
        if let Some(text) = self.text.get() {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = self.context.__to_text().map_err(Unwritten::of_context)?.into();
        let read =
            C::__of_text(&text).map_err(|error| Unwritten::unread(&error, None).of_context())?;
        if differs(&self.context, &read) {
            return Err(Unwritten::changed(None).of_context());
        }
        Ok(Arc::clone(self.text.get_or_init(|| text)))
    }
}
