//! Comparison of what is stored with the definitions of another program.

use crate::{
    definition::Definition,
    store::{
        error::Unavailable,
        handle::Store,
        integrity::check::{Check, CheckedMachine, ReadAs, unavailable},
        read::query::Query,
    },
};

impl Store {
    /// Which machines a program with these definitions could not read.
    pub(crate) async fn check_against(&self, newer: &[Definition]) -> Result<Check, Unavailable> {
        let mut check = Check::default();
        for definition in newer {
            self.incompatible_with(definition, ReadAs::All, &mut check).await?;
            let Some(checked) = check.machines.last_mut() else { continue };
            // The others need no individual check: their definitions fit.
            checked.checked = 0;
            let mut next = Some(Query::new().machine(definition.name.as_ref()).limit(10_000));
            while let Some(rows) = self.next_rows(&mut next, false).await.map_err(unavailable)? {
                checked.checked += rows.len();
            }
        }
        Ok(check)
    }
}

impl CheckedMachine {
    pub(crate) fn none(machine: &str) -> Self {
        Self {
            machine: machine.to_owned(),
            checked: 0,
            changes: Vec::new(),
            blocked: Vec::new(),
            broken_rows: 0,
        }
    }
}
