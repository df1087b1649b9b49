//! Futures behind a trait object, and panics in them.

#[cfg(feature = "store")]
use std::any::Any;
use std::{future::Future, pin::Pin};

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The message of a panic.
#[cfg(feature = "store")]
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
