//! `crate` gives the path of the library if it has another name, and that of serde.

mod framework {
    pub(crate) mod states {
        pub(crate) use ::machine::*;
    }
}

use framework::states as renamed;
use framework::states::actor::{Actors, ToolNode};

mod plain {
    use crate::renamed_crate::framework::states::machine;
    // `machine` means something else here.
    #[allow(dead_code)]
    mod machine {}

    #[machine(crate = crate::renamed_crate::framework::states)]
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) enum Door {
        #[initial]
        #[on(open => Open, by = crate::renamed_crate::ToolNode)]
        Closed,

        #[on(close => Closed)]
        #[cfg_attr(any(), on(jam => Jammed))]
        Open,
    }
}

mod durable {
    use serde::{Deserialize, Serialize};

    use crate::renamed_crate::renamed;

    #[renamed::machine(durable, crate = crate::renamed_crate::renamed)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(crate) enum Order {
        #[initial]
        #[on(ship => Shipped)]
        Packed,

        #[terminal]
        Shipped,
    }
}

/// A facade, whose users depend on it alone.
mod facade {
    pub(crate) use ::{machine, serde};
}

mod through_a_facade {
    use super::facade;

    #[facade::machine::machine(durable, crate = facade::machine)]
    #[derive(Debug, Clone, PartialEq, facade::serde::Serialize, facade::serde::Deserialize)]
    #[serde(crate = "self::facade::serde")]
    pub(crate) enum Parcel {
        #[initial]
        #[on(send(address) => Sent)]
        Packed,

        #[terminal]
        Sent { address: String },
    }
}

#[test]
fn runs() {
    use through_a_facade::{AnyParcel, Parcel, parcel};

    let sent = Parcel::new().send("Oslo".to_owned());
    assert_eq!(serde_json::to_string(sent.state()).unwrap(), r#"{"address":"Oslo"}"#);
    let event = parcel::Event::Send { address: "Oslo".to_owned() };
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<parcel::Event>(&text).unwrap(), event);
    assert_eq!(AnyParcel::from(sent).status(), parcel::Status::Sent);

    let actors = Actors::issue("shop").unwrap();
    let closed = plain::Door::new().open(&actors.tool_node).close();
    assert_eq!(plain::AnyDoor::from(closed).status(), plain::door::Status::Closed);

    let shipped = durable::Order::new().ship();
    let claim = renamed::stored::Unverified::of(&durable::AnyOrder::from(shipped)).unwrap();
    let any: durable::AnyOrder = claim.verify().unwrap();
    assert_eq!(any.status(), durable::order::Status::Shipped);
}
