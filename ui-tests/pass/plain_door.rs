//! The smallest machine: no store, no serde, no clock, no actors.

use machine::machine;

/// A door that counts.
#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Door {
    /// `opened = 0` and `opened = opened + 1` are computed; `color` is carried over.
    #[initial]
    #[on(hang(opened = 0) => Closed)]
    Frame { color: String },

    /// `key` sets the field of the target; `guest: String` is dropped, as there is no journal.
    #[on(open(guest: String, opened = opened + 1) => Open)]
    #[on(lock(key) => Locked)]
    Closed { color: String, opened: u32 },

    #[on(close => Closed)]
    Open { color: String, opened: u32 },

    /// `report` is computed from fields that are not carried over.
    #[on(unhang(report = format!("a {color} door, {opened} times open")) => Gone)]
    Locked { key: u16, color: String, opened: u32 },

    #[terminal]
    Gone { report: String },
}

#[test]
fn runs() {
    let frame = Door::new("red".to_owned());
    assert_eq!(frame.state().color, "red");

    let open: Door<door::Open> = frame.hang().open("Bob".to_owned());
    assert_eq!(open.state(), &door::Open { color: "red".to_owned(), opened: 1 });
    let closed = open.close().open("Ann".to_owned()).close();
    assert_eq!(closed.state().color, "red");
    assert_eq!(closed.state().opened, 2);

    // The erased machine accepts the same events. No transition has `by`, so that it asks for no actor.
    let mut any = AnyDoor::from(closed);
    let refused = any.apply_mut(door::Event::Close).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "CLOSED cannot `close`; from CLOSED you can: open -> OPEN, lock -> LOCKED"
    );
    any.apply_mut(door::Event::Lock { key: 7 }).unwrap();
    assert_eq!(any.status(), door::Status::Locked);
    assert_eq!(any.status().to_string(), "locked");
    assert_eq!("locked".parse(), Ok(door::Status::Locked));

    // `TryFrom` returns the typed machine, or the erased one if the state differs.
    let any = Door::<door::Open>::try_from(any).unwrap_err();
    let mut locked: Door<door::Locked> = any.try_into().unwrap();
    assert_eq!(locked.state().key, 7);
    locked.state_mut().color.push_str("dish");
    assert_eq!(locked.unhang().state().report, "a reddish door, 2 times open");

    let closed = Door::from(door::Frame { color: "blue".to_owned() }).hang();
    assert_eq!(closed.into_state(), door::Closed { color: "blue".to_owned(), opened: 0 });

    // It is as large as its data: no journal, no clock, no id.
    assert_eq!(size_of::<Door<door::Locked>>(), size_of::<door::Locked>());
}
