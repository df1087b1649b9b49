//! Stripe's `PaymentIntent` (<https://docs.stripe.com/payments/paymentintents/lifecycle>, with
//! <https://docs.stripe.com/api/payment_intents> for confirm, capture and cancel).
//!
//! Two simplifications: `processing` cannot be canceled (the documentation allows it "in rare
//! cases"), and a capture settles immediately instead of passing through `processing`.

use std::time::Duration;

use machine::{
    actor::{Actor, Category},
    machine,
    stored::{Context, Unverified},
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::machines::source::Source;

/// The merchant's server, which calls the API.
struct Merchant;

impl Actor for Merchant {
    const KIND: &'static str = "merchant";
    const CATEGORY: Category = Category::System;
}

/// Stripe, which talks to the banks and enforces deadlines.
struct Stripe;

impl Actor for Stripe {
    const KIND: &'static str = "stripe";
    const CATEGORY: Category = Category::System;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CaptureMethod {
    Automatic,
    Manual,
}

/// The terms of the payment, fixed at creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Terms {
    /// In the smallest unit of the currency.
    amount: u64,
    currency: String,
    capture_method: CaptureMethod,
    /// The time for which the bank holds the authorized amount.
    capture_within: Duration,
}

impl Context for Terms {
    type Summary = ();
}

/// A bank's answer to an attempt to charge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BankAnswer {
    Approved,
    /// The answer takes up to a few days.
    Pending,
    /// With the code, such as `insufficient_funds`.
    Declined(String),
    /// The customer must authenticate at this address.
    AuthenticationRequired(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CancellationReason {
    Duplicate,
    Fraudulent,
    RequestedByCustomer,
    Abandoned,
    /// The amount was not captured in time.
    Expired,
}

/// The amount to capture is not between 1 and what is authorized.
#[derive(Debug, PartialEq, Eq)]
struct NotCapturable {
    authorized: u64,
}

impl std::fmt::Display for NotCapturable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the amount to capture must be between 1 and {}", self.authorized)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "guards borrow the payload")]
fn is_authorized(
    state: &payment_intent::RequiresCapture,
    _: &Terms,
    amount_received: &u64,
) -> Result<(), NotCapturable> {
    let authorized = state.amount_capturable;
    if (1..=authorized).contains(amount_received) {
        Ok(())
    } else {
        Err(NotCapturable { authorized })
    }
}

/// One payment.
#[machine(
    durable,
    context = Terms,
    fields(
        payment_method: String,
        in = RequiresConfirmation | RequiresAction | Processing | RequiresCapture | Succeeded
    ),
    on(cancel(reason) => Canceled, from = Cancelable, by = Merchant)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum PaymentIntent {
    /// New, or the last attempt failed.
    #[initial]
    #[stable]
    #[group(Cancelable)]
    #[on(attach_payment_method(payment_method) => RequiresConfirmation, by = Merchant)]
    RequiresPaymentMethod { last_payment_error: Option<String> },

    #[stable]
    #[group(Cancelable)]
    #[on(confirm(answer: BankAnswer) => match answer {
        BankAnswer::AuthenticationRequired(next_action) => RequiresAction(next_action),
        BankAnswer::Pending => Processing,
        BankAnswer::Approved => match context.capture_method {
            CaptureMethod::Manual => RequiresCapture(amount_capturable = context.amount),
            CaptureMethod::Automatic => Succeeded(amount_received = context.amount),
        },
        BankAnswer::Declined(code) => RequiresPaymentMethod(last_payment_error = Some(code)),
    }, by = Merchant)]
    RequiresConfirmation,

    /// The customer authenticates, for example with 3D Secure.
    #[stable]
    #[group(Cancelable)]
    #[on(action_handled(answer: BankAnswer) => match answer {
        BankAnswer::AuthenticationRequired(next_action) => Self(next_action),
        BankAnswer::Pending => Processing,
        BankAnswer::Approved if context.capture_method == CaptureMethod::Manual => {
            RequiresCapture(amount_capturable = context.amount)
        },
        BankAnswer::Approved => Succeeded(amount_received = context.amount),
        BankAnswer::Declined(code) => RequiresPaymentMethod(last_payment_error = Some(code)),
    }, by = Stripe)]
    RequiresAction { next_action: String },

    /// Waits for the bank.
    #[on(settled(declined: Option<String>) => match declined {
        Some(code) => RequiresPaymentMethod(last_payment_error = Some(code)),
        None if context.capture_method == CaptureMethod::Manual => {
            RequiresCapture(amount_capturable = context.amount)
        },
        None => Succeeded(amount_received = context.amount),
    }, by = Stripe)]
    Processing,

    /// Authorized. The merchant captures all of the amount, or a part of it.
    #[stable]
    #[group(Cancelable)]
    #[on(capture(amount_received) => Succeeded, by = Merchant, guard = is_authorized -> NotCapturable)]
    #[on(expire(reason = CancellationReason::Expired) => Canceled, by = Stripe,
         after = context.capture_within)]
    RequiresCapture { amount_capturable: u64 },

    #[terminal]
    Canceled { reason: CancellationReason },

    #[terminal]
    Succeeded { amount_received: u64 },
}

pub(crate) use payment_intent::DEFINITION;

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &[
            "requires_payment_method",
            "requires_confirmation",
            "requires_action",
            "processing",
            "requires_capture",
            "canceled",
            "succeeded",
        ],
        initial: "requires_payment_method",
        terminal: &["canceled", "succeeded"],
        stable: &[
            "requires_payment_method",
            "requires_confirmation",
            "requires_action",
            "requires_capture",
        ],
        rows: &[
            ("requires_payment_method", "attach_payment_method", "requires_confirmation"),
            ("requires_confirmation", "confirm", "requires_action"),
            ("requires_confirmation", "confirm", "processing"),
            ("requires_confirmation", "confirm", "requires_capture"),
            ("requires_confirmation", "confirm", "succeeded"),
            ("requires_confirmation", "confirm", "requires_payment_method"),
            ("requires_action", "action_handled", "requires_action"),
            ("requires_action", "action_handled", "processing"),
            ("requires_action", "action_handled", "requires_capture"),
            ("requires_action", "action_handled", "succeeded"),
            ("requires_action", "action_handled", "requires_payment_method"),
            ("processing", "settled", "requires_capture"),
            ("processing", "settled", "succeeded"),
            ("processing", "settled", "requires_payment_method"),
            ("requires_capture", "capture", "succeeded"),
            ("requires_capture", "expire", "canceled"),
            ("requires_payment_method", "cancel", "canceled"),
            ("requires_confirmation", "cancel", "canceled"),
            ("requires_action", "cancel", "canceled"),
            ("requires_capture", "cancel", "canceled"),
        ],
        deadlines: &[("requires_capture", "expire", "context.capture_within")],
    }
    .matches(DEFINITION);
}

const WEEK: Duration = Duration::from_hours(7 * 24);

fn intent(capture_method: CaptureMethod) -> PaymentIntent<payment_intent::RequiresConfirmation> {
    let terms =
        Terms { amount: 2000, currency: "usd".to_owned(), capture_method, capture_within: WEEK };
    PaymentIntent::new(terms, None).attach_payment_method("pm_card_visa".to_owned(), &Merchant)
}

#[test]
fn typed_a_declined_card_can_be_replaced() {
    use payment_intent::{AfterActionHandled, AfterConfirm, AfterSettled};

    let declined = BankAnswer::Declined("insufficient_funds".to_owned());
    let AfterConfirm::RequiresPaymentMethod(intent) =
        intent(CaptureMethod::Automatic).confirm(declined, &Merchant)
    else {
        panic!("the card was declined")
    };
    assert_eq!(intent.state().last_payment_error.as_deref(), Some("insufficient_funds"));

    let intent = intent.attach_payment_method("pm_other".to_owned(), &Merchant);
    let address = "https://bank.example/3ds".to_owned();
    let AfterConfirm::RequiresAction(intent) =
        intent.confirm(BankAnswer::AuthenticationRequired(address.clone()), &Merchant)
    else {
        panic!("the bank asks for authentication")
    };
    assert_eq!(intent.state().next_action, address);
    let AfterActionHandled::Processing(intent) =
        intent.action_handled(BankAnswer::Pending, &Stripe)
    else {
        panic!("the bank has not decided")
    };
    let AfterSettled::Succeeded(succeeded) = intent.settled(None, &Stripe) else {
        panic!("the bank approved")
    };
    let expected =
        payment_intent::Succeeded { payment_method: "pm_other".to_owned(), amount_received: 2000 };
    assert_eq!(succeeded.state(), &expected);
}

#[test]
fn typed_what_is_authorized_is_captured_in_time_or_not_at_all() {
    use payment_intent::AfterConfirm;

    let authorized = || match intent(CaptureMethod::Manual).confirm(BankAnswer::Approved, &Merchant)
    {
        AfterConfirm::RequiresCapture(intent) => intent,
        other => panic!("{other:?}"),
    };
    let intent = authorized();
    let deadline = intent.deadlines().next().unwrap();
    assert_eq!((deadline.trigger, deadline.after), ("expire", WEEK));
    let refused = intent.capture(2001, &Merchant).unwrap_err();
    assert_eq!(refused.reason, NotCapturable { authorized: 2000 });
    let refused = refused.machine.capture(0, &Merchant).unwrap_err();
    let succeeded = refused.machine.capture(1500, &Merchant).unwrap();
    assert_eq!(succeeded.state().amount_received, 1500);

    let canceled = authorized().expire(&Stripe);
    assert_eq!(canceled.state().reason, CancellationReason::Expired);
    let canceled = authorized().cancel(CancellationReason::Duplicate, &Merchant);
    assert!(canceled.journal().deadlines().is_empty());
}

fn answer() -> impl Strategy<Value = BankAnswer> {
    prop_oneof![
        Just(BankAnswer::Approved),
        Just(BankAnswer::Pending),
        Just(BankAnswer::Declined("expired_card".to_owned())),
        Just(BankAnswer::AuthenticationRequired("https://bank.example".to_owned())),
    ]
}

fn event() -> impl Strategy<Value = payment_intent::Event> {
    use payment_intent::Event;

    prop_oneof![
        4 => Just(Event::AttachPaymentMethod { payment_method: "pm".to_owned() }),
        4 => answer().prop_map(|answer| Event::Confirm { answer }),
        4 => answer().prop_map(|answer| Event::ActionHandled { answer }),
        4 => prop::option::of(Just("lost_card".to_owned()))
            .prop_map(|declined| Event::Settled { declined }),
        4 => (0_u64..8).prop_map(|amount_received| Event::Capture { amount_received }),
        1 => Just(Event::Cancel { reason: CancellationReason::Abandoned }),
        1 => Just(Event::Expire),
    ]
}

proptest! {
    /// `canceled` and `succeeded` are never left, no more is captured than was authorized, money moves
    /// only after a bank's approval, and every history can be stored and read back.
    #[test]
    fn no_money_is_taken_that_was_not_authorized(
        amount in 1_u64..6,
        manual: bool,
        events in prop::collection::vec((event(), any::<bool>()), 0..60),
    ) {
        let capture_method = if manual { CaptureMethod::Manual } else { CaptureMethod::Automatic };
        let terms =
            Terms { amount, currency: "eur".to_owned(), capture_method, capture_within: WEEK };
        let mut any = AnyPaymentIntent::from(PaymentIntent::new(terms, None));
        let mut approved = false;
        for (event, by_merchant) in events {
            let before = any.status();
            let over = matches!(any, AnyPaymentIntent::Canceled(_) | AnyPaymentIntent::Succeeded(_));
            let made = if by_merchant {
                any.apply_mut(event.clone(), &Merchant)
            } else {
                any.apply_mut(event.clone(), &Stripe)
            };
            prop_assert!(made.is_err() || !over, "{} was left", before);
            prop_assert!(made.is_ok() || any.status() == before, "a refusal moved it");
            if made.is_ok() {
                use payment_intent::Event::{ActionHandled, Confirm, Settled};
                approved |= matches!(
                    event,
                    Confirm { answer: BankAnswer::Approved }
                        | ActionHandled { answer: BankAnswer::Approved }
                        | Settled { declined: None }
                );
            }
        }
        match &any {
            AnyPaymentIntent::RequiresCapture(intent) => {
                prop_assert!(manual && approved);
                prop_assert_eq!(intent.state().amount_capturable, amount);
            }
            AnyPaymentIntent::Succeeded(intent) => {
                prop_assert!(approved);
                let received = intent.state().amount_received;
                prop_assert!(received > 0 && received <= amount);
                prop_assert!(manual || received == amount);
            }
            _ => {}
        }
        let text = serde_json::to_string(&any).unwrap();
        let read = serde_json::from_str::<Unverified>(&text).unwrap();
        let read: AnyPaymentIntent = read.verify().unwrap();
        prop_assert_eq!(read.status(), any.status());
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}
