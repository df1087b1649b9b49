// The compiler compares types that are written differently. Triggers and fields are named after the mistakes.

use machine::machine;

type Grams = u32;

type Reason = &'static str;

fn ready<S>(_: &S) -> Result<(), String> {
    Ok(())
}

fn safe<S>(_: &S) -> Result<(), Reason> {
    Ok(())
}

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    #[on(payload(weight: u64) => Lost)]
    #[on(refusal => Lost, guard = ready -> String)]
    Placed {
        // M0109
        carried: Grams,
    },

    #[on(ship => Shipped)]
    // M0106
    #[on(payload(weight: Grams) => Lost)]
    // M0118
    #[on(refusal => Lost, guard = safe -> Reason)]
    #[on(weigh(brought) => if carried > 20 { Heavy } else { Light })]
    Packed { carried: u64 },

    #[terminal]
    Heavy {
        // M0109: one item is a field of both targets, and the types differ.
        brought: u64,
    },

    #[terminal]
    Light { brought: u32 },

    #[terminal]
    Shipped,

    #[terminal]
    Lost,
}

fn main() {
    let _ = Order::new(7).refusal();
    let _lost = Order::new(7).payload(7);
    let _after = Order::new(7).pack().weigh(7);
}
