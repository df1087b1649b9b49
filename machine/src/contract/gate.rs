use std::{borrow::Cow, ops::Deref, time::Duration};

use serde::Serialize;

use super::{
    AnyExecution, CallFact, Callable, Contract, Execution, InvalidContract, Planned, Progress,
    append,
    approval::ApprovalRequest,
    execution::Waiting,
    fork::fork,
    wording::{Extent, Wording},
};
use crate::{
    actor::who::who,
    actor::{EcsNode, GraphRunner, Human},
    clock::{Millis, millis, millis_between},
    id::Id,
    journal::Digest,
    language::{Language, Phrase},
    stored::{Decision, Durable},
};

impl Contract {
    /// Puts the action behind a gate: a question to a person, made from the action. Returns
    /// the gate, which waits for its answer, and the execution that runs only after it is approved.
    /// Store both in one batch: [`Store::ask`](crate::store::Store::ask) does so.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the contract is for another tool, or its arguments do not fit.
    ///
    /// ```
    /// use machine::actor::Actors;
    /// use machine::contract::{Action, Contract, ToolSpec};
    ///
    /// let actors = Actors::issue("assistant")?;
    /// let email = ToolSpec::irreversible("email", "send")?;
    /// let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?;
    /// let (gate, mail) = mail.ask::<Action>(None, &actors.ecs_node)?;
    /// assert_eq!(mail.context().behind(), Some(gate.id()));
    /// assert!(gate.question().starts_with("Allow email.send? This cannot be undone.\n"));
    /// assert!(gate.question().contains(r#"to: "bob@example.com""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ask<T: Callable>(
        self,
        expires_after: Option<Duration>,
        by: &EcsNode,
    ) -> Result<(Gate, Planned<T>), InvalidContract> {
        self.ask_as(Id::fresh(), expires_after, by)
    }

    /// Like [`ask`](Self::ask), with the id of the gate.
    pub(super) fn ask_as<T: Callable>(
        mut self,
        gate: Id,
        expires_after: Option<Duration>,
        by: &EcsNode,
    ) -> Result<(Gate, Planned<T>), InvalidContract> {
        self.0.behind = Some(gate);
        let planned = Planned::new(self)?;
        let contract = planned.context();
        let (short, whole) = (contract.wording(Extent::Short), contract.wording(Extent::Whole));
        let text = short.text(Language::English);
        let approval = ApprovalRequest {
            gate,
            execution: planned.id(),
            action: contract.action().digest(),
            expires_after_ms: expires_after.map(millis),
            heading: short.heading,
        };
        let asked = Execution::new(contract.of_gate(approval, &text)?).start(by);
        Ok((Gate { waiting: asked.suspend(text, by), whole: Some(whole) }, planned))
    }
}

/// A gate that waits for its answer. A store completes it: see
/// [`Store::approve`](crate::store::Store::approve).
#[derive(Debug)]
#[must_use = "it is not stored yet, or waits for an answer"]
pub struct Gate {
    waiting: Execution<Waiting>,
    /// The whole question; `None` if the action behind the gate cannot be read.
    whole: Option<Wording>,
}

/// The whole question of a gate, with nothing left out, and its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct WholeQuestion {
    /// The text: that of [`Gate::question`] with nothing hidden.
    #[serde(rename = "question")]
    #[schema(rename = "question")]
    pub text: String,
    /// The digest of the question. An approval passes it to confirm that the whole question was
    /// shown. The digest is the same in every language.
    #[schema(value_type = String)]
    pub digest: Digest,
}

impl WholeQuestion {
    pub(crate) fn new(wording: &Wording, language: Language) -> Self {
        let english = wording.text(Language::English);
        let digest = Digest::of(&[b"question", english.as_bytes()]);
        let text = if language == Language::English { english } else { wording.text(language) };
        Self { text, digest }
    }
}

impl Gate {
    /// Narrows an execution that waits for an approval; returns any other unchanged.
    pub(crate) fn narrow(any: AnyExecution) -> Result<Self, AnyExecution> {
        match any {
            AnyExecution::Waiting(waiting) if waiting.context().approves().is_some() => {
                Ok(Self { waiting, whole: None })
            }
            other => Err(other),
        }
    }

    /// With the whole question, made from the action behind it.
    pub(crate) fn with_whole(self, whole: Option<Wording>) -> Self {
        Self { whole, ..self }
    }

    /// The question to the person, made from the action. Invisible and confusable characters are
    /// escaped. Long arguments are cut; the second line then names the hidden parts, and
    /// [`whole_question`](Self::whole_question) has the full text.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.waiting.state().prompt
    }

    /// The question in a language.
    #[must_use]
    pub fn question_in(&self, language: Language) -> Cow<'_, str> {
        asked_in(&self.waiting, language)
    }

    /// The question to a person who declines, in a language.
    #[must_use]
    pub fn declining(&self, language: Language) -> String {
        let approval = self.approval();
        approval.heading.declining(self.question(), &approval.action, language)
    }

    /// The whole question, with the digest that an approval needs: only a question that was shown
    /// can be approved. `None` if the action behind the gate cannot be read; it cannot be approved
    /// then.
    ///
    /// ```
    /// # use machine::{actor::Human, contract::Gate, store::Store};
    /// # async fn example(store: &Store, gate: Gate, ann: &Human) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Some(whole) = gate.whole_question() {
    ///     println!("{}", whole.text);
    ///     store.approve(gate, whole.digest, ann).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn whole_question(&self) -> Option<WholeQuestion> {
        self.whole_question_in(Language::English)
    }

    /// The whole question, with the text in a language.
    #[must_use]
    pub fn whole_question_in(&self, language: Language) -> Option<WholeQuestion> {
        self.whole.as_ref().map(|whole| WholeQuestion::new(whole, language))
    }

    /// The digest of the [`question`](Self::question), if it hides nothing.
    #[must_use]
    pub fn digest_if_whole(&self) -> Option<Digest> {
        self.whole_question().filter(|whole| whole.text == self.question()).map(|it| it.digest)
    }

    /// The approval that it asks for.
    ///
    /// # Panics
    ///
    /// Never: a gate is made from a contract that asks for an approval.
    #[must_use]
    pub fn approval(&self) -> &ApprovalRequest {
        self.waiting.context().approves().expect("a gate asks for an approval")
    }

    /// Until when it can be answered (milliseconds since the Unix epoch, by the clock of the
    /// store). `None` means without a limit, or that the gate is not stored yet.
    #[must_use]
    pub fn expires_at(&self) -> Option<Millis> {
        self.waiting.journal().deadlines().iter().find_map(|due| due.due_at)
    }

    pub(crate) fn age_ms(&self, now: Millis) -> u64 {
        millis_between(self.waiting.journal().past().entered_at, now)
    }

    /// The execution, for a [`Batch`](crate::effects::Batch).
    pub fn machine(&mut self) -> &mut dyn Durable {
        &mut self.waiting
    }

    pub(crate) fn into_execution(self) -> Execution<Waiting> {
        self.waiting
    }

    pub(crate) fn fork(&self) -> Execution<Waiting> {
        fork(&self.waiting)
    }

    /// A copy that has the answer, which declines if it has a reason, and is completed.
    pub(crate) fn decided(&self, reason: Option<&str>, by: &Human, at: Millis) -> AnsweredGate {
        let (approval, expires_at) = (self.approval(), self.expires_at());
        let fact = CallFact::Decided {
            approved: reason.is_none(),
            execution: approval.execution,
            action: approval.action,
            reason: reason.map(str::to_owned),
            at,
            expires_at,
        };
        let mut waiting = fork(&self.waiting);
        append(&mut waiting, who(by), fact);
        let running = waiting.resume(&GraphRunner::STORE);
        let gate = match reason {
            None => {
                let approved = Phrase::Approved.english().to_owned();
                running.succeed(approved, &GraphRunner::STORE).into()
            }
            Some(reason) => running.reject(reason.to_owned(), &GraphRunner::STORE).into(),
        };
        let by = who(by).name.unwrap_or_default().to_owned();
        AnsweredGate { gate, decision: Decision { approved: reason.is_none(), by, at, expires_at } }
    }
}

/// The execution of the question.
impl Deref for Gate {
    type Target = Execution<Waiting>;

    fn deref(&self) -> &Execution<Waiting> {
        &self.waiting
    }
}

pub(super) fn asked_in(waiting: &Execution<Waiting>, language: Language) -> Cow<'_, str> {
    let asked = &waiting.state().prompt;
    match waiting.context().approves() {
        Some(approval) if language != Language::English => {
            approval.heading.translate(asked, &approval.action, language).into()
        }
        _ => asked.into(),
    }
}

#[derive(Debug)]
pub(crate) struct AnsweredGate {
    pub(crate) gate: AnyExecution,
    pub(crate) decision: Decision,
}

/// The answer of a gate, if it has one.
#[must_use]
pub fn decision(gate: &AnyExecution) -> Option<Decision> {
    Progress::of(gate).decision
}
