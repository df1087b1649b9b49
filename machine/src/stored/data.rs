//! Data that a store writes and reads back.

use serde::{Serialize, de::DeserializeOwned};

use super::{Unwritten, unwritten::unread_field};
use crate::journal::{check_written, write_text};

/// Data that a store can write and read back. Every type that serde can write and read is; a
/// [`Contract`](crate::contract::Contract) is read through its checks only.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored: it does not implement both `Serialize` and `Deserialize`",
    label = "a store writes this and reads it back",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to `{Self}`"
)]
pub trait Data: Sized {
    fn __to_text(&self) -> Result<String, Unwritten>;
    fn __of_text(text: &str) -> serde_json::Result<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Data for T {
    fn __to_text(&self) -> Result<String, Unwritten> {
        let text = write_text(self).map_err(Unwritten::refused)?;
        check_written(&text).map_err(Unwritten::because)?;
        Ok(text)
    }

    fn __of_text(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

/// The state as JSON text, after it was read back. What cannot be read back, such as NaN, or
/// becomes another value, must not reach the disk. `compare` names the fields, and says which of
/// them have changed.
///
/// # Errors
///
/// The field that cannot be read back, or has changed.
pub(crate) fn encode<T: Data + DeserializeOwned, const N: usize>(
    value: &T,
    compare: impl FnOnce(&T) -> [(&'static str, bool); N],
) -> Result<String, Unwritten> {
    let text = value.__to_text()?;
    let read =
        T::__of_text(&text).map_err(|error| Unwritten::unread(&error, unread_field::<T>(&text)))?;
    match compare(&read).into_iter().find(|(_, changed)| *changed) {
        Some((field, _)) => Err(Unwritten::changed(Some(field))),
        None => Ok(text),
    }
}

/// Reads data. A state without fields is stored as `null`: a type that has got fields since, all of
/// them optional, reads that as an object without members.
///
/// # Errors
///
/// The errors of `read`.
pub(crate) fn read<T>(
    text: &str,
    read: impl Fn(&str) -> serde_json::Result<T>,
) -> serde_json::Result<T> {
    read(text).or_else(|error| if text == "null" { read("{}") } else { Err(error) })
}

/// The type of a field, or of an item of a payload, in a durable machine.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored: it does not implement both `Serialize` and `Deserialize`",
    label = "a store writes this and reads it back",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to `{Self}`; for a type of another \
            crate, use its feature `serde`, or write `#[serde(with = \"..\")]` on the field; another \
            machine is not data: keep its `Id`, and make it a child"
)]
pub trait Stored: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Stored for T {}

/// A machine cannot be data: nothing implements this. The machine is a parameter, because of two
/// bounds on one type rustc reports the outer one.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{M}` cannot be read from data: a machine proves its history",
    label = "a machine is loaded from a store, or verified",
    note = "load it with `Store::load`, or read an `Unverified` and call `verify`; in the data of another \
            machine keep its `Id`, and make it a child"
)]
pub trait ReadFromData<M> {}
