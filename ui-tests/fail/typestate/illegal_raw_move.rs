// Messages name a raw identifier without `r#`.

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
