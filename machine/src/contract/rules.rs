use super::Contract;
use crate::{
    erased::{Breach, Context, Permitted, Projection},
    journal::{Entry, Evidence, Fact},
};

/// The progress of an irreversible call, folded from a journal.
#[derive(Debug, Default)]
struct Progress<'a> {
    held: bool,
    /// The last permit.
    permit: Option<Permitted>,
    /// The last evidence that was not late.
    evidence: Option<&'a Evidence>,
    /// The name of the current state.
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

    /// An irreversible action runs only under a permit, leaves RUNNING only with evidence, and ends
    /// only when its outcome is known.
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
                            "the action is irreversible and was started without `begin`; start it \
                             through `begin`, which takes the key and issues a permit",
                        ));
                    }
                    ("suspend", _) if progress.permit.is_some() && progress.evidence.is_none() => {
                        return Err(Breach::new(
                            "the call may still be in flight; settle its outcome, or let `recover` \
                             fence its worker",
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
                return Err(Breach::new(
                    "the evidence does not match the permit of this execution",
                ));
            }
            progress.take(&entry.fact);
        }
        if progress.status == Some("running")
            && matches!(progress.evidence, Some(Evidence::Unknown(_)))
        {
            return Err(Breach::new(
                "the action is in doubt, so it cannot resume; confirm that it took place, or that \
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

    /// The permit, as long as its outcome is unknown.
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
                "an irreversible action can become COMPLETED only with evidence that it took \
                 place; settle its outcome",
            )),
            (_, Some(Evidence::NotApplied(_))) => Ok(()),
            (_, None) if self.permit.is_none() => Ok(()),
            _ => Err(Breach::new(
                "a permit is unanswered and the action may have taken place, so this cannot end \
                 and release its key; settle its outcome, or let `recover` put it in doubt",
            )),
        }
    }
}
