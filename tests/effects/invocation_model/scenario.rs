//! The table of the machines, what may go wrong, and how often. One world of everything would have
//! too many states.

use super::defect::Defect;

#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) defect: Option<Defect>,
    /// Of each machine, the number of its entries.
    pub(super) entries: &'static [u8],
    pub(super) keys: Keys,
    /// What an entry may call.
    pub(super) sets: &'static [&'static [Amount]],
    /// Whether an entry asks for approval.
    pub(super) approve: &'static [bool],
    /// What a transition on one outcome of a set does.
    pub(super) each: Each,
    /// The state has `within`.
    pub(super) within: bool,
    pub(super) paused: Paused,
    /// Others may write between the read of an entry and its commit.
    pub(super) reads_before: bool,
    pub(super) budget: Budget,
}

/// The arguments of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Amount {
    Ten,
    Twenty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// An invoice is paid once, whatever the amount.
    One,
    /// Each amount has its own.
    PerAmount,
    /// The call is idempotent.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Each {
    Stays,
    /// With `detach`.
    Leaves,
}

/// The transitions of PAUSED, which PAYING reaches by `detach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paused {
    /// To PAYING, and to CANCELLED.
    Resumes,
    /// To CANCELLED, with `detach`.
    EndsByDetach,
    /// To CANCELLED. The macro must refuse this table.
    Ends,
}

/// Limits on how often each event happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) crashes: u8,
    pub(super) overrides: u8,
    /// Outcome messages that are set aside.
    pub(super) failures: u8,
}

impl Scenario {
    pub(super) fn is_idempotent(&self) -> bool {
        self.keys == Keys::None
    }

    pub(super) fn have_one_key(&self, one: Amount, other: Amount) -> bool {
        match self.keys {
            Keys::One => true,
            Keys::PerAmount => one == other,
            Keys::None => false,
        }
    }
}
