//! What a commit writes, prepared as rows.

pub(crate) mod attempt;
pub(crate) mod prepare;
pub(crate) mod seal;
pub(crate) mod tool;
