//! The limits of what a planner answers.

use coding_agent::plan::model::{MOST_BYTES, MOST_ITEMS, Plan, count, excess};
use serde_json::{Value, json};

/// Makes a plan of this size.
type Made<'a> = dyn Fn(usize) -> Value + 'a;

/// One more than the most is refused, with the limit.
#[test]
fn a_plan_has_limits() {
    let plan = |json: &Value| serde_json::from_value::<Plan>(json.clone()).unwrap();
    let read = json!({"tool": "read", "path": "a"});
    let edit = json!({"tool": "move", "path": "a", "to": "b"});
    let run = json!({"argv": ["true"], "timeout": 1});
    let many = |value: &Value, count: usize| Value::from(vec![value.clone(); count]);
    let steps = |count: usize| json!({"steps": many(&json!({}), count)});
    let calls = |count: usize| json!({"steps": [{"tool_calls": many(&read, count - 1)}]});
    let edits = |count: usize| {
        let edits = json!({"tool": "edit", "edits": many(&edit, count - 2)});
        json!({"steps": [{"tool_calls": [edits]}]})
    };
    let checks =
        |count: usize| json!({"steps": [{}], "verification": {"commands": many(&run, count - 1)}});
    let bytes = |json: &Value| serde_json::to_vec(&plan(json)).unwrap().len();
    let text = |count: usize| {
        let goal = "x".repeat(count - bytes(&json!({"steps": [{}]})));
        json!({"steps": [{}], "goal": goal})
    };
    let [items, long] = ["201 items: give at most 200", "262145 bytes: give at most 262144"];
    let table: [(&Made, usize, &str); 5] = [
        (&steps, MOST_ITEMS, items),
        (&calls, MOST_ITEMS, items),
        (&edits, MOST_ITEMS, items),
        (&checks, MOST_ITEMS, items),
        (&text, MOST_BYTES, long),
    ];
    for (row, (made, most, fault)) in table.into_iter().enumerate() {
        assert_eq!(plan(&made(most)).fault(), None, "{row}");
        assert_eq!(plan(&made(most + 1)).fault(), Some(format!("it has {fault}")), "{row}");
    }
    let repair = plan(&steps(MOST_ITEMS + 1)).steps;
    assert_eq!(excess(&repair, count(&repair)), Some(format!("it has {items}")));
    assert!(Plan::default().fault().is_some_and(|fault| fault.contains("no step")));
}
