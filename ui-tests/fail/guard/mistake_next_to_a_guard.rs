// M0104: the guarded method keeps its return type, so the mistake makes one error.

use machine::actor::{Actors, Anyone, ToolNode};
use machine::machine;
use machine::typed::{Erased, Refused};

#[machine(context = u32)]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => Shipped, by = ToolNode, guard = is_light -> TooHeavy)]
    Packed,

    #[on(deliver => Deliverd)]
    Shipped,

    #[terminal]
    Delivered,
}

#[derive(Debug)]
struct TooHeavy;

impl std::fmt::Display for TooHeavy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("too heavy")
    }
}

fn is_light(_packed: &order::Packed, limit: &u32, weight: &u32) -> Result<(), TooHeavy> {
    if weight > limit { Err(TooHeavy) } else { Ok(()) }
}

fn ship(
    packed: Order<order::Packed>,
    by: &ToolNode,
) -> Result<Order<order::Shipped>, Refused<Order<order::Packed>, TooHeavy>> {
    packed.ship(7, by)
}

fn index(any: &impl Erased) -> usize {
    any.state_index()
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let any = AnyOrder::from(Order::new(20));
    let event = order::Event::Ship { weight: 21 };
    assert!(any.why_not(&event, &actors.tool_node).is_some());
    assert_eq!(any.available(&Anyone).map(|legal| legal.trigger()).count(), 0);
    assert_eq!(index(&any), 0);
    let packed = Order::<order::Packed>::try_from(any).unwrap();
    match ship(packed, &actors.tool_node) {
        Ok(shipped) => drop(shipped.deliver()),
        Err(Refused { machine, reason: TooHeavy }) => drop(machine),
    }
}
