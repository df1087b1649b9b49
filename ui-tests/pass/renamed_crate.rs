//! `crate` gives the path of the library if it has another name.

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

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let closed = plain::Door::new().open(&actors.tool_node).close();
    assert_eq!(plain::AnyDoor::from(closed).status(), plain::door::Status::Closed);

    let shipped = durable::Order::new().ship();
    let claim = renamed::stored::Unverified::of(&durable::AnyOrder::from(shipped)).unwrap();
    let any: durable::AnyOrder = claim.verify().unwrap();
    assert_eq!(any.status(), durable::order::Status::Shipped);
}
