//! The names that most tests of this folder use.

pub(crate) use std::{sync::Arc, time::Duration};

pub(crate) use machine::{
    Id,
    contract::{
        Action, ActionRefusal, Answer, AnyExecution, Applied, Attempt, Call, CallFact, Callable,
        Contract, Evidence, Execution, Gate, InDoubt, Liveness, NoReceipt, Perform, Planned,
        Refusal, Settled, Tool, ToolAnswer, ToolSpec,
        execution::{Event, Failed, Pending, Running, Status, Waiting},
        service_fn,
    },
    effects::{Batch, Change, EffectError, PerformError, Resume, StateError},
    journal::Fact,
    store::{CommitError, LoadError, OpenOptions, Query, Store},
    stored::VerifyError,
    typed::Refused,
    view::Label,
};
pub(crate) use machine_tests::{
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
    assert_err, forge,
    hand::{Hand, START},
    samples::{Ticket, asked, mail, pending_mail, read},
    service::{
        Counting, InFlight, answers, applied, held_back, in_flight, not_applied, receipt, unknown,
    },
};

pub(crate) use crate::{
    effects::support::assert_is,
    store::support::{Place, begin, begin_of, gated, on_file, pending, recovered, slow_mail},
};
