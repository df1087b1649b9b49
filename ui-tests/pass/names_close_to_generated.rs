//! Names that are close to those that the macro generates.

mod sealed {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Bid(pub u8);
}

mod groups {
    pub trait Outer {}
    impl Outer for u8 {}

    pub mod inner {
        /// A bound with a path relative to this module.
        #[machine::machine]
        #[derive(Debug)]
        pub enum Slot<T>
        where
            T: super::Outer,
        {
            #[initial]
            #[on(fill(content) => Full)]
            Empty,
            #[terminal]
            Full { content: T },
        }
    }
}

/// The context of the machine.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct S(u8);

impl machine::stored::Context for S {
    type Summary = ();
}

#[machine::machine(durable, context = S)]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub enum Stored {
    #[initial]
    #[on(end => Ended)]
    Begun,
    #[terminal]
    Ended,
}

mod lettered {
    #[machine::machine]
    #[derive(Debug)]
    pub enum S {
        #[initial]
        #[on(end => Ended)]
        Begun,
        #[terminal]
        Ended,
    }
}

/// A user module with the name of a generated one.
#[machine::machine(on(end => Ended, from = Open))]
#[derive(Debug, Clone, PartialEq)]
enum Auction {
    #[initial]
    #[group(Open)]
    #[on(offer(bid) => Bidden)]
    Announced,
    #[group(Open)]
    Bidden { bid: sealed::Bid },
    #[terminal]
    Ended,
}

/// `check` in `InTransit` reads like `check_in` in `Transit`.
#[machine::machine]
enum Parcel {
    #[initial]
    #[on(send => Transit)]
    Home,
    #[on(load => InTransit)]
    Transit,
    #[on(arrive => Done)]
    InTransit,
    #[on(check => Seen)]
    #[on(check_in => Seen)]
    Done,
    #[terminal]
    Seen,
}

/// The module is called `r#gen`.
#[machine::machine]
enum Gen {
    #[initial]
    #[on(end => Ended)]
    Begun,
    #[terminal]
    Ended,
}

/// A parameter that no field uses, in an enum with `cfg`.
#[machine::machine]
enum Noted<T> {
    #[initial]
    #[on(end(note: T) => Ended)]
    Begun,
    #[cfg(any())]
    #[terminal]
    Lost,
    #[terminal]
    Ended,
}

mod paths {
    pub type Note = u8;

    pub mod inner {
        #[machine::machine]
        pub enum Form {
            #[initial]
            #[on(file(note, copy: Vec<self::super::Note>) => Filed)]
            Blank,
            #[terminal]
            Filed { note: Option<super::Note> },
        }
    }
}

#[test]
fn runs() {
    assert_eq!(groups::inner::Slot::new().fill(3_u8).state().content, 3);
    assert_eq!(Stored::new(S(4)).end().context(), &S(4));
    let _ended = lettered::S::new().end();
    let bidden = Auction::new().offer(sealed::Bid(5));
    assert_eq!(bidden.state().bid.0, 5);
    let _ended = bidden.end();
    let _seen = Parcel::new().send().load().arrive().check_in();
    let _ended: Gen<r#gen::Ended> = Gen::new().end();
    let _ended = Noted::new().end(6);

    // The definition has the types as they are written.
    let _filed = paths::inner::Form::new().file(Some(7), vec![8]);
    let filed = &paths::inner::form::DEFINITION;
    assert_eq!(filed.states[1].fields[0].ty, "Option<super::Note>");
    assert_eq!(filed.edges[0].payload[1].ty, "Vec<super::Note>");
}
