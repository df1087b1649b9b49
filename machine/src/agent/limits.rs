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
    pub money: Option<u64>,
}

/// The resources that a turn has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// The calls that it has made.
    pub calls: u32,
    /// The tokens of its answers of models.
    pub tokens: u64,
    /// Their price, in millionths of a currency unit.
    pub money: u64,
}

/// A resource that a turn can use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// [`Limits::steps`].
    Steps,
    /// [`Limits::calls`].
    Calls,
    /// [`Limits::time_ms`].
    Time,
    /// [`Limits::tokens`].
    Tokens,
    /// [`Limits::money`].
    Money,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Steps => "steps",
            Self::Calls => "calls",
            Self::Time => "time",
            Self::Tokens => "tokens",
            Self::Money => "money",
        })
    }
}

impl Limits {
    /// The first limit that a turn in this step has exceeded. The time has a deadline instead.
    #[must_use]
    pub fn exceeded(&self, step: u32, usage: &Usage) -> Option<Measure> {
        let is_over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
        [
            (Measure::Steps, step.into(), self.steps.map(u64::from)),
            (Measure::Calls, usage.calls.into(), self.calls.map(u64::from)),
            (Measure::Tokens, usage.tokens, self.tokens),
            (Measure::Money, usage.money, self.money),
        ]
        .into_iter()
        .find_map(|(measure, used, limit)| is_over(used, limit).then_some(measure))
    }
}
