use serde::Deserialize;
use serde_json::Value;

use super::{Breach, Context, Index};
use crate::{
    id::Id,
    journal::{Entry, Summary},
};

/// The rules of a [`Context`], without the type of its summary.
#[doc(hidden)]
pub trait Rules {
    /// The kind and the name of the author.
    fn __author(&self) -> (Option<&str>, Option<&str>);

    fn __id(&self) -> Option<Id>;

    fn __format(&self) -> u32;

    /// Adds entries to the part of the context, checks them, and projects what stores index.
    fn __fold(&self, part: &Value, entries: &[Entry]) -> Result<Folded, Breach>;
}

/// The result of a fold.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Folded {
    /// The new part.
    pub(crate) part: Value,
    /// What stores index, before the entries and after them.
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

    fn __format(&self) -> u32 {
        C::FORMAT
    }

    fn __fold(&self, part: &Value, entries: &[Entry]) -> Result<Folded, Breach> {
        let unreadable = |error: serde_json::Error| {
            Breach(format!("its summary cannot be read: {error}; raise `Context::FORMAT`"))
        };
        let mut summary = match part {
            // A new machine, or a summary that is `()`.
            Value::Null => C::Summary::default(),
            part => C::Summary::deserialize(part).map_err(unreadable)?,
        };
        let before = self.index(&summary);
        if entries.is_empty() {
            return Ok(Folded { part: part.clone(), after: before.clone(), before });
        }
        for entry in entries {
            self.fold(&mut summary, entry)?;
        }
        self.check(&summary)?;
        let part = serde_json::to_value(&summary).map_err(unreadable)?;
        Ok(Folded { part, before, after: self.index(&summary) })
    }
}

/// The summary of a machine with the entries that are not stored yet, and the fold of its context.
pub(crate) fn fold(
    rules: &dyn Rules,
    past: &Summary,
    entries: &[Entry],
) -> Result<(Summary, Folded), Breach> {
    let folded = rules.__fold(&past.context, entries)?;
    let mut summary = past.clone();
    for entry in entries {
        summary.add(entry);
    }
    summary.context = folded.part.clone();
    summary.format = rules.__format();
    Ok((summary, folded))
}
