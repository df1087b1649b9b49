// Fields of the targets of a choice. Triggers are named after the mistakes.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    // M0110
    #[on(field_twice => if limit < 3 { Self(limit = limit + 1, limit = 0) } else { Shipped })]
    // M0108
    #[on(field_without_source(weight: u32) => if weight > limit { Refused } else { Shipped })]
    // M0107: an item without a type is a field of at least one target.
    #[on(item_of_no_target(parcel) => if limit > 20 { Lost } else { Shipped })]
    // M0107: the field is one of the second target.
    #[on(misspelt_item(carier) => if limit > 20 { Lost } else { Sent })]
    // M0107
    #[on(misspelt_field => if limit > 20 { Refused(reson = String::new()) } else { Shipped })]
    // M0107: no field has a similar name.
    #[on(unknown_field => if limit > 20 { Lost(carrier = String::new()) } else { Shipped })]
    // M0117: `reason: String` is a field of `Refused`, which this branch does not set.
    #[on(noted_is_a_field_of_one_target(reason: String) => if reason.is_empty() {
        Shipped
    } else {
        Refused
    })]
    Packed { limit: u32 },

    #[terminal]
    Refused { reason: String },

    #[terminal]
    Sent { carrier: String },

    #[terminal]
    Lost,

    #[terminal]
    Shipped,
}

fn packed() -> Order<order::Packed> {
    Order::new(20)
}

fn main() {
    let _after = packed().field_twice();
    let _after = packed().field_without_source(7);
    let _after = packed().item_of_no_target("mail".to_owned());
    let _after = packed().misspelt_item("mail".to_owned());
    let _after = packed().misspelt_field();
    let _after = packed().unknown_field();
    let after = packed().noted_is_a_field_of_one_target(String::new());
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
