use std::fmt;

use serde::de::DeserializeOwned;

use super::read;

/// Reads data of an older version and upgrades them to the next with the user's function.
///
/// # Errors
///
/// The error of `serde_json`, or the function's error.
#[doc(hidden)]
pub fn upgrade_from<Old: DeserializeOwned, New, E: fmt::Display>(
    function: impl FnOnce(Old) -> Result<New, E>,
    text: &str,
) -> serde_json::Result<New> {
    upgrade(function, read(text, |text| serde_json::from_str(text))?)
}

/// Upgrades data to the next version with the user's function.
///
/// # Errors
///
/// The function's error.
#[doc(hidden)]
pub fn upgrade<Old, New, E: fmt::Display>(
    function: impl FnOnce(Old) -> Result<New, E>,
    old: Old,
) -> serde_json::Result<New> {
    function(old).map_err(serde::de::Error::custom)
}
