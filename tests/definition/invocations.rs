//! A state whose calls change while machines are in it.

use machine::definition::Definition;
use serde_json::{Value, json};

use super::compare::sentences;

fn definition(invocation: &Value) -> Definition {
    let mut value = json!({
        "name": "order",
        "states": [
            {"name": "cart", "label": "CART"},
            {"name": "paying", "label": "PAYING"},
            {"name": "paid", "label": "PAID", "terminal": true}
        ],
        "edges": [
            {"from": 0, "trigger": "place", "to": 1},
            {"from": 1, "trigger": "paid", "to": 2}
        ],
        "initial": 0
    });
    value["states"][1]["invocation"] = invocation.clone();
    serde_json::from_value(value).unwrap()
}

fn charge(more: &Value) -> Value {
    let mut charge = json!({
        "name": "payment", "tool": "Charge", "service": "bank", "method": "charge",
        "irreversible": true, "done": "paid"
    });
    for (key, value) in more.as_object().unwrap() {
        charge[key] = value.clone();
    }
    charge
}

#[test]
fn a_call_may_change_as_long_as_its_outcome_can_be_read() {
    let (none, plain) = (Value::Null, charge(&json!({})));
    for (before, now, said) in [
        (
            &none,
            charge(&json!({})),
            "! state `paying` calls payment: Charge, and machines that are in it have no call",
        ),
        (
            &none,
            charge(&json!({"adopt": true})),
            "state `paying` calls payment: Charge; machines that are in it make",
        ),
        (&plain, Value::Null, "~ state `paying` no longer calls payment: Charge"),
        (&plain, charge(&json!({"name": "charge"})), "call `payment` was renamed to `charge`"),
        (&plain, charge(&json!({"tool": "bank::Charge"})), ""),
        (
            &plain,
            charge(
                &json!({"approval": "always", "expires": "DAY", "within": "HOUR", "adopt": true}),
            ),
            "",
        ),
        (&plain, charge(&json!({"failed": "refused", "unattended": true})), ""),
        (
            &plain,
            charge(&json!({"method": "debit"})),
            "! state `paying` calls payment: Charge (bank.debit, irreversible) instead of payment: Charge (bank.charge, irreversible)",
        ),
        (
            &plain,
            charge(&json!({"service": "shop"})),
            "! state `paying` calls payment: Charge (shop.charge, irreversible) instead of",
        ),
        (
            &plain,
            charge(&json!({"set": true})),
            "! state `paying` calls payment: [Charge] (bank.charge, irreversible) instead of",
        ),
        (
            &plain,
            charge(&json!({"irreversible": false})),
            "! state `paying` calls payment: Charge (bank.charge, idempotent) instead of",
        ),
    ] {
        let comparison = definition(before).compare(&definition(&now));
        let sentences = sentences(&comparison);
        let said = if said.is_empty() { Vec::new() } else { vec![said] };
        assert_eq!(sentences.len(), said.len(), "{now}: {sentences:?}");
        assert!(
            sentences.iter().zip(said).all(|(is, starts)| is.starts_with(starts)),
            "{sentences:?}"
        );
        // Only machines that are in the state are concerned.
        let blocked = !comparison.is_compatible();
        assert_eq!(comparison.blocking("paying").count(), usize::from(blocked), "{now}");
        assert_eq!(comparison.blocking("cart").count(), 0, "{now}");
    }
}
