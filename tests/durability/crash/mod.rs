//! A process that works on a file is killed again and again; a model in the parent knows what must
//! be in the file.

mod change;
mod child;
mod model;
mod parent;
mod said;
mod slot;
mod write;
