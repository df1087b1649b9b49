//! `self::` and `super::` are relative to the module that contains the machine.

mod outer {
    use machine::actor::{Actor, Category};

    #[derive(Debug)]
    pub struct Clerk;

    impl Actor for Clerk {
        const KIND: &'static str = "clerk";
        const CATEGORY: Category = Category::Human;
    }

    /// A derive with a path relative to this module.
    pub use std::clone::Clone as Copies;

    #[derive(Debug, Clone)]
    pub struct Stamp;

    pub mod inner {
        #[derive(Debug, Clone)]
        pub struct Note(pub u8);

        /// A field and an actor with paths relative to this module.
        #[machine::machine]
        #[derive(Debug, super::Copies)]
        pub enum Form {
            #[initial]
            #[on(file(note, stamp: super::Stamp) => Filed, by = super::Clerk)]
            Blank,
            #[terminal]
            Filed { note: self::Note },
        }
    }
}

use outer::{
    Clerk, Stamp,
    inner::{Form, Note},
};

#[test]
fn runs() {
    let filed = Form::new().file(Note(3), Stamp, &Clerk);
    assert_eq!(filed.state().clone().note.0, 3);
}
