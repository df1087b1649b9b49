//! This library as the expansion of `#[machine]` sees it for the library's own machines: the worker
//! itself drives them, so they have no handlers for their states.

pub(crate) use ::machine::*;

pub(crate) mod __private {
    pub(crate) use ::machine::__private::*;

    macro_rules! none {
        ($($item:tt)*) => {};
    }
    pub(crate) use none as handlers;
}
