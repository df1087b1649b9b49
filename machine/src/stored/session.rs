//! Ids of sessions.

use unicode_normalization::UnicodeNormalization;

#[cfg(feature = "store")]
use super::Breach;

/// The form in which an id is stored and looked for (NFC): ids that look the same are the same.
pub(crate) fn normal(session: &str) -> String {
    session.chars().nfc().collect()
}

/// An id in its normal form, if a machine can be created with it. It is a part of addresses, in which `.` and `..` have
/// another meaning, and every list repeats it.
#[cfg(feature = "store")]
pub(crate) fn checked(session: &str) -> Result<String, Breach> {
    const MAX_BYTES: usize = 256;
    let session = normal(session);
    if matches!(&*session, "." | "..") {
        let reason = format!("`{session}` cannot be the id of a session; use another one");
        return Err(Breach::new(reason));
    }
    let bytes = session.len();
    if bytes > MAX_BYTES {
        return Err(Breach::new(format!(
            "the id of its session has {bytes} bytes, more than {MAX_BYTES}; use a shorter one"
        )));
    }
    Ok(session)
}
