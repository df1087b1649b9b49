use std::{error::Error, fmt};

use machine::{contract::CallError, worker::Failure};
use serde::{Deserialize, Serialize};

use crate::workspace::refusal::{Code, Refusal};

/// The most lines of a detail that people read, and characters of each.
const LINES: usize = 12;
const CHARACTERS: usize = 200;

/// What went wrong. People read the code, the next step, the trace, and the end of the detail: the
/// reason of a refusal, the words of a person, or the output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub code: Code,
    /// The job, or the occurrence of the call; the folder, if there is no job.
    pub trace: String,
    pub detail: String,
}

impl Trouble {
    pub fn new(code: Code, trace: impl fmt::Display, detail: impl fmt::Display) -> Self {
        Self { code, trace: trace.to_string(), detail: detail.to_string() }
    }

    /// An error as people and programs are told about it; with this code if it has none.
    pub fn told(error: &Failure, trace: impl fmt::Display, code: Code) -> Self {
        if let Some(trouble) = error.downcast_ref::<Self>() {
            return trouble.clone();
        }
        let code = error.downcast_ref::<Refusal>().map_or(code, |refusal| refusal.code);
        Self::new(code, trace, error)
    }

    /// Why a call has no receipt.
    pub fn of(error: &CallError<Refusal>, trace: impl fmt::Display) -> Self {
        let code = match error {
            CallError::Refused(refusal) => refusal.code,
            CallError::Cancelled { .. } => Code::E_POLICY_DENIED,
            CallError::AlreadyDone { .. } | CallError::Differs { .. } => Code::E_CONFLICT,
            CallError::Invalid(_) => Code::E_INVALID_ARGS,
            _ => Code::E_IO,
        };
        Self::new(code, trace, error)
    }

    /// What a person can do about it.
    pub fn next_step(&self) -> &'static str {
        match self.code {
            Code::E_POLICY_DENIED => {
                "do what the reason says, confirm a scope that covers the call, or change the task"
            }
            Code::E_IO => "check the disk and the permissions, and send the task again",
            Code::E_TOOL_TIMEOUT => "allow more time, or split the task",
            Code::E_INVALID_ARGS => "correct the arguments, or ask for another plan",
            Code::E_CONFLICT => "look at the files that have changed, and ask for another plan",
            Code::E_BUILD_FAIL => "read the output of the command, and repair what it reports",
            Code::E_INTERRUPTED => "look at what the command did, and send the task again",
            Code::E_MODEL => "check the planner, use another one, or say the task in other words",
        }
    }
}

impl Error for Trouble {}

impl fmt::Display for Trouble {
    /// `{:#}` has the whole detail.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {} (trace {})", self.code, self.next_step(), self.trace)?;
        let lines = self.detail.lines();
        let left_out = lines.clone().count().saturating_sub(LINES);
        let (left_out, most) = if f.alternate() { (0, usize::MAX) } else { (left_out, CHARACTERS) };
        for line in lines.skip(left_out) {
            // The mark tells it from a line of the program.
            write!(f, "\n  | {}", line.chars().take(most).collect::<String>())?;
        }
        Ok(())
    }
}
