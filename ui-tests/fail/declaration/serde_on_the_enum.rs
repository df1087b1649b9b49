// M0012

use machine::machine;
use serde::Serialize;

#[machine]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Order {
    #[initial]
    #[on(ship(parcel_number) => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel_number: u64 },
}

fn main() {
    let shipped = Order::new().ship(7);
    assert_eq!(serde_json::to_string(shipped.state()).unwrap(), r#"{"parcelNumber":7}"#);
}
