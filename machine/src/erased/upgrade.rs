use std::fmt;

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
