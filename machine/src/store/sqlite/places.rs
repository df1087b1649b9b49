use std::collections::HashMap;

use crate::id::Id;

const CAPACITY: usize = 16 * 1024;

/// Where machines that were written lately are in the table, so that the next write of one needs no
/// search. It is a hint: a write checks that the machine is there, in the version that it expects.
#[derive(Debug, Default)]
pub(super) struct Places(HashMap<Id, i64>);

impl Places {
    pub(super) fn get(&self, id: Id) -> Option<i64> {
        self.0.get(&id).copied()
    }

    pub(super) fn insert(&mut self, id: Id, no: i64) {
        if self.0.len() >= CAPACITY {
            self.0.clear();
        }
        self.0.insert(id, no);
    }
}
