// Values that only the library makes. Functions are named after the mistakes.

use machine::Id;
use machine::contract::{
    Action, Attempt, Call, Callable, Decision, Effect, Evidence, Execution,
    IdempotencyKey, InDoubt, InvalidContract, Unsettled, Perform, Permit, Tool, execution::Waiting,
};

// An attempt has the approved arguments, so a program cannot make one with others.
fn attempt_made_by_hand<T: Tool>(arguments: T, execution_id: Id) -> Attempt<T> {
    Attempt { arguments, execution_id, key: None, irreversible: false }
}

// A decision comes from a person who answers a gate.
fn decision_made_by_hand() -> Decision {
    Decision { approved: true, by: "ann".to_owned(), at: 0, expires_at: None }
}

// An execution is in doubt only if its permit is unanswered; the store says which ones are.
fn doubt_made_by_hand(waiting: Execution<Waiting>) -> InDoubt {
    InDoubt(waiting)
}

// A key is derived from the action; it cannot be chosen.
fn key_made_by_hand() -> IdempotencyKey {
    IdempotencyKey("email:send:2".to_owned())
}

// Only a call under a permit has an outcome.
fn outcome_made_by_hand() -> Unsettled {
    Unsettled { evidence: Evidence::Applied("sent".to_owned()) }
}

// A permit is for one call, so it cannot be cloned.
fn clone_permit(permit: Permit<Action>) {
    let _second = permit.clone();
}

// A service is called only with a permit, because other code cannot make a `Call`.
async fn call_without_a_permit<T: Tool, P: Perform<T>>(smtp: P, attempt: Attempt<T>) {
    let _answer = smtp.perform(&Call { attempt }).await;
}

struct CallableByHand;

// The arguments of a call are the approved ones; a type cannot supply its own.
impl Callable for CallableByHand {
    type Receipt = String;
    type Refusal = String;

    fn __read(_action: &Action, _effect: Effect) -> Result<Self, InvalidContract> {
        Ok(Self)
    }
}

fn main() {}
