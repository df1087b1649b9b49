//! One-time codes, which a browser exchanges for a token. Browsers write addresses into their history and into
//! other files, so an address has a code: it is of no use once it was exchanged.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use event_listener::Event;

/// One-time codes of an [`Http`](super::Http), for links that sign a person in.
///
/// ```
/// # use machine::{actor::{Actors, Human}, store::Store};
/// # use machine_console::http::{Access, Http};
/// # let store = Store::memory();
/// let token = "3c7ad1f5-of-ann";
/// let access = Access::new().operator(Human::new("ann")?, token)?;
/// let http = Http::new(&store, Actors::issue("inspector")?).access(access);
/// let code = http.codes().issue(token)?;
/// println!("http://127.0.0.1:7878/inspector/#code={code}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Codes(Arc<Inner>);

#[derive(Default)]
struct Inner {
    codes: Mutex<Vec<Code>>,
    used: Event,
}

struct Code {
    /// Comparing digests takes constant time.
    digest: blake3::Hash,
    token: String,
    /// A code of the page, for a reload, is there for a moment only.
    until: Option<Instant>,
}

/// The system has no random numbers.
#[derive(thiserror::Error)]
#[error("the random number generator of the system failed: {0}")]
pub struct NoRandomness(getrandom::Error);

/// The most codes at once; the oldest one makes room.
const MAX_CODES: usize = 64;

/// The longest time that a page takes to load again.
pub(super) const RELOAD: Duration = Duration::from_mins(1);

/// The fewest characters of a code.
pub(super) const SHORTEST: usize = 32;

impl Codes {
    /// A code that is exchanged once for this token.
    ///
    /// # Errors
    ///
    /// [`NoRandomness`]
    pub fn issue(&self, token: &str) -> Result<String, NoRandomness> {
        let code = random()?;
        self.add(&code, token, None);
        Ok(code)
    }

    /// Completes when an [issued](Self::issue) code was exchanged after this call.
    #[cfg(feature = "cli")]
    pub(crate) fn used(&self) -> event_listener::EventListener {
        self.0.used.listen()
    }

    pub(super) fn add(&self, code: &str, token: &str, until: Option<Instant>) {
        let code = Code { digest: blake3::hash(code.as_bytes()), token: token.to_owned(), until };
        let mut codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if codes.len() >= MAX_CODES {
            codes.remove(0);
        }
        codes.push(code);
    }

    /// The token, once.
    pub(super) fn exchange(&self, code: &str) -> Option<String> {
        let digest = blake3::hash(code.as_bytes());
        let mut codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        codes.retain(|code| code.until.is_none_or(|until| until > now));
        let place = codes.iter().position(|code| code.digest == digest)?;
        let code = codes.remove(place);
        drop(codes);
        if code.until.is_none() {
            self.0.used.notify(usize::MAX);
        }
        Some(code.token)
    }
}

/// Text of 256 random bits.
pub(crate) fn random() -> Result<String, NoRandomness> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    Ok(blake3::Hash::from(bytes).to_hex().to_string())
}

impl fmt::Debug for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Codes(..)")
    }
}
