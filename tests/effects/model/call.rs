//! A call whose service the test holds in its hand.

use std::{fs::File, sync::Mutex};

use machine::store::Store;
use machine::{
    contract::{
        Answer, Applied, BoxFuture, Call, CallbackToken, Execution, InFlight, LateCall, NoReceipt,
        Perform, Permit, Settled, Unsettled, execution::Running,
    },
    effects::EffectError,
};
use machine_tests::actors::tool_node;
use tokio::sync::oneshot;

use super::{reference::LIMIT, step::Said, system::Pay};

/// The service's handles to its call.
type Entered = (InFlight<Pay>, CallbackToken);

/// Reports that it was entered, and then answers as instructed.
struct Service<const CONFINED: bool> {
    entered: Mutex<Option<oneshot::Sender<Entered>>>,
    says: Mutex<Option<oneshot::Receiver<Said>>>,
}

impl<const CONFINED: bool> Perform<Pay> for Service<CONFINED> {
    const CONFINED: bool = CONFINED;

    async fn perform(&self, call: &Call<Pay>) -> Answer {
        let says = self.says.lock().unwrap().take().expect("it is called once");
        let entered = (call.in_flight(), call.callback_token().clone());
        self.entered.lock().unwrap().take().unwrap().send(entered).ok().unwrap();
        match says.await.expect("it is told what to say") {
            Said::Accepted => call.accepted("payment 17", LIMIT),
            said => answer(said),
        }
    }
}

fn answer(said: Said) -> Answer {
    match said {
        Said::Receipt => Ok(Applied::new("receipt")),
        Said::Refusal => Err(NoReceipt::not_applied("refused")),
        Said::Unknown => Err(NoReceipt::unknown("lost")),
        Said::Accepted => panic!("a guard accepts nothing"),
        Said::StillRunning => Err(NoReceipt::StillRunning("it works on".to_owned())),
        Said::Panic => std::panic::resume_unwind(Box::new("as the test says")),
    }
}

/// The remote control of a service that was entered.
pub(super) struct Control {
    say: oneshot::Sender<Said>,
    guard: InFlight<Pay>,
}

/// A worker's handles to an execution. Dropping it loses them.
#[allow(clippy::large_enum_variant, reason = "there are a few at a time")]
pub(super) enum InHand {
    Nothing,
    Permit(Box<(Execution<Running>, Permit<Pay>)>),
    Call(Execution<Running>, BoxFuture<'static, Unsettled>, Control),
    /// It timed out, and continues.
    Late(LateCall, Control),
    /// Its future is gone.
    CutOff(InFlight<Pay>),
}

impl InHand {
    /// Uses the permit. Returns what is in hand while the service is in the call, and the lock of
    /// the worker's process with the token for a report.
    pub(super) async fn call(
        self,
        store: &Store,
        confined: bool,
    ) -> (Self, Option<(Option<File>, CallbackToken)>) {
        let Self::Permit(begun) = self else { panic!("it has no permit") };
        let (running, permit) = *begun;
        let impatient = running.context().timeout().is_some();
        let (entered, mut is_in) = oneshot::channel();
        let (say, says) = oneshot::channel();
        let (entered, says) = (Mutex::new(Some(entered)), Mutex::new(Some(says)));
        let mut future: BoxFuture<'static, Unsettled> = if confined {
            permit.call(Service::<true> { entered, says })
        } else {
            permit.call(Service::<false> { entered, says })
        };
        if !impatient {
            let ended = tokio::select! {
                outcome = &mut future => Err(outcome),
                Ok(entered) = &mut is_in => Ok(entered),
            };
            return match ended {
                Ok((guard, token)) => {
                    let sees = (guard.lock().unwrap(), token);
                    (Self::Call(running, future, Control { say, guard }), Some(sees))
                }
                // The permit was not valid.
                Err(outcome) => (Self::settled(store, running, outcome, None).await, None),
            };
        }
        let outcome = future.await;
        let entered = is_in.try_recv().ok();
        let sees = entered.as_ref().map(|(guard, token)| (guard.lock().unwrap(), token.clone()));
        let control = entered.map(|(guard, _)| Control { say, guard });
        (Self::settled(store, running, outcome, control).await, sees)
    }

    /// Lets the service say it, or what is left of its call.
    pub(super) async fn answer(self, store: &Store, said: Said) {
        match self {
            Self::Call(running, future, Control { say, guard }) => {
                drop(guard);
                say.send(said).unwrap();
                let outcome = future.await;
                let left = Self::settled(store, running, outcome, None).await;
                assert!(matches!(left, Self::Nothing), "it goes on after its answer");
            }
            Self::Late(late, Control { say, guard }) => {
                drop(guard);
                say.send(said).unwrap();
                let _ = late.await.unwrap();
            }
            Self::CutOff(guard) => guard.answer(answer(said)),
            Self::Nothing | Self::Permit(_) => panic!("it is not in a call"),
        }
    }

    /// Drops the permit, or the future of the call.
    pub(super) fn without_future(self) -> Self {
        match self {
            Self::Call(_, future, Control { guard, .. }) => {
                drop(future);
                Self::CutOff(guard)
            }
            Self::Late(late, Control { guard, .. }) => {
                drop(late);
                Self::CutOff(guard)
            }
            Self::Nothing | Self::Permit(_) | Self::CutOff(_) => Self::Nothing,
        }
    }

    async fn settled(
        store: &Store,
        running: Execution<Running>,
        outcome: Unsettled,
        control: Option<Control>,
    ) -> Self {
        match store.settle(running, outcome, tool_node()).await {
            Ok(Settled::TimedOut(_, late) | Settled::Fenced(_, late)) => {
                Self::Late(late, control.expect("the service was entered"))
            }
            Ok(_) => Self::Nothing,
            Err(refused) => {
                assert!(matches!(refused.reason, EffectError::Fenced { .. }), "{refused}");
                Self::Nothing
            }
        }
    }
}
