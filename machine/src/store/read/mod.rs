//! Reading: machines, histories, and lists by page.

pub(crate) mod broken;
pub(crate) mod cursor;
pub(crate) mod definitions;
pub(crate) mod failing;
pub(crate) mod history;
pub(crate) mod load;
pub(crate) mod load_all;
pub(crate) mod observe;
pub(crate) mod query;
pub(crate) mod replay;
pub(crate) mod sessions;
pub(crate) mod subscribe;
pub(crate) mod transitions;
