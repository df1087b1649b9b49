// M0125

use machine::machine;

#[machine]
#[derive(Debug)]
enum Doc {
    #[initial]
    #[on(parse(text) => String)]
    Empty,

    #[terminal]
    String { text: String },
}

fn main() {
    let _doc = Doc::new().parse("text".to_owned());
}
