//! Ids of sessions.

use unicode_normalization::UnicodeNormalization;

use super::Breach;
use crate::actor::is_invisible;

/// The form in which the id of a session is stored and looked for: the Unicode form NFC, so that
/// ids that look the same are the same.
#[must_use]
pub fn normal_session(session: String) -> String {
    if session.is_ascii() { session } else { session.chars().nfc().collect() }
}

/// Checks the id of the session of a new machine. It is a part of addresses, in which `.` and `..`
/// have another meaning, and every list repeats it: one that cannot be seen looks like none.
pub(crate) fn check_session(session: &str) -> Result<(), Breach> {
    const MAX_BYTES: usize = 256;
    if session.chars().all(|one| one.is_whitespace() || is_invisible(one)) {
        return Err(Breach::new(
            "the id of its session is empty; use a name that can be seen, or no session",
        ));
    }
    if matches!(session, "." | "..") {
        let reason = format!("`{session}` cannot be the id of a session; use another one");
        return Err(Breach::new(reason));
    }
    let bytes = session.len();
    if bytes > MAX_BYTES {
        return Err(Breach::new(format!(
            "the id of its session has {bytes} bytes, more than {MAX_BYTES}; use a shorter one"
        )));
    }
    Ok(())
}
