// Values that exist only in the process that made them. Functions are named after the mistakes.

use machine::contract::{
    Action, ApprovalRequest, Contract, Decision, Gate, IdempotencyKey, Permit,
};

// An approval request describes one action. It cannot be deserialized.
fn deserialize_approval(json: &str) -> ApprovalRequest {
    serde_json::from_str(json).unwrap()
}

// A contract is made by a reasoner, through its checks. It cannot be deserialized.
fn deserialize_contract(json: &str) -> Contract {
    serde_json::from_str(json).unwrap()
}

// A decision comes from a person. It cannot be deserialized.
fn deserialize_decision(json: &str) -> Decision {
    serde_json::from_str(json).unwrap()
}

// A gate comes from `Contract::ask` or from its store. It cannot be deserialized.
fn deserialize_gate(json: &str) -> Gate {
    serde_json::from_str(json).unwrap()
}

// A key is derived from the action. It cannot be deserialized.
fn deserialize_key(json: &str) -> IdempotencyKey {
    serde_json::from_str(json).unwrap()
}

// A permit is valid in one process. It cannot be stored and read back.
fn deserialize_permit(json: &str) -> Permit<Action> {
    serde_json::from_str(json).unwrap()
}

fn main() {}
