use std::ops::Deref;

use super::{
    Accepted, AnyExecution, CallFact, Evidence, Execution, Liveness, Progress, Refusal,
    execution::{Completed, Failed, MaySuspend, Running, Waiting},
    fork::append,
    gate::asked_in,
    wording::{Extent, describe, visible},
};
use crate::{
    actor::who::who,
    actor::{Actor, GraphRunner},
    clock::{Millis, later},
    language::{Language, Phrase},
    stored::Durable,
};

/// An execution in doubt: its irreversible action may or may not have taken effect.
///
/// It waits, its key stays held, and it never runs again. Its doubt ends by a receipt that arrives
/// late ([`Store::recover`]), the remote service's answer to a query ([`Store::ask_service`]), or
/// the finding of a person ([`Store::confirm_applied`], [`Store::confirm_not_applied`]).
///
/// [`Store::recover`]: crate::store::Store::recover
/// [`Store::ask_service`]: crate::store::Store::ask_service
/// [`Store::confirm_applied`]: crate::store::Store::confirm_applied
/// [`Store::confirm_not_applied`]: crate::store::Store::confirm_not_applied
#[derive(Debug)]
#[must_use = "it stays in doubt until it is settled"]
pub struct InDoubt(Execution<Waiting>);

impl InDoubt {
    /// Narrows an execution that waits because of an unanswered permit; returns any other
    /// unchanged.
    pub(crate) fn narrow(any: AnyExecution) -> Result<Self, AnyExecution> {
        match any {
            AnyExecution::Waiting(waiting) if Progress::of(&waiting).is_in_doubt() => {
                Ok(Self(waiting))
            }
            other => Err(other),
        }
    }

    /// Parks a running execution whose call has no definite answer, for this reason.
    pub(crate) fn park<A: Actor + MaySuspend<Running>>(
        mut running: Execution<Running>,
        epoch: u64,
        reason: &str,
        (worker, at): (Liveness, Millis),
        by: &A,
    ) -> Self {
        record(&mut running, epoch, Evidence::Unknown(reason.to_owned()), by);
        append(&mut running, who(by), CallFact::Parked { worker, at });
        let prompt = did_it(&running.context().summary(), reason, Language::English);
        Self(running.suspend(prompt, by))
    }

    /// Puts an execution in doubt whose service has accepted the call and has not reported, for
    /// this reason.
    pub(crate) fn unreported<A: Actor>(
        mut waiting: Execution<Waiting>,
        epoch: u64,
        reason: &str,
        at: Millis,
        by: &A,
    ) -> Self {
        record(&mut waiting, epoch, Evidence::Unknown(reason.to_owned()), by);
        // The call itself had ended when it was accepted. The service may carry it out until its
        // limit, also if the doubt begins earlier.
        let at = Progress::of(&waiting).report_by().map_or(at, |limit| at.max(limit));
        append(&mut waiting, who(by), CallFact::Parked { worker: Liveness::Ended, at });
        Self(waiting)
    }

    pub(crate) fn into_execution(self) -> Execution<Waiting> {
        self.0
    }

    /// The question to ask a person, with the action. If a receipt arrived, it comes first.
    #[must_use]
    pub fn question(&self) -> String {
        self.question_in(Language::English)
    }

    /// The question in a language.
    #[must_use]
    pub fn question_in(&self, language: Language) -> String {
        in_doubt(&self.0, Extent::Short, language)
    }

    /// The question in a language, with uncut arguments.
    #[must_use]
    pub fn whole_question_in(&self, language: Language) -> String {
        in_doubt(&self.0, Extent::Whole, language)
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress::of(&self.0)
    }

    pub(crate) fn fork(&self) -> Self {
        Self(super::fork(&self.0))
    }

    pub(crate) fn machine_mut(&mut self) -> &mut Execution<Waiting> {
        &mut self.0
    }

    pub(crate) fn applied(self, receipt: String) -> Execution<Completed> {
        self.0.resume(&GraphRunner::STORE).succeed(receipt, &GraphRunner::STORE)
    }

    pub(crate) fn not_applied(self, refusal: Refusal) -> Execution<Failed> {
        let Refusal { message, data } = refusal;
        self.0.resume(&GraphRunner::STORE).fail(message, data, &GraphRunner::STORE)
    }
}

impl Deref for InDoubt {
    type Target = Execution<Waiting>;

    fn deref(&self) -> &Execution<Waiting> {
        &self.0
    }
}

/// Parks a running execution whose service has accepted the call.
pub(crate) fn accept<A: Actor + MaySuspend<Running>>(
    mut running: Execution<Running>,
    epoch: u64,
    accepted: &Accepted,
    now: Millis,
    by: &A,
) -> Execution<Waiting> {
    let (reference, answer_by) = (accepted.reference.clone(), later(now, accepted.within));
    append(&mut running, who(by), CallFact::Accepted { epoch, reference, answer_by });
    // The reference is not for people.
    let prompt = format!("Its service has accepted it: {}.", running.context().summary());
    running.suspend(prompt, by)
}

pub(crate) fn record<A: Actor>(
    execution: &mut dyn Durable,
    epoch: u64,
    evidence: Evidence,
    by: &A,
) {
    append(execution, who(by), CallFact::Evidence { epoch, evidence, late: false });
}

/// The reason that an execution waits, as a question to a person. Invisible characters are escaped.
pub(crate) fn waits_for(waiting: &Execution<Waiting>, language: Language) -> String {
    if Progress::of(waiting).is_in_doubt() {
        return in_doubt(waiting, Extent::Short, language);
    }
    if waiting.context().approves().is_some() {
        // It was made from the action.
        return asked_in(waiting, language).into_owned();
    }
    visible(&waiting.state().prompt)
}

fn did_it(summary: &str, reason: &str, language: Language) -> String {
    language.say(Phrase::InDoubt, &[("summary", &summary), ("reason", &reason)])
}

/// The stored question in a language: the library's text around the reason is translated.
fn question_text(waiting: &Execution<Waiting>, language: Language) -> String {
    if Progress::of(waiting).report_by().is_some() {
        let summary = waiting.context().summary_in(language);
        return did_it(&summary, language.text(Phrase::NotReported), language);
    }
    let stored = &waiting.state().prompt;
    if language == Language::English {
        return stored.clone();
    }
    let contract = waiting.context();
    // The first line break is the mark, unless the summary has one; then the stored text is shown.
    let around = did_it(&contract.summary(), "\n", Language::English);
    let reason = around
        .split_once('\n')
        .and_then(|(before, after)| stored.strip_prefix(before)?.strip_suffix(after));
    match reason {
        Some(reason) => did_it(&contract.summary_in(language), &language.stored(reason), language),
        None => stored.clone(),
    }
}

fn in_doubt(waiting: &Execution<Waiting>, extent: Extent, language: Language) -> String {
    let (asked, progress) = (question_text(waiting, language), Progress::of(waiting));
    let process = progress.process().map(|process| process.say(language)).unwrap_or_default();
    let say = |phrase: Phrase| language.say(phrase, &[("question", &asked), ("process", &process)]);
    let question = match (&progress.receipt, progress.worker(), progress.process()) {
        (Some(receipt), ..) => {
            language.say(Phrase::InDoubtReceipt, &[("receipt", &receipt), ("question", &asked)])
        }
        (None, Liveness::Ended, _) => asked.clone(),
        (None, Liveness::Alive, Some(_)) => say(Phrase::InDoubtAlive),
        (None, Liveness::Alive, None) => say(Phrase::InDoubtMayRun),
        (None, Liveness::CutOff, Some(_)) => say(Phrase::InDoubtCutOff),
        (None, Liveness::CutOff, None) => say(Phrase::InDoubtCutOffSomewhere),
        (None, Liveness::Unknown, _) => say(Phrase::InDoubtUnknownWorker),
    };
    // Summary, reason and receipt may come from a model, or from the remote service.
    let mut shown = visible(&question);
    describe(waiting.context().action(), extent, language, &mut shown);
    shown
}
