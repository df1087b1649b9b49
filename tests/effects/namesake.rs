//! A machine of the user is not an execution of the library.

use machine::machine;
use serde::{Deserialize, Serialize};

use crate::effects::prelude::*;

/// A machine of the user that calls itself `execution`.
mod other {
    use super::{Deserialize, Serialize, machine};

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Execution {
        /// As if it had ended.
        #[initial]
        #[on(end => Completed)]
        Pending,
        #[terminal]
        Completed,
    }
}

#[tokio::test]
async fn a_namesake_is_not_stored() {
    let mut false_gate = other::Execution::new().end();
    assert_err!(
        Store::memory().create(&mut false_gate).await,
        EffectError::Commit(CommitError::Refused { .. })
    );
}
