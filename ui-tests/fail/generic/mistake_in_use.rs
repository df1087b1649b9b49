// M0104: generic parameters cause no second error.

use std::fmt::Debug;

use machine::machine;

#[machine(on(drop_it => Droped, from = Whole))]
#[derive(Debug, Clone, PartialEq)]
enum Parcel<'a, S: Debug, const N: usize>
where
    S: Clone,
{
    #[initial]
    #[group(Whole)]
    #[on(fill(content) => Full)]
    Empty,

    #[group(Whole)]
    #[on(label(text, by: S) => Labelled)]
    Full { content: [S; N] },

    #[terminal]
    Labelled { content: [S; N], text: &'a str },

    #[terminal]
    Dropped,
}

fn fill<'a>(empty: Parcel<'a, parcel::Empty, u8, 2>) -> Parcel<'a, parcel::Full<u8, 2>, u8, 2> {
    empty.fill([1, 2])
}

fn whole<'a, W: parcel::Whole>(_parcel: &Parcel<'a, W, u8, 2>) {}

fn main() {
    let full = fill(Parcel::new());
    whole(&full);
    assert_eq!(full.state(), &parcel::Full { content: [1, 2] });
    let labelled = full.label("books", 3);
    let text: &str = labelled.state().text;
    assert_eq!(text, "books");
    let mut any: AnyParcel<'_, u8, 2> = labelled.into();
    let event = parcel::Event::Fill { content: [3, 4] };
    assert!(any.apply_mut(event).is_err());
    match any {
        AnyParcel::Empty(empty) => drop(fill(empty)),
        AnyParcel::Full(full) => drop(full.drop_it()),
        AnyParcel::Labelled(_) | AnyParcel::Dropped(_) => {}
    }
}
