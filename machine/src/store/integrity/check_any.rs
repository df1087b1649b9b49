//! Checks of machines of any kind, whose types the program may not know.

use std::collections::BTreeMap;

use crate::{
    contract::execution,
    definition::Definition,
    store::{
        backend::Found,
        error::{LoadError, Unavailable},
        handle::Store,
        integrity::check::{Blocked, Check, CheckedMachine, Read, unavailable},
        read::query::Query,
    },
};

impl Store {
    /// Reads every machine as views do, and reports those that cannot be read. Calls `progress` after
    /// each page with the number of machines so far.
    pub(crate) async fn check_readable(
        &self,
        mut progress: impl FnMut(u64),
    ) -> Result<Check, LoadError> {
        let definitions = self.inner.backend.definitions().await?;
        let mut kinds: BTreeMap<String, CheckedMachine> = BTreeMap::new();
        let (mut done, mut query) = (0, Query::new().limit(256));
        loop {
            let (rows, next) = self.rows(&query, true).await?;
            for (_, found) in rows {
                done += 1;
                let row = match &found {
                    Found::Row(row, _) => Some((row.id, row.machine.clone(), row.status.clone())),
                    _ => None,
                };
                let Some((id, machine, state)) = row else {
                    // Its kind is unknown.
                    let kind = kinds.entry("(unknown)".to_owned());
                    kind.or_insert_with_key(|name| CheckedMachine::none(name)).broken_rows += 1;
                    continue;
                };
                let is_execution = machine == execution::DEFINITION.name;
                let kind =
                    kinds.entry(machine).or_insert_with_key(|name| CheckedMachine::none(name));
                kind.checked += 1;
                let read = match self.observed(found, &definitions.intact) {
                    Ok(observed) if is_execution => self.execution_of(observed).await.map(drop),
                    read => read.map(drop),
                };
                match read {
                    Ok(()) | Err(LoadError::NotFound { .. }) => {}
                    Err(LoadError::Unavailable(error)) => return Err(error.into()),
                    Err(error) => {
                        kind.blocked.push(Blocked { id, state, reason: error.to_string() });
                    }
                }
            }
            progress(done);
            match next {
                Some(next) => query = query.after(next),
                None => break,
            }
        }
        let machines = kinds.into_values().collect();
        Ok(Check { broken_definitions: definitions.broken, machines, ..Check::default() })
    }

    /// Which machines a program with these definitions could not read.
    pub(crate) async fn check_against(&self, newer: &[Definition]) -> Result<Check, Unavailable> {
        let mut check = Check::default();
        for definition in newer {
            self.incompatible_with(definition, Read::All, &mut check).await?;
            let Some(checked) = check.machines.last_mut() else { continue };
            // The others were not looked at one by one: their definitions fit.
            checked.checked = 0;
            let mut query = Query::new().machine(definition.name.as_ref()).limit(10_000);
            loop {
                let (rows, next) = self.rows(&query, false).await.map_err(unavailable)?;
                checked.checked += rows.len();
                match next {
                    Some(next) => query = query.after(next),
                    None => break,
                }
            }
        }
        Ok(check)
    }
}

impl CheckedMachine {
    fn none(machine: &str) -> Self {
        Self {
            machine: machine.to_owned(),
            checked: 0,
            changes: Vec::new(),
            blocked: Vec::new(),
            broken_rows: 0,
        }
    }
}
