use super::Tables;
use crate::{clock::Millis, store::operation::Operation};

impl Tables {
    pub(super) fn log(&mut self, operation: &Operation, now: Millis) {
        let number = self.operations.len() as u64 + 1;
        self.operations.push(operation.clone().numbered(number, now));
    }

    pub(super) fn operations(&self, before: Option<u64>, limit: usize) -> Vec<(u64, Operation)> {
        let older = self.operations.iter().rev();
        let older = older.filter(|it| before.is_none_or(|before| it.number < before));
        older.take(limit).map(|it| (it.number, it.clone())).collect()
    }
}
