//! The writes of a commit, prepared as rows.

pub(crate) mod admission;
pub(crate) mod attempt;
pub(crate) mod prepare;
pub(crate) mod seal;
pub(crate) mod tool;
pub(crate) mod under_way;
