//! The calls of a machine, as a table.

use machine::view::CallView;

use super::{
    table::{Table, cell, colored, stage_color},
    terminal::Terminal,
    time::relative,
};

/// The calls of the state, and those that were left and are not settled.
pub(super) fn calls(terminal: Terminal, calls: &[CallView], now: i64) -> String {
    let mut table = Table::new(terminal, &["Call", "State", "Since", "About", "More", "Execution"]);
    for call in calls {
        table.row([
            cell(format!("{} {}", call.name, call.position)),
            colored(terminal, &call.stage.to_string(), stage_color(call.stage)),
            cell(call.since.map_or_else(String::new, |at| relative(at, now))),
            cell(&call.summary),
            cell(more_of_call(call, now)),
            cell(call.execution.map(|id| id.to_string()).unwrap_or_default()),
        ]);
    }
    table.part("Calls")
}

/// Why a call waits, and what waits for it.
fn more_of_call(call: &CallView, now: i64) -> String {
    let time = |at| relative(at, now);
    let mut more = Vec::new();
    if !call.is_current {
        more.push("of a state that was left".to_owned());
    }
    if let Some(gate) = &call.gate {
        more.push(format!("a person, who answers its gate {gate}"));
    }
    more.extend(call.answer_by.map(|at| format!("until {}", time(at))));
    if let Some(by) = &call.behind {
        more.push(format!("waits until {by}, which has its key, has ended"));
    }
    if call.is_overdue {
        more.push("overdue".to_owned());
    } else if let Some(at) = call.wait_until {
        more.push(format!("the machine waits for it until {}", time(at)));
    }
    if call.is_waited_for {
        more.push("moves out of the state wait for it".to_owned());
    }
    more.extend(call.error.clone());
    more.join(", ")
}
