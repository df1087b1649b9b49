//! What a model reads. It is limited, and says what is left out.

use super::{Brief, Rung};
use crate::{
    plan::{trouble::Trouble, work::Entry},
    workspace::place::Place,
};

pub const SYSTEM: &str = "\
You plan the work of a coding agent in one folder. Answer with one call of the tool that you are \
offered. Paths are relative to the folder. A patch has hunks as in a unified diff, without its \
header; the context of a hunk must be in the file exactly once. To overwrite or delete a file, \
give the digest of it as it was read. No shell reads a command. A plan names all files that it \
edits as expected artifacts: a person confirms these and the commands, and allows nothing else.";

/// The most bytes of the output of a command, of a plan, or of an answer that is sent back.
const MOST_BYTES: usize = 16 << 10;

/// The most files that are listed.
const MOST_FILES: usize = 500;

pub fn prompt(brief: &Brief, task: &str) -> String {
    let Brief { goal, work, files, .. } = brief;
    let names: Vec<&str> = files.iter().take(MOST_FILES).map(Place::as_str).collect();
    let more = files.len() - names.len();
    let mut parts = vec![
        format!("The request of a person:\n{goal}"),
        format!("The files of the folder ({more} more are left out):\n{}", names.join("\n")),
    ];
    parts.extend(work.readings.iter().map(ToString::to_string));
    if !work.left_out.is_empty() {
        let all: Vec<&str> = work.left_out.iter().map(String::as_str).collect();
        let all = all.join(", ");
        parts.push(format!("These were read and are left out, for lack of space: {all}"));
    }
    parts.push(task.to_owned());
    parts.join("\n\n")
}

pub fn repair(brief: &Brief, trouble: &Trouble, rung: Rung) -> String {
    let kind = match rung {
        Rung::Smallest => "Repair it with as few steps as possible, after what was done.",
        Rung::RollBack => "The newest edits are undone first: give the steps after that.",
        Rung::Replan => "Give steps that replace all steps that are left.",
    };
    let plan = serde_json::to_string(&brief.work.plan).unwrap_or_default();
    let ended = brief.work.ended.iter();
    let ended = ended.map(|Entry { what, is_ok, .. }| format!("{what}: {is_ok}"));
    format!(
        "The plan:\n{}\n\nWhat was done, and whether it succeeded:\n{}\n\n\
         It has failed ({:?}):\n{}\n\n{kind} Without steps, another kind of repair is asked for.",
        end(&plan),
        ended.collect::<Vec<_>>().join("\n"),
        trouble.code,
        end(&trouble.detail),
    )
}

/// The end of a text, after what is left out.
pub fn end(text: &str) -> String {
    match text.ceil_char_boundary(text.len().saturating_sub(MOST_BYTES)) {
        0 => text.to_owned(),
        left_out => format!("({left_out} bytes are left out)\n{}", &text[left_out..]),
    }
}
