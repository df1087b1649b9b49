//! Commands in the folder of the agent. They are not sandboxed: a command can do what its user can.
//!
//! [`run`] is what a model asks for, and what it gets. [`runner`] runs it, and ends one whose agent
//! died: its [`group`] of processes is on disk before it begins. [`output`] reads what it prints. A
//! snapshot of the folder before and one after show what changed meanwhile, whoever did that: it is
//! no edit of the agent, and undo leaves it alone.

pub mod group;
pub mod output;
pub mod run;
pub mod runner;
