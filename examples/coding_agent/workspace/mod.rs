//! Edits of the files of one folder, all or nothing, that can be undone.
//!
//! [`tools`] are what a model asks for; they come to a [`set`] of changes. [`edits`] makes a set,
//! recovers one whose process died, and undoes the newest. [`step`] is one path of it, which keeps
//! the [`attributes`] of its file, and the [`store`] has the records, the contents, and every file
//! that was replaced: no file that was ever at a path is deleted.

pub mod attributes;
pub mod edits;
pub mod folder;
pub mod patch;
pub mod place;
pub mod refusal;
pub mod set;
pub mod step;
pub mod store;
pub mod tools;
