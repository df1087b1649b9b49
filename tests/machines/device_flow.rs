//! The OAuth device flow (RFC 8628), as the device goes through it.

use machine::{actor::Anyone, erased::Unverified, machine, typed::Reason};
use serde::{Deserialize, Serialize};

use crate::source::Source;

/// One attempt to be authorized. It may outlive the process: the person takes their time.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum DeviceFlow {
    /// Asks for a device code (section 3.1).
    #[initial]
    #[on(codes_issued(device_code, user_code, verification_uri, interval) => Polling)]
    #[on(request_refused(error) => Failed)]
    Requesting { client_id: String },

    /// The person types the code, and the device asks again and again (sections 3.3 to 3.5).
    #[stable]
    #[on(authorization_pending => Polling)]
    #[on(slow_down(interval = interval + 5) => Polling)]
    #[on(connection_timeout(interval = interval * 2) => Polling)]
    #[on(success(access_token) => Authorized)]
    #[on(access_denied => Denied)]
    #[on(expired_token => Expired)]
    #[on(request_refused(error) => Failed)]
    Polling {
        client_id: String,
        device_code: String,
        user_code: String,
        #[serde(rename = "verificationUri")]
        verification_uri: String,
        /// Seconds between two requests.
        interval: u32,
    },

    #[terminal]
    Authorized { client_id: String, access_token: String },

    #[terminal]
    Denied,

    /// The device code is too old; a new attempt begins from the start.
    #[terminal]
    Expired,

    /// The server refused in a way that asking again does not mend.
    #[terminal]
    Failed { error: String },
}

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &["requesting", "polling", "authorized", "denied", "expired", "failed"],
        initial: "requesting",
        terminal: &["authorized", "denied", "expired", "failed"],
        stable: &["polling"],
        rows: &[
            ("requesting", "codes_issued", "polling"),
            ("requesting", "request_refused", "failed"),
            ("polling", "authorization_pending", "polling"),
            ("polling", "slow_down", "polling"),
            ("polling", "connection_timeout", "polling"),
            ("polling", "success", "authorized"),
            ("polling", "access_denied", "denied"),
            ("polling", "expired_token", "expired"),
            ("polling", "request_refused", "failed"),
        ],
    }
    .is_told_by(device_flow::DEFINITION);
}

fn polling() -> DeviceFlow<device_flow::Polling> {
    DeviceFlow::new("tv".to_owned()).codes_issued(
        "GmRh".to_owned(),
        "WDJB-MJHT".to_owned(),
        "https://example.com/device".to_owned(),
        5,
    )
}

#[test]
fn typed_the_interval_only_grows() {
    let polling = polling().authorization_pending().slow_down().slow_down();
    assert_eq!(polling.state().interval, 15);
    let polling = polling.connection_timeout().slow_down().authorization_pending();
    assert_eq!((polling.state().interval, polling.state().user_code.as_str()), (35, "WDJB-MJHT"));
    let authorized = polling.success("2YotnFZFEjr1zCsicMWpAA".to_owned());
    assert_eq!(authorized.state().client_id, "tv");
}

/// An answer of the token endpoint, as the event that it is.
fn answer(text: &str) -> device_flow::Event {
    let mut answer: serde_json::Map<_, _> = serde_json::from_str(text).unwrap();
    let error = answer.remove("error").unwrap_or_else(|| "success".into());
    answer.insert("trigger".to_owned(), error);
    serde_json::from_value(answer.into()).unwrap()
}

#[test]
fn erased_the_answers_of_the_server_are_the_events() {
    let mut any = AnyDeviceFlow::from(polling());
    any.apply_mut(answer(r#"{"error": "authorization_pending"}"#), &Anyone).unwrap();
    any.apply_mut(answer(r#"{"error": "slow_down"}"#), &Anyone).unwrap();

    // The device is switched off and on again.
    let text = serde_json::to_string(&any).unwrap();
    assert!(text.contains("verificationUri"), "{text}");
    let mut any = serde_json::from_str::<Unverified>(&text).unwrap().verify::<AnyDeviceFlow>();
    let any = any.as_mut().unwrap();
    let AnyDeviceFlow::Polling(polling) = &*any else { panic!("{any:?}") };
    assert_eq!(polling.state().interval, 10);

    any.apply_mut(answer(r#"{"error": "access_denied"}"#), &Anyone).unwrap();
    let late = answer(r#"{"access_token": "t", "token_type": "Bearer"}"#);
    let refused = any.apply_mut(late, &Anyone).unwrap_err();
    assert_eq!(refused.reason(), &Reason::Terminal);
    assert_eq!(any.status().to_string(), "denied");
}
