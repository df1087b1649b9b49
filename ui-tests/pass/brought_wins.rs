//! An item from the caller replaces the field of the source with the same name.

use machine::machine;

#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Letter {
    #[initial]
    #[on(edit(text) => Draft)]
    #[on(send(text, was = source.text.clone()) => Sent)]
    Draft { text: String, pages: u32 },

    #[terminal]
    Sent { text: String, was: String, pages: u32 },
}

#[test]
fn runs() {
    let draft = Letter::new("Dear Bob".to_owned(), 1).edit("Dear Ann".to_owned());
    assert_eq!(draft.state(), &letter::Draft { text: "Dear Ann".to_owned(), pages: 1 });

    let mut any = AnyLetter::from(draft);
    let edit = letter::Event::Edit { text: "Dear Eve".to_owned() };
    any.apply_mut(edit).unwrap();
    let AnyLetter::Draft(draft) = any else { panic!("it is a draft") };
    assert_eq!(draft.state().text, "Dear Eve");

    // A computed field sees the old value.
    let sent = draft.send("Dear all".to_owned());
    let (text, was) = ("Dear all".to_owned(), "Dear Eve".to_owned());
    assert_eq!(sent.state(), &letter::Sent { text, was, pages: 1 });
}
