// M0125

use std::fmt::Error;

use machine::machine;

#[machine]
#[derive(Debug)]
enum Doc {
    #[initial]
    #[on(fail(error) => Error)]
    Empty,

    #[terminal]
    Error { error: Error },
}

fn main() {
    let _doc = Doc::new().fail(Error);
}
