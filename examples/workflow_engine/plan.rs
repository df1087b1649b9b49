//! The plans of an agent, as data.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The next steps of an agent, and why. The engine carries out the first one, and asks again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The agent's own words.
    pub reasoning: String,
    pub steps: Vec<Step>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub title: String,
    pub call: ProposedCall,
    /// The resource that it changes, such as `file:report.txt`. Steps that change one resource in
    /// different ways contradict each other.
    pub changes: Option<String>,
}

/// A call of a tool that has not been made. An argument `{{files.read}}` stands for the last result
/// of that tool in this task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// Such as `bank.pay`.
    pub tool: String,
    pub arguments: Map<String, Value>,
}

impl Plan {
    /// The next call, if no one objects.
    pub fn proposal(&self) -> String {
        self.steps.first().map_or_else(|| "make a plan".to_owned(), Step::to_string)
    }

    /// The steps after the first one.
    pub fn later(&self) -> Vec<String> {
        self.steps.iter().skip(1).map(Step::to_string).collect()
    }

    /// Two steps that contradict each other.
    pub fn conflict(&self) -> Option<(&Step, &Step)> {
        self.steps.iter().enumerate().find_map(|(position, first)| {
            let mut later = self.steps[position + 1..].iter();
            let changes_same = |other: &&Step| {
                first.changes.is_some()
                    && first.changes == other.changes
                    && first.call != other.call
            };
            later.find(changes_same).map(|second| (first, second))
        })
    }
}

impl ProposedCall {
    pub fn new(tool: &str, arguments: &[(&str, &str)]) -> Self {
        let arguments = arguments.iter().map(|&(name, value)| (name.to_owned(), value.into()));
        Self { tool: tool.to_owned(), arguments: arguments.collect() }
    }

    /// The text of an argument; empty if there is none.
    pub fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The call with results in the places of `{{tool}}`.
    ///
    /// # Errors
    ///
    /// The name of a tool that has no result.
    pub fn with_results(mut self, of: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        for value in self.arguments.values_mut() {
            let Some(name) = value.as_str().and_then(placeholder) else { continue };
            let result = of(name).ok_or_else(|| name.to_owned())?;
            *value = result.into();
        }
        Ok(self)
    }

    pub fn is_complete(&self) -> bool {
        self.arguments.values().all(|value| value.as_str().and_then(placeholder).is_none())
    }
}

fn placeholder(text: &str) -> Option<&str> {
    text.strip_prefix("{{")?.strip_suffix("}}")
}

/// `pay: bank.pay(amount: 500, to: bob)`.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.title, self.call)
    }
}

/// `bank.pay(amount: 500, to: bob)`.
impl fmt::Display for ProposedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = self.arguments.iter().map(|(name, value)| match value {
            Value::String(text) => format!("{name}: {text}"),
            other => format!("{name}: {other}"),
        });
        write!(f, "{}({})", self.tool, arguments.collect::<Vec<_>>().join(", "))
    }
}
