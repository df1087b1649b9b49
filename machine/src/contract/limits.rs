//! The longest texts of services that are stored.

/// The maximum size of a reason in bytes. What is longer is cut.
pub(crate) const MAX_REASON: usize = 64 * 1024;

/// The maximum size of a receipt, or of a refusal as JSON, in bytes. What is longer is cut, and is
/// then longer than this.
pub(crate) const MAX_RECEIPT: usize = 1024 * 1024;

pub(crate) fn bounded(text: String) -> String {
    cut(text, MAX_REASON)
}

pub(crate) fn bounded_receipt(text: String) -> String {
    cut(text, MAX_RECEIPT)
}

/// Cuts a text that is too long, and marks it. It stays longer than a whole one can be.
fn cut(mut text: String, most: usize) -> String {
    let bytes = text.len();
    if bytes > most {
        text.truncate(text.floor_char_boundary(most));
        text = format!("{text}… (cut from {bytes} bytes)");
    }
    text
}

pub(super) fn was_cut(what: &str) -> serde_json::Error {
    serde::de::Error::custom(format!(
        "the {what} was cut because it has more than {MAX_RECEIPT} bytes"
    ))
}
