// M0003

use machine::machine;

#[machine]
enum Parcel<T> {
    #[initial]
    #[on(fill(content) => Full)]
    Empty,

    #[terminal]
    Full { content: T },
}

fn main() {
    let full = Parcel::new().fill("books".to_owned());
    let _content = &full.state().content;
}
