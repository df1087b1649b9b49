//! `self::` and `super::` mean what they mean where the machine stands.

mod outer {
    use machine::actor::{Actor, Category};

    #[derive(Debug)]
    pub struct Clerk;

    impl Actor for Clerk {
        const KIND: &'static str = "clerk";
        const CATEGORY: Category = Category::Human;
    }

    /// A derive that is named from where the machine stands.
    pub use std::clone::Clone as Copies;

    #[derive(Debug, Clone)]
    pub struct Stamp;

    pub mod inner {
        #[derive(Debug, Clone)]
        pub struct Note(pub u8);

        /// The state's field and the actor are named from here.
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

fn main() {
    let filed = Form::new().file(Note(3), Stamp, &Clerk);
    assert_eq!(filed.state().clone().note.0, 3);
}
