// M0128

use machine::machine;

#[machine(fields(status: String))]
enum Parcel {
    #[initial]
    #[on(deliver => Delivered)]
    Underway,

    #[terminal]
    Delivered,
}

fn main() {
    let delivered = Parcel::new("by rail".to_owned()).deliver();
    assert_eq!(delivered.state().status, "by rail");
}
