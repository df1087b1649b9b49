// A type with the conversions of a state is not a state of the machine.

use machine::machine;

#[machine]
enum Gate {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[terminal]
    Open,
}

struct Ajar;

impl machine::typed::State for Ajar {
    type Machine = Gate<Self>;
    type Any = AnyGate;
    const INDEX: usize = 0;

    fn narrow(any: AnyGate) -> machine::typed::Narrowed<Self> {
        Err(any)
    }

    fn widen(_: Gate<Self>) -> AnyGate {
        Gate::new().into()
    }
}

fn index_of<S: gate::AnyState>() -> usize {
    S::INDEX
}

fn main() {
    index_of::<Ajar>();
}
