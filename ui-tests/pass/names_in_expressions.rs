//! Expressions see the fields of the source, the payload, `source`, `status` and `context`.

use machine::machine;

fn summary(order: &order::Placed) -> String {
    format!("{} for {}", order.amount, order.customer)
}

/// An order.
#[machine(context = u64)]
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    #[initial]
    #[on(change(amount) => if source.amount > *context { Refused } else { Self })]
    #[on(add(amount = source.amount + extra, extra: u64) => Self)]
    #[on(ship(
        price = source.amount * context,
        text = summary(&source),
        label = format!("{} was {status}", source.customer),
    ) => Shipped)]
    #[on(give_away(customer, former = source.customer) => Given)]
    Placed { amount: u64, customer: String },

    #[terminal]
    Refused { amount: u64 },

    #[terminal]
    Shipped { price: u64, text: String, label: String, customer: String },

    #[terminal]
    Given { customer: String, former: String, amount: u64 },
}

fn placed() -> Order<order::Placed> {
    Order::new(10, 3, "Ann".to_owned())
}

fn source_names_a_field_that_the_payload_replaces() {
    use order::AfterChange;

    let AfterChange::Placed(placed) = placed().change(13) else { panic!("3 is not above 10") };
    assert_eq!(placed.state().amount, 13);
    let AfterChange::Refused(refused) = placed.change(7) else { panic!("13 is above 10") };
    assert_eq!(refused.state().amount, 7);
}

fn source_names_a_field_in_a_computed_item() {
    assert_eq!(placed().add(4).state().amount, 7);
}

fn context_source_and_status_are_visible_in_computed_items() {
    let shipped = placed().ship();
    assert_eq!(
        shipped.state(),
        &order::Shipped {
            price: 30,
            text: "3 for Ann".to_owned(),
            label: "Ann was placed".to_owned(),
            customer: "Ann".to_owned(),
        }
    );
}

fn a_replaced_field_can_be_moved_out_of_the_source() {
    let given = placed().give_away("Bob".to_owned());
    assert_eq!((given.state().customer.as_str(), given.state().former.as_str()), ("Bob", "Ann"));
}

#[test]
fn runs() {
    source_names_a_field_that_the_payload_replaces();
    source_names_a_field_in_a_computed_item();
    context_source_and_status_are_visible_in_computed_items();
    a_replaced_field_can_be_moved_out_of_the_source();
}
