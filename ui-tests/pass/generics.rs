//! Generic parameters of any kind and any name, including names that the macro uses itself.

use std::fmt::Debug;

use machine::actor::Anyone;
use machine::machine;

/// A lifetime, types with bounds in both places, and a const parameter.
#[machine(context = &'a str)]
#[derive(Debug, Clone, PartialEq)]
enum Batch<'a, T: Debug, S, A, const N: usize>
where
    S: Clone,
    A: Default,
{
    #[initial]
    #[on(fill(items) => Full)]
    Empty,

    #[on(label(text, by: A) => Labelled)]
    #[on(swap(other: S, items) => Full)]
    Full { items: [T; N] },

    #[terminal]
    Labelled { items: [T; N], text: &'a str },
}

/// `S`, `T` and `A`: common names of generated parameters.
#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Letters<S, T, A> {
    #[initial]
    #[on(mix(t, a) => Both)]
    One { s: S },

    #[on(part => One)]
    Both { s: S, t: T, a: A },
}

#[test]
fn runs() {
    let name = "books".to_owned();
    let empty: Batch<'_, batch::Empty, u8, String, (), 2> = Batch::new(name.as_str());
    let full = empty.fill([1, 2]);
    assert_eq!(*full.context(), "books");
    let full: Batch<'_, batch::Full<u8, 2>, u8, String, (), 2> = full.swap(String::new(), [3, 4]);
    assert_eq!(full.state(), &batch::Full { items: [3, 4] });

    // To the erased machine and back.
    let any: AnyBatch<'_, u8, String, (), 2> = full.into();
    assert_eq!(any.status(), batch::Status::Full);
    let any = any.apply(batch::Event::Fill { items: [5, 6] }, &Anyone).unwrap_err().machine;
    let AnyBatch::Full(full) = any else { panic!("it is full") };
    assert_eq!(full.state().items, [3, 4]);

    let both = Letters::new('s').mix(1_u8, "a");
    assert_eq!(both.state(), &letters::Both { s: 's', t: 1, a: "a" });
    let one: Letters<letters::One<char>, char, u8, &str> = both.part();
    let mut any = AnyLetters::from(one);
    any.apply_mut(letters::Event::Mix { t: 2, a: "b" }, &Anyone).unwrap();
    assert_eq!(any.status(), letters::Status::Both);

    // Parameters take no space.
    assert_eq!(
        size_of::<Letters<letters::One<u8>, u8, String, String>>(),
        size_of::<letters::One<u8>>()
    );
}
