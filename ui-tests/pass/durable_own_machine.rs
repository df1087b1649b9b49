//! A user-defined durable machine, with its own context and actors, makes a round trip through JSON.

use machine::actor::{Actor, Actors, Category, ToolNode};
use machine::journal::Entry;
use machine::machine;
use machine::stored::{Breach, Context, Unverified, VerifyError};
use serde::{Deserialize, Serialize};

/// A person who may approve.
struct Approver;

impl Actor for Approver {
    const KIND: &'static str = "approver";
    const CATEGORY: Category = Category::Human;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Customer {
    name: String,
    limit: u64,
}

/// The summary of the past for the rules of a customer.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Effort {
    entries: u64,
}

impl Context for Customer {
    type Summary = Effort;

    fn author(&self) -> Option<&str> {
        Some("shop")
    }

    fn fold(&self, effort: &mut Effort, _entry: &Entry) -> Result<(), Breach> {
        effort.entries += 1;
        if effort.entries > self.limit {
            return Err(Breach::new("this customer has had enough; ask a person first"));
        }
        Ok(())
    }
}

#[machine(durable, context = Customer)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Invoice {
    #[initial]
    #[on(submit(reviewed = 0) => Submitted, by = ToolNode | Approver)]
    Draft { cents: u64 },

    #[stable]
    #[on(review(note: String, reviewed = reviewed + 1) => Submitted, by = Approver)]
    #[on(approve(approved_by) => Approved, by = Approver)]
    Submitted { cents: u64, reviewed: u32 },

    #[terminal]
    Approved { cents: u64, approved_by: String },
}

fn customer(limit: u64) -> Customer {
    Customer { name: "Bob".to_owned(), limit }
}

fn approved(by: &ToolNode) -> Invoice<invoice::Approved> {
    Invoice::new(customer(10), 4200)
        .submit(by)
        .review("looks right".to_owned(), &Approver)
        .approve("Ann".to_owned(), &Approver)
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let done = approved(&actors.tool_node);
    assert_eq!(done.state(), &invoice::Approved { cents: 4200, approved_by: "Ann".to_owned() });
    let id = done.id();

    // To JSON, and back through `verify`.
    let json = serde_json::to_string(&AnyInvoice::from(done)).unwrap();
    let claim: Unverified = serde_json::from_str(&json).unwrap();
    let AnyInvoice::Approved(back) = claim.verify::<AnyInvoice>().unwrap() else {
        panic!("it comes back in the state that it left in")
    };
    assert_eq!(back.id(), id);
    assert_eq!(back.state().cents, 4200);
    assert_eq!(back.context(), &customer(10));
    let who: Vec<_> =
        back.journal().uncommitted().iter().map(|entry| entry.actor.as_deref()).collect();
    assert_eq!(who, [Some("shop"), Some("tool_node"), Some("approver"), Some("approver")]);

    // A status that contradicts the journal is refused.
    let forged = json.replace(r#""status":"approved""#, r#""status":"submitted""#);
    assert_ne!(forged, json);
    let claim: Unverified = serde_json::from_str(&forged).unwrap();
    let refused = claim.verify::<AnyInvoice>().unwrap_err();
    assert!(matches!(refused, VerifyError::History { .. }), "{refused}");

    // A journal that breaks a rule of the context is refused.
    let long = Invoice::new(customer(1), 1).submit(&Approver);
    let claim = Unverified::of(&AnyInvoice::from(long)).unwrap();
    let refused = claim.verify::<AnyInvoice>().unwrap_err();
    assert!(matches!(refused, VerifyError::Rules { .. }), "{refused}");

    // Events and statuses can be deserialized.
    let event: invoice::Event =
        serde_json::from_str(r#"{"trigger": "approve", "approved_by": "Ann"}"#).unwrap();
    assert_eq!(event, invoice::Event::Approve { approved_by: "Ann".to_owned() });
    let status: invoice::Status = serde_json::from_str(r#""submitted""#).unwrap();
    assert_eq!(status, invoice::Status::Submitted);

    // The actor is checked at run time as well.
    let any = AnyInvoice::from(Invoice::new(customer(10), 1).submit(&actors.tool_node));
    let refused = any.apply(event, &actors.tool_node).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`tool_node` may not `approve` from SUBMITTED; these may: approver"
    );
}
