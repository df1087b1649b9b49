//! A move that the table leaves open to anyone is made by whoever sent its message, and a person is
//! recognized although the table names no people.

use machine::{contract::Gate, journal::Fact};

use crate::worker::prelude::*;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Claim {
    #[initial]
    #[on(ask => Asked, by = GraphRunner)]
    Drafted,
    // One call behind a gate, and one without.
    #[invoke(
        charges: [Charge] = [5, 3].map(|cents| Charge { cents }),
        approve = is_large,
        unattended,
    )]
    #[on(revise(note) => Revised)]
    Asked,
    #[stable]
    #[on(file => Filed, by = GraphRunner)]
    Revised { note: String },
    #[terminal]
    Filed,
}

const REVISE: &str = r#"{"trigger": "revise", "note": "too much"}"#;

fn is_large(charge: &Charge) -> bool {
    charge.cents > 4
}

fn asks() -> Does<AnyClaim> {
    moves(|claim, _| match claim {
        AnyClaim::Drafted(claim) => Next::to(claim.ask(graph_runner())),
        _ => Next::Wait,
    })
}

/// A claim in ASKED, with its gate, and its calls, which no worker has begun.
struct Case {
    id: Id,
    gate: Gate,
    calls: Vec<Id>,
}

impl Case {
    async fn new(store: &Store) -> Self {
        let id = create(store, Claim::new()).await;
        settle(worker(store).handler(asks())).await;
        is(store, id, "asked").await;
        let executions = store.load_all::<AnyExecution>(&Query::new()).await.unwrap().items;
        let mut gates = executions.into_iter().filter_map(|execution| match execution.unwrap() {
            AnyExecution::Waiting(gate) => Some(gate.id()),
            _ => None,
        });
        let gate = store.gate(gates.next().unwrap()).await.unwrap();
        let calls = store.children(id).await.unwrap().iter().map(|child| child.id).collect();
        Self { id, gate, calls }
    }

    async fn is_revised(&self, store: &Store, gate: &str, call: &str) {
        is(store, self.id, "revised").await;
        is(store, self.gate.id(), gate).await;
        assert_eq!(self.calls.len(), 2);
        for id in &self.calls {
            is(store, *id, call).await;
        }
    }

    /// The kind and the name of the actor of the revision.
    async fn revised_by(&self, store: &Store) -> Option<(String, String)> {
        let entries = store.history(self.id).await.unwrap().entries;
        let is_revision =
            |fact: &Fact| matches!(fact, Fact::Moved { trigger, .. } if trigger == "revise");
        let entry = entries.into_iter().find(|entry| is_revision(&entry.fact)).unwrap();
        entry.actor.map(Into::into).zip(entry.by.map(Into::into))
    }
}

/// Runs the calls that can run; returns their number.
async fn paid(store: &Store) -> usize {
    let bank = Service::default();
    settle(worker(store).handler(asks()).tool::<Charge>(bank.clone())).await;
    bank.calls()
}

#[test]
fn a_person_ends_calls_although_the_table_names_no_people() {
    each(async |store| {
        let case = Case::new(&store).await;
        store.send(case.id, &says(REVISE, "1")).await.unwrap();
        settle(worker(&store).handler(asks())).await;
        case.is_revised(&store, "cancelled", "cancelled").await;
        let person = ("human".to_owned(), "ann".to_owned());
        assert_eq!(case.revised_by(&store).await, Some(person));
        let AnyExecution::Cancelled(call) = store.load(case.calls[1]).await.unwrap() else {
            panic!("it is not cancelled")
        };
        let why = "a person moved the claim to `revised` by `revise` before the call began";
        assert_eq!(call.state().reason, why);
        assert!(machine_tests::approve(&store, case.gate, ann()).await.is_err());
        assert_eq!(paid(&store).await, 0);
    });
}

/// Who moves makes no difference: a program that sends a message, or that calls the method, which
/// takes no actor.
#[test]
fn a_program_ends_calls_like_a_person() {
    for by_message in [true, false] {
        each(async |store| {
            let case = Case::new(&store).await;
            if by_message {
                store.send(case.id, &tells(REVISE, "1")).await.unwrap();
                settle(worker(&store).handler(asks())).await;
            } else {
                let AnyClaim::Asked(claim) = store.load(case.id).await.unwrap() else {
                    panic!("it is not asked")
                };
                store.commit(&mut claim.revise("too much".to_owned())).await.unwrap();
            }
            case.is_revised(&store, "cancelled", "cancelled").await;
            let runner = ("graph_runner".to_owned(), "test".to_owned());
            assert_eq!(case.revised_by(&store).await, by_message.then_some(runner));
            assert!(machine_tests::approve(&store, case.gate, ann()).await.is_err());
            assert_eq!(paid(&store).await, 0);
        });
    }
}
