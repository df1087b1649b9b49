use crate::{
    effects::{change::ForkChange, retries::DecidedRetry},
    journal::{Journal, Pass},
    store::backend::NewChild,
    stored::Durable,
};

pub(super) enum Item<'a> {
    Create(&'a mut dyn Durable),
    Commit(&'a mut dyn Durable),
    Change(&'a mut dyn ForkChange),
    /// A new machine that its parent brings with the state that it enters.
    Brought(Option<NewChild>, Box<dyn Durable>),
}

impl Item<'_> {
    pub(super) fn machine(&mut self) -> &mut dyn Durable {
        match self {
            Self::Create(machine) | Self::Commit(machine) => *machine,
            Self::Change(change) => change.machine(),
            Self::Brought(_, machine) => &mut **machine,
        }
    }

    pub(super) fn change(&self) -> Option<&dyn ForkChange> {
        match self {
            Self::Change(change) => Some(&**change),
            Self::Create(_) | Self::Commit(_) | Self::Brought(..) => None,
        }
    }

    /// The new execution, if a person decided that it tries another one again.
    pub(super) fn retry(&self) -> Option<DecidedRetry<'_>> {
        match self {
            Self::Create(machine) => DecidedRetry::of(&**machine),
            Self::Brought(_, machine) => DecidedRetry::of(&**machine),
            Self::Commit(_) | Self::Change(_) => None,
        }
    }

    pub(super) fn discard(&mut self) {
        match self {
            Self::Change(change) => change.discard(),
            Self::Create(_) | Self::Commit(_) | Self::Brought(..) => self.journal().forget_times(),
        }
    }

    pub(super) fn journal(&mut self) -> &mut Journal {
        self.machine().__journal_mut(Pass::new())
    }

    pub(super) fn is_new(&self) -> bool {
        matches!(self, Self::Create(_) | Self::Brought(..))
    }
}
