//! The steps of the model, and their answers.

/// An attempt, by the order in which they were planned.
pub(super) type At = usize;

/// A step of the store, the workers, the bank or the people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// Plans a payment.
    Plan {
        /// The key of the payment.
        key: usize,
        gate: Asks,
        /// Its caller does not wait: the call times out at once, and continues.
        impatient: bool,
        /// Its service is confined to its future and its guards.
        confined: bool,
    },
    /// A person decides to try again what ended without success.
    Retry(At),
    /// A worker begins it.
    Begin(At, usize),
    /// Its worker uses the permit.
    Call(At),
    /// In the call, the request leaves for the bank.
    Send(At),
    /// The bank carries the request out.
    Arrive(At),
    /// The call ends, or what is left of it answers through its guard.
    Answer(At, Said),
    /// The bank reports what became of the request.
    Report(At, Said),
    /// The worker drops the permit or the future of the call, and lives on.
    Drop(At),
    /// The rest of a call that was cut off drops its guard without an answer.
    Release(At),
    /// The process of a worker ends, with everything that it has.
    Crash(usize),
    /// The observer, or a worker, looks for interrupted work.
    Recover(Option<usize>),
    Fence(At),
    ConfirmApplied(At),
    ConfirmNotApplied(At),
    Override(At),
    /// Asks the bank for the attempt.
    AskBank(At),
    Approve(At),
    Decline(At),
    Withdraw(At),
    Expire(At),
    Cancel(At),
    /// Time passes, in milliseconds.
    Wait(u16),
}

/// The approval that it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Asks {
    Never,
    APerson,
    /// A person, within this many milliseconds.
    Within(u16),
}

/// The answer of a service, which is always true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Said {
    Receipt,
    /// Nothing was sent, or the bank has refused it.
    Refusal,
    /// The bank has the request, and reports later.
    Accepted,
    Unknown,
    /// Something that it has started is still running.
    StillRunning,
    Panic,
}

/// The answer of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Done,
    /// It was refused, for one of these reasons.
    Refused(Vec<&'static str>),
    /// The findings of `recover`: in doubt, and settled.
    Found(Vec<At>, Vec<At>),
}

impl Answer {
    pub(super) fn refused(reason: &'static str) -> Self {
        Self::Refused(vec![reason])
    }

    /// Returns whether the answer of the store is what the model expects.
    pub(super) fn allows(&self, found: &Self) -> bool {
        match (self, found) {
            (Self::Refused(reasons), Self::Refused(found)) => {
                found.iter().all(|reason| reasons.contains(reason))
            }
            (expected, found) => expected == found,
        }
    }
}
