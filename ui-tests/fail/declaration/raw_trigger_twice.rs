// M0105: `r#pack` is another way to write `pack`.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    #[on(r#pack => Shipped)]
    Placed,

    #[terminal]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _packed = Order::new().pack();
}
