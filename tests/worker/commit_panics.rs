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
    Empty,
    #[terminal]
    Filled { glass: Glass },
}

/// The machine is set aside with the text of the panic.
#[test]
fn text_of_a_panic_is_recorded() {
    for (flaw, text) in [(1, "compared"), (2, "written")] {
        each(async |store| {
            let bad = create(&store, Vase::new()).await;
            let handler = moves(move |machine, _| match machine {
                AnyVase::Empty(vase) => Next::to(vase.fill(flaw)),
                AnyVase::Filled(_) => Next::Wait,
            });
            settle(worker(&store).handler(handler)).await;
            let text = format!("the machine's code panicked: {text}");
            set_aside(&store, &[(bad, &text)]).await;
            is(&store, bad, "empty").await;
        });
    }
}
