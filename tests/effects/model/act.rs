//! The steps, taken with the library.

use std::time::Duration;

use machine::{
    Id,
    contract::{
        Answer as ServiceAnswer, AnyExecution, Applied, Attempt, Call, Contract, NoReceipt,
        Perform, Planned, Report,
    },
    effects::{EffectError, StateError},
    store::Store,
    typed::Refused,
};
use machine_tests::actors::{ann, ecs_node, graph_runner, tool_node};

use super::{
    call::InHand,
    reference::{Model, Request},
    step::{Answer, Asks, At, Said, Step},
    system::{Inner, Known, Pay, contract},
};
use crate::effects::support::{late, loaded};

impl Inner {
    /// Takes a step, and checks that everything is as in the model, which is the one after it.
    pub(super) async fn check(&mut self, model: &Model, step: Step) {
        let found = self.step(model, step).await;
        assert!(model.answer.allows(&found), "{step:?}: {:?}, found {found:?}", model.answer);
        self.compare(model).await;
    }

    async fn step(&mut self, model: &Model, step: Step) -> Answer {
        self.time.set(model.now);
        match step {
            Step::Plan { key, gate, impatient, .. } => {
                self.plan(contract(key, impatient), gate).await
            }
            Step::Retry(at) => self.retry(at).await,
            Step::Begin(at, by) => self.begin(at, by).await,
            Step::Call(at) => {
                let worker = self.worker_of(model, at);
                let (in_hand, sees) =
                    self.take(at).call(&worker, model.attempts[at].confined).await;
                self.attempts[at].in_hand = in_hand;
                let Some((lock, token)) = sees else { return Answer::Done };
                self.attempts[at].token = Some(token);
                if let (Some(lock), Some((worker, _))) = (lock, model.attempts[at].worker) {
                    self.locks[worker] = Some(lock);
                }
                Answer::Done
            }
            Step::Arrive(at) => {
                self.paid[model.attempts[at].key] += 1;
                Answer::Done
            }
            Step::Answer(at, said) => {
                let worker = self.worker_of(model, at);
                self.take(at).answer(&worker, said).await;
                // Answers through a guard are written in the background.
                let is_kept = async |id| late(&self.observer, id).await.len();
                while is_kept(self.attempts[at].id).await < model.attempts[at].late.len() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Answer::Done
            }
            Step::Report(at, said) => {
                let report = match said {
                    Said::Receipt => Report::Applied("receipt".to_owned()),
                    _ => Report::NotApplied("refused".to_owned()),
                };
                let Known { id, token, .. } = &self.attempts[at];
                let token = token.as_ref().unwrap();
                drop(self.observer.report::<Pay>(*id, report, token).await.unwrap());
                Answer::Done
            }
            Step::Drop(at) => {
                self.attempts[at].in_hand = self.take(at).without_future();
                Answer::Done
            }
            Step::Release(at) => {
                drop(self.take(at));
                Answer::Done
            }
            Step::Crash(worker) => self.crash(model, worker).await,
            Step::Recover(by) => self.recover(by).await,
            Step::Fence(at) => {
                let id = self.attempts[at].id;
                answer(self.observer.fence(id, "too slow", graph_runner()).await)
            }
            Step::ConfirmApplied(at)
            | Step::ConfirmNotApplied(at)
            | Step::Override(at)
            | Step::AskBank(at) => self.settle(model, at, step).await,
            Step::Approve(at) | Step::Decline(at) | Step::Withdraw(at) | Step::Expire(at) => {
                self.end_gate(at, step).await
            }
            Step::Cancel(at) => {
                let pending = self.pending(&self.observer, at).await.into_execution();
                reason(self.observer.cancel(pending, "not needed", tool_node()).await)
            }
            Step::Send(_) | Step::Wait(_) => Answer::Done,
        }
    }

    async fn plan(&mut self, contract: Contract, gate: Asks) -> Answer {
        let expires = match gate {
            Asks::Never => {
                let mut planned: Planned<Pay> = Planned::new(contract).unwrap();
                let created = self.observer.batch().create(planned.machine()).write().await;
                return self.planned(created, planned.id(), None);
            }
            Asks::APerson => None,
            Asks::Within(ms) => Some(Duration::from_millis(ms.into())),
        };
        let (mut gate, mut planned) = contract.ask::<Pay>(expires, ecs_node()).unwrap();
        let created = self.observer.ask(&mut gate, &mut planned).await;
        self.planned(created, planned.id(), Some(gate.id()))
    }

    fn planned(&mut self, created: Result<(), EffectError>, id: Id, gate: Option<Id>) -> Answer {
        if created.is_ok() {
            self.attempts.push(Known { id, gate, in_hand: InHand::Nothing, token: None });
        }
        answer(created)
    }

    async fn retry(&mut self, at: At) -> Answer {
        let contract = match self.observer.load(self.attempts[at].id).await.unwrap() {
            AnyExecution::Failed(failed) => Contract::retry(&failed, ann()),
            AnyExecution::Cancelled(cancelled) => Contract::retry(&cancelled, ann()),
            other => panic!("{other:?}"),
        };
        self.plan(contract, Asks::Never).await
    }

    async fn pending(&self, store: &Store, at: At) -> Planned<Pay> {
        loaded(store, self.attempts[at].id).await
    }

    /// Two callers begin it. At most one gets a permit, whatever the other gets.
    async fn begin(&mut self, at: At, by: usize) -> Answer {
        let worker = self.workers[by].clone();
        let (first, second) =
            (self.pending(&worker, at).await, self.pending(&self.observer, at).await);
        let begun = worker.begin(first, tool_node()).await;
        let twice = self.observer.begin(second, tool_node()).await;
        assert!(twice.is_err(), "it was begun twice");
        match begun {
            Ok((running, permit)) => {
                self.attempts[at].in_hand = InHand::Permit(Box::new((running, permit)));
                Answer::Done
            }
            Err(refused) => answer(Err::<(), EffectError>(refused.reason)),
        }
    }

    async fn crash(&mut self, model: &Model, worker: usize) -> Answer {
        // The model has started it again.
        let life = model.lives[worker] - 1;
        for at in 0..self.attempts.len() {
            if model.attempts[at].worker == Some((worker, life)) {
                drop(self.take(at));
            }
        }
        self.workers[worker] = self.observer.clone();
        // The system releases the lock of a process that ends.
        if let Some(lock) = self.locks[worker].take() {
            lock.unlock().unwrap();
        }
        self.start_worker(worker).await;
        Answer::Done
    }

    async fn recover(&self, by: Option<usize>) -> Answer {
        let store = by.map_or(&self.observer, |by| &self.workers[by]);
        let found = store.recover().await.unwrap();
        assert!(found.failed.is_empty() && found.interrupted.is_empty(), "{found:?}");
        let at = |id: Id| self.attempts.iter().position(|known| known.id == id).unwrap();
        let in_doubt = found.in_doubt.iter().map(|doubt| at(doubt.id()));
        let settled = found.settled.iter().map(|any| at(any.id()));
        let (mut in_doubt, mut settled): (Vec<_>, Vec<_>) = (in_doubt.collect(), settled.collect());
        in_doubt.sort_unstable();
        settled.sort_unstable();
        Answer::Found(in_doubt, settled)
    }

    /// A person, or the bank, settles what is in doubt.
    async fn settle(&self, model: &Model, at: At, step: Step) -> Answer {
        let store = &self.observer;
        let doubt = match store.in_doubt(self.attempts[at].id).await {
            Ok(doubt) => doubt,
            Err(error) => return answer(Err::<(), StateError>(error)),
        };
        match step {
            Step::ConfirmApplied(_) => reason(store.confirm_applied(doubt, "seen", ann()).await),
            Step::ConfirmNotApplied(_) => {
                reason(store.confirm_not_applied(doubt, "not seen", ann()).await)
            }
            Step::Override(_) => reason(store.override_not_applied(doubt, "risked", ann()).await),
            _ => {
                let bank = Bank { paid: model.attempts[at].request == Request::Arrived };
                reason(store.ask_service(doubt, &bank, tool_node()).await)
            }
        }
    }

    async fn end_gate(&self, at: At, step: Step) -> Answer {
        let store = &self.observer;
        let gate = match store.gate(self.attempts[at].gate.unwrap()).await {
            Ok(gate) => gate,
            Err(error) => return answer(Err::<(), StateError>(error)),
        };
        match step {
            Step::Approve(_) => reason(machine_tests::approve(store, gate, ann()).await),
            Step::Decline(_) => reason(store.decline(gate, "no", ann()).await),
            Step::Withdraw(_) => reason(store.withdraw(gate, "not needed", graph_runner()).await),
            _ => reason(store.expire(gate, graph_runner()).await),
        }
    }
}

/// The bank, as it answers to a query.
struct Bank {
    paid: bool,
}

impl Perform<Pay> for Bank {
    async fn perform(&self, _: &Call<Pay>) -> ServiceAnswer {
        Err(NoReceipt::unknown("it is only asked"))
    }

    async fn find(&self, _: &Attempt<Pay>) -> ServiceAnswer {
        if self.paid {
            Ok(Applied::new("receipt"))
        } else {
            Err(NoReceipt::not_applied("not there"))
        }
    }
}

fn answer<T, E: std::fmt::Debug>(result: Result<T, E>) -> Answer {
    match result {
        Ok(_) => Answer::Done,
        Err(error) => {
            let found = machine_tests::class(&error);
            let known = KNOWN.iter().find(|known| **known == found);
            Answer::refused(known.unwrap_or_else(|| panic!("{error:?}")))
        }
    }
}

fn reason<T, M>(result: Result<T, Refused<M, EffectError>>) -> Answer {
    answer(result.map_err(|refused| refused.reason))
}

/// The errors that the model knows.
const KNOWN: [&str; 18] = [
    "AlreadyDone",
    "KeyHeld",
    "Deferred",
    "NeverRuns",
    "ApprovalExpired",
    "Declined",
    "GateExpired",
    "GateChanged",
    "GateDone",
    "AlreadyDecided",
    "NotAGate",
    "NotDue",
    "NotInDoubt",
    "NotRunning",
    "WorkerAlive",
    "CutOff",
    "NotSettled",
    "Refused",
];
