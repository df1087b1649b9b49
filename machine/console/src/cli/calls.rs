//! The calls of a machine, as a table.

use std::fmt::Write;

use comfy_table::Color;
use machine::{
    contract::CallStage,
    view::{CallView, Phrase},
};

use super::{
    table::{Table, cell, colored},
    terminal::Terminal,
    time::relative,
};

/// The calls of the state, and those that were left and are not settled.
pub(super) fn calls(terminal: Terminal, calls: &[CallView], now: i64, shown: &mut String) {
    if calls.is_empty() {
        return;
    }
    let _ = writeln!(shown, "\n{}", terminal.title(Phrase::Calls));
    let columns = [
        Phrase::ColumnCall,
        Phrase::ColumnState,
        Phrase::ColumnSince,
        Phrase::ColumnAbout,
        Phrase::ColumnMore,
        Phrase::ColumnExecution,
    ];
    let mut table = Table::new(terminal, &columns);
    for call in calls {
        let color = match call.stage {
            CallStage::InDoubt => Some(Color::Red),
            CallStage::Asked => Some(Color::Yellow),
            _ => None,
        };
        table.row([
            cell(format!("{} {}", call.name, call.position)),
            colored(terminal, terminal.text(call.stage.phrase()), color),
            cell(call.since.map_or_else(String::new, |at| relative(at, now, terminal.language))),
            cell(&call.summary),
            cell(more_of_call(terminal, call, now)),
            cell(call.execution.map(|id| id.to_string()).unwrap_or_default()),
        ]);
    }
    shown.push_str(&table.text());
}

/// Why a call waits, and what waits for it.
fn more_of_call(terminal: Terminal, call: &CallView, now: i64) -> String {
    let time = |at| relative(at, now, terminal.language);
    let mut more = Vec::new();
    if !call.is_current {
        more.push(terminal.text(Phrase::CallLeft).to_owned());
    }
    if let Some(gate) = &call.gate {
        more.push(terminal.say(Phrase::WaitsForGate, &[("gate", gate)]));
    }
    let until = call.answer_by.map(|at| terminal.say(Phrase::UntilTime, &[("time", &time(at))]));
    more.extend(until);
    if let Some(by) = &call.behind {
        more.push(terminal.say(Phrase::WaitsForKey, &[("execution", by)]));
    }
    if call.is_overdue {
        more.push(terminal.text(Phrase::Overdue).to_owned());
    } else if let Some(at) = call.wait_until {
        more.push(terminal.say(Phrase::MachineWaitsUntil, &[("time", &time(at))]));
    }
    if call.is_waited_for {
        more.push(terminal.text(Phrase::MovesWait).to_owned());
    }
    more.extend(call.error.clone());
    more.join(", ")
}
