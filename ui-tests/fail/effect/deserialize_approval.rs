// An approval request describes one action. It cannot be deserialized.

use machine::contract::Approval;

fn read(json: &str) -> Approval {
    serde_json::from_str(json).unwrap()
}

fn main() {}
