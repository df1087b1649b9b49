//! The steps that are possible next.

use proptest::{prelude::*, sample::select};

use super::{
    reference::{ATTEMPTS, Attempt, Call, KEYS, Model, Request, SETTLING, Status, WORKERS},
    step::{Asks, At, Said, Step},
};

impl Model {
    /// Returns whether this can happen at all. Steps that people and programs may try and that must
    /// be refused can happen; steps that contradict the world cannot.
    pub(super) fn can(&self, step: &Step) -> bool {
        let with = |at: At, can: &dyn Fn(&Attempt) -> bool| self.attempts.get(at).is_some_and(can);
        match *step {
            Step::Plan { .. } => self.attempts.len() < ATTEMPTS,
            Step::Retry(at) => {
                let ended =
                    |one: &Attempt| matches!(one.status, Status::Failed | Status::Cancelled);
                self.attempts.len() < ATTEMPTS && with(at, &ended)
            }
            Step::Begin(at, _) | Step::Cancel(at) => with(at, &|one| one.status == Status::Pending),
            Step::Call(at) => with(at, &|one| one.call == Call::Permitted),
            Step::Send(at) => with(at, &|one| {
                matches!(one.call, Call::In | Call::CutOff)
                    && !one.said
                    && one.request == Request::NotSent
            }),
            Step::Arrive(at) => with(at, &|one| self.can_arrive(one)),
            Step::Answer(at, said) => with(at, &|one| {
                let through_guard = one.call == Call::CutOff && one.guarded;
                match said {
                    _ if one.call != Call::In && !through_guard => false,
                    Said::Receipt => one.request == Request::Arrived,
                    Said::Refusal => matches!(one.request, Request::NotSent | Request::Refused),
                    // The bank has it, and may have refused or paid in the meantime.
                    Said::Accepted => one.call == Call::In && one.request != Request::NotSent,
                    Said::Unknown => true,
                    Said::StillRunning | Said::Panic => one.call == Call::In,
                }
            }),
            Step::Report(at, said) => with(at, &|one| match said {
                Said::Receipt => one.request == Request::Arrived,
                _ if one.request == Request::Refused => true,
                _ => one.request == Request::OnItsWay && self.can_arrive(one),
            }),
            Step::Release(at) => with(at, &|one| one.call == Call::CutOff && one.guarded),
            Step::Drop(at) => with(at, &|one| matches!(one.call, Call::Permitted | Call::In)),
            Step::Crash(worker) => self.attempts.iter().any(|one| {
                matches!(one.call, Call::Permitted | Call::In | Call::CutOff)
                    && one.worker == Some((worker, self.lives[worker]))
            }),
            // Without an override, people look before they say that something did not take effect.
            Step::ConfirmNotApplied(at) => with(at, &|one| one.request != Request::Arrived),
            Step::Fence(at) | Step::ConfirmApplied(at) | Step::Override(at) | Step::AskBank(at) => {
                with(at, &|_| true)
            }
            Step::Approve(at) | Step::Decline(at) | Step::Withdraw(at) | Step::Expire(at) => {
                with(at, &|one| one.gate.is_some())
            }
            Step::Recover(_) | Step::Wait(_) => true,
        }
    }

    /// A request that was sent arrives while its call is in flight, and for the settling time after
    /// that. A request that the bank has accepted arrives until its limit, and for the settling
    /// time after that.
    fn can_arrive(&self, one: &Attempt) -> bool {
        let ends_at = one.accepted.or(one.over_at);
        one.request == Request::OnItsWay && ends_at.is_none_or(|at| self.now < at + SETTLING)
    }

    pub(super) fn steps(&self) -> BoxedStrategy<Step> {
        let gate = prop_oneof![
            8 => Just(Asks::Never),
            1 => Just(Asks::APerson),
            1 => (300..3000_u16).prop_map(Asks::Within),
        ];
        let plan = (0..KEYS, gate, prop::bool::weighted(0.4), prop::bool::weighted(0.3));
        let plan = plan.prop_map(|(key, gate, impatient, confined)| Step::Plan {
            key,
            gate,
            impatient,
            confined,
        });
        let wait = prop_oneof![1..400_u16, 900..1100_u16].prop_map(Step::Wait);
        let recover = prop_oneof![2 => Just(None), 1 => (0..WORKERS).prop_map(Some)];
        let mut all = vec![
            (9, plan.boxed()),
            (5, wait.boxed()),
            (6, recover.prop_map(Step::Recover).boxed()),
        ];
        // Of each kind, only what can happen now.
        for (weight, steps) in self.candidates() {
            let steps: Vec<_> = steps.into_iter().filter(|step| self.can(step)).collect();
            if !steps.is_empty() {
                all.push((weight, select(steps).boxed()));
            }
        }
        prop::strategy::Union::new_weighted(all).boxed()
    }

    /// The steps that can be tried with each attempt, and their weights. Steps that make sense are
    /// tried more often than those that are refused.
    fn candidates(&self) -> Vec<(u32, Vec<Step>)> {
        let each = |make: &dyn Fn(At) -> Step| (0..self.attempts.len()).map(make).collect();
        let of = |status: Status, make: &dyn Fn(At) -> Step| {
            let attempts = self.attempts.iter().enumerate();
            attempts.filter(|(_, one)| one.status == status).map(|(at, _)| make(at)).collect()
        };
        let begin = |by| move |at| Step::Begin(at, by);
        let said = |said| move |at| Step::Answer(at, said);
        vec![
            (6, each(&Step::Retry)),
            (12, each(&begin(0))),
            (12, each(&begin(1))),
            (20, each(&Step::Call)),
            (20, each(&Step::Send)),
            (14, each(&Step::Arrive)),
            (12, each(&said(Said::Receipt))),
            (3, each(&said(Said::Refusal))),
            (3, each(&said(Said::Unknown))),
            (1, each(&said(Said::StillRunning))),
            (1, each(&said(Said::Panic))),
            (10, each(&said(Said::Accepted))),
            (6, each(&|at| Step::Report(at, Said::Receipt))),
            (3, each(&|at| Step::Report(at, Said::Refusal))),
            (5, each(&Step::Drop)),
            (3, each(&Step::Release)),
            (4, (0..WORKERS).map(Step::Crash).collect()),
            (5, of(Status::Running, &Step::Fence)),
            (1, of(Status::Waiting, &Step::Fence)),
            (2, of(Status::InDoubt, &Step::ConfirmApplied)),
            (7, of(Status::InDoubt, &Step::ConfirmNotApplied)),
            (5, of(Status::InDoubt, &Step::Override)),
            (5, of(Status::InDoubt, &Step::AskBank)),
            (6, of(Status::Pending, &Step::Approve)),
            (1, of(Status::Pending, &Step::Decline)),
            (1, of(Status::Pending, &Step::Withdraw)),
            (2, of(Status::Pending, &Step::Expire)),
            (2, each(&Step::Cancel)),
            (1, each(&Step::Fence)),
            (1, each(&Step::ConfirmApplied)),
            (1, each(&Step::ConfirmNotApplied)),
            (1, each(&Step::Override)),
            (1, each(&Step::AskBank)),
            (1, each(&Step::Approve)),
            (1, each(&Step::Expire)),
        ]
    }
}
