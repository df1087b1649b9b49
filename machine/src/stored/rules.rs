use std::any::Any;

use serde::Deserialize;
use serde_json::Value;

use super::{Breach, Context, Index, normal_session};
use crate::{
    actor::is_reserved,
    definition::Definition,
    id::Id,
    journal::{Entry, Fact, Summary},
};

/// The rules of a [`Context`], without the type of its summary.
#[doc(hidden)]
pub trait Rules {
    /// The kind and the name of the author.
    fn __author(&self) -> (Option<&str>, Option<&str>);

    fn __id(&self) -> Option<Id>;

    fn __owner(&self) -> Option<&'static Definition>;

    fn __format(&self) -> u32;

    /// The context, of any type.
    fn __any(&self) -> &dyn Any;

    /// Adds entries to the part of the context, checks them, and projects what stores index.
    fn __fold(&self, part: &Value, entries: &[Entry]) -> Result<Folded, Breach> {
        self.__fold_page(part, entries, true)
    }

    /// The same for a page of entries. If more of the same commit may follow, the result is not
    /// checked.
    fn __fold_page(&self, part: &Value, entries: &[Entry], is_last: bool)
    -> Result<Folded, Breach>;
}

/// The result of a fold.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Folded {
    pub(crate) part: Value,
    /// The index before the entries, and after them.
    pub(crate) before: Index,
    pub(crate) after: Index,
}

impl<C: Context> Rules for C {
    fn __author(&self) -> (Option<&str>, Option<&str>) {
        (self.author(), self.__author_name())
    }

    fn __id(&self) -> Option<Id> {
        Context::__id(self)
    }

    fn __owner(&self) -> Option<&'static Definition> {
        Context::__owner(self)
    }

    fn __format(&self) -> u32 {
        C::FORMAT
    }

    fn __any(&self) -> &dyn Any {
        self
    }

    fn __fold_page(
        &self,
        part: &Value,
        entries: &[Entry],
        is_last: bool,
    ) -> Result<Folded, Breach> {
        let mut summary = summary_of::<C>(part)?;
        let before = index_of(self, &summary);
        if entries.is_empty() {
            return Ok(Folded { part: part.clone(), after: before.clone(), before });
        }
        for entry in entries {
            self.fold(&mut summary, entry)?;
        }
        if is_last {
            self.check(&summary)?;
        }
        let part = serde_json::to_value(&summary).map_err(|error| unreadable(&error))?;
        let after = index_of(self, &summary);
        if !after.contract {
            entries.iter().try_for_each(check_author)?;
        }
        Ok(Folded { part, before, after })
    }
}

/// What stores index, with the id of the session in its normal form.
fn index_of<C: Context>(context: &C, summary: &C::Summary) -> Index {
    let mut index = context.index(summary);
    index.session = index.session.map(normal_session);
    index
}

/// A context of another crate names its author as it likes; a person or a node of this library
/// makes contracts only.
fn check_author(entry: &Entry) -> Result<(), Breach> {
    match (&entry.fact, entry.actor.as_deref()) {
        (Fact::Created { .. }, Some(kind)) if is_reserved(kind) => Err(Breach::new(format!(
            "the author `{kind}` belongs to an actor of this library; return another kind from \
             `Context::author`"
        ))),
        _ => Ok(()),
    }
}

fn summary_of<C: Context>(part: &Value) -> Result<C::Summary, Breach> {
    match part {
        // A new machine, or a summary that is `()`.
        Value::Null => Ok(C::Summary::default()),
        part => C::Summary::deserialize(part).map_err(|error| unreadable(&error)),
    }
}

fn unreadable(error: &serde_json::Error) -> Breach {
    Breach(format!("its summary cannot be read: {error}; raise `Context::FORMAT`"))
}

/// The summary of a machine with these entries, and the fold of its context. Unless they are the
/// last ones of a commit, the result is not checked.
pub(crate) fn fold(
    rules: &dyn Rules,
    past: &Summary,
    entries: &[Entry],
    is_last: bool,
) -> Result<(Summary, Folded), Breach> {
    let folded = rules.__fold_page(&past.context, entries, is_last)?;
    let mut summary = past.clone();
    for entry in entries {
        summary.add(entry);
    }
    summary.context = folded.part.clone();
    summary.format = rules.__format();
    Ok((summary, folded))
}
