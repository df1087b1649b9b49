//! One-time codes, which a link has instead of a token.

use serde_json::json;

use crate::surfaces::{Call, OPERATOR, Place, READER, access};

const SIGN_IN: &str = "/api/sign-in";
const CODES: &str = "/api/sign-in/codes";

/// The address has a one-time code instead of the token, because a browser writes addresses to files.
#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_exchanged_once() {
    let mut codes = None;
    let place = Place::served_with(|http| {
        let http = http.access(access().tokens_only());
        codes = Some(http.codes());
        http
    });
    let place = place.await;
    let code = codes.unwrap().issue(OPERATOR).unwrap();
    assert!(code.len() >= 32 && !code.contains(OPERATOR), "{code}");
    let body = json!({ "code": code });
    assert_eq!(place.ask(Call::post(SIGN_IN, &body)).await.is(200), json!({ "token": OPERATOR }));
    for code in [&*code, "", "x", OPERATOR, &"0".repeat(48)] {
        let refused = place.ask(Call::post(SIGN_IN, &json!({ "code": code }))).await;
        refused.problem(401, "this link was used");
    }
    // A page of another origin gets none.
    let foreign = Call::post(SIGN_IN, &body).header("origin", "https://evil.example");
    place.ask(foreign).await.problem(403, "other origins");
}

/// The page signs itself in again when it is loaded again.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_prepares_a_code_for_itself() {
    let place = Place::served().await;
    for token in [OPERATOR, READER] {
        let body = json!({ "code": format!("{token} {}", "x".repeat(32)) });
        place.ask(Call::post(CODES, &body)).await.problem(401, "a code is for a token");
        place.ask(Call::post(CODES, &body).token(token)).await.is(200);
        let signed_in = place.ask(Call::post(SIGN_IN, &body)).await.is(200);
        assert_eq!(signed_in, json!({ "token": token }));
        place.ask(Call::post(SIGN_IN, &body)).await.problem(401, "");
    }
    for code in ["", "short", &"x".repeat(257)] {
        let body = json!({ "code": code });
        place.ask(Call::post(CODES, &body).token(OPERATOR)).await.problem(400, "32 to 256");
    }
    // The number is limited: the oldest one is dropped.
    let code = |number: usize| json!({ "code": format!("{number:032}") });
    for number in 0..70 {
        place.ask(Call::post(CODES, &code(number)).token(OPERATOR)).await.is(200);
    }
    place.ask(Call::post(SIGN_IN, &code(0))).await.problem(401, "");
    place.ask(Call::post(SIGN_IN, &code(69))).await.is(200);
}
