//! Versions of one program.

use machine::{machine, stored::Context};
use serde::{Deserialize, Serialize};

/// Amounts in whole units.
pub(super) mod whole {
    use super::{Context, Deserialize, Serialize, machine};

    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) struct Terms {
        pub(crate) limit: u32,
    }

    impl Context for Terms {
        type Summary = ();
    }

    #[machine(durable, context = Terms)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Account {
        #[initial]
        #[on(tick => Self)]
        #[on(close => Closed)]
        Open { amount: u32 },
        #[terminal]
        Closed,
    }
}

/// Amounts in hundredths: the same type, another meaning. And the context has a field more.
pub(super) mod hundredths {
    use std::convert::Infallible;

    use super::{Context, Deserialize, Serialize, machine};

    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) struct Terms {
        pub(crate) limit: u32,
        #[serde(default)]
        pub(crate) owner: String,
    }

    impl Context for Terms {
        type Summary = ();
    }

    #[derive(Clone, Copy, Deserialize)]
    pub(crate) struct Open1 {
        amount: u32,
    }

    #[allow(clippy::unnecessary_wraps, reason = "the signature of an upgrade")]
    pub(crate) fn open(old: Open1) -> Result<account::Open, Infallible> {
        Ok(account::Open { amount: old.amount * 100 })
    }

    #[allow(clippy::unnecessary_wraps, reason = "the signature of an upgrade")]
    pub(crate) fn terms(old: Terms) -> Result<Terms, Infallible> {
        Ok(Terms { limit: old.limit * 100, ..old })
    }

    #[machine(durable, context = Terms, version = 2, upgrade(1 => terms))]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Account {
        #[initial]
        #[upgrade(1 => open)]
        #[on(tick => Self)]
        #[on(close => Closed)]
        Open { amount: u32 },
        #[terminal]
        Closed,
    }
}

/// Version 1 with a context that has a field more, and one more move.
pub(super) mod roomy {
    pub(crate) use super::hundredths::Terms;
    use super::{Deserialize, Serialize, machine};

    #[machine(durable, context = Terms)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Account {
        #[initial]
        #[on(tick => Self)]
        #[on(freeze => Self)]
        #[on(close => Closed)]
        Open { amount: u32 },
        #[terminal]
        Closed,
    }
}

/// Another type of context.
pub(super) mod elsewhere {
    use std::collections::BTreeMap;

    use super::{Context, Deserialize, Serialize, machine};

    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) struct Numbers(BTreeMap<String, f64>);

    impl Context for Numbers {
        type Summary = ();
    }

    #[machine(durable, context = Numbers)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Account {
        #[initial]
        #[on(tick => Self)]
        #[on(close => Closed)]
        Open { amount: u32 },
        #[terminal]
        Closed,
    }
}

/// Claims, whose states have other names from version to version.
pub(super) mod claims {
    use machine_tests::version;

    version!(pub(crate) mod first [] enum Claim {
        #[initial]
        #[on(accept => Accepted)]
        #[on(close => Closed)]
        Asked,
        #[on(note => Self)]
        #[on(close => Closed)]
        Accepted,
        #[terminal]
        Closed,
    });

    version!(pub(crate) mod renamed [] enum Claim {
        #[initial]
        #[on(accept => Approved)]
        #[on(close => Closed)]
        Asked,
        #[was = "accepted"]
        #[on(note => Self)]
        #[on(close => Closed)]
        Approved,
        #[terminal]
        Closed,
    });

    // No machine has the old name.
    version!(pub(crate) mod settled [] enum Claim {
        #[initial]
        #[on(accept => Approved)]
        #[on(close => Closed)]
        Asked,
        #[on(note => Self)]
        #[on(close => Closed)]
        Approved,
        #[terminal]
        Closed,
    });

    // The old name is used again, for another state.
    version!(pub(crate) mod again [] enum Claim {
        #[initial]
        #[on(accept => Approved)]
        #[on(close => Accepted)]
        Asked,
        #[on(note => Self)]
        #[on(close => Accepted)]
        Approved,
        #[terminal]
        #[was = "closed"]
        Accepted,
    });
}
