use super::Tables;
use crate::{
    clock::Millis,
    store::operation::{Logged, Operation},
};

impl Tables {
    /// Writes into the operator log; returns the number of the operation, unless nothing was written.
    pub(super) fn log(&mut self, logged: &Logged, now: Millis) -> Option<u64> {
        match logged {
            Logged::New(operation) => {
                let number = self.operations.len() as u64 + 1;
                self.operations.push(operation.clone().numbered(number, now));
                Some(number)
            }
            Logged::Ended { number, outcome } => {
                let found = self.operations.iter_mut().find(|it| it.number == *number)?;
                if found.outcome.is_some() {
                    return None;
                }
                found.outcome = Some(outcome.clone());
                Some(*number)
            }
        }
    }

    pub(super) fn operations(&self, before: Option<u64>, limit: usize) -> Vec<(u64, Operation)> {
        let older = self.operations.iter().rev();
        let older = older.filter(|it| before.is_none_or(|before| it.number < before));
        older.take(limit).map(|it| (it.number, it.clone())).collect()
    }
}
