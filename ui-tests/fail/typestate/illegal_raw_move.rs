// A trigger that is a keyword is called by its bare name in texts.

use machine::machine;

#[machine]
enum Piece {
    #[initial]
    #[on(r#move => Moved)]
    Placed,

    #[on(r#try => Placed)]
    Moved,
}

fn main() {
    let _moved = Piece::new().r#move().r#move();
}
