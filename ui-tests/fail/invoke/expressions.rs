// The compiler checks what a state invokes. States are named after the mistakes.

use machine::actor::Human;
use machine::contract::Tool;
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent, receipt = String)]
struct Read {
    path: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    path: String,
}

fn is_secret(read: Read) -> bool {
    read.path.starts_with("secret")
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Search {
    // A state invokes a tool or an action.
    #[initial]
    #[invoke(note)]
    #[on(next => OtherArguments, by = Human)]
    NotATool { note: Note },

    // The arguments are those of the tool.
    #[invoke(read: Read = note)]
    #[on(next => NotASet, by = Human)]
    OtherArguments { note: Note },

    // A set is an iterator of calls.
    #[invoke(reads: [Read] = Read { path: note.path })]
    #[on(next => OtherMembers, by = Human)]
    NotASet { note: Note },

    // Every member of a set has the arguments of the tool.
    #[invoke(reads: [Read] = [note])]
    #[on(next => TakesTheCall, by = Human)]
    OtherMembers { note: Note },

    // The function that asks looks at the call.
    #[invoke(read: Read = Read { path: note.path }, approve = is_secret)]
    #[on(next => NotADuration, by = Human)]
    TakesTheCall { note: Note },

    // The limit of the waiting is a duration.
    #[invoke(read: Read = Read { path: note.path }, within = 3)]
    #[on(next => NotAText, by = Human)]
    NotADuration { note: Note },

    // The occurrence is a text.
    #[invoke(read: Read = Read { path: note.path }, occurrence = 7)]
    #[on(next => UnknownName, by = Human)]
    NotAText { note: Note },

    // An expression sees the fields of its state, and the context.
    #[invoke(read: Read = Read { path: paths })]
    #[on(next => Found, by = Human)]
    UnknownName { note: Note },

    #[terminal]
    Found,
}

fn main() {}
