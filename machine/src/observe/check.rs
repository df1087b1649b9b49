//! Checks of machines of any kind, whose types the program may not know.

use std::collections::BTreeMap;

use crate::{
    contract::{AnyExecution, execution},
    store::{
        backend::FoundRow,
        error::LoadError,
        handle::Store,
        integrity::check::{Blocked, Check, CheckedMachine},
        read::{observe::Observed, query::Query},
    },
};

impl Store {
    /// Reads every machine as views do, and reports unreadable ones. Calls `progress` after
    /// each page with the number of machines so far.
    pub(super) async fn check_readable(
        &self,
        mut progress: impl FnMut(u64),
    ) -> Result<Check, LoadError> {
        let definitions = self.inner.backend.definitions().await?;
        let mut kinds: BTreeMap<String, CheckedMachine> = BTreeMap::new();
        let (mut done, mut next) = (0, Some(Query::new().limit(256)));
        while let Some(rows) = self.next_rows(&mut next, true).await? {
            for (_, found) in rows {
                done += 1;
                let FoundRow::Row(row, _) = &found else {
                    // Its kind is unknown.
                    let kind = kinds.entry("(unknown)".to_owned());
                    kind.or_insert_with_key(|name| CheckedMachine::none(name)).broken_rows += 1;
                    continue;
                };
                let (id, machine, state) = (row.id, row.machine.clone(), row.status.clone());
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
        }
        let machines = kinds.into_values().collect();
        Ok(Check { broken_definitions: definitions.broken, machines, ..Check::default() })
    }

    /// Reads every machine, those of the kinds that the program has declared as the program reads
    /// them.
    pub(super) async fn check_all(&self, progress: impl FnMut(u64)) -> Result<Check, LoadError> {
        let declared = &self.inner.declared;
        let mut check = self.check_readable(progress).await?;
        let own = |name: &str| declared.machines.iter().any(|it| it.definition.name == name);
        check.machines.retain(|checked| !own(&checked.machine));
        let mut by_program = self.rehearse(declared).await?;
        by_program.machines.append(&mut check.machines);
        Ok(by_program)
    }

    pub(super) async fn execution_of(&self, observed: Observed) -> Result<AnyExecution, LoadError> {
        let Observed { row, head, definition, .. } = observed;
        let found = FoundRow::Row(row, Some(head));
        self.current(self.restore_safely(found, &[definition])?).await
    }
}
