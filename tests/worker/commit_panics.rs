//! Code of the program that panics in a commit fails it, as a panic in a handler does.

use crate::worker::prelude::*;

/// It breaks when it is compared, or when it is written.
#[derive(Debug, Clone, Deserialize)]
struct Glass(u8);

impl PartialEq for Glass {
    fn eq(&self, _: &Self) -> bool {
        assert!(self.0 != 1, "compared");
        true
    }
}

impl Serialize for Glass {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        assert!(self.0 != 2, "written");
        to.serialize_u8(self.0)
    }
}

#[machine(durable)]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Vase {
    #[initial]
    #[on(fill(flaw: u8) => Filled(glass = Glass(flaw)))]
    #[on(dust => Dusty, by = GraphRunner, after = Duration::from_secs(10))]
    Empty,
    #[terminal]
    Filled { glass: Glass },
    #[terminal]
    Dusty,
}

/// A handler whose transition cannot be written.
fn fills(flaw: u8) -> Does<AnyVase> {
    moves(move |machine, _| match machine {
        AnyVase::Empty(vase) => Next::to(vase.fill(flaw)),
        AnyVase::Filled(_) | AnyVase::Dusty(_) => Next::Wait,
    })
}

/// The machine is set aside with the text of the panic, and still leaves its state at the deadline.
#[test]
fn a_transition_that_cannot_be_written_fails() {
    for (flaw, text) in [(1, "compared"), (2, "written")] {
        timed(async |store, hand| {
            let id = create(&store, Vase::new()).await;
            settle(worker(&store).handler(fills(flaw))).await;
            let text = format!("the machine's code panicked: {text}");
            set_aside(&store, &[(id, &text)]).await;
            is(&store, id, "empty").await;
            hand.pass(Duration::from_secs(10));
            settle(worker(&store).handler(fills(flaw))).await;
            is(&store, id, "dusty").await;
        });
    }
}
