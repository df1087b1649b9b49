use std::collections::BTreeSet;

use crate::{
    id::Id,
    store::{
        backend::Attempts,
        error::LoadError,
        handle::Store,
        integrity::{check::DeclaredKind, verify::VerifyReport},
    },
    stored::Hold,
};

impl Store {
    /// Verifies the attempts at all keys, among them those that pruned lines opened: of a machine
    /// that is still there, its journal says what its attempt must be.
    pub(super) async fn verify_attempts(
        &self,
        mut opened: BTreeSet<u64>,
        report: &mut VerifyReport,
    ) -> Result<(), LoadError> {
        let mut newest = 0;
        for attempt in self.inner.backend.attempts(Attempts::All).await? {
            match attempt {
                Ok(attempt) => {
                    if attempt.token <= newest {
                        report.add(Some(attempt.by), "its attempt is not at its recorded position");
                    }
                    newest = attempt.token;
                    opened.remove(&attempt.token);
                }
                Err(broken) => report.add(broken.id, broken.reason),
            }
        }
        for seq in opened {
            let reason = format!("the attempt that the pruned entry {seq} opened is missing");
            report.add(None, reason);
        }
        Ok(())
    }

    /// The difference between the attempt of a machine and what its row says, if any.
    pub(super) async fn differing_attempt(
        &self,
        kind: &DeclaredKind,
        id: Id,
        key: &str,
    ) -> Result<Option<String>, LoadError> {
        let mut difference = None;
        // A commit may come between the two reads.
        for _ in 0..5 {
            let found = self.found(id).await?;
            let definitions = self.definition_of(&found).await?;
            // A row that cannot be read was reported before.
            let Some(index) = (kind.index)(self, found, &definitions) else { return Ok(None) };
            let hold = index.hold;
            let attempts = self.inner.backend.attempts(Attempts::OfKey(key.to_owned())).await?;
            let own = attempts.into_iter().flatten().filter(|attempt| attempt.by == id);
            let newest = own.max_by_key(|attempt| attempt.token);
            let says = newest.map_or(Hold::Free, |attempt| attempt.hold);
            if hold == says {
                return Ok(None);
            }
            difference =
                Some(format!("its attempt at its key says `{says:?}`, its journal `{hold:?}`"));
        }
        Ok(difference)
    }
}
