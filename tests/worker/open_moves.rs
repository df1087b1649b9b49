//! A move that the table leaves open to anyone is made by whoever sent its message, and a person is
//! recognized although the table names no people.

use machine::journal::Fact;

use crate::worker::prelude::*;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Claim {
    #[initial]
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

/// Who moves makes no difference: a person or a program that sends a message, or a program that
/// calls the method, which takes no actor.
#[test]
fn whoever_moves_ends_the_calls() {
    for (message, by) in [
        (Some(says(REVISE, "1")), Some(("human", "ann"))),
        (Some(tells(REVISE, "1")), Some(("graph_runner", "test"))),
        (None, None),
    ] {
        each(async |store| {
            let id = create(&store, Claim::new()).await;
            let calls: Vec<Id> =
                store.children(id).await.unwrap().iter().map(|call| call.id).collect();
            let [gated, plain] = calls[..] else { panic!("{calls:?}") };
            let asked: AnyExecution = store.load(gated).await.unwrap();
            let gate = store.gate(asked.context().behind().unwrap()).await.unwrap();
            let drives = || worker(&store).handler(rests::<AnyClaim>());
            if let Some(message) = &message {
                store.send(id, message).await.unwrap();
                settle(drives()).await;
            } else {
                let AnyClaim::Asked(claim) = store.load(id).await.unwrap() else {
                    panic!("it is not asked")
                };
                store.commit(&mut claim.revise("too much".to_owned())).await.unwrap();
            }
            is(&store, id, "revised").await;
            for ended in [gate.id(), gated, plain] {
                is(&store, ended, "cancelled").await;
            }
            let entries = store.history(id).await.unwrap().entries;
            let is_revision =
                |fact: &Fact| matches!(fact, Fact::Moved { trigger, .. } if trigger == "revise");
            let revision = entries.iter().find(|entry| is_revision(&entry.fact)).unwrap();
            assert_eq!(revision.actor.as_deref().zip(revision.by.as_deref()), by);
            if by == Some(("human", "ann")) {
                let AnyExecution::Cancelled(call) = store.load(plain).await.unwrap() else {
                    panic!("it is not cancelled")
                };
                let why = "a person moved the claim to `revised` by `revise` before the call began";
                assert_eq!(call.state().reason, why);
            }
            assert!(machine_tests::approve(&store, gate, ann()).await.is_err());
            let bank = Service::default();
            settle(drives().tool::<Charge>(bank.clone())).await;
            assert_eq!(bank.calls(), 0);
        });
    }
}
