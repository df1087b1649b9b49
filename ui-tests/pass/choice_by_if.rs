//! `if`, `else if`, `if let` and nested choices lead where their conditions say.

use machine::machine;

#[derive(Debug, Clone, PartialEq)]
pub struct Parcel {
    weight: u32,
    note: Option<String>,
}

/// An order that data sort.
#[machine(context = u32)]
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    #[initial]
    #[on(sort(parcel: Parcel) => if parcel.weight == 0 {
        Refused(reason = "it is empty".to_owned())
    } else if parcel.weight > *context {
        Refused(reason = format!("{} of {context} kg", parcel.weight))
    } else {
        Packed(weight = parcel.weight)
    })]
    #[on(inspect(parcel: Parcel) => if let Some(note) = parcel.note {
        Marked(note)
    } else {
        Packed(weight = parcel.weight)
    })]
    #[on(route(weight) => if express {
        if weight < 10 { Flying } else { Driving }
    } else {
        Refused(reason = "only express".to_owned())
    })]
    Placed { express: bool },

    #[terminal]
    Refused { reason: String },

    #[terminal]
    Packed { weight: u32 },

    #[terminal]
    Marked { note: String },

    #[terminal]
    Flying { weight: u32 },

    #[terminal]
    Driving { weight: u32, express: bool },
}

fn placed() -> Order<order::Placed> {
    Order::new(20, true)
}

fn parcel(weight: u32) -> Parcel {
    Parcel { weight, note: None }
}

#[test]
fn the_first_condition_that_holds_decides() {
    use order::AfterSort;

    let reason = |weight| match placed().sort(parcel(weight)) {
        AfterSort::Refused(refused) => refused.state().reason.clone(),
        AfterSort::Packed(packed) => panic!("{packed:?}"),
    };
    assert_eq!(reason(0), "it is empty");
    assert_eq!(reason(21), "21 of 20 kg");
    let AfterSort::Packed(packed) = placed().sort(parcel(20)) else { panic!("20 kg are allowed") };
    assert_eq!(packed.state().weight, 20);
}

#[test]
fn if_let_binds_a_value_for_its_branch() {
    use order::AfterInspect;

    let marked = Parcel { note: Some("fragile".to_owned()), ..parcel(1) };
    let AfterInspect::Marked(marked) = placed().inspect(marked) else { panic!("it has a note") };
    assert_eq!(marked.state().note, "fragile");
    assert!(matches!(placed().inspect(parcel(1)), AfterInspect::Packed(_)));
}

#[test]
fn a_branch_can_be_another_choice() {
    use order::AfterRoute;

    let AfterRoute::Flying(flying) = placed().route(9) else { panic!("light and express") };
    assert_eq!(flying.state().weight, 9);
    let AfterRoute::Driving(driving) = placed().route(10) else { panic!("too heavy to fly") };
    assert_eq!(driving.state(), &order::Driving { weight: 10, express: true });
    assert!(matches!(Order::new(20, false).route(9), AfterRoute::Refused(_)));
}
