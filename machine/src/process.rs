//! Processes, and whether the calls that they began can still take effect.

use serde::{Deserialize, Serialize};

use crate::{
    clock::Millis,
    language::{Language, Phrase},
};

/// The liveness of a call: whether it can still take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "store", derive(machine_derive::Class))]
#[non_exhaustive]
pub enum Liveness {
    /// The process of the call holds its lock: the call may be in flight, or frozen.
    Alive,
    /// The future of the call was dropped, or panicked. The process is alive, and may still be
    /// running what the call has started.
    CutOff,
    /// The call or its process has ended.
    Ended,
    /// The lock file of the process is missing, or proves nothing on this host.
    Unknown,
}

/// A process, as people find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, crate::ToSchema)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The name of its host.
    pub host: String,
    /// When it first opened a store (milliseconds since the Unix epoch, by the clock of the
    /// system).
    pub since: Millis,
}

impl Process {
    /// As people find it, in a language.
    pub(crate) fn say(&self, language: Language) -> String {
        language.say(Phrase::Process, &[("pid", &self.pid), ("host", &self.host)])
    }
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.say(Language::English))
    }
}
