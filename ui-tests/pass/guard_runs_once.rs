//! A guard runs once for each move, whichever way the event arrives.

use std::sync::atomic::{AtomicU32, Ordering};

use machine::machine;

static ASKED: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
pub struct Shut;

impl std::fmt::Display for Shut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it is shut")
    }
}

/// Admits the first, and then every second one.
fn every_second(_: &gate::Here, _: &u32) -> Result<(), Shut> {
    let before = ASKED.fetch_add(1, Ordering::SeqCst);
    if before % 2 == 0 { Ok(()) } else { Err(Shut) }
}

#[machine]
#[derive(Debug)]
pub enum Gate {
    #[initial]
    #[on(pass(new: u32) => if new > 1 { There } else { Self(people = new) },
         guard = every_second -> Shut)]
    #[on(leave => There)]
    Here { people: u32 },
    #[terminal]
    There,
}

#[test]
fn runs() {
    let mut any = AnyGate::from(Gate::new(0));
    any.apply_mut(gate::Event::Pass { new: 1 }).unwrap();
    assert_eq!(ASKED.load(Ordering::SeqCst), 1);
    let refused = any.apply_mut(gate::Event::Pass { new: 2 }).unwrap_err();
    assert_eq!(refused.to_string(), "HERE cannot `pass` now: it is shut");
    assert_eq!(ASKED.load(Ordering::SeqCst), 2);
    let any = any.apply(gate::Event::Pass { new: 3 }).unwrap();
    assert_eq!((any.status(), ASKED.load(Ordering::SeqCst)), (gate::Status::There, 3));
}
