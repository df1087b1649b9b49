// M0123: an old name belongs to one current name.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(finish => Cancelled, was = "end")]
    // M0123: moves recorded as `end` belong to one of the two.
    #[on(two_triggers => Cancelled, was = "end")]
    // M0123: there is still a trigger of that name from the same state.
    #[on(still_a_trigger => Cancelled, was = "finish")]
    // M0123: there is still an item of that name in the same payload.
    #[on(still_an_item(cause: String, #[was = "cause"] reason: String) => Cancelled)]
    Packed {
        #[was = "number"]
        parcel: u64,
        // M0123: data stored as `number` belongs to one of the two.
        #[was = "number"]
        two_fields: u64,
        // M0123: there is still a field of that name in the same state.
        #[was = "parcel"]
        still_a_field: u64,
    },

    #[terminal]
    // M0123: there is still a state of that name.
    #[was = "Packed"]
    Cancelled,
}

fn main() {
    let _cancelled = Order::new(7, 8, 9).two_triggers();
    let _cancelled = Order::new(7, 8, 9).still_a_trigger();
    let cancelled = Order::new(7, 8, 9).still_an_item(String::new(), "too late".to_owned());
    assert_eq!(AnyOrder::from(cancelled).status(), order::Status::Cancelled);
}
