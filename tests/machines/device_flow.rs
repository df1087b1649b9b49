//! The OAuth device flow (RFC 8628), as the device goes through it.

use std::time::Duration;

use machine::{
    actor::{Actor, Anyone, Category},
    journal::Fact,
    machine,
    stored::Unverified,
    typed::Reason,
};
use serde::{Deserialize, Serialize};

use crate::machines::source::Source;

/// The device.
struct Device;

impl Actor for Device {
    const KIND: &'static str = "device";
    const CATEGORY: Category = Category::System;
}

/// One attempt to be authorized. It may outlive the process, since a person takes part in it.
#[machine(
    durable,
    fields(client_id: String, in = Requesting | Polling | Authorized)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum DeviceFlow {
    /// Asks for a device code (section 3.1).
    #[initial]
    #[on(codes_issued(device_code, user_code, verification_uri, expires_in, interval) => Polling)]
    #[on(request_refused(error) => Failed)]
    Requesting,

    /// The person enters the code while the device polls (sections 3.3 to 3.5).
    #[stable]
    #[on(expire => Expired, by = Device, after = Duration::from_secs(expires_in))]
    #[on(authorization_pending => Self)]
    #[on(slow_down(interval = interval + 5) => Self)]
    #[on(connection_timeout(interval = interval * 2) => Self)]
    #[on(success(access_token) => Authorized)]
    #[on(access_denied => Denied)]
    #[on(expired_token => Expired)]
    #[on(request_refused(error) => Failed)]
    Polling {
        device_code: String,
        user_code: String,
        #[serde(rename = "verificationUri")]
        verification_uri: String,
        /// The lifetime of the codes, in seconds. Polling stays, so it does not extend it.
        expires_in: u64,
        /// The polling interval in seconds.
        interval: u32,
    },

    #[terminal]
    Authorized { access_token: String },

    #[terminal]
    Denied,

    /// The codes have expired; a new attempt starts with a new request.
    #[terminal]
    Expired,

    /// The server refused, and the same request would be refused again.
    #[terminal]
    Failed { error: String },
}

pub(crate) use device_flow::DEFINITION;

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
            ("polling", "expire", "expired"),
            ("polling", "request_refused", "failed"),
        ],
        deadlines: &[("polling", "expire", "Duration::from_secs(expires_in)")],
    }
    .matches(DEFINITION);
}

fn polling() -> DeviceFlow<device_flow::Polling> {
    DeviceFlow::new("tv".to_owned()).codes_issued(
        "GmRh".to_owned(),
        "WDJB-MJHT".to_owned(),
        "https://example.com/device".to_owned(),
        1800,
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

/// Section 3.2: the codes are valid for `expires_in` seconds, however often the device polls.
#[test]
fn the_codes_expire() {
    let polling = polling().authorization_pending().slow_down();
    let deadlines: Vec<_> = polling.deadlines().map(|one| (one.trigger, one.after)).collect();
    assert_eq!(deadlines, [("expire", Duration::from_mins(30))]);
    let running = polling.journal().deadlines();
    assert_eq!(running[0].after_ms, 1_800_000);
    let polls = DEFINITION.leaving(1).filter(|edge| edge.to == 1).count();
    let expire = DEFINITION.edge(1, "expire", DEFINITION.state("expired").unwrap()).unwrap();
    assert_eq!((polls, expire.deadline.as_ref().unwrap().group), (3, None));
    let entries = polling.journal().uncommitted().iter();
    let stayed = entries.filter(|entry| matches!(entry.fact, Fact::Moved { stays: true, .. }));
    assert_eq!(stayed.count(), 2, "polling stays");

    // The deadline begins with the commit that stores the codes.
    let refused = AnyDeviceFlow::from(polling).fire_deadline("expire", i64::MAX).unwrap_err();
    assert_eq!(refused.to_string(), "`expire` of POLLING is due in 1800000 ms; fire it then");
    let AnyDeviceFlow::Polling(polling) = refused.machine else { panic!("it is as it was") };
    let expired = polling.expire(&Device);
    assert_eq!(expired.journal().deadlines().len(), 0);
    let refused = AnyDeviceFlow::from(expired).fire_deadline("expire", i64::MAX).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NoDeadline);
}

/// A response of the token endpoint, as an event.
fn answer(text: &str) -> device_flow::Event {
    let mut answer: serde_json::Map<_, _> = serde_json::from_str(text).unwrap();
    let error = answer.remove("error").unwrap_or_else(|| "success".into());
    answer.insert("trigger".to_owned(), error);
    serde_json::from_value(answer.into()).unwrap()
}

#[test]
fn erased_responses_of_the_server_are_events() {
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
