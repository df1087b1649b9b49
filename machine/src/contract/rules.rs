use super::Contract;
use crate::{
    erased::{Breach, Context, Permitted, Projection},
    journal::{Entry, Evidence, Fact},
};

/// What can be read off a journal about an irreversible call.
#[derive(Debug, Default)]
struct Progress<'a> {
    held: bool,
    /// The permit and the epoch that it was given in.
    permit: Option<Permitted>,
    /// The last evidence, if there is any.
    evidence: Option<&'a Evidence>,
    /// Where the machine is, by the name of the state.
    status: Option<&'a str>,
}

impl Context for Contract {
    fn author(&self) -> Option<&str> {
        Some(Self::AUTHOR)
    }

    fn projection(&self, journal: &[Entry]) -> Projection {
        let mut progress = Progress::default();
        for entry in journal {
            progress.take(&entry.fact);
        }
        let given_up = matches!(progress.status, Some("failed" | "rejected" | "cancelled"));
        Projection {
            session: self.session_id().map(str::to_owned),
            key: self.idempotency_key().map(ToString::to_string),
            exclusive: self.is_irreversible(),
            holds_key: progress.held && !given_up,
            action: Some(self.action().digest()),
            behind: self.behind(),
            confirms: self.confirms(),
            permit: progress.unanswered(),
        }
    }

    /// An irreversible action runs under a permit, leaves RUNNING only with evidence, and ends only
    /// when it is known what it did.
    fn admit(&self, journal: &[Entry]) -> Result<(), Breach> {
        if !self.is_irreversible() {
            return Ok(());
        }
        let mut progress = Progress::default();
        for entry in journal {
            if let Fact::Moved { to, trigger, .. } = &entry.fact {
                match (trigger.as_ref(), to.as_ref()) {
                    ("start", _) if !progress.held => {
                        return Err(Breach::new(
                            "this action is irreversible, so it starts through `begin`, which \
                             takes its key and hands out a permit",
                        ));
                    }
                    ("suspend", _) if progress.permit.is_some() && progress.evidence.is_none() => {
                        return Err(Breach::new(
                            "a permit is out, and whoever has it may be at work; let it answer, or \
                             let `recover` shut it out",
                        ));
                    }
                    (_, "completed" | "failed" | "rejected" | "cancelled") => {
                        progress.may_end_as(to)?;
                    }
                    _ => {}
                }
            }
            if let Fact::Evidence { epoch, late: false, .. } = &entry.fact
                && progress.permit.as_ref().is_none_or(|permit| permit.epoch != *epoch)
            {
                return Err(Breach::new("this evidence answers no permit of this execution"));
            }
            progress.take(&entry.fact);
        }
        if progress.status == Some("running")
            && matches!(progress.evidence, Some(Evidence::Unknown(_)))
        {
            return Err(Breach::new(
                "this is in doubt, so it does not simply go on; confirm that it took place, or that \
                 it did not",
            ));
        }
        Ok(())
    }
}

impl<'a> Progress<'a> {
    fn take(&mut self, fact: &'a Fact) {
        match fact {
            Fact::Created { state, .. } => self.status = Some(state),
            Fact::Moved { to, .. } => self.status = Some(to),
            Fact::Held { .. } => self.held = true,
            Fact::Permitted { worker, epoch, expires_at, .. } => {
                self.permit = Some(Permitted {
                    worker: worker.clone(),
                    expires_at: *expires_at,
                    epoch: *epoch,
                });
            }
            Fact::Evidence { evidence, late: false, .. } => self.evidence = Some(evidence),
            Fact::Evidence { late: true, .. } | Fact::Fenced { .. } => {}
        }
    }

    /// The permit, while nobody knows what came of it.
    fn unanswered(self) -> Option<Permitted> {
        match self.evidence {
            None | Some(Evidence::Unknown(_)) => self.permit,
            Some(Evidence::Applied(_) | Evidence::NotApplied(_)) => None,
        }
    }

    fn may_end_as(&self, end: &str) -> Result<(), Breach> {
        match (end, self.evidence) {
            ("completed", Some(Evidence::Applied(_))) => Ok(()),
            ("completed", _) => Err(Breach::new(
                "an irreversible action is COMPLETED only on evidence that it took place; settle \
                 its outcome",
            )),
            (_, Some(Evidence::NotApplied(_))) => Ok(()),
            (_, None) if self.permit.is_none() => Ok(()),
            _ => Err(Breach::new(
                "a permit is out and nobody has shown that nothing happened, so this cannot end \
                 and free its key; settle its outcome, or let `recover` find it in doubt",
            )),
        }
    }
}
