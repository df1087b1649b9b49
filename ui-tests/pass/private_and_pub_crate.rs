//! A machine has the visibility of its enum; several share a module, even with equal state names.
#![deny(warnings)]

mod shop {
    use machine::machine;

    /// Private, with private data.
    #[derive(Debug, Clone)]
    struct Label(u64);

    #[machine]
    #[derive(Debug, Clone)]
    enum Parcel {
        #[initial]
        #[on(send(label) => Sent)]
        New,

        #[terminal]
        Sent { label: Label },
    }

    /// Visible in the crate, with the same state names as the private machine.
    #[machine]
    #[derive(Debug, Clone)]
    pub(crate) enum Letter {
        #[initial]
        #[on(send => Sent)]
        New,

        #[terminal]
        Sent,
    }

    /// Visible in the parent module.
    #[machine]
    #[derive(Debug, Clone)]
    pub(super) enum Card {
        #[initial]
        #[on(send => Sent)]
        New,

        #[terminal]
        Sent,
    }

    pub(crate) fn send(number: u64) -> u64 {
        let sent = Parcel::new().send(Label(number));
        match AnyParcel::from(sent) {
            AnyParcel::New(_) => 0,
            AnyParcel::Sent(sent) => sent.state().label.0,
        }
    }
}

#[test]
fn runs() {
    assert_eq!(shop::send(7), 7);

    let letter: shop::Letter<shop::letter::Sent> = shop::Letter::new().send();
    let any = shop::AnyLetter::from(letter);
    assert_eq!(any.status(), shop::letter::Status::Sent);

    let card: shop::Card<shop::card::Sent> = shop::Card::new().send();
    let any = shop::AnyCard::from(card);
    assert_eq!(any.status(), shop::card::Status::Sent);
    assert_ne!(shop::letter::DEFINITION.fingerprint, shop::card::DEFINITION.fingerprint);
}
