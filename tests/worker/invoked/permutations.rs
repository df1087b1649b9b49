//! The outcomes of a set, in all orders: an applied one, a refused one, one that is in doubt until
//! a person confirms it, one that is in doubt and stays so, and one that takes very long. The limit
//! of the waiting makes some of them overdue, so that they come late or never.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::Human,
    contract::{Answer, AnyExecution, Applied, Call, CallError, NoReceipt, Outcome, Perform, Tool},
    machine,
    store::Message,
    testing::TestEnvironment,
};
use serde::{Deserialize, Serialize};

use super::orders::is_clean;
use batch::Event;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Applied,
    Refused,
    Confirmed,
    InDoubt,
    Slow,
}

const KINDS: [Kind; 5] = [Kind::Applied, Kind::Refused, Kind::Confirmed, Kind::InDoubt, Kind::Slow];

/// A step that is over after a time of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(plant.step, irreversible)]
struct Step {
    kind: Kind,
    seconds: u64,
}

/// The seconds between two outcomes. All are less than the time limit of a call.
const SLOT: u64 = 2;

/// Between the third outcome and the fourth.
const WITHIN: Duration = Duration::from_secs(7);

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Batch {
    #[initial]
    #[on(start(steps, seen = Vec::new()) => Working, by = Human)]
    Idle,
    #[invoke(steps: [Step] = steps.clone(), unattended, within = WITHIN, each = one, done = all)]
    #[on(one(outcome: Outcome<Step>, index: usize, seen = with(seen, index, outcome)) => Self)]
    #[on(all(outcomes) => Over, detach)]
    Working { steps: Vec<Step>, seen: Vec<(usize, Outcome<Step>)> },
    #[terminal]
    Over { outcomes: Vec<Outcome<Step>>, seen: Vec<(usize, Outcome<Step>)> },
}

fn with(
    mut seen: Vec<(usize, Outcome<Step>)>,
    index: usize,
    outcome: Outcome<Step>,
) -> Vec<(usize, Outcome<Step>)> {
    seen.push((index, outcome));
    seen
}

#[derive(Clone, Default)]
struct Plant(Arc<AtomicUsize>);

impl Perform<Step> for Plant {
    async fn perform(&self, call: &Call<Step>) -> Answer {
        self.0.fetch_add(1, Ordering::SeqCst);
        let Step { kind, seconds } = call.arguments;
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        match kind {
            Kind::Applied | Kind::Slow => Ok(Applied::new(format!("{kind:?}"))),
            Kind::Refused => Err(NoReceipt::not_applied("no")),
            Kind::Confirmed | Kind::InDoubt => Err(NoReceipt::unknown("the line went dead")),
        }
    }
}

/// All orders of the numbers below 5.
fn orders() -> Vec<[u64; 5]> {
    let mut all = Vec::new();
    for code in 0..5_u64.pow(5) {
        let order = [0, 1, 2, 3, 4].map(|place| code / 5_u64.pow(place) % 5);
        if (0..5).all(|number| order.contains(&number)) {
            all.push(order);
        }
    }
    all
}

async fn check(order: [u64; 5]) {
    let plant = Plant::default();
    let service = plant.clone();
    let shop = TestEnvironment::new(move |worker| {
        worker.machine::<AnyBatch>().tool::<Step>(service.clone())
    });
    let id = shop.create(AnyBatch::from(Batch::new())).await;
    let at = |index: usize| SLOT * (order[index] + 1);
    let steps: Vec<Step> =
        (0..5).map(|index| Step { kind: KINDS[index], seconds: at(index) }).collect();
    let start = Message::new(&Event::Start { steps }, &shop.person("ann")).unwrap();
    shop.store().send(id, &start).await.unwrap();

    let observed = async {
        // A person confirms the one in doubt half a second after it ended; looks are between the
        // ends.
        for second in 0..14 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            look(&shop, id, second, order).await;
            if second == at(2) {
                confirm(&shop, id).await;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    tokio::join!(observed, async {
        // The first run ends with the last call.
        for _ in 0..2 {
            shop.run_until_idle().await;
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    });

    let AnyBatch::Over(over) = shop.load(id).await else { panic!("{order:?}: it is not over") };
    let batch::Over { outcomes, seen } = over.state();
    let mut indices: Vec<usize> = seen.iter().map(|(index, _)| *index).collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2, 3, 4], "{order:?}: each is taken once");
    for (index, outcome) in seen {
        assert_eq!(*outcome, outcomes[*index], "{order:?}");
        let is_in_time = at(*index) < WITHIN.as_secs() && KINDS[*index] != Kind::InDoubt;
        match (KINDS[*index], outcome) {
            (_, Err(CallError::Overdue { .. })) => assert!(!is_in_time, "{order:?} {index}"),
            (Kind::Applied | Kind::Slow | Kind::Confirmed, Ok(_))
            | (Kind::Refused, Err(CallError::Refused(_))) => {
                assert!(is_in_time, "{order:?} {index}");
            }
            other => panic!("{order:?}: {other:?}"),
        }
    }
    assert_eq!(plant.0.load(Ordering::SeqCst), 5, "{order:?}: every step ran once");
    is_clean(&shop).await;
}

/// The machine has taken what has come, and nothing else.
async fn look(shop: &TestEnvironment, id: Id, second: u64, order: [u64; 5]) {
    let AnyBatch::Working(working) = shop.load(id).await else { return };
    let has_come = |index: usize| match KINDS[index] {
        Kind::InDoubt => false,
        // She confirms it after this look.
        Kind::Confirmed => SLOT * (order[index] + 1) < second,
        _ => SLOT * (order[index] + 1) <= second,
    };
    let seen = &working.state().seen;
    if second < WITHIN.as_secs() {
        assert_eq!(
            seen.len(),
            (0..5).filter(|index| has_come(*index)).count(),
            "{order:?}: {seen:?}"
        );
    }
}

async fn confirm(shop: &TestEnvironment, id: Id) {
    for call in shop.store().children(id).await.unwrap() {
        let execution: AnyExecution = shop.load(call.id).await;
        let arguments = execution.context().action().arguments().unwrap().clone();
        let step: Step = serde_json::from_value(arguments.into()).unwrap();
        if step.kind == Kind::Confirmed {
            let doubt = shop.store().in_doubt(call.id).await.unwrap();
            drop(shop.store().confirm_applied(doubt, "seen", &shop.person("ann")).await.unwrap());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_outcomes_of_a_set_come_in_every_order() {
    let orders = orders();
    assert_eq!(orders.len(), 120);
    for order in orders {
        check(order).await;
    }
}
