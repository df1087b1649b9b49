//! What drawings and topologies say of the calls that states make.

use machine::{definition::Definition, stored::Restore, view::Topology};
use machine_tests::invoked::AnyPurchase;
use serde_json::json;

use crate::{definition::xml, machines::source::labels_are_apart};

const PURCHASE: &Definition = AnyPurchase::DEFINITION;

#[test]
fn drawings_show_calls_and_moves_that_leave_them() {
    let svg = xml::texts(&PURCHASE.svg()).unwrap();
    let mermaid = PURCHASE.mermaid();
    for text in ["payment: Charge", "payment: Charge, approve", "reads: [Read]", "pause / detach"] {
        assert!(svg.iter().any(|found| found == text), "{text}: {svg:#?}");
        let escaped = text.replace(':', "#58;");
        assert!(mermaid.contains(&escaped), "{escaped}: {mermaid}");
    }
    assert!(mermaid.contains("    note right of PAYING: payment#58; Charge\n"), "{mermaid}");
}

/// A drawing leaves room for the second line.
#[test]
fn no_label_overlaps_another() {
    labels_are_apart(PURCHASE);
}

#[test]
fn a_hostile_name_of_a_call_stays_text() {
    for hostile in ["a: b", "x; y", "\"] [label=\"z", "one\ntwo --> [*]", "</text><script>"] {
        let mut definition = serde_json::to_value(PURCHASE).unwrap();
        definition["states"][1]["invocation"]["name"] = json!(hostile);
        let definition: Definition = serde_json::from_value(definition).unwrap();
        let mermaid = definition.mermaid();
        assert_eq!(mermaid.lines().count(), PURCHASE.mermaid().lines().count(), "{mermaid}");
        let note = mermaid.lines().find(|line| line.contains("note right of PAYING")).unwrap();
        assert_eq!(note.matches(':').count(), 1, "{note}");
        assert!(xml::texts(&definition.svg()).is_ok());
    }
}

#[test]
fn a_topology_has_the_calls_of_its_states() {
    let topology = serde_json::to_value(Topology::of(PURCHASE)).unwrap();
    let nodes = topology["nodes"].as_array().unwrap();
    let of = |status: &str| nodes.iter().find(|node| node["status"] == status).unwrap();
    assert_eq!(
        of("asking")["calls"],
        json!({
            "name": "payment",
            "label": "payment: Charge, approve",
            "tool": "bank.charge",
            "irreversible": true,
            "is_set": false,
            "approval": "always",
            "unattended": false,
            "expires": "Duration::from_hours(1)",
            "within": null,
            "done": "paid",
            "failed": "refused",
            "each": null,
        })
    );
    let reads = &of("reading")["calls"];
    assert_eq!((&reads["is_set"], &reads["irreversible"]), (&json!(true), &json!(false)));
    assert_eq!(reads["within"], "Duration::from_secs(10)");
    assert_eq!(of("paid").get("calls"), None);
    let edges = topology["edges"].as_array().unwrap();
    let detached: Vec<_> = edges.iter().filter(|edge| edge.get("detaches").is_some()).collect();
    assert_eq!(detached.len(), 1);
    assert_eq!(detached[0]["trigger"], "pause");
}

/// A definition that another program reads says the same.
#[test]
fn a_definition_in_json_has_its_calls() {
    let json = serde_json::to_string(PURCHASE).unwrap();
    let read: Definition = serde_json::from_str(&json).unwrap();
    assert_eq!(&read, PURCHASE);
    assert!(read.edges.iter().any(|edge| edge.detach));
    assert!(read.states.iter().any(|state| state.invocation.is_some()));
}
