//! A call whose service the test holds in its hand.

use std::sync::Mutex;

use machine::contract::{
    Action, Answer, Applied, BoxFuture, Call, Execution, LateCall, NotDone, Outcome, Perform,
    Permit, Settled, execution::Running,
};
use machine::store::{CommitError, Store};
use machine_tests::actors::tool_node;
use tokio::sync::oneshot;

use super::step::Said;

/// Says that it was entered, and then what it is told to say.
struct Service {
    entered: Mutex<Option<oneshot::Sender<()>>>,
    says: Mutex<Option<oneshot::Receiver<Said>>>,
}

impl Perform<Action> for Service {
    async fn perform(&self, _: &Call<Action>) -> Answer {
        let says = self.says.lock().unwrap().take().expect("it is called once");
        self.entered.lock().unwrap().take().unwrap().send(()).unwrap();
        match says.await? {
            Said::Receipt => Ok(Applied::new("receipt")),
            Said::Refusal => Err(NotDone::not_applied("refused")),
            Said::Unknown => Err(NotDone::unknown("lost")),
            Said::Panic => std::panic::resume_unwind(Box::new("as the test says")),
        }
    }
}

/// What a worker has of an execution. Dropping it loses it, as a crash does.
#[allow(clippy::large_enum_variant, reason = "there are a few at a time")]
pub(super) enum InHand {
    Nothing,
    Permit(Box<(Execution<Running>, Permit<Action>)>),
    Call(Execution<Running>, BoxFuture<'static, Outcome>, oneshot::Sender<Said>),
    /// It timed out, and goes on.
    Late(LateCall, oneshot::Sender<Said>),
}

impl InHand {
    /// Uses the permit. Returns what is in hand while the service is in the call.
    pub(super) async fn call(self, store: &Store) -> Self {
        let Self::Permit(begun) = self else { panic!("it has no permit") };
        let (running, permit) = *begun;
        let impatient = permit.timeout().is_some();
        let (entered, is_in) = oneshot::channel();
        let (say, says) = oneshot::channel();
        let service = Service { entered: Mutex::new(Some(entered)), says: Mutex::new(Some(says)) };
        let mut future: BoxFuture<'static, Outcome> = Box::pin(permit.call(service));
        if !impatient {
            let ended = tokio::select! {
                outcome = &mut future => Some(outcome),
                Ok(()) = is_in => None,
            };
            return match ended {
                None => Self::Call(running, future, say),
                // The permit was not valid.
                Some(outcome) => Self::settled(store, running, outcome, say).await,
            };
        }
        let outcome = future.await;
        Self::settled(store, running, outcome, say).await
    }

    /// Lets the service say it.
    pub(super) async fn answer(self, store: &Store, said: Said) {
        match self {
            Self::Call(running, future, say) => {
                say.send(said).unwrap();
                let outcome = future.await;
                let (say, _) = oneshot::channel();
                let left = Self::settled(store, running, outcome, say).await;
                assert!(matches!(left, Self::Nothing), "it goes on after its answer");
            }
            Self::Late(late, say) => {
                say.send(said).unwrap();
                let _ = late.await.unwrap();
            }
            Self::Nothing | Self::Permit(_) => panic!("it is not in a call"),
        }
    }

    async fn settled(
        store: &Store,
        running: Execution<Running>,
        outcome: Outcome,
        say: oneshot::Sender<Said>,
    ) -> Self {
        match store.settle(running, outcome, tool_node()).await {
            Ok(Settled::TimedOut(_, late) | Settled::Fenced(_, late)) => Self::Late(late, say),
            Ok(_) => Self::Nothing,
            Err(refused) => {
                assert!(matches!(refused.reason, CommitError::Fenced { .. }), "{refused}");
                Self::Nothing
            }
        }
    }
}
