//! Expressions see the fields of the source, the payload, `source`, `status` and `context`.

use machine::machine;

fn summary(order: &order::Placed) -> String {
    format!("{} for {}", order.amount, order.customer)
}

const ONE: u64 = 1;

#[derive(Default)]
struct Label {
    customer: String,
    _amount: u64,
}

mod limits {
    pub(super) fn customer() -> &'static str {
        " & Co"
    }
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
    // A word is a name only outside of paths, members and the names of fields.
    #[on(relabel(
        amount = (0..amount).map(|amount| amount + self::ONE).sum::<u64>() * u64::from(amount != 9),
        customer = Label { customer, ..Label::default() }.customer + limits::customer(),
    ) => Self)]
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

#[test]
fn source_names_a_field_that_the_payload_replaces() {
    use order::AfterChange;

    let AfterChange::Placed(placed) = placed().change(13) else { panic!("3 is not above 10") };
    assert_eq!(placed.state().amount, 13);
    let AfterChange::Refused(refused) = placed.change(7) else { panic!("13 is above 10") };
    assert_eq!(refused.state().amount, 7);
}

#[test]
fn source_names_a_field_in_a_computed_item() {
    assert_eq!(placed().add(4).state().amount, 7);
}

#[test]
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

#[test]
fn a_replaced_field_can_be_moved_out_of_the_source() {
    let given = placed().give_away("Bob".to_owned());
    assert_eq!((given.state().customer.as_str(), given.state().former.as_str()), ("Bob", "Ann"));
}

#[test]
fn paths_members_and_field_names_are_no_names() {
    let placed = placed().relabel();
    assert_eq!((placed.state().amount, placed.state().customer.as_str()), (6, "Ann & Co"));
}
