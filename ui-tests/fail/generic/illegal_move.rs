// A generic machine has the same message as any other.

use machine::machine;

#[machine]
enum Parcel<'a, T, const N: usize> {
    #[initial]
    #[on(fill(content) => Full)]
    Empty,

    #[on(label(text) => Labelled)]
    Full { content: [T; N] },

    #[terminal]
    Labelled { content: [T; N], text: &'a str },
}

fn main() {
    let empty = Parcel::<parcel::Empty, u8, 2>::new();
    let _labelled = empty.label("books");
}
