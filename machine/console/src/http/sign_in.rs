//! One-time codes, which a browser exchanges for a token. Browsers write addresses into their history and into
//! other files, so an address has a code: it is of no use once it was exchanged.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{extract::State, http::HeaderMap};
use event_listener::Event;
use serde::{Deserialize, Serialize};

use super::{
    caller::{Caller, bearer},
    extract::Body,
    json::Json,
    problem::Problem,
    router::Shared,
};

/// One-time codes of an [`Http`](super::Http), for links that sign somebody in.
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
    /// Comparing digests takes the same time whatever is wrong.
    digest: blake3::Hash,
    token: String,
    /// A code of the page, for a reload, is there for a moment only.
    until: Option<Instant>,
}

/// The system has no random numbers.
#[derive(thiserror::Error)]
#[error("the system has no random numbers: {0}")]
pub struct NoRandomness(getrandom::Error);

/// The most codes at once; the oldest one makes room.
const MOST: usize = 64;

/// The longest time that a page takes to load again.
const RELOAD: Duration = Duration::from_mins(1);

/// The fewest characters of a code.
const SHORTEST: usize = 32;

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

    fn add(&self, code: &str, token: &str, until: Option<Instant>) {
        let code = Code { digest: blake3::hash(code.as_bytes()), token: token.to_owned(), until };
        let mut codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if codes.len() >= MOST {
            codes.remove(0);
        }
        codes.push(code);
    }

    /// The token, once.
    fn exchange(&self, code: &str) -> Option<String> {
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

/// Text of 192 random bits.
pub(crate) fn random() -> Result<String, NoRandomness> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl fmt::Debug for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Codes(..)")
    }
}

/// A one-time code.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneTime {
    /// The code.
    #[schema(min_length = 32, max_length = 256)]
    code: String,
}

/// The token that a code was for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct SignedIn {
    /// The token, for `Authorization: Bearer ..`.
    token: String,
}

/// The code is kept.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Kept {
    /// For how many seconds it can be exchanged.
    seconds: u64,
}

/// Exchanges a one-time code for a token.
#[utoipa::path(
    operation_id = "sign_in",
    post, path = "/api/sign-in", tag = "health", request_body = OneTime, security(()),
    responses(
        (status = 200, description = "The token.", body = SignedIn),
        (status = 401, description = "The code is not known, or was used.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn sign_in(
    State(http): State<Shared>,
    Body(OneTime { code }): Body<OneTime>,
) -> Result<Json<SignedIn>, Problem> {
    let token = http.codes.exchange(&code).ok_or_else(|| {
        Problem::unauthorized(
            "this link is not valid any more: each is for one browser, once; take a new one, or sign in \
             with a token",
        )
    })?;
    Ok(Json(SignedIn { token }))
}

/// Keeps a code that the page has made, by which it signs itself in again when it is loaded again.
#[utoipa::path(
    operation_id = "prepare_sign_in",
    post, path = "/api/sign-in/codes", tag = "health", request_body = OneTime,
    security(("bearer" = [])),
    responses(
        (status = 200, description = "The code is kept for a moment.", body = Kept),
    )
)]
pub(super) async fn prepare(
    State(http): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    Body(OneTime { code }): Body<OneTime>,
) -> Result<Json<Kept>, Problem> {
    let token = bearer(&headers)?.filter(|_| caller.person.is_some());
    let token = token.ok_or_else(|| Problem::unauthorized("a code is for a token; send one"))?;
    if !(SHORTEST..=256).contains(&code.chars().count()) {
        return Err(Problem::malformed(format!("a code has {SHORTEST} to 256 characters")));
    }
    http.codes.add(&code, &token, Some(Instant::now() + RELOAD));
    Ok(Json(Kept { seconds: RELOAD.as_secs() }))
}
