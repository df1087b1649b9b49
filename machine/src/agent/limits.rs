use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// The limits of a turn. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// The number of steps.
    pub steps: Option<u32>,
    /// The number of calls, of all steps.
    pub calls: Option<u32>,
    /// The time since the dispatch, in milliseconds.
    pub time_ms: Option<Millis>,
    /// The tokens of all answers of models.
    pub tokens: Option<u64>,
    /// The price of all answers of models, in millionths of a currency unit.
    pub cost: Option<u64>,
}

/// The resources that a turn has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// The calls that it has made.
    pub calls: u32,
    /// The tokens of its answers of models.
    pub tokens: u64,
    /// Their price, in millionths of a currency unit.
    pub cost: u64,
}

/// A resource that a turn can use up, by the name of its limit.
#[allow(missing_docs, reason = "the names of the limits say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Steps,
    Calls,
    Time,
    Tokens,
    Cost,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Steps => "steps",
            Self::Calls => "calls",
            Self::Time => "time",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
        })
    }
}

impl Limits {
    /// The first limit that ends a turn in this step: a count that exceeds its limit, or the
    /// elapsed time that reaches it.
    #[must_use]
    pub fn ended(&self, step: u32, usage: &Usage, elapsed: Millis) -> Option<Resource> {
        let is_over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
        [
            (Resource::Steps, step.into(), self.steps.map(u64::from)),
            (Resource::Calls, usage.calls.into(), self.calls.map(u64::from)),
            (Resource::Tokens, usage.tokens, self.tokens),
            (Resource::Cost, usage.cost, self.cost),
        ]
        .into_iter()
        .find_map(|(resource, used, limit)| is_over(used, limit).then_some(resource))
        .or(self.time_ms.is_some_and(|limit| elapsed >= limit).then_some(Resource::Time))
    }
}
